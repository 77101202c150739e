"""Many entries at once, in columns, are what they are one by one."""

from __future__ import annotations

import struct
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorkeep.checkpoint.bundle.entry_columns import decode_entries, encode_entries
from tensorkeep.checkpoint.bundle.format import (
    Entry,
    decode_name,
    decode_names,
    encode_entry,
    encode_type_and_shape,
    head_of,
    is_usual,
    tail_of,
)
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.bundle.small_tensors import Heads, spans_of_tensors
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.reader import Checksums, ReadOptions
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import BundleEntryProto, serialize
from tests.native.implementations import IMPLEMENTATIONS, implementation, is_turned_off

NUMBERS = st.sampled_from([0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, 2**21, 2**28 - 1, 2**35, 2**55]) | st.integers(0, 2**20)
HEADS = st.builds(
    encode_type_and_shape, st.sampled_from([1, 2, 9]), st.lists(st.integers(0, 300), max_size=5).map(tuple)
)
FIELDS = st.tuples(HEADS, st.integers(0, 2**28 - 1), NUMBERS, NUMBERS, st.integers(0, 2**32 - 1))


@st.composite
def strange_entries(draw: st.DrawFn) -> bytes:
    """Entries that are nearly usual, or not at all."""
    value = bytearray(encode_entry(*draw(FIELDS)))
    for _ in range(draw(st.integers(0, 3))):
        value[draw(st.integers(0, len(value) - 1))] = draw(st.integers(0, 255))
    return bytes(value[: draw(st.integers(0, len(value)))]) + draw(st.binary(max_size=3))


@given(st.integers(1, 127), st.lists(st.integers(0, 2**62), max_size=20))
def test_types_and_shapes_are_encoded_as_messages_are(number: int, shape: list[int]) -> None:
    message = BundleEntryProto(dtype=number)
    message.shape.SetInParent()
    for size in shape:
        message.shape.dim.add(size=size)
    assert encode_type_and_shape(number, shape) == serialize(message)


@given(st.builds(encode_entry, HEADS, NUMBERS, NUMBERS, NUMBERS, NUMBERS.map(lambda n: n % 2**32)) | strange_entries())
def test_a_usual_entry_says_what_its_message_says(value: bytes) -> None:
    tail = tail_of(value)
    try:
        entry = Entry.decode("x", value, "index")
    except DataLossError:
        return
    if tail is not None:
        assert tail == (entry.shard, entry.offset, entry.size, entry.masked_crc)
        assert not entry.slices


@given(st.lists(FIELDS, max_size=20))
def test_entries_are_encoded_together_as_one_by_one(fields: list[tuple[bytes, int, int, int, int]]) -> None:
    heads = list(dict.fromkeys(head for head, *_ in fields))
    kinds = np.array([heads.index(head) for head, *_ in fields], np.int64)
    shards, offsets, sizes, crcs = np.array([rest for _, *rest in fields], np.int64).reshape(-1, 4).T
    values = encode_entries(heads, kinds, shards, offsets, sizes, crcs.astype(np.uint32))
    assert values == [encode_entry(*each) for each in fields]


@given(
    st.lists(
        st.builds(encode_entry, HEADS, NUMBERS, NUMBERS, NUMBERS, NUMBERS.map(lambda n: n % 2**32)) | strange_entries()
    )
)
@example([b""])
@example([b"\x08\x01\x12\x00" + b"\x18" + b"\x80" * 3 + b"\x00"])
@example([b"\x08\x01\x12\x00" + b"\x18" + b"\x80" * 4 + b"\x00"])
@example([b"\x08\x01\x12\x00" + b"\x20" + b"\xff" * 7 + b"\x7f"])
@example([b"\x08\x01\x12\x00" + b"\x20" + b"\xff" * 8 + b"\x00"])
@example([b"\x08\x01\x12\x00\x35abc", b"d"])
@example([b"\x08\x01\x12\x00\x18", b"\x01"])
@example([b"\x08\x01\x12\x05\x18", b"\x08\x01\x12\x00"])
def test_entries_are_decoded_together_as_one_by_one(values: list[bytes]) -> None:
    columns = decode_entries(values)
    numbers, firsts = Heads.of(values, columns)
    assert firsts == sorted(firsts)
    for at, value in enumerate(values):
        assert bool(columns.usual[at]) == is_usual(value)
        if not is_usual(value):
            assert numbers[at] == -1
            continue
        head = head_of(value)
        assert columns.heads[at] == len(head)
        assert [head_of(values[first]) for first in firsts][numbers[at]] == head
        fields = (columns.shards, columns.offsets, columns.sizes, columns.masked_crcs)
        assert tuple(int(column[at]) for column in fields) == tail_of(value)


