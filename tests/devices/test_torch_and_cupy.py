"""Checkpoints as tensors of PyTorch and arrays of CuPy, where these are installed."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.devices.frameworks import framework_named
from tensorkeep.devices.loading import load_into

VALUES = np.arange(60).reshape(5, 12)
TENSORS = {
    "b": (VALUES % 2).astype(bool),
    "c": VALUES.astype(np.complex64),
    "d": VALUES.astype(np.float64),
    "e": np.zeros((0, 3), np.float32),
    "f": VALUES.astype(np.float32),
    "s": np.array(2**40),
}


@pytest.mark.parametrize("piece", [16, 1 << 20])
def test_tensors_of_pytorch(tmp_path: Path, piece: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    halves = {"h": VALUES.astype(ml_dtypes.bfloat16)}
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    with tk.open_checkpoint(tk.save_checkpoint(tmp_path / "model", {**TENSORS, **halves})) as reader:
        loaded = load_into(framework_named("torch"), reader, None, device, piece=piece)
    assert loaded["h"].dtype == torch.bfloat16
    np.testing.assert_array_equal(loaded["h"].cpu().float().numpy(), VALUES)
    for name, array in TENSORS.items():
        np.testing.assert_array_equal(loaded[name].cpu().numpy(), array, strict=True)


def test_what_pytorch_has_not_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    prefix = tk.save_checkpoint(tmp_path / "model", {"narrow": VALUES.astype(ml_dtypes.int4)})
    with pytest.raises(tk.InvalidArgumentError, match='"narrow": PyTorch'):
        tk.load_arrays(prefix, to="torch")
    with pytest.raises(tk.NotFoundError, match=r'no device "cuda:99".*it has cpu'):
        tk.load_arrays(prefix, to="torch", device="cuda:99")


@pytest.mark.parametrize("piece", [16, 1 << 20])
def test_arrays_of_cupy(tmp_path: Path, piece: int) -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    with tk.open_checkpoint(tk.save_checkpoint(tmp_path / "model", TENSORS)) as reader:
        loaded = load_into(framework_named("cupy"), reader, None, "cuda:0", piece=piece)
    for name, array in TENSORS.items():
        np.testing.assert_array_equal(cupy.asnumpy(loaded[name]), array, strict=True)
