"""Presets: what they do to which tensor, and that they can be taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.opening import load_tensors
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.convert import (
    PRESETS,
    CastTo,
    ConvertOptions,
    FirstOf,
    Fitting,
    LeaveOut,
    Only,
    TensorFlowLstmToTorch,
    convert,
    depthwise_to_tensorflow,
    explain,
)
from tensorkeep.edit import AddScope, RenameExactly, RenamePattern, Selection
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.io.files.memory import MemoryFileSystem

RNG = np.random.default_rng(7)


def numbers(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def through(tensors: Mapping[str, Any], *rules: Any, **options: Any) -> dict[str, Array]:
    """The tensors after a conversion by rules."""
    fs = MemoryFileSystem()
    save_checkpoint("in/m", tensors, fs=fs)
    convert("in/m", "out/m", rules, ConvertOptions(prove=True, **options), fs=fs)
    return load_tensors("out/m", fs=fs)


def assert_equal(found: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


DENSE = {"d/kernel": numbers(3, 5), "d/bias": numbers(5), "embedding/weight": numbers(7, 2)}
CONVOLUTIONS = {
    "c1/kernel": numbers(3, 2, 4),
    "c2/kernel": numbers(3, 3, 2, 4),
    "c3/kernel": numbers(2, 3, 3, 2, 4),
    "c2/bias": numbers(4),
}
NORMS = {f"bn/{name}": numbers(4) for name in ("gamma", "beta", "moving_mean", "moving_variance")}
CELL = {"rnn/basic_lstm_cell/kernel": numbers(3 + 2, 8), "rnn/basic_lstm_cell/bias": np.zeros(8, np.float32)}
KERAS = {"lstm/kernel": numbers(3, 8), "lstm/recurrent_kernel": numbers(2, 8), "lstm/bias": numbers(8)}
DEPTHWISE = {"s/depthwise_kernel": numbers(3, 3, 2, 1), "s/pointwise_kernel": numbers(1, 1, 2, 5)}


@pytest.mark.parametrize(
    ("tensors", "there", "back"),
    [
        (DENSE, "dense-transpose", "dense-transpose"),
        (CONVOLUTIONS, "hwio-to-oihw", "oihw-to-hwio"),
        (DEPTHWISE, "depthwise-to-torch", "depthwise-to-tensorflow"),
        (NORMS, "batch-norm-to-torch", "batch-norm-to-tensorflow"),
        (CELL, "lstm-to-torch", "lstm-to-tensorflow"),
        (KERAS, "keras-lstm-to-torch", "torch-lstm-to-keras"),
        ({"a/b/c": numbers(2)}, "dots", "slashes"),
        (
            {
                **CONVOLUTIONS,
                **NORMS,
                **CELL,
                **DEPTHWISE,
                "d/kernel": numbers(3, 5),
                "embedding/embeddings": numbers(7, 2),
            },
            "tensorflow-to-torch",
            "torch-to-tensorflow",
        ),
    ],
)
def test_a_preset_and_its_opposite_give_the_first_tensors_back(
    tensors: Mapping[str, Array], there: str, back: str
) -> None:
    changed = through(tensors, there)
    assert changed.keys() != tensors.keys() or any(changed[name].shape != tensors[name].shape for name in tensors)
    assert_equal(through(changed, back), tensors)


def test_every_preset_is_tested_says_what_it_does_and_is_a_value() -> None:
    assert sorted(PRESETS) == [
        *("batch-norm-to-tensorflow", "batch-norm-to-torch", "bert", "bert-to-tensorflow", "dense-transpose"),
        *("depthwise-to-tensorflow", "depthwise-to-torch", "dots", "hwio-to-oihw", "keras-lstm-to-torch"),
        *(
            "lstm-to-tensorflow",
            "lstm-to-torch",
            "moving-averages",
            "object-paths",
            "oihw-to-hwio",
            "slashes",
            "tensorflow-to-torch",
        ),
        *("torch-lstm-to-keras", "torch-to-tensorflow", "without-optimizer"),
    ]
    for preset in PRESETS.values():
        assert len(preset.summary) > 10
        assert hash(preset) == hash(replace(preset))
        assert replace(preset) == preset


def test_dense_kernels_are_transposed_and_tables_are_not() -> None:
    found = through(DENSE, "dense-transpose")
    np.testing.assert_array_equal(found["d/kernel"], DENSE["d/kernel"].T)
    np.testing.assert_array_equal(found["embedding/weight"], DENSE["embedding/weight"])


def test_kernels_of_convolutions_have_the_order_of_pytorch() -> None:
    found = through(CONVOLUTIONS, "hwio-to-oihw")
    np.testing.assert_array_equal(found["c1/kernel"], np.transpose(CONVOLUTIONS["c1/kernel"], (2, 1, 0)))
    np.testing.assert_array_equal(found["c2/kernel"], np.transpose(CONVOLUTIONS["c2/kernel"], (3, 2, 0, 1)))
    np.testing.assert_array_equal(found["c3/kernel"], np.transpose(CONVOLUTIONS["c3/kernel"], (4, 3, 0, 1, 2)))


def test_a_depthwise_kernel_has_its_channels_in_the_order_of_groups() -> None:
    kernel = numbers(3, 3, 2, 4)
    found = through({"s/depthwise_kernel": kernel}, "depthwise-to-torch")["s/depthwise/weight"]
    assert found.shape == (8, 1, 3, 3)
    for channel in range(2):
        for copy in range(4):
            np.testing.assert_array_equal(found[channel * 4 + copy, 0], kernel[:, :, channel, copy])
    assert_equal(through({"s/depthwise/weight": found}, depthwise_to_tensorflow(4)), {"s/depthwise_kernel": kernel})


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def tensorflow_cell(kernel: Array, bias: Array, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """One step of `BasicLSTMCell`: gates i, j, f, o, and 1 added to what forgets."""
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ kernel + bias, 4, 1)
    c = c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
    return np.tanh(c) * sigmoid(o), c


def keras_cell(kernel: Array, recurrent: Array, bias: Array, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """One step of `keras.layers.LSTM`: gates i, f, c, o."""
    i, f, j, o = np.split(x @ kernel + h @ recurrent + bias, 4, 1)
    c = c * sigmoid(f) + sigmoid(i) * np.tanh(j)
    return np.tanh(c) * sigmoid(o), c


def torch_cell(tensors: Mapping[str, Array], scope: str, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """One step of `torch.nn.LSTM`, as its documentation has it: gates i, f, g, o."""
    gates = x @ tensors[f"{scope}weight_ih_l0"].T + tensors[f"{scope}bias_ih_l0"]
    gates = gates + h @ tensors[f"{scope}weight_hh_l0"].T + tensors[f"{scope}bias_hh_l0"]
    i, f, g, o = np.split(gates, 4, 1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def test_an_lstm_cell_computes_the_same_in_pytorch() -> None:
    cell = {**CELL, "rnn/basic_lstm_cell/bias": numbers(8)}
    found = through(cell, "lstm-to-torch")
    x, h, c = numbers(6, 3), numbers(6, 2), numbers(6, 2)
    ours = tensorflow_cell(cell["rnn/basic_lstm_cell/kernel"], cell["rnn/basic_lstm_cell/bias"], x, h, c)
    np.testing.assert_allclose(torch_cell(found, "rnn/basic_lstm_cell/", x, h, c), ours, rtol=1e-5, atol=1e-6)


def test_an_lstm_layer_of_keras_computes_the_same_in_pytorch() -> None:
    found = through(KERAS, "keras-lstm-to-torch")
    x, h, c = numbers(6, 3), numbers(6, 2), numbers(6, 2)
    ours = keras_cell(KERAS["lstm/kernel"], KERAS["lstm/recurrent_kernel"], KERAS["lstm/bias"], x, h, c)
    np.testing.assert_allclose(torch_cell(found, "lstm/", x, h, c), ours, rtol=1e-5, atol=1e-6)


def test_another_forget_bias_is_a_value_of_the_rule() -> None:
    found = through(CELL, TensorFlowLstmToTorch(forget_bias=0.0))
    np.testing.assert_array_equal(found["rnn/basic_lstm_cell/bias_ih_l0"], np.zeros(8, np.float32))


def test_layers_and_directions_of_pytorch_are_scopes_and_come_back() -> None:
    tensors = {}
    for layer in ("l0", "l1", "l0_reverse"):
        tensors |= {f"lstm.weight_ih_{layer}": numbers(8, 3), f"lstm.weight_hh_{layer}": numbers(8, 2)}
        tensors |= {f"lstm.bias_ih_{layer}": numbers(8), f"lstm.bias_hh_{layer}": np.zeros(8, np.float32)}
    found = through(tensors, "torch-lstm-to-keras")
    assert {"lstm.kernel", "lstm.l1.kernel", "lstm.l0_reverse.kernel"} <= set(found)
    assert_equal(through(found, "keras-lstm-to-torch"), tensors)


def test_normalizations_lose_the_count_of_batches_and_it_is_said() -> None:
    fs = MemoryFileSystem()
    tensors = {"bn.weight": numbers(4), "bn.running_mean": numbers(4), "bn.num_batches_tracked": np.int64(3)}
    save_checkpoint("in/m", tensors, fs=fs)
    found = explain("in/m", ["torch-to-tensorflow"], fs=fs)
    assert [item.name for item in found.tensors] == ["bn/moving_mean", "bn/gamma"]
    assert found.left_out == {"bn.num_batches_tracked": '"torch-to-tensorflow"'}


def test_optimizers_do_not_go_to_pytorch() -> None:
    slots = {"d/kernel/Adam": numbers(3, 5), "d/kernel/Adam_1": numbers(3, 5), "beta1_power": np.float32(0.9)}
    found = through({"d/kernel": numbers(3, 5), "global_step": np.int64(7), **slots}, "tensorflow-to-torch")
    assert sorted(found) == ["d.weight"]


AVERAGED = {
    "conv/kernel": numbers(3, 3, 2, 4),
    "conv/bias": numbers(4),
    "conv/kernel/Adam": numbers(3, 3, 2, 4),
    "conv/kernel/ExponentialMovingAverage": numbers(3, 3, 2, 4) + 1,
    "conv/bias/ExponentialMovingAverage": numbers(4) + 1,
    "bn/gamma": numbers(4),
    "bn/beta": numbers(4),
    "bn/moving_mean": numbers(4),
    "bn/moving_variance": numbers(4),
    "fc/kernel": numbers(8, 3),
    "fc/kernel/ExponentialMovingAverage": numbers(8, 3) + 1,
    "fc/bias": numbers(3),
    "global_step": np.int64(9),
}
# What torch.nn.Conv2d(2, 4, 3), BatchNorm2d(4) and Linear(8, 3) have, but for the count of batches: it has a default.
MODULE = {
    **{"conv.weight": (4, 2, 3, 3), "conv.bias": (4,), "fc.weight": (3, 8), "fc.bias": (3,)},
    **dict.fromkeys(("bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"), (4,)),
}


def test_a_module_of_pytorch_finds_what_it_has_and_nothing_else() -> None:
    found = through(AVERAGED, "tensorflow-to-torch")
    assert {name: value.shape for name, value in found.items()} == MODULE


def test_moving_averages_may_take_the_place_of_variables_and_have_their_layout() -> None:
    found = through(AVERAGED, "moving-averages", "tensorflow-to-torch")
    assert {name: value.shape for name, value in found.items()} == MODULE
    averages = {name: AVERAGED[f"{name}/ExponentialMovingAverage"] for name in ("conv/kernel", "fc/kernel")}
    np.testing.assert_array_equal(found["conv.weight"], averages["conv/kernel"].transpose(3, 2, 0, 1))
    np.testing.assert_array_equal(found["fc.weight"], averages["fc/kernel"].T)
    np.testing.assert_array_equal(found["fc.bias"], AVERAGED["fc/bias"])


def test_pytorch_loads_it_strictly(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.Module()
    module.conv, module.bn, module.fc = torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(8, 3)
    save_checkpoint(tmp_path / "m", AVERAGED)
    convert(tmp_path / "m", tmp_path / "m.pt", ["tensorflow-to-torch"])
    module.load_state_dict(torch.load(tmp_path / "m.pt", weights_only=True), strict=True)
    np.testing.assert_array_equal(module.fc.weight.detach().numpy(), AVERAGED["fc/kernel"].T)


# ------------------------------------------------------------------------------------------------------------- BERT


def bert(layers: int = 2, hidden: int = 4) -> dict[str, Array]:
    """The variables of Google's BERT, in small."""
    tensors: dict[str, Array] = {
        "bert/embeddings/word_embeddings": numbers(9, hidden),
        "bert/embeddings/position_embeddings": numbers(6, hidden),
        "bert/embeddings/token_type_embeddings": numbers(2, hidden),
        "bert/pooler/dense/kernel": numbers(hidden, hidden),
        "bert/pooler/dense/bias": numbers(hidden),
        "cls/predictions/output_bias": numbers(9),
        "cls/predictions/transform/dense/kernel": numbers(hidden, hidden),
        "cls/predictions/transform/dense/bias": numbers(hidden),
        "cls/seq_relationship/output_weights": numbers(2, hidden),
        "cls/seq_relationship/output_bias": numbers(2),
    }
    norms = ["bert/embeddings", "cls/predictions/transform"]
    for layer in range(layers):
        scope = f"bert/encoder/layer_{layer}"
        for part, ins, outs in (
            *((f"attention/self/{name}", hidden, hidden) for name in ("query", "key", "value")),
            ("attention/output/dense", hidden, hidden),
            ("intermediate/dense", hidden, 2 * hidden),
            ("output/dense", 2 * hidden, hidden),
        ):
            tensors |= {f"{scope}/{part}/kernel": numbers(ins, outs), f"{scope}/{part}/bias": numbers(outs)}
        norms += [f"{scope}/attention/output", f"{scope}/output"]
    for scope in norms:
        tensors |= {f"{scope}/LayerNorm/gamma": numbers(hidden), f"{scope}/LayerNorm/beta": numbers(hidden)}
    return tensors


