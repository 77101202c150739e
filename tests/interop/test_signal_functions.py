"""Transforms of signals beside TensorFlow's: the same nodes, gradients among them, and the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import signal
from tests.interop.programs import build, our_names

OURS = our_names(
    gradients=reverse_walk.gradients, signal=SimpleNamespace(**{name: getattr(signal, name) for name in signal.__all__})
)
Program = Callable[[Any], Any]

REAL = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 3, 4)
COMPLEX = (REAL + 1j * REAL[::-1]).astype(np.complex64)

PROGRAMS: dict[str, Program] = {
    "complex": lambda tf: [
        getattr(tf.signal, name)(COMPLEX) for name in ("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d")
    ],
    "real": lambda tf: [
        tf.signal.rfft(REAL),
        tf.signal.rfft(REAL, [6]),
        tf.signal.rfft(REAL, [3], name="r"),
        tf.signal.rfft2d(REAL),
        tf.signal.rfft2d(REAL, [5, 5]),
        tf.signal.rfft3d(REAL.astype(np.float64)),
    ],
    "inverse": lambda tf: [
        tf.signal.irfft(COMPLEX),
        tf.signal.irfft(COMPLEX, [9]),
        tf.signal.irfft(COMPLEX, [5], name="i"),
        tf.signal.irfft2d(COMPLEX),
        tf.signal.irfft3d(COMPLEX, [2, 4, 6]),
    ],
    "shifts": lambda tf: [
        tf.signal.fftshift(REAL),
        tf.signal.ifftshift(REAL, 1),
        tf.signal.fftshift(REAL, [0, -1], name="s"),
    ],
    "windows": lambda tf: [
        tf.signal.hann_window(8),
        tf.signal.hann_window(7, periodic=False, name="w"),
        tf.signal.hamming_window(6, dtype=tf.float64),
        tf.signal.hann_window(1),
    ],
    "frames": lambda tf: [
        tf.signal.frame(REAL.reshape(2, 12), 5, 2),
        tf.signal.frame(REAL.reshape(2, 12), 4, 3, pad_end=True, pad_value=1.0, name="f"),
        tf.signal.frame(REAL.reshape(12, 2), 4, 2, axis=0),
    ],
    "stft": lambda tf: [
        tf.signal.stft(REAL.reshape(2, 12), 6, 3),
        tf.signal.stft(REAL.reshape(2, 12), 6, 3, fft_length=10, window_fn=None, pad_end=True),
    ],
}

GRADIENTS: dict[str, Program] = {
    **{
        name: (lambda tf, name=name: _gradients(tf, getattr(tf.signal, name), COMPLEX))  # type: ignore[misc]
        for name in ("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d", "irfft", "irfft2d")
    },
    **{
        name: (lambda tf, name=name: _gradients(tf, getattr(tf.signal, name), REAL))  # type: ignore[misc]
        for name in ("rfft", "rfft2d")
    },
}


def _gradients(tf: Any, function: Callable[[Any], Any], value: Any) -> Any:
    x = tf.constant(value)
    y = function(x)
    weights = np.cos(np.arange(int(np.prod(y.shape.as_list())))).reshape(y.shape.as_list())
    return tf.gradients(y, x, tf.constant(weights, y.dtype))


def _check(program: Program) -> None:
    ours, theirs = build(program, OURS).run()[0]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_functions_are_tensorflows(name: str) -> None:
    _check(PROGRAMS[name])


@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_gradients_are_tensorflows_nodes(name: str) -> None:
    _check(GRADIENTS[name])


def test_transforms_of_unknown_lengths_are_tensorflows() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None, None], "x")
        half = tf.signal.rfft(x)
        return [half, tf.signal.irfft(half), tf.signal.rfft(x, [8])]

    for mine, other in zip(*build(program, OURS).run(feeds={"x:0": REAL[0]})[0], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)
