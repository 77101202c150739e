"""Both implementations of what is compiled: by NumPy, and by the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper
from unittest.mock import patch

from tensorkeep.native import (
    blocks,
    checksums,
    embedding,
    examples,
    jpeg,
    json_tape,
    layers,
    library,
    lookups,
    means,
    networks,
    streams,
    texts,
    updates,
)

IMPLEMENTATIONS = ("NumPy", "native")

_MODULES = (
    blocks, checksums, embedding, examples, jpeg, json_tape, layers, lookups, means, networks, streams, texts, updates,
)  # fmt: skip


@contextmanager
def implementation(name: str) -> Iterator[None]:
    """Within, one of the implementations does the work."""
    chosen = library.Native(None, "turned off by a test") if name == "NumPy" else present()
    with patch.object(library, "native", lambda: chosen), patch.object(layers, "native", lambda: chosen):
        _forget_functions()
        yield
    _forget_functions()


def present() -> library.Native:
    """The library. Without it these tests fail, unless it has been turned off on purpose."""
    found = library.native()
    assert found.library is not None, (
        f"the native library is {found.state}. On a machine without a C++ compiler, test with {library.SWITCH}=0"
    )
    return found


def is_turned_off() -> bool:
    return library.native().state.startswith("turned off")


def _forget_functions() -> None:
    """Has every module bind its functions anew."""
    for module in _MODULES:
        for item in vars(module).values():
            if isinstance(item, _lru_cache_wrapper) and item.__module__ == module.__name__:
                item.cache_clear()
