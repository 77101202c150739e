"""The doctor's error begins with what TensorFlow says, for programs that look for its words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep import plan_restore
from tests.interop.programs import tensorflow_1

v1 = tf.compat.v1


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    with tensorflow_1(), tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("v", initializer=np.ones(2, np.float32))
        v1.get_variable("w", initializer=np.ones((2, 3), np.float32))
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver().save(session, str(tmp_path / "model")))


def their_error(checkpoint: str, wanted: dict[str, Any]) -> tf.errors.OpError:
    with tensorflow_1(), tf.Graph().as_default(), v1.Session() as session:
        for name, value in wanted.items():
            v1.get_variable(name, initializer=value)
        with pytest.raises(tf.errors.OpError) as caught:
            v1.train.Saver().restore(session, checkpoint)
        return caught.value


@pytest.mark.parametrize(
    "wanted",
    [
        {"v": np.ones(2, np.float32), "zzz": np.ones(2, np.float32)},
        {"v": np.ones(3, np.float32)},
        {"w": np.ones((3, 2), np.float32)},
        {"v": np.ones(2, np.float64)},
    ],
    ids=["missing", "shape", "shape of rank 2", "type"],
)
def test_the_error_begins_as_tensorflows_does(checkpoint: str, wanted: dict[str, Any]) -> None:
    theirs = their_error(checkpoint, wanted)
    ours = plan_restore(wanted, checkpoint).error()
    assert type(ours).__name__ == type(theirs).__name__
    preamble, original = str(ours).split("\n\n")[:2]
    assert preamble == theirs.message.split("\n\n")[0]
    # What follows there depends on where the graph was built: stack traces, the node, and then the error itself.
    assert original.startswith(theirs.message.split("\nNode: ")[1].splitlines()[1])
