"""Lists of names in attributes of HDF5 groups: in one, or in several with numbers if they are too long for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError

_MOST_BYTES: Final = 64512  # of an attribute, with what HDF5 writes around it


def write_names(group: Any, key: str, names: Sequence[str]) -> None:
    """Writes names under a key, or under `key0`, `key1` and so on."""
    encoded = [name.encode("utf8") for name in names]
    if wrong := [name for name in encoded if len(name) > _MOST_BYTES]:
        raise InvalidArgumentError(f"A name is too long for an attribute of an HDF5 file: {wrong[0][:80]!r}…")
    whole = np.asarray(encoded)
    parts, count = [whole], 1
    while any(part.nbytes > _MOST_BYTES for part in parts):
        count += 1
        parts = np.array_split(whole, count)
    if count == 1:
        group.attrs[key] = encoded
    else:
        for at, part in enumerate(parts):
            group.attrs[f"{key}{at}"] = part


def read_names(group: Any, key: str) -> list[str]:
    """Reads them; none if there is no such attribute."""
    if key in group.attrs:
        return [_text(name) for name in group.attrs[key]]
    found: list[str] = []
    at = 0
    while f"{key}{at}" in group.attrs:
        found += [_text(name) for name in group.attrs[f"{key}{at}"]]
        at += 1
    return found


def read_text(group: Any, key: str) -> str | None:
    """An attribute that is one text; None if there is none."""
    value = group.attrs.get(key)
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    return value.decode("utf8") if isinstance(value, bytes) else str(value)
