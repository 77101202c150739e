"""What we write, TensorFlow reads: by its readers, by RestoreV2, whole and in part, and into variables of all kinds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep
from tensorkeep import (
    BundleWriter,
    CheckpointFormat,
    Durability,
    LocalFileSystem,
    PartitionedArray,
    Piece,
    SaveOptions,
    ShardByName,
    ShardBySize,
    SliceFileWriter,
    TensorSlice,
)
from tests.interop.samples import BYTES_NAMES, EAGER_VARIABLES, ODD_NAMES, V1_VARIABLES, VARIABLES, Samples
from tests.interop.tensorflow_oracle import (
    STITCHABLE,
    STORABLE,
    V1_GETTABLE,
    V1_STORABLE,
    Stored,
    Tensor,
    Variable,
    as_array,
    assert_same,
    restore_v2,
    saver_restore,
    spec,
)

SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (2, 3, 4), (1, 1, 1, 5), (2, 1, 2, 1, 2, 1, 2, 3)]
FAST = Durability.CACHE
Slices = dict[str, list[TensorSlice]]


@dataclass(frozen=True)
class ShardInTurn:
    """Every piece, be it a slice, goes to the next file."""

    count: int

    def assign(self, pieces: Sequence[Piece]) -> Sequence[int]:
        return [at % self.count for at in range(len(pieces))]


SHARDINGS: list[dict[str, Any]] = [
    {},
    {"sharding": ShardInTurn(3)},
    {"sharding": ShardBySize(200)},
    {"sharding": ShardByName(lambda name: len(name) % 4)},
]


def expect(path: Path | str, tensors: dict[str, Tensor], samples: Samples, slices: Slices) -> None:
    """TensorFlow finds exactly these tensors, whole and in any part, wherever it can read parts of that type."""
    is_v1 = not Path(f"{path}.index").exists()
    readable = {
        name: tensor for name, tensor in tensors.items() if is_v1 or tensor.dtype in STITCHABLE or not slices.get(name)
    }
    found = restore_v2(path, [(name, tensor.dtype, "") for name, tensor in readable.items()]) if readable else []
    for (name, tensor), array in zip(readable.items(), found, strict=True):
        assert_same(array, tensor.array, f'{path}: "{name}" {tensor.dtype}')
    expect_parts(
        path, {name: tensor for name, tensor in tensors.items() if is_v1 or tensor.dtype in STITCHABLE}, samples
    )
    if not is_v1:
        expect_slices(path, tensors, slices)
    if all(name.isprintable() for name in tensors):
        gettable = V1_GETTABLE if is_v1 else STORABLE
        expect_from_reader(path, tensors, [n for n, t in readable.items() if t.dtype in gettable and not slices.get(n)])


def expect_parts(path: Path | str, tensors: dict[str, Tensor], samples: Samples) -> None:
    parts = [(name, t, samples.part(t.array.shape)) for name, t in tensors.items() if t.array.ndim and t.array.size]
    if not parts:
        return
    found = restore_v2(path, [(name, tensor.dtype, spec(tensor.array.shape, part)) for name, tensor, part in parts])
    for (name, tensor, part), array in zip(parts, found, strict=True):
        assert_same(array, tensor.part(part).array, f'{path}: "{name}" {tensor.dtype} [{part}]')


def expect_slices(path: Path | str, tensors: dict[str, Tensor], slices: Slices) -> None:
    """A slice as it is stored, TensorFlow reads for every type."""
    wanted = [(name, part) for name, parts in slices.items() for part in parts if tensors[name].array.size]
    if not wanted:
        return
    found = restore_v2(path, [(n, tensors[n].dtype, spec(tensors[n].array.shape, part)) for n, part in wanted])
    for (name, part), array in zip(wanted, found, strict=True):
        assert_same(array, tensors[name].part(part).array, f'{path}: "{name}" [{part}]')


def expect_from_reader(path: Path | str, tensors: dict[str, Tensor], gettable: list[str]) -> None:
    reader = tf.train.load_checkpoint(str(path))
    shapes = {name: list(tensor.array.shape) for name, tensor in tensors.items()}
    assert reader.get_variable_to_shape_map() == shapes, path
    dtypes = {name: dtype.as_datatype_enum for name, dtype in reader.get_variable_to_dtype_map().items()}
    assert dtypes == {name: tensor.dtype.number for name, tensor in tensors.items()}, path
    for name in tensors:
        assert reader.has_tensor(name), f'{path}: "{name}"'
    for name in gettable:
        tensor = tensors[name]
        assert_same(as_array(reader.get_tensor(name), tensor.dtype), tensor.array, f'{path}: "{name}" by get_tensor')


def to_save(tensors: dict[str, Tensor], samples: Samples) -> tuple[dict[str, Any], Slices]:
    """Tensors for `save_checkpoint`, some of them in slices, and those slices."""
    values: dict[str, Any] = {}
    slices: Slices = {}
    for name, tensor in tensors.items():
        if tensor.array.ndim and samples.chance(0.4):
            parts = samples.parts(tensor.array.shape)
            values[name] = PartitionedArray(tensor.array.shape, [(part, tensor.part(part).source) for part in parts])
            slices[name] = [] if len(parts) == 1 else parts
        else:
            values[name] = Tensor(tensor.dtype, samples.laid_out(tensor.array)).source
    return values, slices


class TestSaveCheckpoint:
    @pytest.mark.parametrize("dtype", STORABLE, ids=str)
    def test_every_type_in_every_shape(self, tmp_path, dtype):
        samples = Samples(dtype.number)
        tensors = {str(shape): Tensor(dtype, samples.array(dtype, shape)) for shape in SHAPES}
        for number, options in enumerate((SaveOptions(), SaveOptions(sharding=ShardInTurn(3), alignment=64))):
            path = tensorkeep.save_checkpoint(
                tmp_path / str(number), {name: tensor.source for name, tensor in tensors.items()}, options
            )
            expect(path, tensors, samples, {})

    @pytest.mark.parametrize("sharding", SHARDINGS, ids=["single", "in turn", "by size", "by name"])
    @pytest.mark.parametrize("seed", range(15))
    def test_any_set_of_tensors_and_slices(self, tmp_path, seed, sharding):
        samples = Samples(seed, len(sharding))
        tensors = samples.tensors(1 + samples.below(25))
        values, slices = to_save(tensors, samples)
        options = SaveOptions(alignment=int(samples.rng.choice([1, 3, 8, 64])), durability=FAST, **sharding)
        path = tensorkeep.save_checkpoint(tmp_path / "model", values, options)
        expect(path, tensors, samples, slices)

    @pytest.mark.parametrize("sharding", SHARDINGS, ids=["single", "in turn", "by size", "by name"])
    @pytest.mark.parametrize("seed", range(8))
    def test_any_set_in_the_old_format(self, tmp_path, seed, sharding):
        samples = Samples(seed, len(sharding))
        tensors = samples.tensors(1 + samples.below(25), V1_STORABLE)
        values, slices = to_save(tensors, samples)
        options = SaveOptions(CheckpointFormat.V1, durability=FAST, **sharding)
        path = tensorkeep.save_checkpoint(tmp_path / "model", values, options)
        expect(path, tensors, samples, slices)

    @pytest.mark.parametrize("dtype", V1_STORABLE, ids=str)
    def test_every_type_in_the_old_format(self, tmp_path, dtype):
        samples = Samples(dtype.number)
        tensors = {str(shape): Tensor(dtype, samples.array(dtype, shape)) for shape in SHAPES}
        values = {name: tensor.source for name, tensor in tensors.items()}
        path = tensorkeep.save_checkpoint(tmp_path / "model", values, SaveOptions(CheckpointFormat.V1))
        expect(path, tensors, samples, {})

    @pytest.mark.parametrize("seed", range(6))
    def test_a_checkpoint_that_replaced_others(self, tmp_path, seed):
        samples = Samples(seed)
        for _ in range(4):
            tensors = samples.tensors(1 + samples.below(10))
            values, slices = to_save(tensors, samples)
            options = SaveOptions(sharding=ShardInTurn(1 + samples.below(2)), durability=FAST)
            tensorkeep.save_checkpoint(tmp_path / "model", values, options)
            expect(tmp_path / "model", tensors, samples, slices)

    def test_the_latest_checkpoint_is_the_one_our_state_file_names(self, tmp_path):
        for step in range(3):
            tensorkeep.save_checkpoint(tmp_path / f"model-{step}", {"step": np.int64(step)})
        tensorkeep.write_checkpoint_state(tmp_path, tmp_path / "model-1", [tmp_path / "model-0", tmp_path / "model-1"])
        assert tf.train.latest_checkpoint(str(tmp_path)) == f"{tmp_path}/model-1"
        assert tf.train.load_variable(str(tmp_path), "step") == 1


class TestWriters:
    @pytest.mark.parametrize("seed", range(30))
    def test_bundles_in_any_order_and_number_of_files(self, tmp_path, seed):
        samples = Samples(seed)
        odd = ODD_NAMES + BYTES_NAMES if seed % 2 else ODD_NAMES
        tensors = samples.tensors(2 + samples.below(20), odd=odd)
        pieces = samples.pieces(tensors)
        count = 1 + samples.below(min(3, len(pieces)))
        with BundleWriter(tmp_path / "model", alignment=1 + 7 * samples.below(2), durability=FAST) as writer:
            for at, piece in enumerate(pieces):
                if piece.part is None:
                    writer.add(piece.name, piece.tensor.source, shard=at % count)
                else:
                    writer.add_slice(piece.name, piece.shape, piece.part, piece.tensor.source, shard=at % count)
        expect(tmp_path / "model", tensors, samples, slices_of(pieces))

    @pytest.mark.parametrize("seed", range(20))
    def test_slice_files_in_any_order(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(2 + samples.below(20), V1_STORABLE)
        pieces = samples.pieces(tensors)
        with SliceFileWriter(tmp_path / "model", durability=FAST) as writer:
            for piece in pieces:
                if piece.part is None:
                    writer.add(piece.name, piece.tensor.source)
                else:
                    writer.add_slice(piece.name, piece.shape, piece.part, piece.tensor.source)
        expect(tmp_path / "model", tensors, samples, slices_of(pieces))

    @pytest.mark.parametrize("seed", range(15))
    def test_merged_bundles(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(6 + samples.below(12))
        pieces = samples.pieces(tensors, partitioned=0.6)
        prefixes = [tmp_path / f"model_temp/part-{number}" for number in range(3)]
        for number, prefix in enumerate(prefixes):
            with BundleWriter(prefix, durability=FAST) as writer:
                for at, piece in enumerate(pieces[number::3]):
                    shard = at % 2
                    if piece.part is None:
                        writer.add(piece.name, piece.tensor.source, shard=shard)
                    else:
                        writer.add_slice(piece.name, piece.shape, piece.part, piece.tensor.source, shard=shard)
        tensorkeep.merge_bundles(prefixes, tmp_path / "model", durability=FAST)
        assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
        expect(tmp_path / "model", tensors, samples, slices_of(pieces))

    def test_variants_carried_over_from_another_checkpoint(self, tmp_path):
        lists = tf.stack([tf.raw_ops.TensorListFromTensor(tensor=[[1.0, 2.0]], element_shape=[2])] * 2)
        tf.raw_ops.SaveV2(prefix=f"{tmp_path}/theirs", tensor_names=["v"], shape_and_slices=[""], tensors=[lists])
        with tensorkeep.open_checkpoint(tmp_path / "theirs") as reader, BundleWriter(tmp_path / "ours") as writer:
            writer.add("v", reader.source("v"))
        (found,) = tf.raw_ops.RestoreV2(
            prefix=f"{tmp_path}/ours", tensor_names=["v"], shape_and_slices=[""], dtypes=[tf.variant]
        )
        for handle in tf.unstack(found):
            stacked = tf.raw_ops.TensorListStack(input_handle=handle, element_shape=[2], element_dtype=tf.float32)
            assert stacked.numpy().tolist() == [[1.0, 2.0]]


def slices_of(pieces: list[Stored]) -> Slices:
    found: Slices = {}
    for piece in pieces:
        if piece.part is not None and not piece.part.is_whole(piece.shape):
            found.setdefault(piece.name, []).append(piece.part)
    return found


class TestSaver:
    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("is_resource", [True, False], ids=["resource", "ref"])
    @pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "single"])
    @pytest.mark.parametrize("version", ["V1", "V2"])
    def test_restores_into_variables_partitioned_otherwise(self, tmp_path, version, sharded, is_resource, seed):
        samples = Samples(seed, sharded, is_resource)
        types = V1_VARIABLES if version == "V1" else [dtype for dtype in VARIABLES if dtype in STITCHABLE]
        variables = samples.variables(types, is_resource=is_resource)
        values, _ = to_save({name: variable.tensor for name, variable in variables.items()}, samples)
        options = SaveOptions(
            CheckpointFormat(version), sharding=ShardInTurn(2) if sharded else ShardByName(lambda _: 0), durability=FAST
        )
        path = tensorkeep.save_checkpoint(tmp_path / "model", values, options)
        for name, array in saver_restore(path, variables, sharded=sharded).items():
            assert_same(array, variables[name].tensor.array, f'{path}: "{name}"')

    def test_restores_every_type_of_variable_stored_whole(self, tmp_path):
        samples = Samples(0)
        tensors = {f"v_{dtype}": Tensor(dtype, samples.array(dtype, (3, 4))) for dtype in VARIABLES}
        tensorkeep.save_checkpoint(tmp_path / "model", {name: tensor.source for name, tensor in tensors.items()})
        variables = {name: Variable(tensor) for name, tensor in tensors.items()}
        for name, array in saver_restore(f"{tmp_path}/model", variables).items():
            assert_same(array, tensors[name].array, name)


class TestCheckpoint:
    def test_restores_by_the_names_of_variables(self, tmp_path):
        samples = Samples(1)
        tensors = {f"v_{dtype}": Tensor(dtype, samples.array(dtype, (3, 4))) for dtype in EAGER_VARIABLES}
        values = {name: tensor.source for name, tensor in tensors.items()}
        path = tensorkeep.save_checkpoint(tmp_path / "model", values)
        variables = {
            name: tf.Variable(tf.zeros_like(t.theirs) if t.dtype.number < 24 else t.theirs, name=name)
            for name, t in tensors.items()
        }
        tf.train.Checkpoint(**variables).restore(path).assert_consumed()
        for name, variable in variables.items():
            assert_same(as_array(variable.numpy(), tensors[name].dtype), tensors[name].array, name)

    def test_restores_objects_from_a_copy_of_their_checkpoint(self, tmp_path):
        def model() -> tf.train.Checkpoint:
            variables = [tf.Variable(tf.random.normal([3, 2]), name=f"v{at}") for at in range(3)]
            optimizer = tf.compat.v1.train.AdamOptimizer(0.1)
            optimizer.minimize(lambda: tf.add_n([tf.reduce_sum(v**2) for v in variables]), var_list=variables)
            return tf.train.Checkpoint(variables=variables, optimizer=optimizer)

        first, second = model(), model()
        path = first.write(str(tmp_path / "theirs"))
        with tensorkeep.open_checkpoint(path) as reader:
            tensorkeep.save_checkpoint(
                tmp_path / "ours", {name: reader.source(name) for name in reader}, SaveOptions(sharding=ShardInTurn(2))
            )
        second.read(str(tmp_path / "ours")).assert_consumed()
        for ours, theirs in zip(second.variables, first.variables, strict=True):
            assert_same(ours.numpy(), theirs.numpy(), ours.name)
            for slot in ("m", "v"):
                restored = second.optimizer.get_slot(ours, slot)
                assert_same(restored.numpy(), first.optimizer.get_slot(theirs, slot).numpy(), restored.name)


class Killed(BaseException):
    """The process dies here."""


class DyingFileSystem:
    """The local disk, until a given number of changes have been made; after that, nothing changes any more."""

    CHANGES = ("create", "rename", "link", "delete", "make_directory", "remove_directory")

    def __init__(self, changes: int) -> None:
        self._local = LocalFileSystem()
        self._left = changes

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._local, name)
        if name not in self.CHANGES:
            return method

        def change(*arguments: Any) -> Any:
            if self._left == 0:
                raise Killed
            self._left -= 1
            return method(*arguments)

        return change


class TestInterruptedSaves:
    """Every state that a save leaves when it is cut short is, to TensorFlow too, the old checkpoint or the new one."""

    @pytest.mark.parametrize("old_count", [1, 2])
    @pytest.mark.parametrize("new_count", [1, 2])
    def test_tensorflow_reads_the_old_or_the_new(self, tmp_path, old_count, new_count):
        old = {"a": np.arange(5.0), "b": np.arange(3)}
        new = {"a": np.arange(7.0) + 100, "b": np.arange(2) + 100}
        seen = []
        for changes in itertools.count():
            prefix = tmp_path / str(changes) / "model"
            tensorkeep.save_checkpoint(prefix, old, SaveOptions(sharding=ShardInTurn(old_count), durability=FAST))
            options = SaveOptions(sharding=ShardInTurn(new_count), durability=FAST)
            try:
                tensorkeep.save_checkpoint(prefix, new, options, fs=DyingFileSystem(changes))
            except Killed:
                is_finished = False
            else:
                is_finished = True
            reader = tf.train.load_checkpoint(str(prefix))
            found = {name: reader.get_tensor(name).tolist() for name in "ab"}
            wanted = [{name: array.tolist() for name, array in tensors.items()} for tensors in (old, new)]
            assert found in wanted, f"after {changes} changes"
            seen.append(found == wanted[1])
            if is_finished:
                break
        assert seen == sorted(seen), f"the new one came and went: {seen}"
        assert seen[0] is False
        assert seen[-1] is True