HUGGING_FACE = (
    *(
        "bert.embeddings.LayerNorm.bias",
        "bert.embeddings.LayerNorm.weight",
        "bert.embeddings.position_embeddings.weight",
    ),
    *("bert.embeddings.token_type_embeddings.weight", "bert.embeddings.word_embeddings.weight"),
    *("bert.encoder.layer.0.attention.output.LayerNorm.bias", "bert.encoder.layer.0.attention.output.LayerNorm.weight"),
    *("bert.encoder.layer.0.attention.output.dense.bias", "bert.encoder.layer.0.attention.output.dense.weight"),
    *("bert.encoder.layer.0.attention.self.key.bias", "bert.encoder.layer.0.attention.self.key.weight"),
    *("bert.encoder.layer.0.attention.self.query.bias", "bert.encoder.layer.0.attention.self.query.weight"),
    *("bert.encoder.layer.0.attention.self.value.bias", "bert.encoder.layer.0.attention.self.value.weight"),
    *("bert.encoder.layer.0.intermediate.dense.bias", "bert.encoder.layer.0.intermediate.dense.weight"),
    *("bert.encoder.layer.0.output.LayerNorm.bias", "bert.encoder.layer.0.output.LayerNorm.weight"),
    *("bert.encoder.layer.0.output.dense.bias", "bert.encoder.layer.0.output.dense.weight"),
    *("bert.pooler.dense.bias", "bert.pooler.dense.weight", "cls.predictions.bias"),
    *("cls.predictions.transform.LayerNorm.bias", "cls.predictions.transform.LayerNorm.weight"),
    *("cls.predictions.transform.dense.bias", "cls.predictions.transform.dense.weight"),
    *("cls.seq_relationship.bias", "cls.seq_relationship.weight"),
)


