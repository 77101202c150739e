"""Models of plain arrays, in memory: what is written, and what is said of layers that do not fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorkeep as tk
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.saved_model import Input, from_layers, layers
from tensorkeep.saved_model.files.layout import read_file
from tensorkeep.saved_model.layers import (
    GRU,
    LSTM,
    Activation,
    ArgMax,
    BatchNorm,
    Concat,
    Conv2D,
    Conv2DTranspose,
    Dense,
    Embedding,
    Flatten,
    Labels,
    Layer,
    LayerNorm,
    Lookup,
    MaxPool2D,
    Normalize,
    Reshape,
    Residual,
    SelfAttention,
    Transpose,
)

W, B = np.arange(6.0).reshape(2, 3), np.array([1.0, 0.0, -1.0])


def results(steps: Sequence[Layer], x: Any, **options: Any) -> dict[str, Any]:
    fs = MemoryFileSystem()
    from_layers(steps, "model", fs=fs, **options)
    with tk.load_saved_model("model", fs=fs) as model:
        found: dict[str, Any] = model.signatures["serving_default"](inputs=x)
        return found


def test_five_lines_make_a_model() -> None:
    found = results([Normalize([1, 1], 2.0), Dense(W, B, activation="relu")], [[3.0, 1.0]])
    assert found["outputs"].tolist() == [[1.0, 1.0, 1.0]]
    assert found["outputs"].dtype == np.float32


def test_several_outputs_share_what_is_before_them() -> None:
    heads: dict[str, Any] = {"scores": [], "label": [ArgMax(), Labels(["a", "b", "c"])]}
    found = results([Dense(W, B)], [[1.0, 0.0]], outputs=heads)
    assert found["scores"].tolist() == [[1.0, 1.0, 1.0]]
    assert found["label"].tolist() == [b"a"]


def test_weights_are_stored_once() -> None:
    fs = MemoryFileSystem()
    from_layers([Dense(np.random.default_rng(0).normal(size=(100, 1000)))], "model", fs=fs)
    assert len(read_file("model/saved_model.pb", fs)) < 20_000
    assert len(read_file("model/variables/variables.data-00000-of-00001", fs)) == 400_000


def test_a_layer_may_be_used_twice_and_is_stored_twice() -> None:
    same = Dense(np.eye(2) * 3)
    fs = MemoryFileSystem()
    from_layers([same, same], "model", fs=fs)
    with tk.load_saved_model("model", fs=fs) as model:
        assert list(model.variables) == ["dense/kernel", "dense_1/kernel"]
        assert model.signatures["serving_default"](inputs=[[1, 2]])["outputs"].tolist() == [[9.0, 18.0]]


@given(sizes=st.lists(st.integers(1, 6), min_size=2, max_size=5), seed=st.integers(0, 1000), batch=st.integers(0, 3))
def test_a_chain_of_dense_layers_is_the_product_of_its_kernels(sizes: list[int], seed: int, batch: int) -> None:
    random = np.random.default_rng(seed)
    kernels = [random.normal(size=pair) for pair in pairwise(sizes)]
    x = random.normal(size=(batch, sizes[0]))
    found = results([Dense(kernel) for kernel in kernels], x, input=Input(dtype=np.float64))["outputs"]
    np.testing.assert_allclose(found, np.linalg.multi_dot([x, *kernels]), rtol=1e-9, atol=1e-9)


def test_a_recurrent_layer_gives_zeros_for_sequences_without_steps() -> None:
    gates = np.ones((2, 8))
    found = results([LSTM(gates, gates)], np.zeros((3, 0, 2), np.float32), input=Input((None, None, 2)))
    assert found["outputs"].tolist() == [[0, 0]] * 3


def test_layers_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Dense(W).kernel = B  # type: ignore[misc]


def test_all_layers_are_found_from_the_package() -> None:
    assert tk.saved_model.layers is layers
    assert all(hasattr(layers, name) for name in layers.__all__)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a kernel of one dimension": (lambda: Dense([1, 2]), r"the kernel must have 2 dimensions, got shape \(2,\)"),
    "a bias of another size": (lambda: Dense(W, [1, 2]), r"bias has shape \(2,\); the last dimension must be 3"),
    "an activation": (lambda: Activation("rilu"), 'no activation "rilu"; there are elu, exp'),
    "all that is wrong": (
        lambda: BatchNorm([0, 0], [1], [1, 1], [1, 2, 3]),
        r"variance has shape \(1,\), offset has shape \(3,\); the last dimension must be 2",
    ),
    "a scale of zero": (lambda: Normalize(0, [1, 0]), "scale is zero"),
    "norms of two sizes": (lambda: LayerNorm([1, 1], [1]), r"offset has shape \(1,\)"),
    "padding": (lambda: Conv2D(np.ones((1, 1, 1, 1)), padding="half"), 'must be "VALID", "SAME"'),
    "pairs": (lambda: MaxPool2D(padding=[(1, 1)]), "2 pairs"),
    "strides": (lambda: MaxPool2D(2, strides=(0, 1)), "positive"),
    "a border of a transpose": (lambda: Conv2DTranspose(np.ones((1, 1, 1, 1)), padding=1), '"VALID" or "SAME"'),  # type: ignore[arg-type]
    "an order": (lambda: Transpose((0, 2)), "each dimension once"),
    "sizes": (lambda: Reshape((-1, -1)), "one size may be -1"),
    "heads": (lambda: SelfAttention(W, W, W, W.T, heads=2), "3 columns cannot be shared by 2 heads"),
    "gates": (lambda: LSTM(W, W), r"kernel has shape \(2, 3\), recurrent_kernel has shape \(2, 3\).*must be 8"),
    "a bias of one row": (lambda: GRU(np.ones((2, 6)), np.ones((2, 6)), np.ones(6)), r"\(2, 3 \* units\) with reset"),
    "words": (lambda: Lookup(["a", "b", "a"]), "more than once: .*a"),
    "branches": (lambda: Concat([]), "got none"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_layer_that_cannot_be_says_why(what: str) -> None:
    make, words = WRONG[what]
    with pytest.raises(InvalidArgumentError, match=words):
        make()


def test_numbers_and_strings_are_told_apart() -> None:
    with pytest.raises(WrongTypeError, match="array of numbers"):
        Dense([["a", "b"]])
    with pytest.raises(WrongTypeError, match="list of strings, got one"):
        Labels("abc")
    with pytest.raises(WrongTypeError, match="takes layers, got 1: 7"):
        Residual([Dense(W), 7])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("steps", "options", "words"),
    [
        ([Dense(W), Dense(W)], {}, r"layer 1, Dense: .* last dimension is 2, got shape \(\?, 3\)"),
        ([Dense(W), Embedding(W)], {}, "layer 1, Embedding: Embedding takes integers, got float32"),
        ([Dense(W)], {"input": Input(dtype=np.int32)}, "floating point numbers, got int32; put a Cast before it"),
        ([Conv2D(np.ones((1, 1, 2, 2))), Flatten()], {}, r"layer 1, Flatten: .* say it in Input\(shape=...\)"),
        ([Concat([[Dense(W)], [Dense(B[None])]])], {}, "layer 0, Concat: branch 1, layer 0, Dense"),
        ([Dense(W)], {"outputs": {"a": [ArgMax(), Dense(W)]}}, 'output "a", layer 1, Dense: '),
        ([Activation("relu")], {}, r"say Input\(shape="),
        ([Dense(W)], {"outputs": {}}, "at least one output"),
    ],
)
def test_layers_that_do_not_fit_are_named_and_nothing_is_written(steps: Any, options: Any, words: str) -> None:
    fs = MemoryFileSystem()
    with pytest.raises(InvalidArgumentError, match=words):
        from_layers(steps, "model", fs=fs, **options)
    assert not fs.exists("model")
