"""Beside live PyTorch, where it is installed: it loads what is written, and its layers compute the same.

It is no part of the test extra, for it takes several hundred megabytes. `test_pytorch.py` has files that it wrote.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import load_tensors
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.convert import ConvertOptions, convert
from tensorkeep.edit import RenamePattern
from tests.convert.test_presets import CELL, DEPTHWISE, KERAS, bert, keras_cell, numbers, tensorflow_cell

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def loaded(folder: Path, tensors: dict[str, Any], *rules: str, **options: Any) -> Any:
    """A state_dict that PyTorch has loaded, safely, of tensors that were converted by rules."""
    save_checkpoint(folder / "m", tensors)
    convert(folder / "m", folder / "x.pt", rules, ConvertOptions(prove=True, overwrite=True))
    return torch.load(folder / "x.pt", weights_only=True, **options)


@pytest.mark.parametrize("is_mapped", [False, True])
def test_pytorch_loads_every_type_with_weights_only(tmp_path: Path, is_mapped: bool) -> None:
    tensors = {
        name: np.arange(6).reshape(2, 3).astype(name)
        for name in (
            *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
            *("float16", "float32", "float64", "complex64", "complex128"),
        )
    }
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"):
        tensors[name] = np.arange(6).reshape(2, 3).astype(getattr(ml_dtypes, name))
    tensors |= {"scalar": np.float32(7), "empty": np.zeros((0, 3))}
    found = loaded(tmp_path, tensors, mmap=is_mapped)
    assert sorted(found) == sorted(tensors)
    for name, array in tensors.items():
        expected = name if name not in ("scalar", "empty") else str(np.asarray(array).dtype)
        assert str(found[name].dtype) == f"torch.{expected}"
        assert found[name].to(torch.complex128).tolist() == np.asarray(array).astype(np.complex128).tolist()


def test_a_dense_layer_computes_the_same(tmp_path: Path) -> None:
    kernel, bias, x = numbers(3, 5), numbers(5), numbers(4, 3)
    found = loaded(tmp_path, {"d/kernel": kernel, "d/bias": bias}, "tensorflow-to-torch")
    layer = torch.nn.Linear(3, 5)
    layer.load_state_dict({"weight": found["d.weight"], "bias": found["d.bias"]})
    np.testing.assert_allclose(layer(torch.from_numpy(x)).detach().numpy(), x @ kernel + bias, rtol=1e-5, atol=1e-6)


def test_convolutions_compute_the_same(tmp_path: Path) -> None:
    kernel, x = numbers(2, 2, 3, 4), numbers(1, 5, 5, 3)
    found = loaded(tmp_path, {"c/kernel": kernel, **DEPTHWISE}, "tensorflow-to-torch")
    channels_first = torch.from_numpy(x).permute(0, 3, 1, 2)
    ours = torch.nn.functional.conv2d(channels_first, found["c.weight"]).permute(0, 2, 3, 1).numpy()
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (1, 2))  # batch, rows, columns, in, height, width
    np.testing.assert_allclose(ours, np.einsum("brcihw,hwio->brco", windows, kernel), rtol=1e-5, atol=1e-5)
    pair = channels_first[:, :2]
    deep = torch.nn.functional.conv2d(pair, found["s.depthwise.weight"], groups=2).permute(0, 2, 3, 1).numpy()
    windows = np.lib.stride_tricks.sliding_window_view(x[..., :2], (3, 3), (1, 2))
    expected = np.einsum("brcihw,hwim->brcim", windows, DEPTHWISE["s/depthwise_kernel"])
    np.testing.assert_allclose(deep, expected.reshape(deep.shape), rtol=1e-5, atol=1e-5)


def test_batch_normalization_computes_the_same(tmp_path: Path) -> None:
    tensors = {f"bn/{name}": np.abs(numbers(4)) for name in ("gamma", "beta", "moving_mean", "moving_variance")}
    found = loaded(tmp_path, tensors, "tensorflow-to-torch")
    layer = torch.nn.BatchNorm1d(4, eps=1e-3)
    layer.load_state_dict({name.removeprefix("bn."): value for name, value in found.items()})
    x = numbers(3, 4)
    gamma, beta, mean, variance = (
        tensors[f"bn/{name}"] for name in ("gamma", "beta", "moving_mean", "moving_variance")
    )
    expected = (x - mean) / np.sqrt(variance + 1e-3) * gamma + beta
    np.testing.assert_allclose(layer.eval()(torch.from_numpy(x)).detach().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_lstm_cells_compute_the_same(tmp_path: Path) -> None:
    cell = {**CELL, "rnn/basic_lstm_cell/bias": numbers(8)}
    found = loaded(tmp_path, {**cell, **KERAS}, "tensorflow-to-torch")
    x, h, c = numbers(6, 3), numbers(6, 2), numbers(6, 2)
    for scope, expected in (
        ("rnn.basic_lstm_cell.", tensorflow_cell(*cell.values(), x, h, c)),
        ("lstm.", keras_cell(*KERAS.values(), x, h, c)),
    ):
        layer = torch.nn.LSTM(3, 2)
        layer.load_state_dict(
            {name.removeprefix(scope): item for name, item in found.items() if name.startswith(scope)}
        )
        state = (torch.from_numpy(h)[None], torch.from_numpy(c)[None])
        out, (_, last) = layer(torch.from_numpy(x)[None], state)
        np.testing.assert_allclose(out[0].detach().numpy(), expected[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(last[0].detach().numpy(), expected[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("is_zip", [True, False])
def test_models_of_pytorch_become_checkpoints_and_come_back(tmp_path: Path, is_zip: bool) -> None:
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 5), torch.nn.LSTM(5, 3, num_layers=2)
    )
    torch.save(model.state_dict(), tmp_path / "model.pt", _use_new_zipfile_serialization=is_zip)
    convert(tmp_path / "model.pt", tmp_path / "model.ckpt", ["torch-to-tensorflow"], ConvertOptions(prove=True))
    found = load_tensors(tmp_path / "model.ckpt")
    assert found["0/kernel"].shape == (3, 3, 3, 4)
    assert {"1/gamma", "1/moving_variance", "2/kernel", "3/kernel", "3/l1/kernel", "3/l1/bias"} <= set(found)
    convert(tmp_path / "model.ckpt", tmp_path / "back.pt", [_named_lstm(), "tensorflow-to-torch"])
    back = torch.load(tmp_path / "back.pt", weights_only=True)
    for name, value in model.state_dict().items():
        if "num_batches" not in name and "bias_" not in name:
            assert torch.equal(back[name.replace("3.", "lstm.", 1) if name[0] == "3" else name], value), name


def _named_lstm() -> Any:
    return RenamePattern("^3/", "lstm/")  # a cell of TensorFlow 1 is told by its scope


def test_bert_is_what_pytorch_would_save(tmp_path: Path) -> None:
    found = loaded(tmp_path, bert(), "bert")
    assert found["bert.encoder.layer.1.output.dense.weight"].shape == (4, 8)
    assert all(value.is_contiguous() for value in found.values())
