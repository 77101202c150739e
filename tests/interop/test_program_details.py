"""What programs and libraries do beside the pages of TensorFlow, here and there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as tf
from tensorkeep.v1.programs.finding import module_at
from tests.interop.program_details import BEFORE_2, DETAILS
from tests.interop.programs import tensorflow_1

theirs = tensorflow.compat.v1


def plain(value: Any) -> Any:
    """Arrays as lists, and texts, so that both sides compare."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def assert_as_in_tensorflow(detail: Callable[..., Any]) -> None:
    with theirs.Graph().as_default():
        expected = detail(theirs, lambda path: importlib.import_module(f"tensorflow.{path}"))
    with tf.Graph().as_default():
        found = detail(tf, module_at)
    assert plain(found) == plain(expected)


@pytest.mark.parametrize("name", DETAILS)
def test_a_detail_is_as_in_tensorflow(name: str) -> None:
    assert_as_in_tensorflow(DETAILS[name])


@pytest.mark.parametrize("name", BEFORE_2)
def test_a_detail_is_as_in_tensorflow_1(name: str) -> None:
    with tensorflow_1():
        assert_as_in_tensorflow(BEFORE_2[name])
