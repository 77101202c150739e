"""What the tensors of an object-based checkpoint are called: as their variables were, each once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep import MemoryFileSystem, named_variables, open_checkpoint, save_checkpoint, variable_names
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.proto.messages import TrackableObjectGraph, serialize
from tests.support.golden import golden

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
KERAS = {
    "g29_keras_dense": (
        "h/bias",
        "h/kernel",
        "probs/bias",
        "probs/kernel",
        "score/bias",
        "score/kernel",
        "seed_generator/seed_generator_state",
    ),
    "g32_keras_strings": ("embedding/embeddings", "out/bias", "out/kernel"),
}


def stored(fs: MemoryFileSystem, variables: Mapping[str, tuple[str, object]]) -> tk.CheckpointReader:
    """A checkpoint of objects: by path, the name of each variable and its value."""
    graph = TrackableObjectGraph()
    numbers = {"": 0}
    graph.nodes.add()
    for path, (name, _) in variables.items():
        above = ""
        for step in path.split("/"):
            below = f"{above}/{step}" if above else step
            if below not in numbers:
                numbers[below] = len(graph.nodes)
                graph.nodes.add()
                graph.nodes[numbers[above]].children.add(local_name=step, node_id=numbers[below])
            above = below
        graph.nodes[numbers[path]].attributes.add(name="VARIABLE_VALUE", full_name=name, checkpoint_key=path + VALUE)
    tensors = {path + VALUE: np.asarray(value, np.float32) for path, (_, value) in variables.items()}
    save_checkpoint("m", {**tensors, OBJECT_GRAPH_KEY: np.array(serialize(graph), object)}, fs=fs)
    return open_checkpoint("m", fs=fs)


@pytest.mark.parametrize("case", KERAS)
def test_an_export_of_keras_has_every_variable_once_by_the_name_that_keras_gave_it(case: str) -> None:
    with named_variables(open_checkpoint(golden(case) / "model")) as reader:
        assert tuple(reader) == KERAS[case]


@pytest.mark.parametrize("case", ["g29_keras_dense", "g30_keras_conv_bn", "g31_keras_lstm", "g32_keras_strings"])
def test_every_tensor_of_an_export_of_keras_is_a_variable_or_its_copy(case: str) -> None:
    with open_checkpoint(golden(case) / "model") as reader:
        names = variable_names(reader)
        assert names is not None
        assert not names.shared
        assert {*names.keys.values(), *names.copies, OBJECT_GRAPH_KEY} == set(reader)
        assert not [name for name in names.keys if "ATTRIBUTES" in name or name.startswith(("variables/", "_all"))]
        for copy, name in names.copies.items():
            np.testing.assert_array_equal(reader.read(copy), reader.read(names.keys[name]))


def test_variables_are_read_by_their_names() -> None:
    with open_checkpoint(golden("g29_keras_dense") / "model") as reader:
        kernel = reader.read("variables/0" + VALUE)
        np.testing.assert_array_equal(named_variables(reader).read("h/kernel"), kernel)


def test_a_checkpoint_of_names_is_as_it_is() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("m", {"a": 1.0}, fs=fs)
    reader = open_checkpoint("m", fs=fs)
    assert named_variables(reader) is reader
    assert variable_names(reader) is None


def test_different_variables_of_one_name_go_by_their_paths() -> None:
    names = variable_names(stored(MemoryFileSystem(), {"list/0": ("Variable", 1), "list/1": ("Variable", 2)}))
    assert names is not None
    assert list(names.keys) == ["list/0", "list/1"]
    assert names.shared == {"Variable": ("list/0", "list/1")}


def test_variables_that_happen_to_be_equal_are_not_taken_for_one() -> None:
    names = variable_names(stored(MemoryFileSystem(), {"a/w": ("Variable", [0, 0]), "b/w": ("Variable", [0, 0])}))
    assert names is not None
    assert list(names.keys) == ["a/w", "b/w"]
    assert not names.copies


def test_a_second_list_of_keras_with_other_values_is_told_apart() -> None:
    variables = {"variables/0": ("dense/kernel", [1, 2]), "_all_variables/0": ("dense/kernel", [1, 3])}
    names = variable_names(stored(MemoryFileSystem(), variables))
    assert names is not None
    assert list(names.keys) == ["_all_variables/0", "variables/0"]


def test_variables_without_names_go_by_their_paths_and_never_take_the_name_of_another() -> None:
    variables = {"step": ("", 1), "model/w": ("step", 2), "other": ("", 3)}
    names = variable_names(stored(MemoryFileSystem(), variables))
    assert names is not None
    assert dict(names.keys) == {"other": "other" + VALUE, "step": "model/w" + VALUE, "step" + VALUE: "step" + VALUE}


def test_what_tables_save_goes_by_their_paths() -> None:
    with named_variables(open_checkpoint(golden("g34_tf2_checkpoint") / "written")) as reader:
        tables = [name for name in reader if "table" in name]
        assert tables == ["root_dir/table.table-keys", "root_dir/table.table-values"]


def test_the_same_is_told_of_a_checkpoint_of_the_first_version(tmp_path: Path) -> None:
    source = golden("g29_keras_dense") / "model"
    tk.edit.convert_format(source, tmp_path / "m", tk.CheckpointFormat.V1)
    with named_variables(open_checkpoint(tmp_path / "m")) as reader:
        assert tuple(reader) == KERAS["g29_keras_dense"]
