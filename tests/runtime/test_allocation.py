"""The limit on what kernels make."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError
from tensorkeep.io.machine.resources import available_memory
from tensorkeep.runtime.allocation import check_allocation


def test_small_arrays_and_empty_ones_may_be_made() -> None:
    check_allocation((), np.float32)
    check_allocation((1000, 1000), np.float64)
    check_allocation((1 << 62, 0), np.float64)


def test_what_exceeds_the_memory_that_is_there_may_not() -> None:
    with pytest.raises(ResourceExhaustedError, match=r"OOM when allocating tensor with shape\[1099511627776, 4\]"):
        check_allocation((1 << 40, 4), np.float32)
    with pytest.raises(ResourceExhaustedError):
        check_allocation((available_memory() // 2,), np.int8, copies=4)


def test_a_negative_size_is_no_size() -> None:
    with pytest.raises(InvalidArgumentError, match="-1"):
        check_allocation((2, -1), np.float32)
