"""Where a checkpoint has the values of a graph's variables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorkeep as tk
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.rewriting.freezing import VariableNode
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import MetaGraphDef, VariableDef
from tensorkeep.saving.stored_values import by_any_name, parts_of_meta_graph, read_stored, stored_values
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape
from tests.support.golden import expected, golden

FLOAT = DType.of("float32")


def variable(name: str, shape: tuple[int, ...] | None = None, shared_name: str = "") -> VariableNode:
    return VariableNode(name, FLOAT, UNKNOWN_SHAPE if shape is None else Shape(shape), True, "", shared_name)


def saved(tensors: dict[str, np.ndarray]) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    tk.save_checkpoint("model", tensors, fs=fs)
    return fs


def found(variables: list[VariableNode], tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    with tk.open_checkpoint("model", fs=saved(tensors)) as reader:
        return read_stored(reader, stored_values(variables, variables, reader))


def test_a_variable_is_found_by_its_name_or_by_what_a_session_calls_it() -> None:
    tensors = {"a": np.ones(2, np.float32), "real": np.zeros(3, np.float32)}
    values = found([variable("a"), variable("node", shared_name="real"), variable("missing")], tensors)
    assert set(values) == {"a", "node"}
    np.testing.assert_array_equal(values["node"], tensors["real"])


@given(st.data())
def test_parts_are_the_slices_of_the_whole_in_the_order_of_their_numbers(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=12), label="sizes of the parts")
    axis = data.draw(st.integers(0, 1))
    other = data.draw(st.integers(1, 5))
    shape = (sum(sizes), other) if axis == 0 else (other, sum(sizes))
    whole = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    parts = np.split(whole, np.cumsum(sizes)[:-1], axis)
    variables = [variable(f"w/part_{i}", part.shape) for i, part in enumerate(parts)]
    values = found(data.draw(st.permutations(variables)), {"w": whole})
    for i, part in enumerate(parts):
        np.testing.assert_array_equal(values[f"w/part_{i}"], part)


def test_parts_that_do_not_make_up_the_whole_are_refused() -> None:
    for shapes in ([(2, 3), (1, 3)], [(2, 3), (2, 2)], [(2, 3), None]):
        parts = [variable(f"w/part_{i}", shape) for i, shape in enumerate(shapes)]
        with pytest.raises(InvalidArgumentError, match=r"do not make up along one axis.*meta graph"):
            found(parts, {"w": np.zeros((4, 3), np.float32)})


def test_a_part_that_is_stored_under_its_own_name_is_taken_as_it_is() -> None:
    values = found([variable("w/part_0", (2,))], {"w": np.zeros(9, np.float32), "w/part_0": np.ones(2, np.float32)})
    np.testing.assert_array_equal(values["w/part_0"], [1, 1])


def test_a_meta_graph_says_what_is_a_part_of_what() -> None:
    meta_graph = MetaGraphDef()
    part = VariableDef(variable_name="scope/w/part_1:0")
    info = part.save_slice_info_def
    info.full_name = "w"
    info.full_shape.extend([4, 3])
    info.var_offset.extend([2, 0])
    info.var_shape.extend([2, 3])
    collection = meta_graph.collection_def["variables"].bytes_list.value
    collection.extend([part.SerializeToString(), VariableDef(variable_name="x:0").SerializeToString(), b"\xff not one"])
    parts = parts_of_meta_graph(meta_graph)
    assert list(parts) == ["scope/w/part_1"]
    whole = np.arange(12, dtype=np.float32).reshape(4, 3)
    with tk.open_checkpoint("model", fs=saved({"w": whole})) as reader:
        stored = stored_values([variable("scope/w/part_1")], [], reader, parts)
        np.testing.assert_array_equal(read_stored(reader, stored)["scope/w/part_1"], whole[2:])


def test_variables_in_an_object_based_checkpoint_go_by_the_names_they_had() -> None:
    case = "g34_tf2_checkpoint"
    folder = golden(case)
    prefix = next(path for path in sorted(folder.rglob("*.index")))
    with tk.open_checkpoint(str(prefix).removesuffix(".index")) as reader:
        names = tk.ObjectGraph.read(reader).keys_by_full_name()
        seen = by_any_name(reader)
        assert set(reader) <= set(seen)
        name, key = next((name, key) for name, key in names.items() if name and key in reader)
        np.testing.assert_array_equal(seen.read(name), reader.read(key))
    assert expected(case)["tensorflow"]
