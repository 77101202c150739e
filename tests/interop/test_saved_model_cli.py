"""Our `saved_model_cli` beside TensorFlow's, and scans of models that TensorFlow made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import TypeAlias

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.saved_model.scan.model_scan import scan_model
from tests.interop.programs import tensorflow_1
from tests.interop.saved_model_programs import START, with_start_signature
from tests.support.depth import thinned
from tests.support.golden import ROOT
from tests.tools.test_saved_model_cli import numbers

ENVIRONMENT = {**os.environ, "PYTHONHASHSEED": "0", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
Tool: TypeAlias = Callable[..., CompletedProcess[str]]


def ours(*arguments: str) -> CompletedProcess[str]:
    command = [sys.executable, "-m", "tensorkeep.tools.saved_model_cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)


@pytest.fixture(scope="module")
def theirs() -> Iterator[Tool]:
    """TensorFlow's tool, which one process runs for all tests."""
    command = [sys.executable, "-m", "tests.interop.saved_model_cli_runs"]
    with subprocess.Popen(
        command,
        cwd=Path(__file__).parents[2],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answers = process.stdin, process.stdout

        def run(*arguments: str) -> CompletedProcess[str]:
            print(json.dumps(arguments), file=asked, flush=True)
            return CompletedProcess(arguments, *json.loads(answers.readline()))

        yield run
        asked.close()


class Varied(tf.Module):
    """Functions with arguments of all kinds."""

    def __init__(self):
        super().__init__()
        self.v = tf.Variable([1.0, 2.0])

    @tf.function
    def kinds(self, x, flag, number, text, nothing, values, mapping, *, named=None):
        return x * number + values[0] + mapping["a"]

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 4], tf.float32), tf.TensorSpec(None, tf.int32)])
    def sparse(self, s, y):
        return tf.sparse.reduce_sum(s) + tf.cast(tf.reduce_sum(y), tf.float32)

    @tf.function
    def never(self, x):
        return x


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> str:
    module = Varied()
    x = tf.constant([1.0, 2.0])
    # One entry in the mapping: the order of several is nobody's promise.
    module.kinds(x, True, 3.5, "text", None, [x, 2], {"a": x}, named=x)
    path = str(tmp_path_factory.mktemp("varied") / "model")
    tf.saved_model.save(module, path)
    return path


def test_functions_with_arguments_of_all_kinds_are_shown_alike(varied, theirs):
    words = ["show", "--dir", varied, "--all"]
    mine, other = ours(*words), theirs(*words)
    assert mine.returncode == other.returncode == 0, mine.stderr
    assert mine.stdout == other.stdout


@pytest.mark.parametrize(
    "flags", thinned([["--all"], ["--tag_set", "serve"], ["--tag_set", "serve", "--signature_def", START]], 3)
)
def test_the_signature_of_what_runs_first_is_shown_alike(flags, tmp_path, theirs):
    with tensorflow_1():
        with_start_signature(tf.compat.v1, tmp_path / "model")
    words = ["show", "--dir", str(tmp_path / "model"), *flags]
    mine, other = ours(*words), theirs(*words)
    assert mine.returncode == other.returncode == 0, mine.stderr
    assert mine.stdout == other.stdout
    assert START in mine.stdout


class Traced(tf.Module):
    """A function with so many traces that the numbers TensorFlow gives them have two, three and four digits."""

    def __init__(self):
        super().__init__()
        table = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
        self.table = tf.lookup.StaticHashTable(table, -1.0)

    @tf.function
    def times(self, x, number, *, word="a"):
        @tf.custom_gradient
        def kept(value):
            return value * number, lambda dy: dy * 2.0

        for _ in range(number % 7):
            x = kept(x) + self.table.lookup(tf.constant(word))
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x, lambda: -x), tf.unstack(x)


@pytest.mark.parametrize("gradients", thinned([False, True], 2))
def test_options_are_listed_in_the_order_of_the_names_that_tensorflow_gives_them(gradients, tmp_path, theirs):
    module = Traced()
    for number in range(13):
        module.times(tf.constant([1.0, 2.0]), number, word="ab"[number % 2])
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=gradients)
    tf.saved_model.save(module, str(tmp_path), options=options)
    words = ["show", "--dir", str(tmp_path), "--all"]
    mine, other = ours(*words), theirs(*words)
    assert mine.returncode == other.returncode == 0, mine.stderr
    assert "Option #13" in other.stdout
    assert mine.stdout == other.stdout


def test_examples_give_the_same_results(tmp_path, theirs):
    directory = str(ROOT / "g27_tf1_multi" / "model")
    text = 'examples=[{"w":[1.0,2.0,-3.0],"word":["green"]},{"w":[0.0,1.0,0.5],"sp":[7,8]}]'
    arguments = ["run", "--dir", directory, "--tag_set", "serve", "--signature_def", "serving_default"]
    arguments += ["--input_examples", text, "--outdir"]
    mine = ours(*arguments, str(tmp_path / "ours"))
    other = theirs(*arguments, str(tmp_path / "theirs"))
    assert (mine.returncode, other.returncode) == (0, 0), mine.stderr
    np.testing.assert_allclose(numbers(mine.stdout), numbers(other.stdout), rtol=1e-5)
    for name in ("index.npy", "scores.npy"):
        first, second = np.load(tmp_path / "ours" / name), np.load(tmp_path / "theirs" / name)
        assert first.dtype == second.dtype
        np.testing.assert_allclose(first, second, rtol=1e-5)


