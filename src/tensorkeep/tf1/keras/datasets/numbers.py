"""Prices of houses by thirteen numbers that describe them."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.keras.datasets.images import Pairs
from tensorkeep.tf1.keras.datasets.kept_files import load_archive

_ORIGIN: Final = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/boston_housing.npz"


def load_houses(path: PathLike = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> Pairs:
    """`boston_housing.load_data`: in an order drawn by the seed; the last part is to test with."""
    if not 0 <= test_split < 1:
        raise InvalidArgumentError(f"test_split is from 0 to 1, got {test_split}")
    x, y = load_archive(path, _ORIGIN, ("x", "y"))
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    count = int(len(x) * (1 - test_split))
    return (np.array(x[:count]), np.array(y[:count])), (np.array(x[count:]), np.array(y[count:]))
