"""TensorFlow as an oracle: its ways to write and read checkpoints, in terms of arrays and of our types.

A `Tensor` is a value with its exact type; a `Stored` is what one input of a save operation is, a tensor whole or one
slice of it. Arrays are as our readers return them: quantised types as integers, strings as `bytes` objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import tensorflow as tf

from tensorkeep import ArraySource, DType, TensorSlice
from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.format import encode_name
from tensorkeep.dtypes import ALL_DTYPES

Variables = Mapping[str, "Variable"]


def _types(names: str) -> tuple[DType, ...]:
    return tuple(map(DType.of, names.split()))


STORABLE: Final = tuple(dtype for dtype in ALL_DTYPES if dtype.is_storable and dtype.name != "variant")
V1_STORABLE: Final = _types(
    "float32 float64 int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32 uint16 complex128 float16"
)
# What RestoreV2 can cut a part out of, or put together from slices; of other types it reads what is stored, as stored.
STITCHABLE: Final = _types(
    "float32 float64 int32 uint8 int16 int8 complex64 int64 bool qint8 quint8 qint32 bfloat16 complex128 int4 uint4"
)
# What `get_tensor` reads from a V1 checkpoint.
V1_GETTABLE: Final = _types("float32 float64 int32 uint8 int16 int8 int64 string bool")

CPUS: Final = 3  # in the sessions that save and restore variables


@dataclass(frozen=True)
class Tensor:
    """A value and its type, which for quantised types the array alone does not tell."""

    dtype: DType
    array: Array

    @property
    def source(self) -> ArraySource:
        """The tensor as our writers take it."""
        return ArraySource.of(self.array, self.dtype)

    @property
    def theirs(self) -> Any:
        """The tensor as TensorFlow's operations take it."""
        their_type = tf.dtypes.as_dtype(self.dtype.number)
        if self.dtype.is_object:
            flat = tf.constant(self.array.ravel().tolist(), tf.string, [self.array.size])
            return tf.reshape(flat, self.array.shape)
        if self.dtype.quantized:
            return tf.bitcast(tf.constant(self.array), their_type)
        return tf.constant(self.array, their_type)

    def part(self, part: TensorSlice) -> Tensor:
        return Tensor(self.dtype, self.array[as_index(part, self.array.shape)])


@dataclass(frozen=True)
class Stored:
    """One input of a save operation."""

    name: str
    tensor: Tensor
    shape: tuple[int, ...]
    part: TensorSlice | None = None

    @property
    def spec(self) -> str:
        """What the operation wants to know of shape and slice."""
        return "" if self.part is None else spec(self.shape, self.part)


def spec(shape: Sequence[int], part: TensorSlice) -> str:
    return " ".join((*map(str, shape), str(part)))


def as_index(part: TensorSlice, shape: Sequence[int]) -> Any:
    """For NumPy, which gives an array for it even of a scalar."""
    return (*(slice(start, stop) for start, stop in part.box(shape)), ...)


def whole(tensors: Mapping[str, Tensor]) -> list[Stored]:
    return [Stored(name, tensor, tensor.array.shape) for name, tensor in tensors.items()]


def in_parts(name: str, tensor: Tensor, parts: Iterable[TensorSlice]) -> list[Stored]:
    return [Stored(name, tensor.part(part), tensor.array.shape, part) for part in parts]


# What TensorFlow does


def save_v2(prefix: Path | str, pieces: Sequence[Stored]) -> None:
    """One SaveV2 operation. It makes no more than one folder; here all that are missing are made."""
    Path(prefix).parent.mkdir(parents=True, exist_ok=True)
    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=[encode_name(piece.name) for piece in pieces],
        shape_and_slices=[piece.spec for piece in pieces],
        tensors=[piece.tensor.theirs for piece in pieces],
    )


def save_slices(path: Path | str, pieces: Sequence[Stored]) -> None:
    """One SaveSlices operation: a V1 file."""
    tf.raw_ops.SaveSlices(
        filename=str(path),
        tensor_names=[encode_name(piece.name) for piece in pieces],
        shapes_and_slices=[piece.spec for piece in pieces],
        data=[piece.tensor.theirs for piece in pieces],
    )


def restore_v2(prefix: Path | str, wanted: Sequence[tuple[str, DType, str]]) -> list[Array]:
    """One RestoreV2 operation, which reads V1 files too. Each tensor is given by name, type, and shape and slice."""
    found = tf.raw_ops.RestoreV2(
        prefix=str(prefix),
        tensor_names=[encode_name(name) for name, _, _ in wanted],
        shape_and_slices=[part for _, _, part in wanted],
        dtypes=[tf.dtypes.as_dtype(dtype.number) for _, dtype, _ in wanted],
    )
    return [as_array(tensor.numpy(), dtype) for tensor, (_, dtype, _) in zip(found, wanted, strict=True)]


def restore_one(prefix: Path | str, name: str, dtype: DType, part: str = "") -> Array:
    return restore_v2(prefix, [(name, dtype, part)])[0]


