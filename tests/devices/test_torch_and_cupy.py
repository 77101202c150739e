"""Checkpoints as tensors of PyTorch and arrays of CuPy, where these are installed; of CuPy also by a stand-in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.devices.frameworks import framework_named
from tensorkeep.devices.loading import load_into
from tests.devices.cupy_stand_in import install

VALUES = np.arange(60).reshape(5, 12) % 8
TENSORS = {
    "b": (VALUES % 2).astype(bool),
    "c": VALUES.astype(np.complex64),
    "d": VALUES.astype(np.float64),
    "e": np.zeros((0, 3), np.float32),
    "f": VALUES.astype(np.float32),
    "i": VALUES.astype(np.int16),
    "s": np.array(2**40),
    "t": np.array(True),
    "u": VALUES.astype(np.uint64),
    "z": VALUES.astype(np.complex128),
}
NARROW = {
    "bfloat16": VALUES.astype(ml_dtypes.bfloat16),
    "float8_e4m3fn": VALUES.astype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": VALUES.astype(ml_dtypes.float8_e5m2),
    "one bfloat16": np.array(1.5, ml_dtypes.bfloat16),
    "no bfloat16": np.zeros((3, 0), ml_dtypes.bfloat16),
}


def require_torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed")


def bytes_of(tensor: Any) -> bytes:
    torch = require_torch()
    return bytes(tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())


@pytest.mark.parametrize("piece", [16, 1 << 20])
def test_tensors_of_pytorch(tmp_path: Path, piece: int) -> None:
    torch = require_torch()
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    with tk.open_checkpoint(tk.save_checkpoint(tmp_path / "model", {**TENSORS, **NARROW})) as reader:
        loaded = load_into(framework_named("torch"), reader, None, device, piece=piece)
        part = reader.read("bfloat16", np.s_[1:3, 4:], to="torch", device=device)
    assert loaded["bfloat16"].dtype == torch.bfloat16
    assert loaded["float8_e5m2"].dtype == torch.float8_e5m2
    for name, array in {**TENSORS, **NARROW}.items():
        assert (tuple(loaded[name].shape), loaded[name].device) == (array.shape, torch.device(device)), name
        assert bytes_of(loaded[name]) == array.tobytes(), name
    np.testing.assert_array_equal(part.cpu().float().numpy(), VALUES[1:3, 4:])


@pytest.mark.parametrize("wait", [True, False])
def test_tensors_of_pytorch_are_saved_as_they_are(tmp_path: Path, wait: bool) -> None:
    torch = require_torch()
    prefix = tk.save_checkpoint(tmp_path / "model", {**TENSORS, **NARROW})
    loaded = tk.load_arrays(prefix, to="torch", device="cuda:0" if torch.cuda.is_available() else "cpu")
    handle = tk.save_arrays(tmp_path / "back", loaded, wait=wait)
    if not wait:
        for tensor in loaded.values():
            tensor.zero_()  # it was copied before
        handle.result()  # type: ignore[union-attr]
    back = tk.load_tensors(tmp_path / "back")
    for name, array in {**TENSORS, **NARROW}.items():
        np.testing.assert_array_equal(back[name], array, strict=True)


def test_tensors_that_pytorch_has_yet_to_compute_are_saved(tmp_path: Path) -> None:
    torch = require_torch()
    wide = torch.arange(24.0).reshape(4, 6)
    both = torch.complex(torch.ones(2), torch.ones(2))
    tensors = {"turned": wide.t(), "strided": wide[::2, ::3], "trained": torch.nn.Parameter(wide), "conj": both.conj(),
               "negative": both.conj().imag}  # fmt: skip
    tk.save_arrays(tmp_path / "model", tensors)
    found = tk.load_tensors(tmp_path / "model")
    np.testing.assert_array_equal(found["turned"], wide.numpy().T)
    np.testing.assert_array_equal(found["strided"], wide.numpy()[::2, ::3])
    np.testing.assert_array_equal(found["trained"], wide.numpy())
    assert (found["conj"].tolist(), found["negative"].tolist()) == ([1 - 1j] * 2, [-1] * 2)


def test_what_pytorch_has_not_is_refused(tmp_path: Path) -> None:
    require_torch()
    prefix = tk.save_checkpoint(tmp_path / "model", {"narrow": VALUES.astype(ml_dtypes.int4)})
    with pytest.raises(tk.InvalidArgumentError, match='"narrow": PyTorch'):
        tk.load_arrays(prefix, to="torch")
    with pytest.raises(tk.NotFoundError, match=r'no device "cuda:99".*it has cpu'):
        tk.load_arrays(prefix, to="torch", device="cuda:99")


# ---------------------------------------------------------------------------------------------------------------- CuPy


@pytest.mark.parametrize("piece", [16, 1 << 20])
def test_arrays_of_cupy(tmp_path: Path, piece: int) -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    with tk.open_checkpoint(tk.save_checkpoint(tmp_path / "model", TENSORS)) as reader:
        loaded = load_into(framework_named("cupy"), reader, None, "cuda:0", piece=piece)
    for name, array in TENSORS.items():
        np.testing.assert_array_equal(cupy.asnumpy(loaded[name]), array, strict=True)
    tk.save_arrays(tmp_path / "back", loaded)
    for name, array in tk.load_tensors(tmp_path / "back").items():
        np.testing.assert_array_equal(array, TENSORS[name], strict=True)


@pytest.mark.parametrize("piece", [16, 1 << 20])
def test_the_calls_that_cupy_documents_bring_arrays_there_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    stand_in = install(monkeypatch, devices=2)
    with tk.open_checkpoint(tk.save_checkpoint(tmp_path / "model", TENSORS)) as reader:
        loaded = load_into(framework_named("cupy"), reader, None, "cuda:1", piece=piece, threads=2)
        assert max(stand_in.pinned) <= piece  # never more at a time
        part = reader.read("f", np.s_[2:4], to="cupy")
    for name, array in TENSORS.items():
        np.testing.assert_array_equal(loaded[name].get(), array, strict=True)
    np.testing.assert_array_equal(part.get(), TENSORS["f"][2:4])
    assert [stream.is_blocking for stream in stand_in.streams] == [False, False]  # one for each device, beside others
    assert all(stream.waited for stream in stand_in.streams)  # for what used the memory before
    for wait in (True, False):
        handle = tk.save_arrays(tmp_path / "back", loaded, wait=wait)
        if not wait:
            handle.result()  # type: ignore[union-attr]
        for name, array in tk.load_tensors(tmp_path / "back").items():
            np.testing.assert_array_equal(array, TENSORS[name], strict=True)


def test_what_cupy_has_not_and_devices_that_are_not_there_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = tk.save_checkpoint(tmp_path / "model", {"half": VALUES.astype(ml_dtypes.bfloat16), "f": TENSORS["f"]})
    install(monkeypatch, devices=2)
    with pytest.raises(tk.InvalidArgumentError, match=r'1 of 2 .*"half": CuPy stand-in has no bfloat16'):
        tk.load_arrays(prefix, to="cupy")
    with pytest.raises(tk.NotFoundError, match='no device "cuda:7"; it has cuda:0, cuda:1'):
        tk.load_arrays(prefix, ["f"], to="cupy", device="cuda:7")
    with pytest.raises(tk.InvalidArgumentError, match='expected "cuda:0" or the like'):
        tk.load_arrays(prefix, ["f"], to="cupy", device="cpu")
    install(monkeypatch, devices=0)
    with pytest.raises(tk.NotFoundError, match='no device "cuda:0"; it has none at all'):
        tk.load_arrays(prefix, ["f"], to="cupy")
    install(monkeypatch, room=3 * TENSORS["f"].nbytes // 2)
    with pytest.raises(tk.ResourceExhaustedError, match=r'tensor "g" could not .*no memory left: Out of memory'):
        tk.load_arrays(tk.save_checkpoint(tmp_path / "two", {"f": TENSORS["f"], "g": TENSORS["f"]}), to="cupy")
