"""Tensors of a checkpoint as arrays of another library, on its devices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from tensorkeep.checkpoint.finding.opening import held_reader, open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums
from tensorkeep.checkpoint.slices.tensor_slice import Box, Part, TensorSlice, box_shape, whole_box
from tensorkeep.devices.frameworks import Framework, Target, bytes_before, framework_named
from tensorkeep.devices.transfers import PIECE, Transfer, Transfers, naming
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.showing.amounts import some_of
from tensorkeep.shapes import element_count

__all__ = ["load_arrays"]


def load_arrays(
    path: PathLike | CheckpointReader,
    names: Iterable[str] | None = None,
    *,
    to: str,
    device: object = None,
    threads: int | None = None,
    fs: FileSystem = FILES,
) -> dict[str, Any]:
    """Tensors of a checkpoint (all, unless named) as arrays of "jax", "torch", "cupy" or "numpy", on a device.

    `path` is as for `open_checkpoint`, or an open checkpoint. `device` is text such as "cuda:0", a device of the
    library, or for JAX a `jax.sharding.Sharding`; or a mapping from names to such, in which names that are left out go
    where the library puts arrays by default. Reading, checking and copying overlap. Every device is given only the part
    of a tensor that its sharding says, and only that is read. Types that the library does not have are refused before
    anything is read; if something fails, nothing stays allocated.
    """
    if isinstance(path, CheckpointReader):
        return _load_tensors(path, names, device, to, threads)
    with held_reader(partial(open_checkpoint, path, fs=fs)) as reader:
        return _load_tensors(reader, names, device, to, threads)


def read_array(reader: CheckpointReader, name: str, part: Part | None, *, to: str, device: object) -> Any:
    """A tensor of a checkpoint, or a part of it, as an array of a library, on a device: what `reader.read` gives."""
    info = reader[name]
    if part is None:
        return _load_tensors(reader, [name], device, to, None)[name]
    box = TensorSlice.of(part, info.shape).box(info.shape)
    if to != "numpy":
        return load_into(framework_named(to), reader, [name], device, parts={name: box})[name]
    _require_cpu(device)
    return reader.read(name, part)


def _load_tensors(
    reader: CheckpointReader, names: Iterable[str] | None, device: object, to: str, threads: int | None
) -> dict[str, Any]:
    if isinstance(names, str):
        raise InvalidArgumentError(f'names: expected several names, got the text "{names}"; write ["{names}"]')
    if to != "numpy":
        return load_into(framework_named(to), reader, names, device, threads=threads)
    _require_cpu(device)
    return dict(reader.read_many(names, threads=threads))


def _require_cpu(device: object) -> None:
    if device not in (None, "cpu"):
        raise InvalidArgumentError(f'device: NumPy has "cpu" alone, got {device!r}; another `to` has others')


def load_into(
    framework: Framework,
    reader: CheckpointReader,
    names: Iterable[str] | None,
    device: object,
    *,
    parts: Mapping[str, Box] = {},
    threads: int | None = None,
    piece: int = PIECE,
) -> dict[str, Any]:
    """Tensors as arrays of a framework, read and copied in pieces of so many bytes. Of some, `parts` alone."""
    wanted = list(dict.fromkeys(reader if names is None else names))
    reader.require(wanted)
    places = _places(framework, wanted, device)
    _refuse_types(framework, reader, wanted)
    wholes = {name: parts.get(name, whole_box(reader[name].shape)) for name in wanted}
    boxes = {name: _boxes(framework, name, wholes[name], places[name]) for name in wanted}
    framework.require_room(_sizes(reader, boxes))
    _verify_scattered(reader, boxes)
    made: dict[str, list[Target]] = {name: [] for name in wanted}
    try:
        transfers: list[Transfer] = []
        for name in wanted:
            with naming(name, framework):
                for box, where in boxes[name]:
                    made[name].append(framework.target(where, reader[name].dtype, box_shape(box)))
            transfers += _transfers(reader, name, boxes[name], made[name])
        Transfers(reader, framework, threads=threads, piece=piece).run(transfers)
        return {name: _assemble_array(framework, name, wholes[name], places[name], made[name]) for name in wanted}
    except BaseException:
        for targets in made.values():
            for target in targets:
                target.discard()
        raise


def _places(framework: Framework, names: Sequence[str], device: object) -> dict[str, Any]:
    """Where each tensor is to be, as the framework sees it."""
    if not isinstance(device, Mapping):
        place = framework.place(device)
        return dict.fromkeys(names, place)
    if unknown := sorted(set(map(str, device)) - set(names)):
        raise InvalidArgumentError(f"device: says where {some_of(unknown, 5)} is to be, which is not loaded")
    default = framework.place(None)
    return {name: framework.place(device[name]) if name in device else default for name in names}


def _refuse_types(framework: Framework, reader: CheckpointReader, names: Sequence[str]) -> None:
    problems = []
    for name in names:
        dtype = reader[name].dtype
        reason = f"{dtype} is nothing that devices hold" if dtype.is_object else framework.refusal(dtype)
        if reason is not None:
            problems.append(f'"{name}": {reason}')
    if problems:
        raise InvalidArgumentError(
            f'"{reader.path}": {len(problems)} of {len(names)} tensors cannot be arrays of {framework.name}; leave '
            "them out (`names`), or see to their types: " + "; ".join(problems)
        )


def _boxes(framework: Framework, name: str, whole: Box, place: Any) -> list[tuple[Box, Any]]:
    """Which part of a tensor each device has, of that part of it which is loaded."""
    try:
        found = framework.boxes(place, box_shape(whole))
    except TensorKeepError as error:
        raise type(error)(f'tensor "{name}": {error}') from None
    return [
        (tuple((first + start, first + stop) for (first, _), (start, stop) in zip(whole, box, strict=True)), where)
        for box, where in found
    ]


def _sizes(reader: CheckpointReader, boxes: Mapping[str, list[tuple[Box, Any]]]) -> dict[Any, int]:
    """How many bytes go to each device."""
    sizes: dict[Any, int] = defaultdict(int)
    for name, placed in boxes.items():
        for box, where in placed:
            sizes[where] += element_count(box_shape(box)) * reader[name].dtype.array_dtype.itemsize
    return sizes


def _verify_scattered(reader: CheckpointReader, boxes: Mapping[str, list[tuple[Box, Any]]]) -> None:
    """Checks tensors that are read here as a whole, but in parts whose checksums cannot be put together.

    Of those that are read here in part only, that part alone is read: unchecked, unless the reader's options say
    `ONCE`.
    """
    if reader.options.checksums is not Checksums.ALWAYS:
        return
    reader.verify_many(
        name
        for name, placed in boxes.items()
        if len({box for box, _ in placed}) > 1
        and _is_covered(reader, name, placed)
        and not _in_order(reader, name, placed)
    )


def _is_covered(reader: CheckpointReader, name: str, placed: Sequence[tuple[Box, Any]]) -> bool:
    """Whether the parts, of which none overlaps another, are all of the tensor."""
    return sum(element_count(box_shape(box)) for box in {box for box, _ in placed}) == reader[name].size


def _in_order(reader: CheckpointReader, name: str, placed: Sequence[tuple[Box, Any]]) -> bool:
    """Whether each part is one stretch of the stored bytes."""
    info = reader[name]
    itemsize = info.dtype.array_dtype.itemsize
    if any(bytes_before(box, info.shape, itemsize) is None for box, _ in placed):
        return False
    return reader.stored_bytes(name) is not None


def _transfers(
    reader: CheckpointReader, name: str, placed: Sequence[tuple[Box, Any]], targets: Sequence[Target]
) -> list[Transfer]:
    """What is to be read of a tensor: each part once, however many devices want it."""
    once = reader.options.checksums is Checksums.ONCE and not _is_covered(reader, name, placed)
    stored = reader.stored_bytes(name) if not once and _in_order(reader, name, placed) else None
    wanted: dict[Box, list[Target]] = defaultdict(list)
    for (box, _), target in zip(placed, targets, strict=True):
        wanted[box].append(target)
    return [Transfer(name, reader[name], box, those, stored) for box, those in wanted.items()]


def _assemble_array(framework: Framework, name: str, whole: Box, place: Any, targets: Sequence[Target]) -> Any:
    with naming(name, framework):
        return framework.assembled(place, box_shape(whole), targets)
