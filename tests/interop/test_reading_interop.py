"""What TensorFlow writes, we read: values, types, shapes and slices, whole and in part, by every kind of reader.

Object-based checkpoints, which are bundles like others, have test_objects_interop.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework.tensor_pb2 import VariantTensorDataProto

import tensorkeep
from tensorkeep import CheckpointReader, Checksums, DType, ReadOptions, TensorSlice
from tests.interop.samples import BYTES_NAMES, ODD_NAMES, V1_VARIABLES, VARIABLES, Samples
from tests.interop.tensorflow_oracle import (
    STORABLE,
    V1_STORABLE,
    Stored,
    Tensor,
    Variable,
    assert_same,
    merge_v2,
    save_slices,
    save_v2,
    saver_save,
    whole,
)
from tests.support.depth import thinned

SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (2, 3, 4), (1, 1, 1, 5), (2, 1, 2, 1, 2, 1, 2, 3)]
WAYS = [
    ReadOptions(),
    ReadOptions(copy=False),
    ReadOptions(Checksums.ONCE),
    ReadOptions(Checksums.OFF, copy=False),
]


def expect(path: Path | str, tensors: dict[str, Tensor], samples: Samples) -> None:
    """Every way to read finds exactly these tensors, and any part of them that is asked for."""
    for options in WAYS:
        with tensorkeep.open_checkpoint(path, options) as reader:
            assert list(reader) == sorted(tensors, key=lambda name: name.encode("utf-8", "surrogateescape"))
            found = reader.read_many(threads=1 + samples.below(3))
            for name, tensor in tensors.items():
                info, what = reader[name], f'{path}: "{name}" {tensor.dtype}, {options}'
                assert (info.dtype, info.shape) == (tensor.dtype, tensor.array.shape), what
                assert_same(found[name], tensor.array, what)
                assert_same(reader.read(name), tensor.array, what)
                expect_parts(reader, name, tensor, samples)
    assert tensorkeep.check_checkpoint(path).is_intact


def expect_parts(reader: CheckpointReader, name: str, tensor: Tensor, samples: Samples) -> None:
    shape = tensor.array.shape
    if 0 not in shape:
        part = samples.part(shape)
        assert_same(reader.read(name, part), tensor.part(part).array, f'"{name}" [{part}]')
    index = tuple(np.s_[a:b] for a, b in samples.rng.integers(-9, 9, size=(samples.below(len(shape) + 1), 2)).tolist())
    assert_same(reader.read(name, index), tensor.array[(*index, ...)], f'"{name}" {index}')
    if shape and shape[0]:
        rows = samples.rng.integers(-shape[0], shape[0], size=samples.below(6))
        assert_same(reader.read_rows(name, rows), tensor.array[rows], f'"{name}" rows {rows.tolist()}')


def expect_slices(path: Path | str, pieces: list[Stored]) -> None:
    """The slices are those that were saved, in the order they were saved in."""
    wanted: dict[str, list[TensorSlice]] = {}
    for piece in pieces:
        wanted.setdefault(piece.name, [])
        if piece.part is not None and not piece.part.is_whole(piece.shape):
            wanted[piece.name].append(piece.part)
    assert {name: list(info.slices) for name, info in tensorkeep.list_tensors(path).items()} == wanted


class TestSaveV2:
    @pytest.mark.parametrize("dtype", STORABLE, ids=str)
    def test_every_type_in_every_shape(self, tmp_path, dtype):
        samples = Samples(dtype.number)
        tensors = {str(shape): Tensor(dtype, samples.array(dtype, shape)) for shape in SHAPES}
        save_v2(tmp_path / "whole", whole(tensors))
        expect(tmp_path / "whole", tensors, samples)
        pieces = samples.pieces(tensors, partitioned=1)
        save_v2(tmp_path / "parts", pieces)
        expect(tmp_path / "parts", tensors, samples)
        expect_slices(tmp_path / "parts", pieces)

    @pytest.mark.parametrize("seed", range(60))
    def test_any_set_of_tensors_and_slices(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(1 + samples.below(30), odd=ODD_NAMES + BYTES_NAMES)
        pieces = samples.pieces(tensors)
        save_v2(tmp_path / "model", pieces)
        expect(tmp_path / "model", tensors, samples)
        expect_slices(tmp_path / "model", pieces)

    @pytest.mark.parametrize("seed", range(4))
    def test_thousands_of_small_tensors_in_any_number_of_files(self, tmp_path, seed):
        samples = Samples(seed)
        small = [samples.below(100) for _ in range(1000)]
        sizes = [*small, *(64 * 1024 + more for more in (-1, 0, 1)), 5000, 300_000, *small]
        dtype = DType.of("int8")
        tensors = {f"t{at:04d}": Tensor(dtype, samples.array(dtype, (size,))) for at, size in enumerate(sizes)}
        tensors |= {f"u{at:04d}": samples.tensor() for at in range(500)}
        pieces = whole(tensors)
        order = samples.rng.permutation(len(pieces))
        prefixes = [tmp_path / f"temp/{number}" for number in range(1 + seed)]
        for number, prefix in enumerate(prefixes):
            save_v2(prefix, [pieces[at] for at in order[number :: len(prefixes)]])
        merge_v2(prefixes, tmp_path / "model")
        for options in WAYS:
            with tensorkeep.open_checkpoint(tmp_path / "model", options) as reader:
                chosen = samples.rng.choice(list(tensors), size=700).tolist()
                for names in (list(tensors), chosen):
                    found = reader.read_many(names)
                    assert list(found) == list(dict.fromkeys(names))
                    for name, array in found.items():
                        assert_same(array, tensors[name].array, f"{name}, {options}")

    def test_a_tensor_that_several_threads_read(self, tmp_path):
        tensor = Tensor(DType.of("float32"), np.arange(20_000_003, dtype=np.float32).reshape(1, -1))
        save_v2(tmp_path / "model", whole({"large": tensor, "small": Tensor(tensor.dtype, np.float32([1, 2]))}))
        for options in WAYS:
            with tensorkeep.open_checkpoint(tmp_path / "model", options) as reader:
                for array in (reader.read("large"), reader.read_many(threads=3)["large"]):
                    assert np.array_equal(array, tensor.array), options
                assert reader.read("large", np.s_[:, 9_999_999:10_000_002]).tolist() == [[9999999, 10000000, 10000001]]

    def test_every_odd_name_at_once(self, tmp_path):
        samples = Samples(0)
        tensors = {name: samples.tensor() for name in ODD_NAMES + BYTES_NAMES}
        save_v2(tmp_path / "model", samples.pieces(tensors))
        expect(tmp_path / "model", tensors, samples)

    def test_variants_come_as_the_messages_that_tensorflow_wrote(self, tmp_path):
        values = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        lists = tf.stack([tf.raw_ops.TensorListFromTensor(tensor=[value], element_shape=[2]) for value in values])
        tf.raw_ops.SaveV2(prefix=f"{tmp_path}/model", tensor_names=["v"], shape_and_slices=[""], tensors=[lists])
        with tensorkeep.open_checkpoint(tmp_path / "model") as reader:
            assert str(reader["v"]) == "variant [3]"
            found = reader.read("v").tolist()
        assert [type(item) for item in found] == [tensorkeep.Variant] * 3
        messages = [VariantTensorDataProto.FromString(item) for item in found]
        assert {message.type_name for message in messages} == {"tensorflow::TensorList"}
        assert [tf.make_ndarray(message.tensors[0]).tolist() for message in messages] == values


class TestSaveSlices:
    @pytest.mark.parametrize("dtype", V1_STORABLE, ids=str)
    def test_every_type_in_every_shape(self, tmp_path, dtype):
        samples = Samples(dtype.number)
        tensors = {str(shape): Tensor(dtype, samples.array(dtype, shape)) for shape in SHAPES}
        save_slices(tmp_path / "whole", whole(tensors))
        expect(tmp_path / "whole", tensors, samples)
        save_slices(tmp_path / "parts", samples.pieces(tensors, partitioned=1))
        expect(tmp_path / "parts", tensors, samples)

    @pytest.mark.parametrize("seed", range(40))
    def test_any_set_of_tensors_and_slices(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(1 + samples.below(20), V1_STORABLE, [*ODD_NAMES, "a\0b", "\0a"])
        pieces = samples.pieces(tensors)
        save_slices(tmp_path / "model", pieces)
        expect(tmp_path / "model", tensors, samples)
        if len(pieces) <= 16:
            # With more of them, TensorFlow shuffles slices of one tensor: it sorts by name, and not stably.
            expect_slices(tmp_path / "model", pieces)

    @pytest.mark.parametrize("seed", range(10))
    def test_several_files_are_one_checkpoint(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(12, V1_STORABLE)
        files: list[list[Stored]] = [[] for _ in range(3)]
        for at, piece in enumerate(samples.pieces(tensors, partitioned=0.8)):
            files[at % 3].append(piece)
        for number, pieces in enumerate(files):
            save_slices(tmp_path / f"model-{number:05d}-of-00003", pieces)
        expect(f"{tmp_path}/model-?????-of-00003", tensors, samples)
        expect(f"{tmp_path}/model", tensors, samples)


class TestMergeV2Checkpoints:
    @pytest.mark.parametrize("seed", range(30))
    def test_any_merge_of_any_number(self, tmp_path, seed):
        samples = Samples(seed)
        tensors = samples.tensors(5 + samples.below(15))
        count = 1 + samples.below(4)
        inputs: list[list[Stored]] = [[] for _ in range(count)]
        for at, piece in enumerate(samples.pieces(tensors, partitioned=0.7)):
            inputs[at % count].append(piece)
        prefixes = [tmp_path / f"model_temp/part-{number:05d}-of-{count:05d}" for number in range(count)]
        for prefix, pieces in zip(prefixes, inputs, strict=True):
            save_v2(prefix, pieces)
        merge_v2(prefixes, tmp_path / "model")
        expect(tmp_path / "model", tensors, samples)
        expect_slices(tmp_path / "model", [piece for pieces in inputs for piece in pieces])


class TestSaver:
    @pytest.mark.parametrize("seed", thinned(range(6), 3))
    @pytest.mark.parametrize("is_resource", [True, False], ids=["resource", "ref"])
    @pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "single"])
    @pytest.mark.parametrize("version", ["V1", "V2"])
    def test_variables_of_a_graph(self, tmp_path, version, sharded, is_resource, seed):
        samples = Samples(seed, sharded, is_resource)
        variables = samples.variables(V1_VARIABLES if version == "V1" else VARIABLES, is_resource=is_resource)
        path = saver_save(tmp_path / "model", variables, sharded=sharded, version=version)
        with tensorkeep.open_checkpoint(path) as reader:
            assert reader.format == version
            assert len(reader["scope_0/variable_0"].slices) == 3
        assert (len(list(tmp_path.glob("model*-of-*"))) > 1) == sharded
        expect(path, {name: variable.tensor for name, variable in variables.items()}, samples)
        assert tensorkeep.latest_checkpoint(tmp_path) == path

    def test_a_pattern_of_v1_files_is_what_the_state_file_names(self, tmp_path):
        variables = {f"v{at}": Variable(Samples(at).tensor(V1_STORABLE[:4]), device=at) for at in range(3)}
        path = saver_save(tmp_path / "model", variables, sharded=True, version="V1")
        assert path == f"{tmp_path}/model-?????-of-00003"
        with tensorkeep.open_checkpoint(tmp_path) as reader:
            assert (reader.path, list(reader)) == (path, ["v0", "v1", "v2"])