def merge_v2(prefixes: Sequence[Path | str], destination: Path | str, **options: bool) -> None:
    """One MergeV2Checkpoints operation."""
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=list(map(str, prefixes)), destination_prefix=str(destination), **options
    )


def as_array(value: Any, dtype: DType) -> Array:
    """What TensorFlow gives for a value, scalars and all, as an array; its own idea of the type is kept."""
    if not dtype.is_object:
        return np.asarray(value)
    array = np.empty(np.shape(value), dtype=object)
    array[...] = value
    return array


# Variables of a graph, and the Saver

Partitioner = Callable[..., Any]


@dataclass(frozen=True)
class Variable:
    """A variable of a graph, and how it is placed there. The parts of a partitioned one go to the devices in turn."""

    tensor: Tensor
    partitioner: Partitioner | None = None
    is_resource: bool = True
    device: int = 0


def saver_save(path: Path | str, variables: Variables, *, sharded: bool = False, version: str = "V2") -> str:
    """Saves by a tf.train.Saver from a graph that holds the variables, and returns the path it returns."""
    with tf.Graph().as_default():
        _, values = _build(variables)
        saver = tf.compat.v1.train.Saver(sharded=sharded, write_version=getattr(tf.compat.v1.train.SaverDef, version))
        with _session() as session:
            session.run(tf.compat.v1.global_variables_initializer(), values)
            return str(saver.save(session, str(path), write_meta_graph=False))


def saver_restore(path: str, variables: Variables, *, sharded: bool = False) -> dict[str, Array]:
    """Restores by a tf.train.Saver into a graph of such variables, which have no values before."""
    with tf.Graph().as_default():
        made, _ = _build(variables)
        saver = tf.compat.v1.train.Saver(sharded=sharded)
        with _session() as session:
            saver.restore(session, path)
            values = session.run({name: tf.convert_to_tensor(variable) for name, variable in made.items()})
    return {name: as_array(value, variables[name].tensor.dtype) for name, value in values.items()}


def _session() -> Any:
    config = tf.compat.v1.ConfigProto(device_count={"CPU": CPUS})
    config.graph_options.rewrite_options.disable_meta_optimizer = True  # which takes longer than to run it once
    return tf.compat.v1.Session(config=config)


def _build(variables: Variables) -> tuple[dict[str, Any], dict[Any, Array]]:
    """The variables of a graph by name, and what to feed to initialise them: constants would lose bits of NaNs."""
    made: dict[str, Any] = {}
    feed: dict[Any, Array] = {}
    for name, variable in variables.items():
        dtype, array = variable.tensor.dtype, variable.tensor.array
        value = tf.compat.v1.placeholder(tf.dtypes.as_dtype(dtype.number), array.shape)
        feed[value] = array
        with tf.compat.v1.device(_device(variable)):
            made[name] = tf.compat.v1.get_variable(
                name, initializer=value, partitioner=variable.partitioner, use_resource=variable.is_resource
            )
    return made, feed


def _device(variable: Variable) -> Callable[[Any], str]:
    """Places the parts of a variable on the devices in turn, and what is made next along with each."""
    current = variable.device - 1

    def place(operation: Any) -> str:
        nonlocal current
        current += operation.type in ("VarHandleOp", "VariableV2")
        return f"/cpu:{current % CPUS}"

    return place


# Comparing


def files(prefix: Path | str) -> dict[str, bytes]:
    """The files of a checkpoint by what follows the prefix in their names, with their bytes."""
    path = Path(prefix)
    found = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
    return {file.name.removeprefix(path.name): file.read_bytes() for file in sorted(found)}


def assert_same_files(ours: Path | str, theirs: Path | str, what: str = "") -> None:
    """Both prefixes have files of the same names and bytes."""
    mine, their = files(ours), files(theirs)
    assert their, f"{what}: TensorFlow wrote nothing to {theirs}"
    assert list(mine) == list(their), f"{what}: we wrote {list(mine)}, TensorFlow {list(their)}"
    for suffix in their:
        if mine[suffix] != their[suffix]:
            raise AssertionError(f'{what}: "{suffix}": {_difference(mine[suffix], their[suffix])}')


def assert_same(actual: Array, expected: Array, what: object) -> None:
    """Both arrays have the same type, shape and bits, be they NaN or not."""
    got, wanted = np.asarray(actual), np.asarray(expected)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), (
        f"{what}: {got.dtype} {list(got.shape)}, expected {wanted.dtype} {list(wanted.shape)}"
    )
    same = got.tolist() == wanted.tolist() if got.dtype == object else got.tobytes() == wanted.tobytes()
    assert same, f"{what}: {got.tolist()!r:.300}, expected {wanted.tolist()!r:.300}"


def _difference(ours: bytes, theirs: bytes) -> str:
    pairs = zip(ours, theirs, strict=False)
    at = next((at for at, (mine, their) in enumerate(pairs) if mine != their), min(len(ours), len(theirs)))
    window = slice(max(at - 24, 0), at + 24)
    return (
        f"{len(ours)} bytes, TensorFlow wrote {len(theirs)}; they differ from byte {at} on:\n"
        f"ours   {ours[window]!r}\ntheirs {theirs[window]!r}"
    )
