"""Tensors of a model by their names, of any shapes: nothing that the model says of shapes counts."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tests.saved_model.handmade import meta_graph_of, placeholder, write_model
from tests.support.golden import golden

KERAS = (["serving_default_a:0", "serving_default_b:0"], ["StatefulPartitionedCall_1:0"])


def test_the_first_operation_that_cannot_take_a_shape_fails_also_in_a_function() -> None:
    with load_saved_model(golden("g29_keras_dense") / "model") as model:
        run = model.prepared_tensors(*KERAS)
        with pytest.raises(InvalidArgumentError) as caught:
            run([np.zeros((2, 2), np.float32), np.zeros((2, 2), np.float32)])
    assert str(caught.value).startswith("Matrix size-incompatible: In[0]: [2, 4], In[1]: [6, 8]\n")


def test_arrays_that_do_not_go_together_are_told_in_the_words_of_tensorflow() -> None:
    with load_saved_model(golden("g29_keras_dense") / "model") as model:
        run = model.prepared_tensors(*KERAS)
        with pytest.raises(InvalidArgumentError, match=r"^ConcatOp : Dimension 0 in both shapes must be equal: shape"):
            run([np.zeros((2, 4), np.float32), np.zeros((3, 2), np.float32)])
        with pytest.raises(InvalidArgumentError, match=r"^ConcatOp : Ranks of all input tensors should match: shape"):
            run([np.zeros(4, np.float32), np.zeros((3, 2), np.float32)])


def test_a_function_that_took_a_wrong_shape_still_takes_the_right_one() -> None:
    with load_saved_model(golden("g29_keras_dense") / "model") as model:
        run = model.prepared_tensors(*KERAS)
        right = [np.ones((2, 4), np.float32), np.ones((2, 2), np.float32)]
        before = run(right)[0]
        with pytest.raises(InvalidArgumentError):
            run([np.zeros((2, 2), np.float32), np.zeros((2, 2), np.float32)])
        np.testing.assert_array_equal(run(right)[0], before)


def test_nothing_is_concluded_from_shapes_that_the_graph_is_wrong_about() -> None:
    fs = MemoryFileSystem()
    with building(Graph()) as graph:
        x = placeholder("x", None, 3)
        size = get_op("Shape")(x)
        exp = get_op("Exp")(x)
        row = get_op("Const")(value=tensor_of_array(np.ones((1, 3), np.float32)), dtype=x.dtype)
        total = get_op("AddV2")(exp, row, name="total")
    directory = write_model(meta_graph_of(graph, {"x": x}, {"size": size, "total": total}), fs)
    with load_saved_model(directory, fs=fs) as model:
        run = model.prepared_tensors(["x:0"], [size.name, "total:0"])
        for value in (np.zeros((2, 3), np.float32), np.zeros(3, np.float32), np.zeros((), np.float32)):
            found, summed = run([value])
            assert list(found) == list(value.shape)
            np.testing.assert_array_equal(summed, np.exp(value) + np.ones((1, 3)))
