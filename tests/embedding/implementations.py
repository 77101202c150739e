"""Both implementations of the work on keys and rows: by NumPy, and by the compiled library."""

from __future__ import annotations

import pytest

from tensorkeep.embedding.table.kernels import Kernels
from tensorkeep.embedding.table.native_kernels import kernels_for
from tests.native.implementations import is_turned_off

IMPLEMENTATIONS = (
    pytest.param(False, id="NumPy"),
    pytest.param(True, id="native", marks=pytest.mark.skipif(is_turned_off(), reason="TENSORKEEP_NATIVE=0")),
)


def kernels_of(is_native: bool, threads: int = 2) -> Kernels:
    return kernels_for(is_native, threads)
