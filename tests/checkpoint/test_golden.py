"""What TensorFlow wrote, read to the last bit, and written again byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from tensorkeep import (
    ArraySource,
    BundleReader,
    BundleWriter,
    CheckpointReader,
    DType,
    MemoryFileSystem,
    NotFoundError,
    ObjectGraph,
    ReadOptions,
    RenamedReader,
    SavedAttribute,
    SliceFileReader,
    SliceFileWriter,
    TensorSlice,
    UnimplementedError,
    Variant,
    check_checkpoint,
    latest_checkpoint,
    list_tensors,
    load_tensors,
    merge_bundles,
    open_checkpoint,
    read_checkpoint_state,
    save_checkpoint,
    write_checkpoint_state,
)
from tensorkeep.checkpoint.finding.file_names import parse_shard_pattern
from tensorkeep.io.files.local import LOCAL
from tensorkeep.proto.messages import SavedTensorSlices, TrackableObjectGraph, VariantTensorDataProto, parse
from tensorkeep.proto.text import parse_text
from tensorkeep.table.table import Table
from tests.support.golden import ROOT, expected, expected_tensors, golden

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


@dataclass(frozen=True)
class Case:
    """A checkpoint among the golden files, and which part of `expected.json` speaks of it."""

    folder: str
    prefix: str
    section: str = ""
    """Names in `expected.json` begin with this and a colon."""

    @property
    def path(self) -> str:
        return str(golden(self.folder) / self.prefix)

    @property
    def id(self) -> str:
        return f"{self.folder[:3]}-{self.prefix}"

    def tensors(self) -> dict[str, tuple[str, np.ndarray]]:
        start = f"{self.section}:" if self.section else ""
        return {
            name.removeprefix(start): value
            for name, value in expected_tensors(self.folder).items()
            if name.startswith(start) and not name.startswith("restored_from_average:")
        }


V2_CASES = [
    Case("g01_v2_single_ref", "model.ckpt-100"),
    Case("g02_v2_single_resource", "res"),
    Case("g03_v2_sharded3", "sharded.ckpt-3"),
    Case("g04_v2_partitioned", "part.ckpt"),
    Case("g05_v2_partitioned_sharded", "ps.ckpt-1"),
    Case("g06_v2_dtypes", "all"),
    Case("g09_v2_mergecheckpoints", "three"),
    Case("g15_saver_subset_rename", "all", "all"),
    Case("g15_saver_subset_rename", "rename", "rename"),
    Case("g15_saver_subset_rename", "subset", "subset"),
    Case("g16_saver_ema", "ema.ckpt"),
    Case("g17_retention", "run/model.ckpt-110"),
    Case("g20_checkpoint_manager", "mgr/ckpt-7"),
    Case("g21_meta_mlp_adam", "mlp-4"),
    Case("g22_meta_conv_adagrad", "conv-4"),
    Case("g23_meta_scoped", "scoped"),
    Case("g24_graph_tools", "ref/model.ckpt", "ref"),
    Case("g24_graph_tools", "res/model.ckpt", "res"),
    Case("g25_control_flow_v1", "cf"),
    *(
        Case(folder, "model/variables/variables")
        for folder in (
            "g26_tf1_simple_save",
            "g27_tf1_multi",
            "g28_tf2_module",
            "g29_keras_dense",
            "g30_keras_conv_bn",
            "g31_keras_lstm",
            "g32_keras_strings",
            "g33_tf2_composite",
        )
    ),
    Case("g34_tf2_checkpoint", "obj/ckpt-1"),
    Case("g35_corrupt_v2", "good"),
    *(Case("g37_crafted", name) for name in ("good", "snappy", "tiny_blocks", "restart_2", "aligned64", "bigendian")),
]
V1_CASES = [
    Case("g10_v1_single", "v1.ckpt-12"),
    Case("g11_v1_sharded3", "v1s-9-?????-of-00003"),
    Case("g12_v1_partitioned", "one"),
    Case("g12_v1_partitioned", "many-?????-of-00003"),
    Case("g13_v1_dtypes", "all.v1"),
    Case("g14_v1_multiblock", "mb"),
    Case("g36_corrupt_v1", "good"),
]
CASES = V2_CASES + V1_CASES

# Every checkpoint there is but the damaged ones, for what can be asked without knowing the values.
ALL_V2 = sorted(
    str(path.relative_to(ROOT).with_suffix(""))
    for path in ROOT.glob("**/*.index")
    if path.parent.name != "g35_corrupt_v2" or path.stem == "good"
)
ALL_V1 = [f"{case.folder}/{case.prefix}" for case in V1_CASES] + [
    "g19_state_files/v1s/m-0-?????-of-00001",
    "g19_state_files/v1s/m-1-?????-of-00001",
]

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
every_checkpoint = pytest.mark.parametrize("name", [*ALL_V2, *ALL_V1])


def assert_same(actual: np.ndarray, wanted: np.ndarray) -> None:
    """Equal to the bit: NaNs, signs of zero and the dtype included."""
    assert actual.shape == wanted.shape
    assert actual.dtype == wanted.dtype
    if actual.dtype == object:
        assert actual.tolist() == wanted.tolist()
    else:
        assert np.ascontiguousarray(actual).tobytes() == np.ascontiguousarray(wanted).tobytes()


def some_parts(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """A handful of boxes: the first and last rows, a core, a column, nothing."""
    if not shape:
        return
    yield (slice(0, (shape[0] + 1) // 2),)
    yield (slice(shape[0] // 2, shape[0]),)
    yield tuple(slice(size // 3, size - size // 3) for size in shape)
    yield (*(slice(None) for _ in shape[1:]), slice(shape[-1] // 2, shape[-1] // 2 + 1))
    yield (slice(0, 0),)


class TestReading:
    def test_every_folder_with_a_checkpoint_takes_part(self):
        holding = {path.relative_to(ROOT).parts[0] for path in ROOT.glob("**/*.index")}
        assert holding <= {name.split("/")[0] for name in ALL_V2}
        assert {case.folder for case in CASES} | {"g07_v2_many_keys", "g08_v2_variant", "g18_retention_hours"} >= (
            holding - {"g19_state_files"}
        )

    @every_case
    def test_names_types_and_shapes(self, case: Case):
        wanted = {name: (dtype, value.shape) for name, (dtype, value) in case.tensors().items()}
        with open_checkpoint(case.path) as reader:
            found = {name: (info.dtype.enum_name, info.shape) for name, info in reader.items()}
            # TensorFlow lists the object graph in some cases and leaves it out in others.
            if OBJECT_GRAPH not in wanted:
                found.pop(OBJECT_GRAPH, None)
            assert found == wanted
            assert list(reader) == sorted(reader, key=str.encode)
            assert len(reader) == len(list(reader))
            assert not reader.damage
            assert list(reader.intact_names) == list(reader)
            assert reader.format == ("V1" if case in V1_CASES else "V2")
        assert list(list_tensors(case.path)) == list(reader.intact_names)

    @every_case
    @pytest.mark.parametrize("copy", [True, False])
    def test_values(self, case: Case, copy: bool):
        with open_checkpoint(case.path) as reader:
            for name, (_, value) in case.tensors().items():
                array = reader.read(name, copy=copy)
                assert_same(array, value)
                if copy:
                    assert array.flags.writeable
                    assert not np.shares_memory(array, reader.read(name))

    @every_case
    @pytest.mark.parametrize("copy", [True, False])
    def test_many_at_once(self, case: Case, copy: bool):
        with open_checkpoint(case.path) as reader:
            found = reader.read_many(copy=copy)
            assert list(found) == list(reader)
            for name, (_, value) in case.tensors().items():
                assert_same(found[name], value)

    @every_case
    def test_parts(self, case: Case):
        with open_checkpoint(case.path) as reader:
            for name, (_, value) in case.tensors().items():
                for part in some_parts(value.shape):
                    assert_same(reader.read(name, part), value[part])

    @every_case
    def test_rows(self, case: Case):
        with open_checkpoint(case.path) as reader:
            for name, (_, value) in case.tensors().items():
                if value.ndim and value.shape[0]:
                    rows = [value.shape[0] - 1, 0, -1, 0]
                    assert_same(reader.read_rows(name, rows), value[rows])

    @every_checkpoint
    def test_every_checkpoint_is_found_intact(self, name: str):
        report = check_checkpoint(ROOT / name)
        assert report.is_intact, str(report)
        which = "its one tensor is" if len(report.intact) == 1 else f"all {len(report.intact)} tensors are"
        assert str(report).endswith(f": {which} intact")

    @every_checkpoint
    def test_all_ways_of_reading_agree(self, name: str):
        with open_checkpoint(ROOT / name) as reader, open_checkpoint(ROOT / name, ReadOptions(copy=False)) as views:
            many = reader.read_many(threads=2)
            for key, info in reader.items():
                array = reader.read(key)
                assert array.shape == info.shape
                assert array.dtype == info.dtype.array_dtype
                assert array.nbytes == info.nbytes
                assert_same(many[key], array)
                assert_same(views.read(key), array)
                assert_same(reader.source(key).gather().reshape(info.shape), array)
                assert reader.source(key).dtype is info.dtype

    def test_views_are_read_only_and_share_the_file(self):
        with open_checkpoint(ROOT / "g01_v2_single_ref/model.ckpt-100") as reader:
            view = reader.read("layer1/weights", copy=False)
            assert not view.flags.writeable
            assert not view.flags.owndata
            again = reader.read("layer1/weights", copy=False)
            assert np.shares_memory(view, again)
            value = reader.read("layer1/weights")
        assert_same(view, value)  # closing the reader leaves views alive


class TestShards:
    @pytest.mark.parametrize(
        ("folder", "prefix", "count", "shards"),
        [
            ("g03_v2_sharded3", "sharded.ckpt-3", "num_shards", "shard_of"),
            ("g03_v2_sharded3", "three.ckpt", "num_shards_three", "shard_of_three"),
            ("g09_v2_mergecheckpoints", "three", "", "shard_of"),
        ],
    )
    def test_each_tensor_lies_in_the_data_file_tensorflow_put_it_in(self, folder, prefix, count, shards):
        stated = expected(folder)
        with open_checkpoint(golden(folder) / prefix) as reader:
            assert isinstance(reader, BundleReader)
            assert {name: reader.entry(name).shard for name in reader} == stated[shards]
            assert reader.shard_count == (stated[count] if count else stated["header"]["num_shards"])

    def test_three_devices_hold_what_four_shards_hold(self):
        """`three.ckpt` has no section of its own: it is the other one without the variable that has no device."""
        folder = golden("g03_v2_sharded3")
        wanted = expected_tensors("g03_v2_sharded3")
        found = load_tensors(folder / "three.ckpt")
        assert set(found) == set(wanted) - {"unplaced"}
        for name, array in found.items():
            assert_same(array, wanted[name][1])

    def test_slices_of_one_tensor_may_lie_in_different_files(self):
        with open_checkpoint(golden("g05_v2_partitioned_sharded") / "ps.ckpt-1") as reader:
            assert isinstance(reader, BundleReader)
            found = {key.hex(): entry.shard for key, entry in reader.entries().items() if not entry.slices}
        assert found == expected("g05_v2_partitioned_sharded")["shards_hexkey"]

    def test_all_index_keys(self):
        with open_checkpoint(golden("g04_v2_partitioned") / "part.ckpt") as reader:
            assert isinstance(reader, BundleReader)
            assert sorted(key.hex() for key in reader.entries()) == expected("g04_v2_partitioned")["index_keys_hex"]


class TestSlices:
    @pytest.mark.parametrize(
        ("folder", "prefix"), [("g04_v2_partitioned", "part.ckpt"), ("g05_v2_partitioned_sharded", "ps.ckpt-1")]
    )
    def test_the_slices_are_listed_in_the_stored_order(self, folder, prefix):
        wanted = {
            name: tuple(TensorSlice(tuple((start, length) for start, length in part)) for part in parts)
            for name, parts in expected(folder)["slices"].items()
        }
        infos = list_tensors(golden(folder) / prefix)
        assert {name: info.slices for name, info in infos.items() if info.slices} == wanted

    def test_slices_of_v1_files_are_joined(self):
        folder = golden("g12_v1_partitioned")
        counts = {"cols/u": 3, "emb/w": 4, "plain": 0}
        for prefix in ("one", "many-?????-of-00003"):
            infos = list_tensors(folder / prefix)
            assert {name: len(info.slices) for name, info in infos.items()} == counts
            assert str(infos["emb/w"]) == "float32 [10, 3] in 4 slices"

    @pytest.mark.parametrize("case", [case for case in CASES if "partitioned" in case.folder], ids=lambda c: c.id)
    def test_any_box_is_put_together(self, case: Case):
        generator = np.random.default_rng(5)
        with open_checkpoint(case.path) as reader:
            for name, (_, value) in case.tensors().items():
                for _ in range(25):
                    low = [generator.integers(0, size + 1) for size in value.shape]
                    part = tuple(
                        slice(start, generator.integers(start, size + 1))
                        for start, size in zip(low, value.shape, strict=True)
                    )
                    assert_same(reader.read(name, part), value[part])
                rows = generator.integers(-value.shape[0], value.shape[0], 7)
                assert_same(reader.read_rows(name, rows), value[rows])

    def test_a_stored_slice_is_an_entry_of_its_own(self):
        with open_checkpoint(golden("g04_v2_partitioned") / "part.ckpt") as reader:
            assert isinstance(reader, BundleReader)
            entry = reader.entry("emb/w", TensorSlice(((6, 2), (0, 3))))
            assert (entry.name, entry.shape, entry.offset, entry.size) == ("emb/w [6,2:0,3]", (2, 3), 128, 24)


class TestManyKeys:
    STATED: ClassVar = expected("g07_v2_many_keys")

    @pytest.fixture
    def values(self) -> dict[str, np.ndarray]:
        name = "module_{:02d}/block_{:03d}/attention/self/query/kernel_{}/Adam_moment/{}"
        count = self.STATED["count"]
        return {name.format(i % 37, i, i % 5, "x" * (i % 29)): np.array(i, np.float32) for i in range(count)}

    def test_every_one_has_its_value(self, values):
        found = load_tensors(golden("g07_v2_many_keys") / "many")
        assert list(found) == sorted(values)
        for name, value in values.items():
            assert_same(found[name], value)

    def test_each_can_be_asked_for_alone(self, values):
        with open_checkpoint(golden("g07_v2_many_keys") / "many") as reader:
            for name in list(values)[::97]:
                assert name in reader
                assert name + "!" not in reader
                assert_same(reader.read(name), values[name])

    def test_blocks_and_separators(self):
        file = LOCAL.open(str(golden("g07_v2_many_keys") / "many.index"))
        table = Table(file)
        assert len(list(table.blocks())) == self.STATED["n_blocks"]
        assert [separator.decode() for separator, _ in table._handles(b"")] == self.STATED["index_separators"]
        file.close()


class TestVariants:
    PATH = golden("g08_v2_variant") / "var"

    def test_they_are_carried_unopened(self):
        found = load_tensors(self.PATH)
        assert {name: array.shape for name, array in found.items()} == {
            "list_f": (), "list_i": (), "plain": (1,), "vec": (2,)
        }  # fmt: skip
        assert all(isinstance(item, Variant) for name in ("list_f", "list_i", "vec") for item in found[name].flat)
        message = parse(VariantTensorDataProto, found["list_f"].item(), "list_f")
        assert message.type_name == expected("g08_v2_variant")["variants"]["list_f"]["type"]
        elements = [list(tensor.float_val) for tensor in message.tensors]
        assert elements == expected("g08_v2_variant")["variants"]["list_f"]["elements"]

    def test_writing_what_was_read_gives_the_same_files(self):
        fs = MemoryFileSystem()
        with open_checkpoint(self.PATH) as reader, BundleWriter("var", fs=fs) as writer:
            entries = sorted((reader.entry(name) for name in reader), key=lambda entry: entry.offset)
            for entry in entries:
                writer.add(entry.name, reader.read(entry.name))
        assert fs.contents() == files_of(str(self.PATH))


def files_of(prefix: str) -> dict[str, bytes]:
    """The index and data files of a golden V2 checkpoint, by name."""
    folder, base = Path(prefix).parent, Path(prefix).name
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name == f"{base}.index" or path.name.startswith(f"{base}.data-")
    }


def write_again(reader: BundleReader, prefix: str, fs: MemoryFileSystem) -> None:
    """Adds everything in the order of the data files, which is the order it was added in."""
    pieces = []
    for name, info in reader.items():
        for part in info.slices or (None,):
            pieces.append((reader.entry(name, part), name, info, part))
    pieces.sort(key=lambda item: (item[0].shard, item[0].offset, item[0].size))
    with BundleWriter(prefix, fs=fs) as writer:
        for entry, name, info, part in pieces:
            if part is None:
                writer.add(name, reader.source(name), shard=entry.shard)
            else:
                piece = ArraySource.of(reader.read(name, part), info.dtype)
                writer.add_slice(name, info.shape, part, piece, shard=entry.shard)


# Hand-made, with other options than TensorFlow's.
FOREIGN = {f"g37_crafted/{name}" for name in ("snappy", "tiny_blocks", "restart_2", "aligned64", "bigendian")}


class TestWritingV2:
    @pytest.mark.parametrize("name", [name for name in ALL_V2 if name not in FOREIGN])
    def test_what_was_read_is_written_byte_for_byte(self, name: str):
        fs = MemoryFileSystem()
        prefix = name.rsplit("/", 1)[1]
        with open_checkpoint(ROOT / name) as reader:
            assert isinstance(reader, BundleReader)
            write_again(reader, prefix, fs)
        assert fs.contents() == files_of(str(ROOT / name))

    @pytest.mark.parametrize("name", sorted(FOREIGN))
    def test_foreign_tables_come_out_as_tensorflow_would_write_them(self, name: str):
        fs = MemoryFileSystem()
        with open_checkpoint(ROOT / name) as reader:
            assert isinstance(reader, BundleReader)
            write_again(reader, "good", fs)
        if name != "g37_crafted/aligned64":  # which has another order
            assert fs.contents() == files_of(str(ROOT / "g37_crafted/good"))
        for key, (_, value) in expected_tensors("g37_crafted").items():
            assert_same(load_tensors("good", fs=fs)[key], value)

    @pytest.mark.parametrize(
        "case",
        [case for case in V2_CASES if case.folder in ("g01_v2_single_ref", "g02_v2_single_resource", "g16_saver_ema")],
        ids=lambda case: case.id,
    )
    def test_save_checkpoint_gives_what_saver_gives(self, case: Case):
        fs = MemoryFileSystem()
        save_checkpoint(case.prefix, {name: value for name, (_, value) in case.tensors().items()}, fs=fs)
        assert fs.contents() == files_of(case.path)

    def test_the_order_of_a_data_file_is_that_of_adding(self):
        fs = MemoryFileSystem()
        stated = expected_tensors("g06_v2_dtypes")
        with BundleWriter("all", fs=fs) as writer:
            for name in expected("g06_v2_dtypes")["write_order"]:
                dtype, value = stated[name]
                writer.add(name, ArraySource.of(value, dtype))
        assert fs.contents() == files_of(str(golden("g06_v2_dtypes") / "all"))


def v1_files(path: str) -> list[str]:
    pattern = parse_shard_pattern(path)
    return [path] if pattern is None else [f"{pattern[0]}-{at:05d}-of-{pattern[1]:05d}" for at in range(pattern[1])]


class TestWritingV1:
    @pytest.mark.parametrize("file", [file for name in ALL_V1 for file in v1_files(name)])
    def test_what_was_read_is_written_byte_for_byte(self, file: str):
        fs = MemoryFileSystem()
        opened = LOCAL.open(str(ROOT / file))
        meta = parse(SavedTensorSlices, Table(opened).get(b"") or b"", file).meta
        opened.close()
        with SliceFileReader(str(ROOT / file)) as reader, SliceFileWriter("file", fs=fs) as writer:
            for tensor in meta.tensor:  # in the order in which they were added
                info = reader[tensor.name]
                for message in tensor.slice:
                    part = TensorSlice.from_proto(message)
                    if part == TensorSlice.whole(len(info.shape)):
                        writer.add(tensor.name, reader.source(tensor.name))
                    else:
                        piece = ArraySource.of(reader.read(tensor.name, part), info.dtype)
                        writer.add_slice(tensor.name, info.shape, part, piece)
        assert fs.contents() == {"file": (ROOT / file).read_bytes()}

    def test_the_blocks_of_large_values(self):
        opened = LOCAL.open(str(golden("g14_v1_multiblock") / "mb"))
        blocks = [(handle.offset, handle.size, len(list(block))) for handle, block in Table(opened).blocks()]
        opened.close()
        stated = expected("g14_v1_multiblock")["blocks"]
        assert blocks == [(block["offset"], block["size"], block["entries"]) for block in stated]

    def test_types_that_tensorflow_refuses_are_refused(self):
        fs = MemoryFileSystem()
        for name in expected("g13_v1_dtypes")["unsupported"]:
            writer = SliceFileWriter("file", fs=fs)
            zeros = np.zeros(2, DType.of(name).array_dtype)
            with pytest.raises(UnimplementedError) as caught:
                writer.add("x", ArraySource.of(zeros, name))
            assert str(caught.value) == (
                f'tensor "x": the V1 format cannot store {name}; save as V2, or convert it first'
            )


class TestMerging:
    """Golden case 9 holds the result alone; what was merged follows from it."""

    @pytest.fixture
    def parts(self) -> MemoryFileSystem:
        fs = MemoryFileSystem()
        values = {name: value for name, (_, value) in expected_tensors("g09_v2_mergecheckpoints").items()}
        for prefix, names in {"t0/q": "q", "t1/an": "an", "t1/zm": "zm"}.items():
            with BundleWriter(prefix, fs=fs) as writer:
                for name in names:
                    writer.add(name, values[name])
        return fs

    @pytest.mark.parametrize("first", ["t1/an", "t1/zm"])
    def test_data_files_are_numbered_by_first_appearance(self, parts: MemoryFileSystem, first: str):
        second = "t1/zm" if first == "t1/an" else "t1/an"
        # The input of two data files comes out in one order, whichever it had: "a" is its first tensor.
        merge_bundles([first, second], "two/b", fs=parts)
        merge_bundles(["t0/q", "two/b"], "three", fs=parts)
        assert parts.contents() == files_of(str(golden("g09_v2_mergecheckpoints") / "three"))

    def test_all_at_once_gives_the_same(self, parts: MemoryFileSystem):
        merge_bundles(["t0/q", "t1/an", "t1/zm"], "three", fs=parts)
        assert parts.contents() == files_of(str(golden("g09_v2_mergecheckpoints") / "three"))
        assert not parts.is_directory("t0")
        assert not parts.is_directory("t1")

    @pytest.mark.parametrize("folder", ["g03_v2_sharded3", "g05_v2_partitioned_sharded"])
    def test_a_sharded_save_is_the_merge_of_its_shards(self, folder: str):
        """Saver(sharded=True) writes one bundle per device and merges them: doing so gives its files."""
        fs = MemoryFileSystem()
        name = {"g03_v2_sharded3": "sharded.ckpt-3", "g05_v2_partitioned_sharded": "ps.ckpt-1"}[folder]
        with open_checkpoint(golden(folder) / name) as reader:
            assert isinstance(reader, BundleReader)
            pieces = [
                (reader.entry(key, part), key, info, part)
                for key, info in reader.items()
                for part in info.slices or (None,)
            ]
            pieces.sort(key=lambda item: (item[0].shard, item[0].offset))
            prefixes = []
            for shard, group in groupby(pieces, key=lambda item: item[0].shard):
                prefixes.append(f"{name}_temp/part-{shard:05d}-of-{reader.shard_count:05d}")
                with BundleWriter(prefixes[-1], fs=fs) as writer:
                    for _, key, info, part in group:
                        if part is None:
                            writer.add(key, reader.read(key))
                        else:
                            writer.add_slice(key, info.shape, part, reader.read(key, part))
        merge_bundles(prefixes, name, fs=fs)
        assert fs.contents() == files_of(str(golden(folder) / name))


class TestStateFiles:
    STATES: ClassVar = expected("g19_state_files")["states"]

    @pytest.mark.parametrize("name", STATES)
    def test_reading(self, name: str):
        """The golden folder was /models when the absolute paths were written; relative ones moved along."""
        folder = golden("g19_state_files") / ("" if name == "bare" else name)
        stated = self.STATES[name]["get_state"]
        paths = [line.split('"')[1] for line in stated.splitlines()]
        if name == "abs":
            paths = [path.replace("<DIR>", "/models") for path in paths]
        else:
            paths = [str(folder / path.rsplit("/", 1)[1]) for path in paths]
        for filename in ("checkpoint", f"checkpoint.{name}"):
            state = read_checkpoint_state(folder, filename)
            assert state is not None
            assert (state.latest, *state.all_paths) == tuple(paths)
            assert (state.timestamps, state.last_preserved) == ((), 0.0)

    @pytest.mark.parametrize("name", STATES)
    def test_the_latest_is_found_though_the_folder_moved(self, name: str):
        folder = golden("g19_state_files") / ("" if name == "bare" else name)
        latest = self.STATES[name]["latest"].rsplit("/", 1)[1]
        assert latest_checkpoint(folder) == str(folder / latest)
        with open_checkpoint(folder) as reader:
            assert reader.path == str(folder / latest)

    @pytest.mark.parametrize("name", STATES)
    def test_writing(self, name: str):
        """What Saver.save was given and returned, handed to us, gives its bytes."""
        fs = MemoryFileSystem()
        folder = {"abs": "/models/abs", "bare": "", "relpaths": "/models/relpaths"}.get(name, name)
        fs.make_directory(folder)
        returned = [path.replace("<DIR>", "/models") for path in self.STATES[name]["returned"]]
        if name == "none":
            returned = returned[-1:]  # max_to_keep=None records the newest alone
        write_checkpoint_state(
            folder or ".", returned[-1], returned, relative=name == "relpaths", filename="checkpoint", fs=_Rooted(fs)
        )
        (written,) = fs.contents().values()
        case = golden("g19_state_files")
        assert written == (case / ("" if name == "bare" else name) / f"checkpoint.{name}").read_bytes()

    def test_a_state_file_of_another_name(self):
        folder = golden("g02_v2_single_resource")
        assert read_checkpoint_state(folder) is None
        state = read_checkpoint_state(folder, "my_latest")
        assert state is not None
        assert state.latest == str(folder / "res")
        assert latest_checkpoint(folder, "my_latest") == str(folder / "res")
        fs = MemoryFileSystem()
        fs.make_directory("d")
        write_checkpoint_state("d", "d/res", filename="my_latest", fs=fs)
        assert fs.contents() == {"d/my_latest": (folder / "my_latest").read_bytes()}

    def test_the_state_of_a_checkpoint_manager_has_times(self):
        folder = golden("g20_checkpoint_manager") / "mgr"
        state = read_checkpoint_state(folder)
        assert state is not None
        assert state.latest == str(folder / "ckpt-7")
        assert state.all_paths == tuple(str(folder / f"ckpt-{number}") for number in (5, 6, 7))
        assert state.timestamps == (1794726347.4681582, 1794726347.4714909, 1794726347.4747567)
        assert state.last_preserved == 1794726346.4323347

        fs = MemoryFileSystem()
        fs.make_directory("mgr")
        write_checkpoint_state(
            "mgr",
            "mgr/ckpt-7",
            [f"mgr/ckpt-{number}" for number in (5, 6, 7)],
            timestamps=state.timestamps,
            last_preserved=state.last_preserved,
            fs=fs,
        )
        assert fs.contents() == {"mgr/checkpoint": (folder / "checkpoint").read_bytes()}

    @pytest.mark.parametrize("path", sorted(ROOT.glob("**/checkpoint")), ids=lambda path: str(path.relative_to(ROOT)))
    def test_every_state_file_names_a_checkpoint_that_is_there(self, path: Path):
        latest = latest_checkpoint(path.parent)
        assert latest is not None
        with open_checkpoint(path.parent) as reader:
            assert reader.path == latest

    @pytest.mark.parametrize("step", range(12))
    def test_the_log_of_twelve_saves(self, step: int):
        entry = expected("g17_retention")["log"][step]
        fs = MemoryFileSystem()
        fs.make_directory("run")
        write_checkpoint_state("run", entry["returned"], entry["last_checkpoints"], fs=fs)
        assert fs.contents()["run/checkpoint"].decode() == entry["state"]


class _Rooted:
    """A memory file system in which "." is the root, as it is a folder on every disk."""

    def __init__(self, fs: MemoryFileSystem) -> None:
        self._fs = fs

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._fs, name)

        def call(*paths: str) -> Any:
            return method(*("" if path == "." else path.removeprefix("./") for path in paths))

        return call


class TestObjects:
    PATH = golden("g34_tf2_checkpoint") / "obj/ckpt-1"

    @pytest.fixture
    def reader(self) -> Iterator[CheckpointReader]:
        with open_checkpoint(self.PATH) as reader:
            yield reader

    def test_full_names_are_those_tensorflow_finds(self, reader):
        assert ObjectGraph.read(reader).keys_by_full_name() == expected("g34_tf2_checkpoint")["full_name_to_key"]

    def test_paths(self, reader):
        paths = ObjectGraph.read(reader).keys_by_path()
        assert paths["step"] == "step/.ATTRIBUTES/VARIABLE_VALUE"
        assert paths["root_dir/dct/a.Sb"] == "root_dir/dct/a.Sb/.ATTRIBUTES/VARIABLE_VALUE"
        assert paths["root_dir/dct/x..y"] == "root_dir/dct/x..y/.ATTRIBUTES/VARIABLE_VALUE"
        assert paths["root_dir/table.table"] == "root_dir/table/.ATTRIBUTES/table"
        for path, key in paths.items():
            assert key.startswith(path.removesuffix(".table") + "/.ATTRIBUTES/"), (path, key)

    def test_every_attribute_has_its_tensor(self, reader):
        graph = ObjectGraph.read(reader)
        assert {item.key for item in graph.attributes if item.attribute != "table"} <= set(reader)
        assert SavedAttribute("step", "VARIABLE_VALUE", "step", "step/.ATTRIBUTES/VARIABLE_VALUE") in graph.attributes

    def test_objects_are_found_by_any_path(self, reader):
        graph = ObjectGraph.read(reader)
        at = graph.find("root_dir/dct/a.Sb")
        assert graph.children[graph.find("root_dir/dct")]["a/b"] == at
        assert graph.find("") == 0
        with pytest.raises(NotFoundError, match=r'no object "root_dir/nope": there is no "nope"; .*: .*lst'):
            graph.find("root_dir/nope")

    def test_a_reader_by_path(self, reader):
        view = RenamedReader.by_path(reader)
        stated = expected_tensors("g34_tf2_checkpoint")
        assert_same(view.read("root_dir/lst/1"), stated["root_dir/lst/1/.ATTRIBUTES/VARIABLE_VALUE"][1])
        assert_same(view.read("root_dir/table.table-keys"), stated["root_dir/table/.ATTRIBUTES/table-keys"][1])
        assert_same(view.read("root_dir/table.table-values"), stated["root_dir/table/.ATTRIBUTES/table-values"][1])
        assert len(view) == len(stated)
        for name, array in view.read_many().items():
            assert_same(array, view.read(name))

    def test_a_reader_by_full_name(self, reader):
        view = RenamedReader.by_full_name(reader)
        stated = expected_tensors("g34_tf2_checkpoint")
        names = expected("g34_tf2_checkpoint")["full_name_to_key"]
        assert set(view) == set(names) - {""}
        for name in view:
            assert_same(view.read(name), stated[names[name]][1])

    def test_the_graph_says_what_its_text_says(self, reader):
        """`object_graph.pbtxt` is TensorFlow's own print of the same message."""
        text = (golden("g34_tf2_checkpoint") / "object_graph.pbtxt").read_bytes()
        stored = parse(TrackableObjectGraph, reader.read(OBJECT_GRAPH).item(), "stored")
        assert parse_text(TrackableObjectGraph, text, "text") == stored

    def test_slot_variables_of_an_optimizer(self, reader):
        """Keras 3 keeps its optimizer's variables in a list, so that there are no slots to name."""
        assert ObjectGraph.read(reader).slots == ()

    def test_a_plain_checkpoint_has_no_objects(self):
        with (
            open_checkpoint(ROOT / "g01_v2_single_ref/model.ckpt-100") as reader,
            pytest.raises(NotFoundError, match="is not an object-based checkpoint: it has no _CHECKPOINTABLE_OBJECT"),
        ):
            ObjectGraph.read(reader)

    @pytest.mark.parametrize(
        "name", [name for name in ALL_V2 if "variables/variables" in name or name.startswith(("g20", "g34"))]
    )
    def test_every_object_based_checkpoint_can_be_seen_by_path(self, name: str):
        with open_checkpoint(ROOT / name) as reader:
            if OBJECT_GRAPH not in reader:
                return
            view = RenamedReader.by_path(reader)
            assert set(view._names.values()) == set(reader) - {OBJECT_GRAPH}
            for key, array in view.read_many().items():
                assert_same(array, reader.read(view._names[key]))


