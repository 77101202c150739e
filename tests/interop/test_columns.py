"""`tf.feature_column` beside TensorFlow's: the same variables, results, training steps and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1
from tests.interop.column_programs import PROGRAMS

THEIRS: Any = tensorflow.compat.v1
OURS: Any = tensorkeep.v1
pytestmark = pytest.mark.filterwarnings("ignore:.*layer.add_variable:UserWarning")  # TensorFlow's own, of itself
COLLECTIONS = ("variables", "trainable_variables", "model_variables")


def outcome(tf: Any, program: Any, folder: Path) -> dict[str, Any]:
    """Names and shapes of variables by collection, what is run before and after a step, and a checkpoint."""
    folder.mkdir(exist_ok=True)
    found: dict[str, Any] = {}
    with tf.Graph().as_default():
        outputs = program(tf, folder)
        for key in COLLECTIONS:
            found[key] = [(item.op.name, item.get_shape().as_list()) for item in tf.get_collection(key)]
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            found["values"] = [session.run(outputs), session.run(outputs)]
            if tf.global_variables():
                tf.train.Saver().save(session, str(folder / "made"), write_meta_graph=False)
            found["after"] = session.run(outputs)
    return found


def assert_same(ours: Any, theirs: Any) -> None:
    """Structures of numbers are close, those of text equal."""
    if isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    elif np.asarray(theirs).dtype.kind in "OS":
        assert np.array_equal(np.array(ours, object), np.array(theirs, object))
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_the_same_program_makes_the_same_variables_and_results(name: str, tmp_path: Path) -> None:
    theirs = outcome(THEIRS, PROGRAMS[name], tmp_path / "theirs")
    ours = outcome(OURS, PROGRAMS[name], tmp_path / "ours")
    for key in COLLECTIONS:
        assert sorted(ours[key]) == sorted(theirs[key])
    assert_same(ours["values"], theirs["values"])


@pytest.mark.parametrize("name", ["embeddings", "parts", "linear_models"])
def test_checkpoints_cross_over(name: str, tmp_path: Path) -> None:
    """What one has saved, the other restores: the next run gives what the saver's would."""
    for saver, other in ((OURS, THEIRS), (THEIRS, OURS)):
        folder = tmp_path / saver.__name__
        expected = outcome(saver, PROGRAMS[name], folder)["after"]
        with other.Graph().as_default():
            outputs = PROGRAMS[name](other, folder)
            with other.Session() as session:
                session.run([other.global_variables_initializer(), other.tables_initializer()])
                other.train.Saver().restore(session, str(folder / "made"))
                assert_same(session.run(outputs), expected)
