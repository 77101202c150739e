"""Activations and choices of many elements, which are computed a stretch at a time: the same bits as of few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.io.machine.parallel import computing_with
from tensorkeep.ops.nn.activations import leaky_relu_grad_kernel, leaky_relu_kernel
from tensorkeep.ops.numbers.comparisons import select_v2_kernel
from tensorkeep.ops.shared.stretches import LARGE

ROWS = 64


def _values(dtype: Any) -> Any:
    found = np.random.default_rng(0).standard_normal((ROWS, LARGE // ROWS + 7)).astype(dtype)
    found[3, :4] = np.nan, np.inf, -np.inf, -0.0
    return found


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("alpha", [0.2, 3.0, -0.5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_elements_have_the_bits_of_few(dtype: Any, alpha: float, threads: int) -> None:
    x = _values(dtype)
    dy = x[::-1].copy()
    with computing_with(threads), np.errstate(all="ignore"):
        made, slopes = leaky_relu_kernel(x, alpha=alpha), leaky_relu_grad_kernel(dy, x, alpha=alpha)
        rows = range(ROWS)
        assert made.tobytes() == b"".join(leaky_relu_kernel(x[at], alpha=alpha).tobytes() for at in rows)
        assert slopes.tobytes() == b"".join(leaky_relu_grad_kernel(dy[at], x[at], alpha=alpha).tobytes() for at in rows)


@pytest.mark.parametrize("other", [0.0, 1.5])
def test_choices_of_many_elements_are_those_of_numpy(other: float) -> None:
    x = _values(np.float32)
    e = np.array(other, np.float32)
    assert select_v2_kernel(x > 0, x, e).tobytes() == np.where(x > 0, x, e).tobytes()


def test_what_is_not_laid_out_in_order_is_computed_as_well() -> None:
    x = np.ones((ROWS, LARGE // ROWS + 7), np.float32).T
    assert (leaky_relu_kernel(-x, alpha=0.5) == -0.5).all()
    assert (leaky_relu_grad_kernel(x, -x, alpha=0.5) == 0.5).all()