class TestBytes:
    """The smallest files, spelled out."""

    def test_a_v2_checkpoint_of_one_scalar(self):
        fs = MemoryFileSystem()
        with BundleWriter("x", fs=fs) as writer:
            writer.add("a", np.float32(3.5))
        index = (
            "000006" "08011a020801"  # "" -> one data file; version: producer 1
            "00010b" "61" "0801" "1200" "2804" "35d8fd7d89"  # "a" -> float, no dimensions, 4 bytes, their checksum
            "00000000" "01000000" "00" "df033cdd"  # one restart, at 0; stored as it is; checksum
            "00000000" "01000000" "00" "c0f2a1b0"  # the meta-index: empty
            "000102" "62" "0020" "00000000" "01000000" "00" "30d3691c"  # "b" -> the block at 0, of 32 bytes
            "2508" "320e"  # meta-index at 37, 8 bytes; index at 50, 14 bytes
        )  # fmt: skip
        assert fs.contents() == {
            "x.data-00000-of-00001": bytes.fromhex("00006040"),
            "x.index": bytes.fromhex(index + "00" * 36 + "57fb808b247547db"),
        }

    def test_a_v1_checkpoint_of_one_scalar(self):
        fs = MemoryFileSystem()
        with SliceFileWriter("x", fs=fs) as writer:
            writer.add("a", np.float32(3.5))
        file = (
            "000011" "0a0f" "0a09" "0a0161" "1200" "1801" "2200" "12020801"  # "" -> "a": no dimensions, float, whole
            "00050f" "0061000100"  # the key: 0, "a", rank 0
            "120d" "0a0161" "1200" "1a06" "2a0400006040"  # name, slice, one float
            "00000000" "01000000" "00" "0ae62bfb"
            "00000000" "01000000" "00" "c0f2a1b0"
            "000102" "01" "0033" "00000000" "01000000" "00" "ab341a1c"
            "3808" "450e"
        )  # fmt: skip
        assert fs.contents() == {"x": bytes.fromhex(file + "00" * 36 + "57fb808b247547db")}


def test_no_case_is_read_by_mistake_as_the_other_format() -> None:
    for names, kind in ((ALL_V2, BundleReader), (ALL_V1, SliceFileReader)):
        for name in names:
            with open_checkpoint(ROOT / name) as reader:
                assert isinstance(reader, kind)
