"""Checkpoints to and from devices, beside what others do: rows for `benchmarks.devices`.

    load    a checkpoint in the page cache, to the device, checked
    cold    the same after the system has let go of it, beside a plain read by as many threads
    save    arrays on the device, to files that are left to the page cache

Each makes files of its own size several times over, and removes them. What a contender cannot do on this machine is a
row that says why, and the others go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np

import tensorkeep as tk
from benchmarks.timing import Contender, medians, take_turns

Rows = list[list[str]]
Contenders = dict[str, Callable[[], Any]]
_BLOCK: Final = 64 << 20
_PIECE: Final = 16 << 20


def tensors_of(mib: int) -> dict[str, Any]:
    """Up to sixteen tensors of float32 that are so many MiB together, made of one random block."""
    count = max(1, min(16, mib))
    rows = max(1, mib // count)
    block = np.random.default_rng(1).standard_normal(min(rows << 18, _BLOCK // 4), np.float32)
    found = {}
    for at in range(count):
        whole = np.resize(np.roll(block, at + 1), rows << 18)
        found[f"w{at}"] = whole.reshape(rows, 1 << 18)
    return found


def measured(
    work: str, what: str, contenders: Contenders, rounds: int, size: int, prepare: Callable[[], object] = lambda: None
) -> Rows:
    """Rows of contenders, ours first, taken in turn; those that fail the first time are told of and left out."""
    able, failed = {}, []
    for name, call in contenders.items():
        try:
            jax.block_until_ready(call())
        except Exception as error:
            failed.append([work, what, name, "", str(error).partition("\n")[0][:60] or type(error).__name__, "", ""])
        else:
            able[name] = call
    turns = [
        Contender(name, lambda call=call: jax.block_until_ready(call()), prepare)  # type: ignore[misc]
        for name, call in able.items()
    ]
    found = medians(take_turns(turns, rounds)) if turns else {}
    first = next(iter(found.values()), 0.0)
    rows = [
        [work, what, name, "", f"{seconds * 1e3:.2f}", f"{size / seconds / 1e9:.2f}", f"{seconds / first:.2f}"]
        for name, seconds in found.items()
    ]
    return rows + failed


# ------------------------------------------------------------------------------------------------------------- loading


def load(folder: Path, mib: int, rounds: int) -> Rows:
    """A checkpoint that is in the page cache, to the device."""
    tensors = tensors_of(mib)
    size = sum(array.nbytes for array in tensors.values())
    prefix = tk.save_checkpoint(folder / "model", tensors)
    contenders: Contenders = {"load_arrays": lambda: tk.load_arrays(prefix, to="jax")}
    contenders["read, jax.device_put"] = lambda: jax.device_put(tk.load_tensors(prefix))
    contenders["jax.device_put alone"] = lambda: jax.device_put(tensors)
    contenders["jax, pinned_host to device"] = _pinned_of_jax(size)
    if find_spec("safetensors"):
        from safetensors.flax import load_file
        from safetensors.numpy import save_file

        save_file(tensors, folder / "model.safetensors")
        contenders["safetensors"] = lambda: load_file(folder / "model.safetensors")
    if find_spec("torch"):
        contenders.update(_of_torch(folder, prefix, tensors))
    for name, array in tk.load_arrays(prefix, to="jax").items():
        np.testing.assert_array_equal(np.asarray(array), tensors[name])
    return measured("load", f"{size >> 20} MiB", contenders, rounds, size)


def _pinned_of_jax(size: int) -> Callable[[], Any]:
    """What JAX copies from its own pinned memory: what loading could have, if it could be written to."""
    held: list[Any] = []

    def copy() -> Any:
        device = jax.devices()[0]
        if not held:
            pinned = jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host")
            held.append(jax.block_until_ready(jax.device_put(np.zeros(size >> 2, np.float32), pinned)))
        there = jax.sharding.SingleDeviceSharding(device, memory_kind=device.default_memory().kind)
        return jax.device_put(held[0], there)

    return copy


def _of_torch(folder: Path, prefix: str, tensors: dict[str, Any]) -> Contenders:
    import torch

    is_there = torch.cuda.is_available()
    device = "cuda:0" if is_there else "cpu"
    torch.save({name: torch.from_numpy(array) for name, array in tensors.items()}, folder / "model.pt")
    size = sum(array.nbytes for array in tensors.values())
    pinned = torch.empty(min(size, 1 << 30), dtype=torch.uint8, pin_memory=is_there)

    def done(result: Any) -> Any:
        if is_there:
            torch.cuda.synchronize()
        return result

    def from_pinned() -> Any:
        there = torch.empty_like(pinned, device=device)
        for _ in range(max(1, size // pinned.numel())):
            there.copy_(pinned, non_blocking=True)
        return done(there)

    found: Contenders = {
        "load_arrays, torch": lambda: done(tk.load_arrays(prefix, to="torch", device=device)),
        "torch.load": lambda: done(torch.load(folder / "model.pt", map_location=device)),
        "torch, pinned copy alone": from_pinned,
    }
    if find_spec("safetensors"):
        from safetensors.torch import load_file

        found["safetensors, torch"] = lambda: done(load_file(folder / "model.safetensors", device=device))
    return found


# ---------------------------------------------------------------------------------------------------------------- cold


def cold(folder: Path, mib: int, rounds: int) -> Rows:
    """A checkpoint that is not in the page cache, to the device, beside a plain read of its data by several threads."""
    tensors = tensors_of(mib)
    size = sum(array.nbytes for array in tensors.values())
    prefix = tk.save_checkpoint(folder / "cold", tensors)
    del tensors
    with tk.open_checkpoint(prefix) as reader:
        files = [Path(path) for path in reader.files]
    library = "torch" if _torch_has_a_gpu() else "jax"
    contenders: Contenders = {
        f"load_arrays, {library}": lambda: tk.load_arrays(
            prefix, to=library, device="cuda:0" if library == "torch" else None
        ),
        "plain read": lambda: _read_plainly(files),
    }
    if library == "torch":
        contenders["load_arrays, jax"] = lambda: tk.load_arrays(prefix, to="jax")
    return measured("cold", f"{size >> 20} MiB", contenders, rounds, size, lambda: _let_go(files))


def _torch_has_a_gpu() -> bool:
    if not find_spec("torch"):
        return False
    import torch

    return bool(torch.cuda.is_available())


def _let_go(files: list[Path]) -> None:
    """Has the system drop files from its page cache."""
    for path in files:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)


def _read_plainly(files: list[Path]) -> int:
    """Reads files in pieces by as many threads as there are processors, up to sixteen; nothing else is done."""
    threads = min(16, os.cpu_count() or 1)
    pieces = [(path, at) for path in files for at in range(0, path.stat().st_size, _PIECE)]
    handles = {path: os.open(path, os.O_RDONLY) for path in files}
    buffers = [bytearray(_PIECE) for _ in range(threads)]

    def read(number: int) -> int:
        return sum(os.preadv(handles[path], [buffers[number]], at) for path, at in pieces[number::threads])

    try:
        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(read, range(threads)))
    finally:
        for handle in handles.values():
            os.close(handle)


# -------------------------------------------------------------------------------------------------------------- saving


def save(folder: Path, mib: int, rounds: int) -> Rows:
    """Arrays on the device, to a checkpoint that is left to the page cache."""
    tensors = tensors_of(mib)
    size = sum(array.nbytes for array in tensors.values())
    arrays = jax.block_until_ready(jax.device_put(tensors))
    options = tk.SaveOptions(durability=tk.Durability.CACHE)
    contenders: Contenders = {"save_arrays": lambda: tk.save_arrays(folder / "saved", arrays, options)}
    contenders["copy, save_checkpoint"] = lambda: tk.save_checkpoint(folder / "copied", jax.device_get(arrays), options)
    if find_spec("safetensors"):
        from safetensors.flax import save_file

        contenders["safetensors"] = lambda: save_file(arrays, folder / "saved.safetensors")
    found = measured("save", f"{size >> 20} MiB", contenders, rounds, size)
    for name, array in tk.load_tensors(folder / "saved").items():
        np.testing.assert_array_equal(array, tensors[name])
    return found
