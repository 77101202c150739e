"""What a program says of a store: `tensorkeep.storage`.

Settings hold for every URL that begins with theirs; of several that fit, the longest says. They are kept for the
process, and for those of a cluster that work on its behalf. Nothing of them is shown but their names, for the values
may be secrets.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.io.stores.urls import StoreUrl

__all__ = ["Storage", "storage"]

Option = str | int | float | bool


@dataclass(frozen=True)
class Storage:
    """How a store is reached, for every path that begins with `url`."""

    url: str
    options: Mapping[str, Option] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cache: str | None = None
    """A folder of this machine in which objects are kept that were read, each of one version."""
    retries: int = 8
    """How often a request is tried again that failed on the way, with longer and longer pauses."""
    timeout: float = 60.0
    """After so many seconds in which nothing arrived, a request counts as failed."""

    def __repr__(self) -> str:
        names = ", ".join([*self.options, *(["headers"] if self.headers else [])])
        cache = f", cache={self.cache!r}" if self.cache else ""
        return f"Storage({self.url!r}{cache}{', options: ' + names if names else ''})"


def storage(
    url: PathLike,
    *,
    cache: PathLike | None = None,
    retries: int = 8,
    timeout: float = 60.0,
    headers: Mapping[str, str] | None = None,
    **options: Option,
) -> Storage:
    """Says how the store behind a URL is reached, from now on in this process, and returns what was said.

    `options` are those of obstore for that store, such as `endpoint`, `region`, `access_key_id`, `account_name` or
    `skip_signature`; they come before what the environment says. `cache` is a folder on the local disk: objects below
    the URL that are read are kept there, whole, and used again for as long as the store has the same version.
    `headers` are sent with every request. Said again, it replaces what was said of the same URL before.
    """
    place = StoreUrl.parse(path_text(url))
    if wrong := [name for name, value in options.items() if not isinstance(value, Option)]:
        raise InvalidArgumentError(f"{wrong[0]}: expected text, a number or a truth value")
    if not isinstance(retries, int) or retries < 0 or not timeout > 0:
        raise InvalidArgumentError(f"retries={retries!r}, timeout={timeout!r}: expected 0 or more, and more than 0")
    folder = None if cache is None else path_text(cache)
    if folder is not None and "://" in folder:
        raise InvalidArgumentError(f'cache: expected a folder of this machine, got "{folder}"')
    said = Storage(str(place), dict(options), dict(headers or {}), folder, retries, timeout)
    with _LOCK:
        _SAID[said.url] = said
    return said


def settings_of(url: StoreUrl) -> Storage:
    """What was said of the store that a URL leads to; the defaults if nothing was."""
    text = str(url)
    fitting = [said for root, said in list(_SAID.items()) if text == root or text.startswith(f"{root}/")]
    return max(fitting, key=lambda said: len(said.url), default=Storage(url.root))


def all_settings() -> tuple[Storage, ...]:
    """All that was said in this process, for another that works on its behalf."""
    with _LOCK:
        return tuple(_SAID.values())


def adopt_settings(settings: Sequence[Storage]) -> None:
    """Takes over what was said in another process; what was said here of the same URL is replaced."""
    with _LOCK:
        _SAID.update((said.url, said) for said in settings)


_LOCK: Final = threading.Lock()
_SAID: Final[dict[str, Storage]] = {}