def test_bert_gets_the_names_and_the_layout_of_hugging_face() -> None:
    tensors = bert(layers=1)
    training = {f"{name}/adam_{slot}": array for name, array in tensors.items() for slot in "mv"}
    found = through({**tensors, **training, "global_step": np.int64(3)}, "bert")
    assert sorted(found) == sorted(HUGGING_FACE)
    dense = "bert.encoder.layer.0.intermediate.dense.weight"
    np.testing.assert_array_equal(found[dense], tensors["bert/encoder/layer_0/intermediate/dense/kernel"].T)
    words = "bert.embeddings.word_embeddings.weight"
    np.testing.assert_array_equal(found[words], tensors["bert/embeddings/word_embeddings"])
    relation = "cls.seq_relationship.weight"
    np.testing.assert_array_equal(found[relation], tensors["cls/seq_relationship/output_weights"])


def test_bert_comes_back_and_what_hugging_face_adds_is_left_out() -> None:
    tensors = bert(layers=12)
    found = through(tensors, "bert")
    assert_equal(through(found, "bert-to-tensorflow"), tensors)
    more = {"cls.predictions.decoder.weight": numbers(9, 4), "bert.embeddings.position_ids": np.arange(6)}
    assert_equal(through({**found, **more}, "bert-to-tensorflow"), tensors)


