"""Nearest centers, where TensorFlow ends the process instead of answering."""

from __future__ import annotations

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry.opspec import get_op


def test_fewer_than_no_centers_is_an_error() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        nearest = get_op("NearestNeighbors")(np.ones((2, 3), np.float32), np.ones((4, 3), np.float32), -1)
        with pytest.raises(InvalidArgumentError, match=r"Expected k >= 0, got -1"):
            session.run(nearest.nearest_center_indices)
