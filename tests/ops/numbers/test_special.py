"""Special functions in float32, beside Python's own in double precision."""

from __future__ import annotations

import math

import numpy as np

from tensorkeep.ops.numbers._special_functions import erfc_single


def test_erfc_in_single_precision_keeps_its_digits_where_it_is_very_small() -> None:
    x = np.linspace(-5, 9.1, 20_001).astype(np.float32)  # erfc(9.1) is 6.7e-38, about the last that is not subnormal
    wanted = np.array([math.erfc(value) for value in x.tolist()])
    np.testing.assert_allclose(erfc_single(x), wanted, rtol=1e-6)


def test_erfc_in_single_precision_at_its_ends() -> None:
    ends = erfc_single(np.array([np.inf, -np.inf, np.nan, 20, -20, 0], np.float32))
    np.testing.assert_allclose(ends, [0, 2, np.nan, 0, 2, 1], rtol=2e-7)
    assert erfc_single(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert erfc_single(np.float32(0.5)).shape == ()
