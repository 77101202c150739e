"""The inputs of `saved_model_cli run`: TensorFlow's forms and words."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.files.numpy_files import write_npy
from tensorkeep.proto.messages import Example, parse
from tensorkeep.saved_model.show.run_inputs import (
    BadInputError,
    collect_inputs,
    encode_example,
    load_input,
    parse_examples,
    parse_expressions,
    parse_inputs,
)
from tests.io.files.test_numpy_files import npz, stored


def test_files_with_and_without_names():
    assert parse_inputs("a=x.npy;b=/tmp/y.npz[c];") == {"a": ("x.npy", None), "b": ("/tmp/y.npz", "c")}


@pytest.mark.parametrize("text", ["a", "=x", "a=x[", "a=x[]", "a=[b]"])
def test_files_in_another_form_are_refused(text):
    with pytest.raises(
        RuntimeError, match=r'--inputs ".*" format is incorrect\. Please follow"<input_key>=<filename>"'
    ):
        parse_inputs(text)


def test_expressions_by_key():
    found = parse_expressions("a=[1, 2];b=np.ones(2);c='x=y'")
    assert found["a"] == [1, 2]
    assert np.array_equal(found["b"], np.ones(2))
    assert found["c"] == "x=y"


@pytest.mark.parametrize(
    ("text", "words"), [("abc", "format is incorrect"), ("a=import os", "not a valid python literal")]
)
def test_other_expressions_are_refused(text, words):
    with pytest.raises(BadInputError, match=words):
        parse_expressions(text)


def test_examples_take_the_type_of_the_first_value():
    (data,) = parse_examples('x=[{"f": [0.5, 1], "s": ["a", "ü"], "b": [b"z"], "i": [3]}]')["x"]
    features = parse(Example, data, "it").features.feature
    assert list(features["f"].float_list.value) == [0.5, 1.0]
    assert list(features["s"].bytes_list.value) == [b"a", "ü".encode()]
    assert list(features["b"].bytes_list.value) == [b"z"]
    assert list(features["i"].int64_list.value) == [3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('x={"f": [1]}', "tf.Example input must be a list of dictionaries"),
        ("x=[1]", "must be a dictionary"),
        ('x=[{"f": 1}]', "feature value must be a list"),
        ('x=[{"f": [None]}]', "is not supported for tf.train.Feature"),
    ],
)
def test_other_examples_are_refused(text, words):
    with pytest.raises(InvalidArgumentError, match=words):
        parse_examples(text)


def test_values_of_two_types_are_refused():
    with pytest.raises(WrongTypeError):
        encode_example({"f": [1, "a"]})


def warned() -> tuple[list[str], object]:
    found: list[str] = []
    return found, found.append


def test_the_array_of_an_archive_is_chosen_by_name():
    fs = stored(npz(a=np.ones(1), b=np.zeros(1)))
    warnings, warn = warned()
    assert load_input("x", "b", fs, False, warn).tolist() == [0.0]
    with pytest.raises(RuntimeError, match='Input file x does not contain variable with name "zz"'):
        load_input("x", "zz", fs, False, warn)
    with pytest.raises(RuntimeError, match="Input file x contains more than one ndarrays"):
        load_input("x", None, fs, False, warn)
    assert load_input("x", None, stored(npz(a=np.ones(1))), False, warn).tolist() == [1.0]
    assert warnings == []


def test_the_name_of_an_array_in_a_file_of_one_is_ignored_with_a_word():
    fs = MemoryFileSystem()
    write_npy("x", np.ones(1), fs)
    warnings, warn = warned()
    assert load_input("x", "b", fs, False, warn).tolist() == [1.0]
    assert warnings == ['Input file x contains a single ndarray. Name key "b" ignored.']


def test_a_pickle_is_refused_with_the_reason_and_the_flag():
    fs = stored(pickle.dumps({"a": np.ones(1)}))
    with pytest.raises(BadInputError, match=r"runs the Python code in it.*--allow_pickle allows it"):
        load_input("x", "a", fs, False, print)
    assert load_input("x", "a", fs, True, print).tolist() == [1.0]


def test_later_kinds_win_with_a_word():
    warnings, warn = warned()
    found = collect_inputs({"a": 1, "b": 1, "c": 1}, {"b": 2, "c": 2}, {"c": 3}, warn)
    assert found == {"a": 1, "b": 2, "c": 3}
    assert len(warnings) == 3
