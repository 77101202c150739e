"""Programs of `tf.data`, beside TensorFlow: elements, types, shapes, order and errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1
from tests.interop.dataset_programs import ENDING, PROGRAMS, UNORDERED

THEIRS: Any = tensorflow.compat.v1
OURS: Any = tensorkeep.v1
_MOST = 60


def elements(tf: Any, program: Any, folder: Path, kind: str) -> list[Any]:
    """What a dataset gives: structures of values, and the classes of errors; the end is not among them."""
    folder.mkdir(exist_ok=True)
    found: list[Any] = []
    with tf.Graph().as_default():
        tf.set_random_seed(11)
        dataset = program(tf, folder)
        if kind == "one shot":
            iterator = tf.data.make_one_shot_iterator(dataset)
        else:
            iterator = tf.data.make_initializable_iterator(dataset)
        found.append(_shown_kinds(tf, dataset))
        element = iterator.get_next()
        with session_of(tf) as session:
            if kind != "one shot":
                try:
                    session.run(iterator.initializer)
                except tf.errors.OpError as error:
                    return [*found, error.error_code]
            for _ in range(_MOST):
                try:
                    found.append(session.run(element))
                except tf.errors.OutOfRangeError:
                    return found
                except tf.errors.OpError as error:
                    found.append(error.error_code)
    return found


# To translate a function's source takes longer than to run it, and none of these needs it: ours are not translated.
_their_elements = tensorflow.autograph.experimental.do_not_convert(elements)


def session_of(tf: Any) -> Any:
    """A session that may call the program's own Python functions, which ours does only if it is told."""
    return tf.Session(allow_python=True) if tf is OURS else tf.Session()


def _shown_kinds(tf: Any, dataset: Any) -> Any:
    types, shapes = tf.data.get_output_types(dataset), tf.data.get_output_shapes(dataset)
    names = repr(tensorflow.nest.map_structure(lambda t: t.name, types))
    return names, re.sub(r"Dimension\((\w+)\)", r"\1", str(shapes)).replace("?", "None")


def same(ours: Any, theirs: Any) -> None:
    """Fails unless two structures of values are the same."""
    if hasattr(theirs, "dense_shape") or hasattr(theirs, "nested_row_splits"):
        fields = ("indices", "values", "dense_shape") if hasattr(theirs, "dense_shape") else ("values", "row_splits")
        for field in fields:
            same(getattr(ours, field), getattr(theirs, field))
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            same(ours[key], theirs[key])
    elif isinstance(theirs, tuple | list):
        assert type(ours).__name__ == type(theirs).__name__
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            same(mine, other)
    elif isinstance(theirs, str | bytes):
        assert ours == theirs
    else:
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        assert np.shape(ours) == np.shape(theirs)
        if np.asarray(theirs).dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        else:
            assert np.asarray(ours).tolist() == np.asarray(theirs).tolist()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_dataset_gives_tensorflows_elements(name: str, tmp_path: Path) -> None:
    theirs = _their_elements(THEIRS, PROGRAMS[name], tmp_path / "theirs", "initializable")
    ours = elements(OURS, PROGRAMS[name], tmp_path / "ours", "initializable")
    if name in UNORDERED:
        ours, theirs = ours[:4], theirs[:4]
    if name in ENDING:  # TensorFlow gives the error again and again, where we go on with the next file
        ours, theirs = ours[:2], theirs[:2]
    same(ours, theirs)