@given(
    st.lists(
        st.binary(max_size=5) | st.text("aé\n\0\udc80", max_size=4).map(lambda t: t.encode("utf-8", "surrogateescape"))
    )
)
@example([])
@example([b"\xc3", b"\xa9"])
@example([b"a\nb"])
def test_names_are_decoded_together_as_one_by_one(keys: list[bytes]) -> None:
    assert decode_names(keys) == [decode_name(key) for key in keys]


@given(st.lists(st.tuples(st.integers(0, 2), NUMBERS, st.integers(0, 70_000)), max_size=40))
def test_spans_hold_every_tensor_once_and_are_never_long(extents: list[tuple[int, int, int]]) -> None:
    columns = decode_entries([encode_entry(encode_type_and_shape(1, ()), *extent, 0) for extent in extents])
    seen: list[int] = []
    for span in spans_of_tensors(columns):
        members = span.members.tolist()
        seen += members
        assert {extents[at][0] for at in members} == {span.shard}
        assert min(extents[at][1] for at in members) == span.start
        assert max(extents[at][1] + extents[at][2] for at in members) == span.end
        assert span.end - span.start <= 1 << 20
    assert sorted(seen) == list(range(len(extents)))


SHAPES = [(), (4,), (0,), (2, 3), (3, 0, 2), (1,), (70,)]
DTYPES = ["float32", "float64", "int8", "bool", "complex128", ">f4", "uint16"]
NAMES = st.text("ab/é\n\0", min_size=1, max_size=6)


@st.composite
def tensors(draw: st.DrawFn) -> dict[str, Any]:
    kinds = draw(st.lists(st.tuples(st.sampled_from(DTYPES), st.sampled_from(SHAPES)), min_size=1, max_size=3))
    names = draw(st.lists(NAMES, unique=True, max_size=40))
    found: dict[str, Any] = {}
    for number, name in enumerate(names):
        dtype, shape = draw(st.sampled_from(kinds))
        array = np.random.default_rng(number).integers(0, 2, shape).astype(dtype)
        found[name] = array.T if draw(st.booleans()) else array
    if draw(st.booleans()):
        found["text"] = np.array([b"some", b"text"], object)
        found["large"] = np.arange(40_000.0)
        found["number"] = 3
    return found


def implementations() -> list[str]:
    return ["NumPy"] if is_turned_off() else list(IMPLEMENTATIONS)


def stored(fs: MemoryFileSystem) -> dict[str, bytes]:
    return {name: bytes(fs.open(f"d/{name}").read(0, fs.open(f"d/{name}").size)) for name in fs.list("d")}


@given(tensors(), st.booleans())
def test_many_tensors_are_stored_as_one_by_one_and_read_back(values: dict[str, Any], replaces: bool) -> None:
    single = MemoryFileSystem()
    with BundleWriter("d/m", fs=single) as writer:
        for name, value in values.items():
            writer.add(name, value)
    for name in implementations():
        with implementation(name):
            fs = MemoryFileSystem()
            for _ in range(2 if replaces else 1):
                with BundleWriter("d/m", fs=fs) as writer:
                    writer.add_many(values)
            assert stored(fs) == stored(single)
            with BundleReader("d/m", fs=fs) as reader:
                read = reader.read_many(list(values))
                infos = dict(reader)
                assert {key: reader[key] for key in values} == infos
                for key, array in read.items():
                    one = reader.read(key)
                    assert (array.dtype, array.shape, array.tolist()) == (one.dtype, one.shape, one.tolist())
                    assert array.flags.writeable
                    assert array.flags.c_contiguous
                    assert (infos[key].dtype.array_dtype, infos[key].shape) == (array.dtype, array.shape)