def test_an_error_ends_with_the_same_words(theirs):
    directory = str(ROOT / "g26_tf1_simple_save" / "model")
    words = ["show", "--dir", directory, "--tag_set", "serve", "--signature_def", "nope"]
    mine, other = ours(*words), theirs(*words)
    assert mine.returncode == other.returncode == 1
    assert other.stderr.splitlines()[-1] == mine.stderr.splitlines()[0]


# ---------------------------------------------------------------------------------------------------------------- scans


def saved(tmp_path: Path, function, *specs: tf.TensorSpec) -> str:
    module = tf.Module()
    module.f = tf.function(function, input_signature=list(specs))
    path = str(tmp_path / "model")
    tf.saved_model.save(module, path, signatures=module.f)
    return path


def branching(x):
    return tf.cond(x > 0, lambda: tf.strings.length(tf.io.read_file("/etc/hostname")), lambda: 0)


def mapped(x):
    data = tf.data.Dataset.range(3).map(lambda i: tf.numpy_function(lambda v: v, [i], tf.int64))
    return x + tf.cast(data.reduce(tf.constant(0, tf.int64), lambda a, b: a + b), tf.float32)


def printed(x):
    tf.print(x)
    return x


EVIL = {
    "calls-python": [
        lambda x: tf.py_function(lambda v: v, [x], tf.float32),
        lambda x: tf.numpy_function(lambda v: v, [x], tf.float32),
        mapped,
    ],
    "reads-files": [
        lambda x: tf.io.matching_files("/home/*"),
        branching,
        lambda x: tf.data.TextLineDataset("/etc/passwd").reduce("", lambda a, b: a + b),
        lambda x: tf.data.TFRecordDataset("/tmp/x").reduce("", lambda a, b: a + b),
    ],
    "writes-files": [
        lambda x: (tf.io.write_file("/tmp/x", "y"), x)[1],
        lambda x: tf.data.Dataset.range(3).cache("/tmp/c").reduce(tf.constant(0, tf.int64), lambda a, b: a + b),
    ],
    "prints": [printed],
}


@pytest.mark.parametrize(("rule", "function"), [(rule, item) for rule, items in EVIL.items() for item in items])
def test_what_tensorflow_makes_of_evil_programs_is_found(rule, function, tmp_path):
    report = scan_model(saved(tmp_path, function, tf.TensorSpec([], tf.float32)))
    assert rule in report.counts
    assert set(report.counts) <= {rule, "reads-files"}


def table_from_asset(tmp_path: Path):
    words = tmp_path / "words.txt"
    words.write_text("red\ngreen\n")
    table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(str(words), tf.string, 0, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1
    )
    module = tf.Module()
    module.table = table
    module.f = tf.function(table.lookup, input_signature=[tf.TensorSpec([None], tf.string)])
    return module


def test_a_model_with_assets_and_variables_is_clean(tmp_path):
    module = table_from_asset(tmp_path)
    module.v = tf.Variable([1.0])
    path = str(tmp_path / "model")
    tf.saved_model.save(module, path, signatures=module.f)
    report = scan_model(path)
    assert report.is_clean, str(report)
    assert any("asset" in item.message for item in report.accounted)


def test_a_keras_model_with_vocabulary_and_recurrence_is_clean(tmp_path):
    layers = tf.keras.layers
    text = layers.TextVectorization(vocabulary=["red", "green"], output_sequence_length=4)
    inputs = tf.keras.Input((), dtype=tf.string)
    outputs = layers.Dense(2)(layers.LSTM(3)(layers.Embedding(10, 4)(text(inputs))))
    model = tf.keras.Model(inputs, outputs)
    model.export(str(tmp_path / "model"), verbose=False)
    report = scan_model(str(tmp_path / "model"))
    assert report.is_clean, str(report)


def test_in_memory_datasets_are_clean(tmp_path):
    def summed(x):
        data = tf.data.Dataset.range(5).map(lambda i: i * 2).shuffle(3, seed=1).cache().batch(2).prefetch(1)
        return x + tf.cast(data.reduce(tf.constant(0, tf.int64), lambda a, b: a + tf.reduce_sum(b)), tf.float32)

    report = scan_model(saved(tmp_path, summed, tf.TensorSpec([], tf.float32)))
    assert report.is_clean, str(report)


def test_a_graph_of_tensorflow_1_with_two_savers_is_clean(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], "x")
        v = tf.compat.v1.get_variable("v", [2, 2], use_resource=False)
        y = tf.matmul(x, v)
        tf.compat.v1.train.Saver(sharded=True)
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    report = scan_model(str(tmp_path / "model"))
    assert report.is_clean, str(report)
    assert len(report.accounted) >= 4
