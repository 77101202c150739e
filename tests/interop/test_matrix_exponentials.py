"""Exponentials of matrices beside TensorFlow's, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as their_tf

import tensorkeep.v1 as our_tf

RANDOM = np.random.default_rng(8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 6.0])
def test_exponentials_and_gradients(dtype: Any, scale: float) -> None:
    matrices: Any = RANDOM.normal(size=(2, 3, 3)) * scale * np.array([1.0, 0.1])[:, None, None]
    if np.issubdtype(dtype, np.complexfloating):
        matrices = matrices * (1 + 0.5j)
    found = []
    for tf in (our_tf, their_tf):
        with tf.Graph().as_default(), tf.Session() as session:
            given = tf.constant(matrices.astype(dtype))
            value = tf.linalg.expm(given)
            assert value.shape.as_list() == [2, 3, 3]
            found.append(session.run([value, tf.gradients(tf.real(value), given)[0]]))
    tolerance = 1e-9 if dtype in (np.float64, np.complex128) else 2e-3
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


def test_exponentials_of_nothing_and_of_what_is_not_square() -> None:
    with our_tf.Graph().as_default(), our_tf.Session() as session:
        assert session.run(our_tf.linalg.expm(np.zeros([2, 0, 0], np.float32))).shape == (2, 0, 0)
        np.testing.assert_array_equal(session.run(our_tf.linalg.expm(np.zeros([2, 2]))), np.eye(2))
        with pytest.raises(ValueError, match="square matrices"):
            our_tf.linalg.expm(np.zeros([2, 3]))
