"""Datasets that models make of their inputs, beside TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.errors import DataLossError, InvalidArgumentError

Data: Any = tf.data.Dataset
raw = tf.raw_ops
ROWS = np.arange(12, dtype=np.float32).reshape(4, 3) - 3
WORDS = np.array([b"a", b"z", b"b", b"a"], object)


class Model(tf.Module):  # type: ignore[misc]
    """Functions that make datasets of rows and words, with a variable and a table in what they compute."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = tf.Variable([2.0, 3.0, 4.0])
        table = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
        self.table = tf.lookup.StaticHashTable(table, -1.0)

    def serving(self, rows: Any, words: Any) -> Any:
        """As the documentation has it for preprocessing in a server."""
        data = Data.from_tensor_slices((rows, words))
        data = data.map(lambda row, word: (row * self.weight, self.table.lookup(word)), num_parallel_calls=4)
        return data.batch(64).get_single_element()

    def empty(self, rows: Any, words: Any) -> Any:
        return Data.from_tensor_slices(rows[:0]).batch(3).reduce(7.0, lambda total, row: total + tf.reduce_sum(row))

    def loops(self, rows: Any, words: Any) -> Any:
        total, last = 0.0, tf.constant("")
        for row, word in Data.from_tensor_slices((rows, words)).filter(lambda row, word: word != "z").prefetch(2):
            total += tf.reduce_sum(row * self.weight)
            last = word
        for row in Data.from_tensor_slices(rows):
            if tf.reduce_sum(row) > 4.0:
                break
            total -= 0.5
        return total, last

    def parts(self, rows: Any, words: Any) -> Any:
        data = Data.range(5).enumerate().skip(1).take(3).repeat(2)
        data = data.concatenate(Data.zip((Data.range(3), Data.range(7, 1, -2))))
        options = tf.data.Options()
        options.deterministic = True
        data = data.batch(4, drop_remainder=True).with_options(options).unbatch()
        return data.batch(50, num_parallel_calls=2).get_single_element()

    def ends(self, rows: Any, words: Any) -> Any:
        none = Data.range(4).skip(-1).concatenate(Data.range(0)).repeat(3).concatenate(Data.range(2).repeat(0))
        return none.concatenate(Data.range(3).take(-1)).batch(9).get_single_element()

    def nested(self, rows: Any, words: Any) -> Any:
        ragged = Data.range(1, 4, output_type=tf.int32).map(lambda n: tf.fill([n], n))
        padded = ragged.padded_batch(10, padding_values=-1).get_single_element()
        wider = ragged.padded_batch(2, [5], -7, drop_remainder=True).get_single_element()
        texts = Data.from_tensor_slices(words).map(lambda word: tf.fill([tf.strings.length(word) + 1], word))
        scalars = Data.from_tensor_slices(words).padded_batch(5).get_single_element()
        flat = Data.range(4).flat_map(lambda n: Data.range(n).map(lambda m: n * 10 + m)).batch(20)
        return padded, wider, texts.padded_batch(9, [None]).get_single_element(), scalars, flat.get_single_element()

    def scanned(self, rows: Any, words: Any) -> Any:
        sums = Data.from_tensor_slices(rows).scan(tf.zeros([3]), lambda state, row: (state + row, (state, row[0])))
        return sums.take_while(lambda state, first: first < 5.0).batch(9).get_single_element()

    def older(self, rows: Any, words: Any) -> Any:
        """Ops that Python functions of today no longer make."""
        kinds = {"output_types": [tf.float32], "output_shapes": [[None, 3]]}
        data = raw.TensorDataset(components=[rows], output_shapes=[[None, 3]])
        data = raw.BatchDataset(input_dataset=data, batch_size=2, output_types=[tf.float32], output_shapes=[None])
        plain = Data.from_tensors(rows)._variant_tensor
        double = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None, 3])]).get_concrete_function()
        mapped = raw.ParallelMapDataset(
            input_dataset=plain, other_arguments=[], num_parallel_calls=2, f=double, **kinds
        )
        kinds["output_shapes"] = [None]
        return raw.DatasetToSingleElement(dataset=data, **kinds) + raw.DatasetToSingleElement(dataset=mapped, **kinds)

    def several(self, rows: Any, words: Any) -> Any:
        return Data.from_tensor_slices(rows).get_single_element()

    def none(self, rows: Any, words: Any) -> Any:
        return Data.from_tensor_slices(rows).take(0).get_single_element()

    def unequal(self, rows: Any, words: Any) -> Any:
        return Data.range(3).map(lambda n: tf.zeros([n])).batch(3).get_single_element()

    def too_small(self, rows: Any, words: Any) -> Any:
        return Data.range(3).map(lambda n: tf.zeros([n])).padded_batch(3, [1]).get_single_element()

    def no_step(self, rows: Any, words: Any) -> Any:
        return Data.range(0, 3, tf.cast(rows[0, 0], tf.int64) * 0).batch(3).get_single_element()

    def no_batch(self, rows: Any, words: Any) -> Any:
        return Data.range(3).batch(tf.cast(rows[0, 0], tf.int64) * 0).get_single_element()


GOOD = ["serving", "empty", "loops", "parts", "ends", "nested", "scanned", "older"]
BAD = ["several", "none", "unequal", "too_small", "no_step", "no_batch"]
TAKES = [tf.TensorSpec([None, 3]), tf.TensorSpec([None], tf.string)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("datasets") / "model"
    module = Model()
    for name in (*GOOD, *BAD):
        setattr(module, f"{name}_function", tf.function(getattr(module, name), input_signature=TAKES))
    tf.saved_model.save(module, str(place))
    return place


@pytest.mark.parametrize("name", GOOD)
def test_datasets_in_a_function_give_tensorflows_elements(folder: Path, name: str) -> None:
    oracle = tf.saved_model.load(str(folder))
    wanted = getattr(oracle, f"{name}_function")(ROWS, tf.constant(WORDS))
    with tk.load_saved_model(folder) as model:
        found = model.functions[f"{name}_function"](ROWS, WORDS)
    for ours, theirs in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
        assert np.shape(ours) == theirs.shape
        if theirs.dtype == tf.string:
            assert np.array(ours, object).tolist() == np.array(theirs.numpy(), object).tolist()
        else:
            assert ours.dtype == theirs.numpy().dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("name", BAD)
def test_what_tensorflow_refuses_is_refused(folder: Path, name: str) -> None:
    oracle = tf.saved_model.load(str(folder))
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)) as theirs:
        getattr(oracle, f"{name}_function")(ROWS, tf.constant(WORDS))
    with tk.load_saved_model(folder) as model, pytest.raises((InvalidArgumentError, DataLossError)) as ours:
        model.functions[f"{name}_function"](ROWS, WORDS)
    assert ours.type.__name__ == theirs.type.__name__
