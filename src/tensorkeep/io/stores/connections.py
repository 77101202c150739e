"""One connection for each bucket, made when it is first asked for, and made anew when something else is said of it."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.errors import UnimplementedError
from tensorkeep.io.stores.environment import Options, environment_options
from tensorkeep.io.stores.settings import Storage, settings_of
from tensorkeep.io.stores.store_errors import explained_errors
from tensorkeep.io.stores.urls import StoreUrl

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_LOCK: Final = threading.Lock()
_STORES: Final[dict[str, tuple[Storage, ObjectStore]]] = {}
_MEMORY: Final[dict[str, ObjectStore]] = {}  # stores in memory, which last as long as the process


def connection(url: StoreUrl) -> ObjectStore:
    """The store of a URL, as obstore has it."""
    said = settings_of(url)
    with _LOCK:
        known = _STORES.get(url.root)
        if known is not None and known[0] == said:
            return known[1]
        store = _connect_store(url, said)
        _STORES[url.root] = (said, store)
        return store


def _connect_store(url: StoreUrl, said: Storage) -> ObjectStore:
    stores = imported_obstore(url).store
    if url.scheme == "memory":
        if url.container not in _MEMORY:
            _MEMORY[url.container] = stores.MemoryStore()
        return _MEMORY[url.container]
    options = {**environment_options(url.scheme), **said.options}
    client: dict[str, Any] = {
        "timeout": "600s",
        "read_timeout": f"{said.timeout}s",
        "connect_timeout": f"{min(said.timeout, 10)}s",
    }
    if said.headers:
        client["default_headers"] = dict(said.headers)
    if url.scheme == "http" or _is_plain(options):
        client["allow_http"] = True
    retry = {
        "max_retries": said.retries,
        "retry_timeout": timedelta(seconds=max(said.timeout, 1) * (said.retries + 1)),
        "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=15), "base": 2},
    }
    with explained_errors("reach", url.root):
        if url.scheme in ("http", "https"):
            served: ObjectStore = stores.HTTPStore.from_url(url.root, client_options=client, retry_config=retry)
            return served
        store: ObjectStore = stores.from_url(url.root, client_options=client, retry_config=retry, **options)
        return store


def _is_plain(options: Options) -> bool:
    """Whether an endpoint was given that is spoken to without encryption: who writes http:// means it."""
    return any(str(options.get(name, "")).startswith("http://") for name in ("endpoint", "base_url"))


def imported_obstore(url: StoreUrl) -> Any:
    """The package that knows stores. UnimplementedError, with the remedy, if it is not installed."""
    try:
        import obstore
        import obstore.store
    except ImportError as error:
        raise UnimplementedError(
            f"File system scheme '{url.scheme}' not implemented (file: '{url}'): stores need the package obstore, "
            f'which cannot be imported ({error}): pip install "tensorkeep[cloud]"'
        ) from error
    return obstore
