"""Cholesky factors of matrices that have none."""

from __future__ import annotations

import numpy as np

from tensorkeep.ops.linear_algebra._factors import cholesky

NEGATIVE = np.array([[1.0, 0.0], [0.0, -1.0]])


def test_a_matrix_that_is_not_positive_definite_has_nan_in_its_lower_half_and_others_have_their_factors() -> None:
    found = cholesky(np.stack([NEGATIVE, 4 * np.eye(2)]))
    np.testing.assert_array_equal(found[0], [[np.nan, 0], [np.nan, np.nan]])
    np.testing.assert_array_equal(found[1], 2 * np.eye(2))