# ----------------------------------------------------------------------------------------------------- rules of users


def test_rules_follow_each_other_and_renamings_are_rules() -> None:
    rules = [RenameExactly({"d/kernel": "x/kernel"}), "dense-transpose", AddScope("up"), RenamePattern("bias", "b")]
    found = through({"d/kernel": np.arange(6.0).reshape(2, 3), "d/bias": np.zeros(3)}, *rules)
    assert {name: array.shape for name, array in found.items()} == {"up/x/kernel": (3, 2), "up/d/b": (3,)}


def test_a_rule_may_be_kept_to_some_tensors() -> None:
    rule = Only(PRESETS["dense-transpose"].rules[0], Selection(["a/*"]))
    found = through({"a/kernel": numbers(2, 3), "b/kernel": numbers(2, 3)}, rule)
    assert {name: array.shape for name, array in found.items()} == {"a/kernel": (3, 2), "b/kernel": (2, 3)}


def test_the_first_rule_that_takes_a_tensor_has_it() -> None:
    rule = FirstOf((Fitting("a", "b"), Fitting("[ab]", "c")))
    assert sorted(through({"a": numbers(1), "x": numbers(1)}, rule)) == ["b", "x"]


def test_types_are_cast() -> None:
    found = through({"a": np.float64([1.5, 2.5]), "n": np.arange(3)}, CastTo("bfloat16"))
    assert [str(found[name].dtype) for name in "an"] == ["bfloat16", "int64"]
    assert found["a"].astype(float).tolist() == [1.5, 2.5]


