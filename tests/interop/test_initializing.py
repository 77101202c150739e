"""Variables that begin as tensors of a checkpoint: the same nodes as TensorFlow's, the same values, the same errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep
import tensorkeep.v1 as tk1
from tensorkeep.graph import building
from tensorkeep.graph.graph import Graph
from tensorkeep.v1.stored import checkpoints
from tests.interop.programs import build, tensorflow_1, v1
from tests.interop.test_checkpoint_readers import V1, V1_SHARDED


class Ours:
    """What programs call `tf`."""

    train = checkpoints

    def __getattr__(self, name: str) -> Any:
        return getattr(tk1, name)


OURS = Ours()
TENSORS = {
    "old/a": np.array([1.5, 2.5], np.float32),
    "old/b": np.arange(12, dtype=np.float32).reshape(6, 2),
    "old/deep/c": np.array(7, np.int64),
    "a": np.array([3.5, 4.5], np.float32),
    "b": -np.arange(12, dtype=np.float32).reshape(6, 2),
    "root": np.array(9.0, np.float32),
    "pair": np.array([[5.0, 6.0]], np.float32),
    "words": np.arange(8, dtype=np.float32).reshape(4, 2),
    "classes": np.arange(12, dtype=np.float32).reshape(3, 4),
}


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return tensorkeep.save_checkpoint(tmp_path / "m", TENSORS)


def variables(tf: Any, resource: bool) -> dict[str, Any]:
    with tf.variable_scope("new", use_resource=resource, initializer=tf.zeros_initializer()):
        a = tf.get_variable("a", [2])
        b = tf.get_variable("b", [6, 2], partitioner=tf.fixed_size_partitioner(4))
        with tf.variable_scope("deep"):
            c = tf.get_variable("c", [], tf.int64)
    with tf.device("/device:CPU:0"):
        root = tf.get_variable("root", [], initializer=tf.zeros_initializer(), use_resource=resource)
    plain = tf.Variable([0.0, 0.0], name="plain", use_resource=resource)
    return {"a": a, "b": b, "c": c, "root": root, "plain": plain}


MAPS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "scope to scope": lambda made: {"old/": "new/"},
    "scope to scope below": lambda made: {"old/deep/": "new/deep/"},
    "name to name": lambda made: {"old/a": "new/a", "root": "root"},
    "name to partitioned name": lambda made: {"old/b": "new/b"},
    "name to variable": lambda made: {"a": made["plain"], "old/a": made["a"]},
    "name to parts": lambda made: {"b": list(made["b"])},
    "name to some parts": lambda made: {"b": list(made["b"])[1:3]},
    "name to part by name": lambda made: {"pair": "new/b/part_3"},
    "several in any order": lambda made: {"root": made["root"], "a": "new/a", "old/b": "new/b"},
    "pairs": lambda made: [("a", "new/a"), ("root", "root"), ("a", made["plain"])],
    "empty": lambda made: {},
}


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("form", MAPS)
def test_every_form_of_a_map_gives_the_same_nodes_and_values(checkpoint, form, resource):
    def program(tf: Any) -> Any:
        made = variables(tf, resource)
        tf.train.init_from_checkpoint(checkpoint, MAPS[form](made))
        tf.global_variables_initializer()
        return [tf.identity(variable) for variable in made.values()]

    build(program, OURS).expect_same_values(prepare="init")


@pytest.mark.parametrize("resource", [False, True])
def test_the_root_of_the_checkpoint_goes_to_a_scope(checkpoint, resource):
    def program(tf: Any) -> Any:
        with tf.variable_scope("new", use_resource=resource):
            made = [tf.get_variable("a", [2]), tf.get_variable("b", [6, 2], partitioner=tf.fixed_size_partitioner(2))]
        tf.train.init_from_checkpoint(checkpoint, {"/": "new/"})
        tf.global_variables_initializer()
        return [tf.identity(variable) for variable in made]

    build(program, OURS).expect_same_values(prepare="init")


@pytest.mark.parametrize("target", ["/", ""])
def test_a_scope_goes_to_the_root_of_the_graph(checkpoint, target):
    def program(tf: Any) -> Any:
        made = [tf.get_variable("a", [2]), tf.get_variable("b", [6, 2])]
        tf.train.init_from_checkpoint(checkpoint, {"old/": target})
        tf.global_variables_initializer()
        return [tf.identity(variable) for variable in made]

    if target:
        build(program, OURS).expect_same_values(prepare="init")
    else:
        assert message(OURS, program) == message(v1, program)


@pytest.mark.parametrize("options", [tensorkeep.SaveOptions(), V1, V1_SHARDED])
def test_a_folder_stands_for_its_latest_of_either_format(tmp_path, options):
    path = tensorkeep.save_checkpoint(tmp_path / "m", TENSORS, options)
    tensorkeep.write_checkpoint_state(tmp_path, path)

    def program(tf: Any) -> Any:
        made = tf.get_variable("a", [2])
        tf.train.init_from_checkpoint(str(tmp_path), {"old/a": "a"})
        tf.global_variables_initializer()
        return [tf.identity(made)]

    build(program, OURS).expect_same_values(prepare="init")


@pytest.mark.parametrize("resource", [False, True])
def test_the_variable_names_its_new_initializer(checkpoint, resource):
    """A meta graph holds these names."""
    names = []
    for module in (OURS, v1):
        with tensorflow_1(), building.building(Graph()), tf.Graph().as_default():
            variable = module.get_variable("a", [2], use_resource=resource)
            module.train.init_from_checkpoint(checkpoint, {"old/a": variable})
            proto = variable.to_proto()
            names.append((proto.initializer_name, proto.initial_value_name, variable.initializer.name))
    assert names[0] == names[1]


def message(module: Any, program: Callable[[Any], None]) -> str:
    with tensorflow_1(), building.building(Graph()), tf.Graph().as_default():
        try:
            program(module)
        except ValueError as error:
            return str(error)
    raise AssertionError("it was not refused")


WRONG: dict[str, Any] = {
    "a tensor that is not there": {"old/zz": "new/a"},
    "a shape that does not fit": {"old/a": "new/three"},
    "a scope without a slash": {"old/a": "nowhere"},
    "a scope without a slash in a scope": {"old/a": "new/nowhere"},
    "a scope that lacks a tensor": {"old/": "new/"},
}


@pytest.mark.parametrize("case", WRONG)
def test_the_words_for_what_is_wrong_are_the_same(checkpoint, case):
    def program(tf: Any) -> None:
        with tf.variable_scope("new"):
            tf.get_variable("a", [2])
            tf.get_variable("three", [3])
        tf.train.init_from_checkpoint(checkpoint, WRONG[case])

    assert message(OURS, program) == message(v1, program)


def test_slices_of_different_variables_are_refused_alike(checkpoint):
    def program(tf: Any) -> None:
        halves = tf.fixed_size_partitioner(2)
        parts = [next(iter(tf.get_variable(name, [6, 2], partitioner=halves))) for name in ("x", "y")]
        tf.train.init_from_checkpoint(checkpoint, {"b": parts})

    assert message(OURS, program) == message(v1, program)


def test_everything_that_is_wrong_is_named_and_nothing_is_changed(checkpoint):
    with building.building(Graph()) as graph:
        first = tk1.get_variable("a", [2])
        tk1.get_variable("x", [3])
        before, count = first.initializer, len(graph.operations)
        with pytest.raises(tensorkeep.InvalidArgumentError) as caught:
            checkpoints.init_from_checkpoint(checkpoint, {"a": "a", "old/a": "x", "zz": "x", "old/yy": "a"})
        assert [bool(re.search(word, str(caught.value))) for word in ("old/a", "zz", "old/yy")] == [True] * 3
        assert first.initializer is before
        assert len(graph.operations) == count


@pytest.mark.parametrize("resource", [False, True])
def test_a_wrong_shape_in_a_scope_is_found_at_once_and_not_taken(checkpoint, resource):
    def program(tf: Any) -> None:
        with tf.variable_scope("new", use_resource=resource):
            tf.get_variable("a", [5])
        tf.train.init_from_checkpoint(checkpoint, {"old/": "new/"})

    with tensorflow_1(), tf.Graph().as_default():
        program(v1)  # which fails when run or, for a resource variable, takes the shape
    assert "Shape of variable new/a:0 ((5,)) doesn't match" in message(OURS, program)


# Warm starting


def write_lines(path: Path, words: str) -> str:
    path.write_text("".join(f"{word}\n" for word in words.split()))
    return str(path)


WARM: dict[str, Callable[[Any], dict[str, Any]]] = {
    "all trainable": lambda tf: {},
    "none without a vocabulary": lambda tf: {"vars_to_warm_start": None},
    "by an expression": lambda tf: {"vars_to_warm_start": ".*a"},
    "by expressions over all": lambda tf: {"vars_to_warm_start": ["fixed", "a"]},
    "variables": lambda tf: {"vars_to_warm_start": [v for v in tf.global_variables() if v.op.name != "b/part_0"][:1]},
    "under other names": lambda tf: {"var_name_to_prev_var_name": {"a": "old/a", "b": "old/b"}},
    "one tensor for two": lambda tf: {
        "vars_to_warm_start": ["a", "fixed", "b"],
        "var_name_to_prev_var_name": {"a": "old/a", "fixed": "old/a", "b": "old/b"},
    },
}


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("form", WARM)
def test_warm_starts_give_the_same_nodes_and_values(tmp_path, form, resource):
    path = tensorkeep.save_checkpoint(tmp_path / "m", {**TENSORS, "fixed": np.array([8.0, 9.0], np.float32)})

    def program(tf: Any) -> Any:
        tf.get_variable_scope().set_use_resource(resource)
        zeros = tf.zeros_initializer()
        made = [
            tf.get_variable("a", [2], initializer=zeros),
            tf.get_variable("b", [6, 2], initializer=zeros, partitioner=tf.fixed_size_partitioner(3)),
            tf.get_variable("fixed", [2], initializer=zeros, trainable=False),
        ]
        tf.train.warm_start(path, **WARM[form](tf))
        tf.global_variables_initializer()
        return [tf.identity(variable) for variable in made]

    build(program, OURS).expect_same_values(prepare="init")


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("oov", [0, 2])
@pytest.mark.parametrize("backup", [False, True])
def test_rows_follow_their_words(tmp_path, checkpoint, resource, parts, oov, backup):
    old, new = write_lines(tmp_path / "old", "ant bee cat dog"), write_lines(tmp_path / "new", "cat eel ant fox bee")

    def program(tf: Any) -> Any:
        tf.get_variable_scope().set_use_resource(resource)
        cut = tf.fixed_size_partitioner(parts) if parts > 1 else None
        zeros = tf.zeros_initializer()
        words = tf.get_variable("words", [5 + oov, 2], initializer=zeros, partitioner=cut)
        other = tf.get_variable("a", [2], initializer=zeros)
        initializer = tf.truncated_normal_initializer(seed=4) if backup else None
        info = tf.train.VocabInfo(new, 5, oov, old, backup_initializer=initializer)
        tf.train.warm_start(checkpoint, ".*", {"words": info}, {"a": "old/a"})
        tf.global_variables_initializer()
        return [tf.identity(words), tf.identity(other)]

    build(program, OURS).expect_same_values(prepare="init")


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("oov", [0, 1])
def test_columns_follow_their_words(tmp_path, checkpoint, parts, oov):
    old, new = write_lines(tmp_path / "old", "ant bee cat dog"), write_lines(tmp_path / "new", "dog eel bee")

    def program(tf: Any) -> Any:
        cut = tf.fixed_size_partitioner(parts) if parts > 1 else None
        classes = tf.get_variable("classes", [3, 3 + oov], initializer=tf.zeros_initializer(), partitioner=cut)
        info = tf.train.VocabInfo(new, 3, oov, old, axis=1, backup_initializer=tf.ones_initializer())
        tf.train.warm_start(checkpoint, None, {"classes": info})
        tf.global_variables_initializer()
        return [tf.identity(classes)]

    build(program, OURS).expect_same_values(prepare="init")


def test_only_the_first_words_of_the_old_vocabulary_count(tmp_path, checkpoint):
    old, new = write_lines(tmp_path / "old", "ant bee cat dog"), write_lines(tmp_path / "new", "cat bee ant")

    def program(tf: Any) -> Any:
        words = tf.get_variable("table", [3, 2], initializer=tf.zeros_initializer())
        info = tf.train.VocabInfo(new, 3, 0, old, old_vocab_size=2)
        tf.train.warm_start(checkpoint, ".*", {"table": info}, {"table": "words"})
        tf.global_variables_initializer()
        return [tf.identity(words)]

    build(program, OURS).expect_same_values(prepare="init")


def test_a_checkpoint_of_objects_is_known_by_the_names_of_its_variables(tmp_path):
    with tf.Graph().as_default():
        saved = v1.get_variable("a", initializer=np.array([1.0, 2.0], np.float32), use_resource=True)
        with v1.Session() as session:
            session.run(saved.initializer)
            path = v1.train.Checkpoint(model=saved).save(str(tmp_path / "objects"), session=session)

    def program(tf: Any) -> Any:
        made = tf.get_variable("a", [2], use_resource=True)
        tf.train.warm_start(path)
        tf.global_variables_initializer()
        return [tf.identity(made)]

    build(program, OURS).expect_same_values(prepare="init")

    def other(tf: Any) -> None:
        tf.get_variable("elsewhere", [2])
        tf.train.warm_start(path)

    assert message(OURS, other) == message(v1, other)


REFUSED: dict[str, Callable[[Any], dict[str, Any]]] = {
    "names that are not used": lambda tf: {"var_name_to_prev_var_name": {"zz": "a"}},
    "vocabularies that are not used": lambda tf: {
        "var_name_to_vocab_info": {"zz": tf.train.VocabInfo("x", 1, 0, "y")},
    },
    "a list of different things": lambda tf: {"vars_to_warm_start": ["a", 3]},
    "neither text nor list": lambda tf: {"vars_to_warm_start": 3},
    "an axis that is not there": lambda tf: {
        "var_name_to_vocab_info": {"a": tf.train.VocabInfo("x", 1, 0, "y", axis=2)},
    },
    "no size": lambda tf: {"var_name_to_vocab_info": {"a": tf.train.VocabInfo("x", 0, 0, "y")}},
    "too many columns": lambda tf: {"var_name_to_vocab_info": {"b": tf.train.VocabInfo("x", 9, 0, "y", axis=1)}},
    "too few rows": lambda tf: {"var_name_to_vocab_info": {"b": tf.train.VocabInfo("x", 3, 1, "y")}},
    "negative buckets": lambda tf: {"var_name_to_vocab_info": {"b": tf.train.VocabInfo("x", 3, -1, "y", axis=1)}},
}


@pytest.mark.parametrize("case", REFUSED)
def test_warm_starts_are_refused_in_the_same_words(checkpoint, case):
    def program(tf: Any) -> None:
        tf.get_variable("a", [2])
        tf.get_variable("b", [6, 2])
        tf.train.warm_start(checkpoint, **REFUSED[case](tf))

    assert message(OURS, program) == message(v1, program)


# The ops alone


class Remapped:
    """Both ops on the same files, in both libraries."""

    def __init__(self, folder: Path) -> None:
        for name, text in (
            ("old", "a\nb\nc\nd\n"),
            ("new", "c\nx\na\ny\nb"),
            ("twice", "a\nb\na\n"),
            ("empty", ""),
            ("blank", "a\n\nb\n"),
            ("windows", "a\r\nb\r\n"),
        ):
            (folder / name).write_text(text, newline="")
        matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
        self.folder = folder
        tensorkeep.save_checkpoint(folder / "m", {"w": matrix, "v": matrix[0], "i": np.zeros((2, 2), np.int64)})

    def outcome(self, run: Callable[[Any], Any], module: Any) -> Any:
        try:
            with tensorflow_1(), building.building(Graph()), tf.Graph().as_default():
                fetched = run(module.raw_ops)
                with module.Session() as session:
                    found = session.run(fetched)
        except Exception as error:
            return type(error).__name__
        return [np.asarray(item).tolist() for item in (found if isinstance(found, list | tuple) else [found])]


VOCABULARIES = [
    {},
    {"num_new_vocab": 0},
    {"new_vocab_offset": 2, "num_new_vocab": 2},
    {"num_new_vocab": 9},
    {"old_vocab_size": 2},
    {"old_vocab_size": 9},
    {"old_vocab_size": 0},
    {"old": "twice"},
    {"new": "twice", "num_new_vocab": 3},
    {"old": "empty"},
    {"new": "blank", "num_new_vocab": 3},
    {"new": "windows", "num_new_vocab": 2},
    {"new": "nowhere"},
]


@pytest.mark.parametrize("given", VOCABULARIES, ids=str)
def test_generate_vocab_remapping(tmp_path, given):
    files = Remapped(tmp_path)
    attrs = {"new_vocab_offset": 0, "num_new_vocab": 5, "old_vocab_size": -1, **given}
    new, old = (str(tmp_path / attrs.pop(key, key)) for key in ("new", "old"))

    def run(raw_ops: Any) -> Any:
        return list(raw_ops.GenerateVocabRemapping(new_vocab_file=new, old_vocab_file=old, **attrs))

    ours, theirs = files.outcome(run, OURS), files.outcome(run, v1)
    assert ours == theirs or (ours, theirs) == ("MissingFileError", "NotFoundError")


MATRICES: list[dict[str, Any]] = [
    {"rows": [0, 1]},
    {"rows": [2, -1, 0], "values": [7, 8, 9]},
    {"rows": [2, -1, 0], "values": [[7], [8], [9]]},
    {"rows": [2, -1], "values": [7, 8]},
    {"rows": [2, -1], "values": [7, 8, 9, 10]},
    {"rows": [1, 0], "columns": [2, -1], "values": [5, 6]},
    {"rows": [1, -1], "columns": [2, -1, 0], "values": [5, 6, 7, 8]},
    {"rows": [0], "columns": [-1, -1, -1], "values": [1, 2, 3]},
    {"rows": [-1, -1], "values": [1] * 6},
    {"rows": [-5, 0], "values": [1, 2, 3]},
    {"rows": []},
    {"rows": [3, 0, 1, 2], "memory": 2},
    {"rows": [1, 1]},
    {"rows": [1], "columns": [1, 1]},
    {"rows": [9]},
    {"rows": [0], "num_rows": 2},
    {"rows": [0], "columns": [0], "num_cols": 2},
    {"rows": [0], "num_cols": 2},
    {"rows": [0], "name": "v"},
    {"rows": [0], "name": "i", "num_cols": 2},
    {"rows": [0], "name": "nowhere"},
    {"rows": [0], "path": "nowhere"},
]


@pytest.mark.parametrize("given", MATRICES, ids=str)
def test_load_and_remap_matrix(tmp_path, given):
    files = Remapped(tmp_path)
    rows, columns = np.array(given["rows"], np.int64), np.array(given.get("columns", []), np.int64)

    def run(raw_ops: Any) -> Any:
        return raw_ops.LoadAndRemapMatrix(
            ckpt_path=str(tmp_path / given.get("path", "m")),
            old_tensor_name=given.get("name", "w"),
            row_remapping=rows,
            col_remapping=columns,
            initializing_values=np.array(given.get("values", []), np.float32),
            num_rows=given.get("num_rows", len(rows)),
            num_cols=given.get("num_cols", len(columns) or 3),
            max_rows_in_memory=given.get("memory", -1),
        )

    ours, theirs = files.outcome(run, OURS), files.outcome(run, v1)
    assert ours == theirs or (ours, theirs) == ("MissingFileError", "NotFoundError")
