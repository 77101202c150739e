"""All tensors as columns."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tensorkeep.errors import TensorKeepError
from tensorkeep.viewer.asking import Asked
from tensorkeep.viewer.sources import Source


def weights(asked: Asked) -> Mapping[str, Any]:
    """Names, types, shapes and sizes of all tensors, and which of them cannot be read whole."""
    source = asked.source
    listing = source.listing
    types = sorted({item.dtype.name for item in listing.tensors})
    numbers = {name: number for number, name in enumerate(types)}
    return {
        "path": listing.path,
        "format": listing.format,
        "files": [[path, size] for path, size in listing.files.items()],
        "remarks": list(listing.remarks),
        "types": types,
        "name": [item.name for item in listing.tensors],
        "type": [numbers[item.dtype.name] for item in listing.tensors],
        "shape": [list(item.shape) for item in listing.tensors],
        "bytes": [item.nbytes for item in listing.tensors],
        "broken": broken_tensors(source),
        "problems": _problems(source),
    }


def _problems(source: Source) -> list[str]:
    """What is wrong with files as a whole, as far as their sizes and the index tell."""
    if not source.is_checkpoint:
        return []
    try:
        reader = source.reader
        return [str(error) for error in (*reader.damage, *reader.file_problems())]
    except TensorKeepError as error:
        return [str(error)]


def broken_tensors(source: Source) -> dict[str, str]:
    """The tensors whose bytes are not all there, with why: a file is missing, or ends too early."""
    if not source.is_checkpoint:
        return {}
    listing = source.listing
    data = [size for path, size in listing.files.items() if ".data-" in path]
    if not data:
        return {}
    names = {item.key or item.name: item.name for item in listing.tensors}
    found: dict[str, str] = {}
    with suppress(TensorKeepError):  # a damaged index has no places to tell; what is wrong is said as a whole
        for key, places in source.reader.places():
            for place in places:
                size = data[place.shard] if place.shard < len(data) else None
                if size is None:
                    found[names.get(key, key)] = f"data file {place.shard} is missing"
                elif place.offset + place.size > size:
                    found[names.get(key, key)] = f"data file {place.shard} ends before it"
    return found
