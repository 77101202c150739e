"""Cosine transforms, mel spectra and signals put together beside TensorFlow's: the same nodes, the same numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tensorkeep.errors import TensorKeepError
from tensorkeep.tf1.functions.numbers import spectra
from tests.interop.programs import build

Program = Callable[[Any], Any]

SIGNAL = np.sin(np.arange(60, dtype=np.float32) ** 1.3).reshape(2, 30)
FRAMES = np.cos(np.arange(72, dtype=np.float32)).reshape(2, 6, 6)


def unknown(tf: Any, *sizes: int | None) -> Any:
    return tf.placeholder(tf.float32, list(sizes), name="x")


def cosines(tf: Any, kind: int) -> list[Any]:
    signal = tf.constant(SIGNAL)
    found = [
        tf.signal.dct(signal, kind),
        tf.signal.idct(signal, kind, name="inverse"),
        tf.signal.dct(tf.constant(SIGNAL.astype(np.float64)), kind),
    ]
    if kind != 1:
        found += [tf.signal.dct(signal, kind, norm="ortho"), tf.spectral.idct(signal, kind, norm="ortho")]
    return found


KNOWN: dict[str, Program] = {
    **{f"cosines of type {kind}": partial(cosines, kind=kind) for kind in (1, 2, 3, 4)},
    "cosines of another length": lambda tf: [
        tf.signal.dct(tf.constant(SIGNAL), n=20),
        tf.signal.dct(tf.constant(SIGNAL), n=40),
    ],
    "mel": lambda tf: [
        tf.signal.linear_to_mel_weight_matrix(),
        tf.signal.linear_to_mel_weight_matrix(10, 65, 16000, 80.0, 7600.0, tf.float64, "named"),
        tf.signal.mfccs_from_log_mel_spectrograms(tf.constant(SIGNAL)),
    ],
    "overlapping": lambda tf: [tf.signal.overlap_and_add(tf.constant(FRAMES), step) for step in (1, 2, 4, 6)],
    "inverse stft": lambda tf: [
        tf.signal.inverse_stft(tf.signal.stft(tf.constant(SIGNAL), 8, 4), 8, 4),
        tf.signal.inverse_stft(
            tf.signal.stft(tf.constant(SIGNAL), 8, 4, 16), 8, 4, 16, tf.signal.inverse_stft_window_fn(4), "named"
        ),
        tf.signal.inverse_stft(tf.signal.stft(tf.constant(SIGNAL), 6, 3), 6, 3, window_fn=None),
    ],
    "windows": lambda tf: [
        tf.signal.kaiser_window(9),
        tf.signal.kaiser_window(1),
        tf.signal.kaiser_window(6, 5.0, tf.float64, name="named"),
        tf.signal.kaiser_bessel_derived_window(8),
        tf.signal.vorbis_window(8),
    ],
    "overlapping cosines": lambda tf: [
        tf.signal.mdct(tf.constant(SIGNAL[:, :24]), 8),
        tf.signal.mdct(tf.constant(SIGNAL[:, :24]), 8, window_fn=None, norm="ortho", pad_end=True),
        tf.signal.inverse_mdct(tf.constant(FRAMES[..., :4])),
        tf.signal.inverse_mdct(tf.constant(FRAMES[..., :4]), norm="ortho"),
    ],
}

TOLD_WHEN_RUN: dict[str, Program] = {
    "frames": lambda tf: tf.signal.frame(unknown(tf, None, None), 8, 3),
    "padded frames": lambda tf: tf.signal.frame(unknown(tf, 2, None), 8, 3, pad_end=True, pad_value=1),
    "frames of the first axis": lambda tf: tf.signal.frame(unknown(tf, None, None), 2, 1, axis=0),
    "stft": lambda tf: tf.signal.stft(unknown(tf, None, None), 8, 4),
    "cosines": lambda tf: [tf.signal.dct(unknown(tf, None, None)), tf.signal.idct(unknown(tf, None, None))],
    "mfccs": lambda tf: tf.signal.mfccs_from_log_mel_spectrograms(unknown(tf, None, None)),
}


@pytest.mark.parametrize("name", KNOWN)
def test_of_known_shapes(name: str) -> None:
    built = build(KNOWN[name], ours)
    _expect_close(built.run())


@pytest.mark.parametrize("name", TOLD_WHEN_RUN)
def test_of_shapes_that_only_a_run_tells(name: str) -> None:
    built = build(TOLD_WHEN_RUN[name], ours)
    names = [op.name for op in built.graph.operations if op.type == "Placeholder"]
    _expect_close(built.run(feeds={f"{placeholder}:0": SIGNAL for placeholder in names}))


def _expect_close(pairs: list[tuple[Any, Any]]) -> None:
    for ours_, theirs in pairs:
        mine, others = (value if isinstance(value, list) else [value] for value in (ours_, theirs))
        for found, expected in zip(mine, others, strict=True):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * float(np.abs(expected).max()))


def test_frames_put_together_are_the_signal_again() -> None:
    def program(tf: Any) -> Any:
        frames = tf.signal.stft(unknown(tf, None, None), 8, 4)
        return tf.signal.inverse_stft(frames, 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))

    with ours.Graph().as_default(), ours.Session() as session:
        found = session.run(program(ours), {"x:0": SIGNAL})
    np.testing.assert_allclose(found[:, 4:-4], SIGNAL[:, 4 : found.shape[1] - 4], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", spectra.__all__)
def test_signatures_are_those_of_compat_v1(name: str) -> None:
    mine, other = inspect.signature(getattr(ours.signal, name)), inspect.signature(getattr(tf.compat.v1.signal, name))
    assert list(mine.parameters) == list(other.parameters)


@pytest.mark.parametrize(
    "program",
    [
        lambda tf: tf.signal.dct(tf.constant(SIGNAL), 5),
        lambda tf: tf.signal.dct(tf.constant(SIGNAL), 1, norm="ortho"),
        lambda tf: tf.signal.dct(tf.constant(SIGNAL), n=0),
        lambda tf: tf.signal.dct(tf.constant(SIGNAL), norm="other"),
        lambda tf: tf.signal.linear_to_mel_weight_matrix(0),
        lambda tf: tf.signal.linear_to_mel_weight_matrix(lower_edge_hertz=-1.0),
        lambda tf: tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5000.0),
        lambda tf: tf.signal.mdct(tf.constant(SIGNAL), 6),
        lambda tf: tf.signal.kaiser_window(6, dtype=tf.int32),
    ],
)
def test_what_tensorflow_refuses_is_refused(program: Program) -> None:
    with ours.Graph().as_default(), pytest.raises(TensorKeepError):
        program(ours)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=" "):
        program(tf.compat.v1)
