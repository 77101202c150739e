"""What we write is what TensorFlow writes for the same tensors in the same order, byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
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
    DType,
    Durability,
    PartitionedArray,
    Piece,
    SaveOptions,
    SliceFileWriter,
    TensorSlice,
    merge_bundles,
)
from tests.interop.samples import BYTES_NAMES, ODD_NAMES, V1_VARIABLES, VARIABLES, Samples
from tests.interop.tensorflow_oracle import (
    CPUS,
    STORABLE,
    V1_STORABLE,
    Stored,
    Tensor,
    Variable,
    assert_same_files,
    in_parts,
    merge_v2,
    save_slices,
    save_v2,
    saver_save,
    whole,
)

SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (2, 3, 4), (1, 1, 1, 5), (2, 1, 2, 1, 2, 1, 2, 3)]
FAST = Durability.CACHE
KIB = 1024
BLOCK = 256 * KIB  # what a block of a table holds before it is closed; twice that gets a block of its own


def write_bundle(prefix: Path, pieces: Sequence[Stored], shards: Sequence[int] = ()) -> None:
    """The pieces in that order, each in the data file that is given for it, or all in one."""
    with BundleWriter(prefix, durability=FAST) as writer:
        for at, piece in enumerate(pieces):
            shard = shards[at] if shards else 0
            if piece.part is None:
                writer.add(piece.name, piece.tensor.source, shard=shard)
            else:
                writer.add_slice(piece.name, piece.shape, piece.part, piece.tensor.source, shard=shard)


def write_slice_file(path: Path, pieces: Sequence[Stored]) -> None:
    with SliceFileWriter(path, durability=FAST) as writer:
        for piece in pieces:
            if piece.part is None:
                writer.add(piece.name, piece.tensor.source)
            else:
                writer.add_slice(piece.name, piece.shape, piece.part, piece.tensor.source)


def numbers(count: int, dtype: str = "float32") -> Tensor:
    return Tensor(DType.of(dtype), np.arange(count).astype(dtype))


class TestBundles:
    def same(self, folder: Path, pieces: Sequence[Stored]) -> None:
        save_v2(folder / "theirs", pieces)
        write_bundle(folder / "ours", pieces)
        assert_same_files(folder / "ours", folder / "theirs")

    @pytest.mark.parametrize("dtype", STORABLE, ids=str)
    def test_every_type_in_every_shape(self, tmp_path, dtype):
        samples = Samples(dtype.number)
        tensors = {str(shape): Tensor(dtype, samples.array(dtype, shape)) for shape in SHAPES}
        self.same(tmp_path, [*whole(tensors), *in_parts("parts", tensors["(7,)"], samples.parts((7,)))])

    @pytest.mark.parametrize("seed", range(80))
    def test_any_set_of_tensors_and_slices(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(1 + samples.below(60), odd=ODD_NAMES + BYTES_NAMES)
        self.same(tmp_path, samples.pieces(tensors, partitioned=samples.rng.random()))

    @pytest.mark.parametrize("count", [1, 15, 16, 17, 31, 32, 33, 500])
    def test_any_number_of_names_with_long_common_beginnings(self, tmp_path, count):
        tensors = {f"{'model/layer/' * 30}{at:04d}": numbers(1) for at in range(count)}
        self.same(tmp_path, whole(tensors))

    @pytest.mark.parametrize("seed", range(3))
    def test_thousands_of_names_fill_several_blocks_of_the_index(self, tmp_path, seed):
        samples = Samples(seed)
        depth = [0, 3, 40][seed]  # the longer what names share, the more of them fit in a block
        tensors = {f"{'scope/' * depth}{samples.rng.bytes(40).hex()}": numbers(at % 3) for at in range(6000)}
        self.same(tmp_path, whole(tensors))
        assert (tmp_path / "ours.index").stat().st_size > 2 * BLOCK

    @pytest.mark.parametrize("seed", range(12))
    def test_names_about_as_long_as_a_block(self, tmp_path, seed):
        samples = Samples(seed)
        sizes = [
            1,
            100,
            BLOCK // 3,
            BLOCK - 40,
            BLOCK - 20,
            BLOCK,
            2 * BLOCK - 40,
            2 * BLOCK - 17,
            2 * BLOCK,
            3 * BLOCK,
        ]
        tensors: dict[str, Tensor] = {}
        for at in range(8):
            size = int(samples.rng.choice(sizes)) + samples.below(30)
            fill = "\udcff" if samples.chance(0.3) else chr(ord("a") + samples.below(3))
            tensors[(fill * size)[:-1] + chr(ord("a") + at)] = numbers(2)
        self.same(tmp_path, whole(tensors))

    @pytest.mark.parametrize("count", [17, 400, 12_000])
    def test_many_slices(self, tmp_path, count):
        tensor = Tensor(DType.of("int8"), np.zeros((count, *(1,) * 7), np.int8))
        parts = [TensorSlice(((at, 1), *((0, 1),) * 7)) for at in range(count)]
        pieces = [*in_parts("sliced", tensor, parts), *whole({"a": numbers(2), "z": numbers(3)})]
        self.same(tmp_path, pieces)

    @pytest.mark.parametrize("size", [64 * KIB - 1, 64 * KIB, KIB * KIB - 1, KIB * KIB, KIB * KIB + 1, 5 * KIB * KIB])
    def test_large_tensors_between_small_ones(self, tmp_path, size):
        samples = Samples(size)
        tensors = {str(at): Tensor(DType.of("uint8"), samples.array(DType.of("uint8"), (size,))) for at in range(3)}
        strings = np.empty(3, dtype=object)
        strings[:] = [samples.rng.bytes(size), b"", samples.rng.bytes(size // 2)]
        tensors["s"] = Tensor(DType.of("string"), strings)
        self.same(tmp_path, whole({"a": numbers(1), **tensors, "z": numbers(1)}))

    def test_variants(self, tmp_path):
        elements = [tf.constant([[1.0, 2.0]] * count) for count in (1, 2, 50)]
        lists = tf.stack([tf.raw_ops.TensorListFromTensor(tensor=each, element_shape=[2]) for each in elements])
        tf.raw_ops.SaveV2(prefix=f"{tmp_path}/theirs", tensor_names=["v"], shape_and_slices=[""], tensors=[lists])
        with tensorkeep.open_checkpoint(tmp_path / "theirs") as reader, BundleWriter(tmp_path / "ours") as writer:
            writer.add("v", reader.read("v"))
        assert_same_files(tmp_path / "ours", tmp_path / "theirs")

    @pytest.mark.parametrize("seed", range(10))
    def test_a_copy_made_from_a_reader(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(20)
        save_v2(tmp_path / "theirs", whole(dict(sorted(tensors.items()))))
        with tensorkeep.open_checkpoint(tmp_path / "theirs") as reader:
            sources = {name: reader.source(name) for name in reader}
            tensorkeep.save_checkpoint(tmp_path / "ours", sources, SaveOptions(durability=FAST))
        assert_same_files(tmp_path / "ours", tmp_path / "theirs")


class TestSaveCheckpoint:
    """Arrays as people have them, rather than sources of a given type."""

    def same(self, folder: Path, arrays: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        save_v2(folder / "theirs", whole(dict(sorted(tensors.items()))))
        tensorkeep.save_checkpoint(folder / "ours", arrays, SaveOptions(durability=FAST))
        assert_same_files(folder / "ours", folder / "theirs")

    @pytest.mark.parametrize("seed", range(40))
    def test_any_set_of_arrays_in_any_layout(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(1 + samples.below(60), [dtype for dtype in STORABLE if not dtype.quantized])
        self.same(tmp_path, {name: samples.laid_out(tensor.array) for name, tensor in tensors.items()}, tensors)

    def test_numbers_lists_and_text(self, tmp_path):
        values = {
            "float": (1.5, "float64"),
            "int": (2, "int64"),
            "bool": (True, "bool"),
            "complex": (1j, "complex128"),
            "list": ([[1, 2], [3, 4]], "int64"),
            "text": ("ä", "string"),
            "bytes": (b"\0\xff", "string"),
            "texts": (["a", "", "漢"], "string"),
            "none": ([], "float64"),
            "scalar": (np.float32(3), "float32"),
            "row": (range(3), "int64"),
        }
        tensors = {}
        for name, (value, dtype) in values.items():
            encoded = [item.encode() for item in value] if name == "texts" else value
            array = np.array(encoded.encode() if isinstance(encoded, str) else encoded, DType.of(dtype).array_dtype)
            tensors[name] = Tensor(DType.of(dtype), array)
        self.same(tmp_path, {name: value for name, (value, _) in values.items()}, tensors)

    @pytest.mark.parametrize("seed", range(3))
    def test_thousands_of_small_arrays(self, tmp_path, seed):
        samples = Samples(seed)
        types = [dtype for dtype in STORABLE if not dtype.quantized and not dtype.is_object]
        tensors = {f"model/{samples.rng.bytes(8).hex()}": samples.tensor(types, largest=4) for _ in range(4000)}
        self.same(tmp_path, {name: tensor.array for name, tensor in tensors.items()}, tensors)

    @pytest.mark.parametrize("rank", [30, 31, 32, 33, 63, 64])
    def test_so_many_dimensions_that_a_shape_is_long(self, tmp_path, rank):
        array = np.arange(3, dtype=np.int16).reshape(3, *(1,) * (rank - 1))
        self.same(tmp_path, {"w": array}, {"w": Tensor(DType.of("int16"), array)})


class TestMerging:
    @pytest.mark.parametrize("count", [1, 2, 3])
    @pytest.mark.parametrize("seed", range(20))
    def test_any_bundles_of_any_number_of_files(self, tmp_path, seed, count):
        samples = Samples(seed, count)
        pieces = samples.pieces(samples.tensors(4 * count + samples.below(30)), partitioned=0.6)
        for number in range(count):
            mine = pieces[number::count]
            files = 1 + samples.below(3)
            placed = [*range(files), *samples.rng.integers(files, size=len(mine)).tolist()][: len(mine)]
            write_bundle(tmp_path / f"inputs/part-{number}", mine, placed)
        inputs = [f"part-{number}" for number in range(count)]
        for merge, who in ((merge_v2, "theirs"), (merge_bundles, "ours")):
            shutil.copytree(tmp_path / "inputs", tmp_path / who / "model_temp")
            merge([tmp_path / who / "model_temp" / name for name in inputs], tmp_path / who / "model")
            assert not (tmp_path / who / "model_temp").exists()
        assert_same_files(tmp_path / "ours/model", tmp_path / "theirs/model")

    @pytest.mark.parametrize("seed", range(10))
    def test_what_was_merged_before(self, tmp_path, seed):
        samples = Samples(seed)
        pieces = samples.pieces(samples.tensors(20), partitioned=0.6)
        for merge, who in ((merge_v2, "theirs"), (merge_bundles, "ours")):
            folder = tmp_path / who
            for number in range(4):
                save_v2(folder / f"temp/part-{number}", pieces[number::4])
            merge([folder / "temp/part-2", folder / "temp/part-0"], folder / "temp/first")
            merge([folder / "temp/part-1", folder / "temp/first", folder / "temp/part-3"], folder / "model")
        assert_same_files(tmp_path / "ours/model", tmp_path / "theirs/model")

    @pytest.mark.parametrize("count", [2, 3, 11])
    @pytest.mark.parametrize("seed", range(6))
    def test_a_writer_of_several_files_equals_a_sharded_save(self, tmp_path, seed, count):
        samples = Samples(seed, count)
        pieces = samples.pieces(samples.tensors(2 * count + samples.below(20)), partitioned=0.6)
        shards = [at % count for at in range(len(pieces))]
        prefixes = [tmp_path / f"temp/part-{number}" for number in range(count)]
        for number, prefix in enumerate(prefixes):
            save_v2(prefix, [piece for piece, shard in zip(pieces, shards, strict=True) if shard == number])
        merge_v2(prefixes, tmp_path / "theirs")
        write_bundle(tmp_path / "ours", pieces, shards)
        assert_same_files(tmp_path / "ours", tmp_path / "theirs")

    def test_input_files_that_hold_only_what_describes_slices(self, tmp_path):
        """The entry of a tensor in slices names a data file too, which may hold nothing else."""
        tensor = numbers(6)
        parts = [TensorSlice(((0, 2),)), TensorSlice(((2, 4),))]
        for merge, who in ((merge_v2, "theirs"), (merge_bundles, "ours")):
            save_v2(tmp_path / who / "temp/a", in_parts("w", tensor, parts[:1]))
            save_v2(tmp_path / who / "temp/b", in_parts("w", tensor, parts[1:]))
            merge([tmp_path / who / "temp/b", tmp_path / who / "temp/a"], tmp_path / who / "model")
        assert_same_files(tmp_path / "ours/model", tmp_path / "theirs/model")

    @pytest.mark.parametrize("missing", [0, 1, 2])
    def test_inputs_that_may_be_missing(self, tmp_path, missing):
        for merge, who, option in (
            (merge_v2, "theirs", {"allow_missing_files": True}),
            (merge_bundles, "ours", {"allow_missing": True}),
        ):
            prefixes = [tmp_path / who / f"temp/{number}" for number in range(3)]
            for number, prefix in enumerate(prefixes):
                if number != missing:
                    save_v2(prefix, whole({str(number): numbers(number)}))
            merge(prefixes, tmp_path / who / "model", **option)
        assert_same_files(tmp_path / "ours/model", tmp_path / "theirs/model")

    def test_folders_of_inputs_are_kept_or_deleted_alike(self, tmp_path):
        trees = []
        for merge, option in ((merge_v2, "delete_old_dirs"), (merge_bundles, "delete_inputs")):
            folder = tmp_path / option
            prefixes = [folder / name / "part" for name in ("empty", "full")]
            for prefix in prefixes:
                save_v2(prefix, whole({prefix.parent.name: numbers(3)}))
            (folder / "full/other").write_text("not of the checkpoint")
            merge(prefixes, folder / "model", **{option: True})
            trees.append(sorted(str(path.relative_to(folder)) for path in folder.rglob("*")))
        assert trees[0] == trees[1]


class TestSliceFiles:
    def same(self, folder: Path, pieces: Sequence[Stored]) -> None:
        """TensorFlow sorts tensors by name, slices of one tensor along, and not stably if there are more than 16."""
        save_slices(folder / "theirs", pieces)
        if len(pieces) > 16:
            with tensorkeep.open_checkpoint(folder / "theirs") as reader:
                order = {(name, part): at for name in reader for at, part in enumerate(reader[name].slices)}
            pieces = sorted(pieces, key=lambda piece: order.get((piece.name, piece.part), 0) if piece.part else 0)
        write_slice_file(folder / "ours", pieces)
        assert_same_files(folder / "ours", folder / "theirs")

    @pytest.mark.parametrize("dtype", V1_STORABLE, ids=str)
    def test_every_type_in_every_shape(self, tmp_path, dtype):
        samples = Samples(dtype.number)
        tensors = {str(shape): Tensor(dtype, samples.array(dtype, shape)) for shape in SHAPES}
        self.same(tmp_path, [*whole(tensors), *in_parts("parts", tensors["(7,)"], samples.parts((7,)))])

    @pytest.mark.parametrize("seed", range(50))
    def test_any_set_of_tensors_and_slices(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(1 + samples.below(30), V1_STORABLE, [*ODD_NAMES, "a\0b", "\0a", "\0"])
        self.same(tmp_path, samples.pieces(tensors, partitioned=samples.rng.random()))

    @pytest.mark.parametrize("seed", range(12))
    def test_values_about_as_long_as_a_block(self, tmp_path, seed):
        samples = Samples(seed)
        sizes = [10, BLOCK // 3, BLOCK - 100, BLOCK, 2 * BLOCK - 100, 2 * BLOCK - 50, 2 * BLOCK, 3 * BLOCK]
        tensors: dict[str, Tensor] = {}
        for at in range(10):
            size = int(samples.rng.choice(sizes)) + samples.below(100)
            dtype = DType.of(["bool", "float32", "string"][samples.below(3)])
            if dtype.name == "string":
                array = np.empty((), dtype=object)
                array[...] = samples.rng.bytes(size)
            else:
                array = samples.array(dtype, (size // dtype.itemsize,))
            tensors[f"t{at}"] = Tensor(dtype, array)
        self.same(tmp_path, whole(tensors))

    @pytest.mark.parametrize("spec", ["-:-", "0,4:0,3", "-:0,3", "0,4:-"])
    def test_a_slice_of_everything_is_stored_as_it_is_spelled(self, tmp_path, spec):
        tensor = Tensor(DType.of("int64"), np.arange(12).reshape(4, 3))
        pieces = in_parts("w", tensor, [TensorSlice.parse(spec)])
        self.same(tmp_path, pieces)
        save_v2(tmp_path / "v2-theirs", pieces)  # where it is a tensor like others, however it is spelled
        write_bundle(tmp_path / "v2-ours", whole({"w": tensor}))
        assert_same_files(tmp_path / "v2-ours", tmp_path / "v2-theirs")

    def test_thousands_of_tensors(self, tmp_path):
        samples = Samples(0)
        self.same(tmp_path, whole({samples.rng.bytes(20).hex(): numbers(at % 50, "int32") for at in range(3000)}))


@dataclass(frozen=True)
class ByDevice:
    """Puts tensors and slices in files as a sharded Saver does: a file for each device that holds a variable."""

    variables: Mapping[str, Variable]
    parts: Mapping[str, Sequence[TensorSlice]]

    def assign(self, pieces: Sequence[Piece]) -> Sequence[int]:
        return [self._device(piece.name, piece.part) for piece in pieces]

    def _device(self, name: str, part: TensorSlice | None) -> int:
        at = 0 if part is None else sorted(self.parts[name], key=lambda part: part.extents).index(part)
        return (self.variables[name].device + at) % CPUS


class TestSaver:
    """`save_checkpoint` of the same tensors in the same partition gives the files that a Saver gives."""

    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("is_resource", [True, False], ids=["resource", "ref"])
    @pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "single"])
    @pytest.mark.parametrize("version", ["V1", "V2"])
    def test_variables_of_a_graph(self, tmp_path, version, sharded, is_resource, seed):
        samples = Samples(seed, sharded, is_resource)
        variables = samples.variables(V1_VARIABLES if version == "V1" else VARIABLES, is_resource=is_resource)
        path = saver_save(tmp_path / "theirs", variables, sharded=sharded, version=version)
        (tmp_path / "checkpoint").unlink()
        parts = {name: self.parts(path, name, variable) for name, variable in variables.items() if variable.partitioner}
        values: dict[str, Any] = {name: variable.tensor.source for name, variable in variables.items()}
        for name, found in parts.items():
            tensor = variables[name].tensor
            values[name] = PartitionedArray(tensor.array.shape, [(part, tensor.part(part).source) for part in found])
        sharding = {"sharding": ByDevice(variables, parts)} if sharded else {}
        options = SaveOptions(CheckpointFormat(version), durability=FAST, **sharding)
        ours = tensorkeep.save_checkpoint(tmp_path / "ours", values, options)
        assert ours == path.replace("theirs", "ours")
        assert_same_files(tmp_path / "ours", tmp_path / "theirs")

    def parts(self, path: str, name: str, variable: Variable) -> Sequence[TensorSlice]:
        """The parts that a partitioner made, in the order TensorFlow stored them; always spelled out."""
        slices = tensorkeep.list_tensors(path)[name].slices
        return slices or [TensorSlice(tuple((0, size) for size in variable.tensor.array.shape))]