def test_explain_says_what_becomes_of_every_tensor() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("in/m", {**CELL, "d/kernel": numbers(3, 5), "old": numbers(1)}, fs=fs)
    found = explain("in/m", ["tensorflow-to-torch", LeaveOut("old"), "hwio-to-oihw"], fs=fs)
    assert str(found).splitlines() == [
        "d/kernel -> d.weight float32 [5, 3]; transposed [3, 5] -> [5, 3]",
        "rnn/basic_lstm_cell/kernel -> rnn.basic_lstm_cell.weight_ih_l0 float32 [8, 3]; 0..3 of axis 0; transposed "
        "[3, 8] -> [8, 3]; gates i c f o -> i f g o",
        "rnn/basic_lstm_cell/kernel -> rnn.basic_lstm_cell.weight_hh_l0 float32 [8, 2]; 3..5 of axis 0; transposed "
        "[2, 8] -> [8, 2]; gates i c f o -> i f g o",
        "rnn/basic_lstm_cell/bias -> rnn.basic_lstm_cell.bias_ih_l0 float32 [8]; gates i c f o -> i f g o; "
        "+1 to the forget gate",
        "rnn/basic_lstm_cell/bias -> rnn.basic_lstm_cell.bias_hh_l0 float32 [8]; zeros",
        "old is left out: LeaveOut(pattern='old')",
        '"hwio-to-oihw" found nothing to do',
    ]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["nonsense"], 'no preset "nonsense"; there are dense-transpose'),
        ([RenamePattern("[ab]", "x")], '"a" and "b" would be called "x"'),
        ([Only(LeaveOut("a"), Selection(["z*"]))], 'no tensor fits "z\\*"'),
        ([depthwise_to_tensorflow(3), LeaveOut(".*")], "no tensor to convert"),
    ],
)
def test_what_is_wrong_with_rules_is_said_before_anything_is_written(rules: Sequence[Any], message: str) -> None:
    fs = MemoryFileSystem()
    save_checkpoint("in/m", {"a": numbers(2), "b": numbers(2)}, fs=fs)
    with pytest.raises((InvalidArgumentError, NotFoundError), match=message):
        convert("in/m", "out/m", rules, fs=fs)
    assert not fs.exists("out")