@pytest.mark.parametrize("name", implementations())
def test_arrays_that_are_read_together_have_memory_of_their_own(name: str) -> None:
    fs = MemoryFileSystem()
    with implementation(name):
        with BundleWriter("d/m", fs=fs) as writer:
            writer.add_many({f"t{number:03}": np.full(4, number, np.float32) for number in range(100)})
        with BundleReader("d/m", fs=fs) as reader:
            arrays = list(reader.read_many().values())
    arrays[3][:] = -1
    assert [array[0] for array in arrays] == [0, 1, 2, -1, *range(4, 100)]
    assert all(array.flags.owndata for array in arrays)


@pytest.mark.parametrize("wrong", ["", "t", "\ud800", 3])
def test_tensors_before_a_wrong_name_are_kept_and_those_after_are_not(wrong: Any) -> None:
    fs = MemoryFileSystem()
    with BundleWriter("d/m", fs=fs) as writer:
        writer.add("t", np.zeros(3))
        with pytest.raises(InvalidArgumentError):
            writer.add_many({"a": np.ones(2), wrong: np.ones(2), "z": np.ones(2)})
    with BundleReader("d/m", fs=fs) as reader:
        assert list(reader) == ["a", "t"]


class Made(Mapping[str, Any]):
    """Arrays that are made when they are asked for, and counted while they are there; the last cannot be made."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.there: set[int] = set()
        self.most = 0

    def __getitem__(self, name: str) -> Any:
        if name == self.names[-1]:
            raise KeyError(name)
        array = np.full(15_000, self.names.index(name), np.float32)
        self.there.add(id(array))
        weakref.finalize(array, self.there.discard, id(array))
        self.most = max(self.most, len(self.there))
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def test_arrays_that_are_made_on_the_way_are_let_go_on_the_way_and_an_error_leaves_those_before() -> None:
    fs = MemoryFileSystem()
    made = Made([f"t{number:03}" for number in range(120)])
    with BundleWriter("d/m", fs=fs) as writer, pytest.raises(KeyError, match="t119"):
        writer.add_many(made)
    assert made.most < 40
    with BundleReader("d/m", fs=fs) as reader:
        assert list(reader) == made.names[:-1]
        assert [int(array[-1]) for array in reader.read_many().values()] == list(range(119))


@pytest.mark.parametrize("name", implementations())
@pytest.mark.parametrize("checksums", [Checksums.ALWAYS, Checksums.ONCE, Checksums.OFF])
def test_a_damaged_small_tensor_among_many_is_named(name: str, checksums: Checksums) -> None:
    fs = MemoryFileSystem()
    with BundleWriter("d/m", fs=fs) as writer:
        writer.add_many({f"t{number:03}": np.full(4, number, np.float32) for number in range(100)})
    data = bytearray(stored(fs)["m.data-00000-of-00001"])
    data[16 * 42] ^= 1
    fs.delete("d/m.data-00000-of-00001")
    file = fs.create("d/m.data-00000-of-00001")
    file.write(data)
    file.close()
    with implementation(name), BundleReader("d/m", ReadOptions(checksums), fs=fs) as reader:
        if checksums is Checksums.OFF:
            assert len(reader.read_many()) == 100
        else:
            with pytest.raises(
                DataLossError, match=r'tensor "t042" \(bytes 672\.\.688 of data file 0\): its checksum is'
            ):
                reader.read_many()


def test_entries_of_a_type_that_is_not_known_are_found_out_one_by_one() -> None:
    value = b"\x08\x7f\x12\x00" + b"\x28\x04\x35" + struct.pack("<I", 1)
    assert decode_entries([value]).usual.all()
    with pytest.raises(DataLossError, match="127"):
        Entry.decode("t", value, "index")
