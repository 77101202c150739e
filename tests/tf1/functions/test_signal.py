"""Transforms of signals are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers import signal

REAL = np.sin(np.arange(24.0)).reshape(2, 3, 4)


def run(build: Any) -> Any:
    graph = Graph()
    with building(graph):
        fetched = build()
    return Session(graph).run(fetched)


def test_a_transform_and_its_inverse_give_the_signal() -> None:
    back = run(lambda: signal.irfft2d(signal.rfft2d(constant(REAL)), [3, 4]))
    np.testing.assert_allclose(back, REAL, atol=1e-12)


@pytest.mark.parametrize("length", [2, 4, 7])
def test_a_length_cuts_or_pads(length: int) -> None:
    np.testing.assert_allclose(
        run(lambda: signal.rfft(constant(REAL), [length])), np.fft.rfft(REAL, length), atol=1e-12
    )


def test_shifts_undo_each_other() -> None:
    assert run(lambda: signal.ifftshift(signal.fftshift(REAL))).tolist() == REAL.tolist()


def test_a_window_is_periodic_unless_told_otherwise() -> None:
    np.testing.assert_allclose(run(lambda: signal.hann_window(6, periodic=False)), np.hanning(6), atol=1e-6)
    np.testing.assert_allclose(run(lambda: signal.hann_window(6)), np.hanning(7)[:6], atol=1e-6)


def test_frames_overlap() -> None:
    assert run(lambda: signal.frame(np.arange(6), 4, 2)).tolist() == [[0, 1, 2, 3], [2, 3, 4, 5]]
    padded = run(lambda: signal.frame(np.arange(5), 3, 2, pad_end=True, pad_value=-1))
    assert padded.tolist() == [[0, 1, 2], [2, 3, 4], [4, -1, -1]]


def test_integers_have_no_real_transform() -> None:
    with building(Graph()), pytest.raises(InvalidArgumentError, match="RFFT requires"):
        signal.rfft(constant([1, 2]))
