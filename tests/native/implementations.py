"""Both implementations of what is compiled: by NumPy, and by the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from tensorkeep.native import (
    blocks,
    checksums,
    examples,
    json_tape,
    layers,
    library,
    lookups,
    losses,
    means,
    records,
    texts,
    updates,
)

IMPLEMENTATIONS = ("NumPy", "native")

_MODULES = (blocks, checksums, examples, json_tape, layers, lookups, losses, means, records, texts, updates)


@contextmanager
def implementation(name: str) -> Iterator[None]:
    """Within, one of the implementations does the work."""
    chosen = library.Native(None, "turned off by a test") if name == "NumPy" else present()
    with ExitStack() as stack:
        for module in _MODULES:
            stack.enter_context(patch.object(module, "native", lambda: chosen))
        _forget()
        yield
    _forget()


def present() -> library.Native:
    """The library. Without it these tests fail, unless it has been turned off on purpose."""
    found = library.native()
    assert found.library is not None, (
        f"the native library is {found.state}. On a machine without a C++ compiler, test with {library.SWITCH}=0"
    )
    return found


def is_turned_off() -> bool:
    return library.native().state.startswith("turned off")


def _forget() -> None:
    for module in _MODULES:
        module.functions.cache_clear()
