"""Files made to do harm, with every checksum right.

Each test says what the attack is. The defence is always the same: one of our errors, or the values that are really
there, soon, and in memory of the order of the file. Where Python needs an object for something that takes two bytes
in a file, that is a multiple of some dozens, and no more.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep import (
    BundleReader,
    CheckpointReader,
    DataLossError,
    MemoryFileSystem,
    ObjectGraph,
    ReadOptions,
    TensorKeepError,
    TensorSlice,
    UnimplementedError,
    check_checkpoint,
    latest_checkpoint,
    list_tensors,
    load_tensors,
    merge_bundles,
    open_checkpoint,
    read_checkpoint_state,
    save_checkpoint,
)
from tensorkeep.checkpoint.slices.tensor_slice import slice_key
from tensorkeep.io.coding.crc32c import crc32c, mask
from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.proto.messages import BundleEntryProto, SavedTensorSlices, TrackableObjectGraph, serialize
from tensorkeep.table.format import BlockHandle, Footer
from tests.checkpoint.crafting import (
    EMPTY_BLOCK,
    HEADER,
    block,
    bundle,
    bundle_of_index,
    entry,
    header,
    peak_memory,
    put,
    seal,
    slice_file,
    store_of,
    table,
    table_of_blocks,
)
from tests.support.effort import at_most_lines, ends

pytestmark = pytest.mark.slow  # all of them together

WHOLE = TensorSlice((None,))
FLOAT, STRING, INT64 = 1, 7, 9


def size_of(fs: MemoryFileSystem) -> int:
    return sum(map(len, fs.contents().values()))


def use(reader: CheckpointReader) -> None:
    """Everything a reader can be asked for, whatever it answers."""
    for act in (
        lambda: list(reader.items()),
        lambda: reader.read_many(),
        lambda: reader.damage,
        lambda: ObjectGraph.read(reader),
    ):
        with contextlib.suppress(TensorKeepError):
            act()
    names: list[str] = []
    with contextlib.suppress(TensorKeepError):
        names = list(reader.intact_names)
    for name in names:
        for read in (
            lambda name=name: reader[name],
            lambda name=name: reader.read(name),
            lambda name=name: reader.read(name, copy=False),
            lambda name=name: reader.read(name, slice(0, 1)),
            lambda name=name: reader.read_rows(name, [0]),
            lambda name=name: reader.source(name).gather(),
        ):
            with contextlib.suppress(TensorKeepError):
                read()


def bounded(act: Callable[[], Any], size: int, *, factor: float = 60) -> None:
    """Does it twice: once counting what it does, once weighing what it allocates. Our errors are fine, others not."""

    def quietly() -> None:
        with contextlib.suppress(TensorKeepError):
            act()

    with ends(), at_most_lines(20 * size + 4_000_000):
        quietly()
    _, peak = peak_memory(quietly)
    assert peak < factor * size + (4 << 20), f"{peak} bytes of memory for {size} of file"


def survive(fs: MemoryFileSystem, path: str = "x", *, factor: float = 60) -> None:
    """Does everything there is with a checkpoint: only our errors, with bounded effort, in bounded memory."""

    def act() -> None:
        with contextlib.suppress(TensorKeepError), open_checkpoint(path, fs=fs) as reader:
            use(reader)
        with contextlib.suppress(TensorKeepError):
            check_checkpoint(path, fs=fs)
        latest_checkpoint(path.rpartition("/")[0] or ".", fs=fs)

    bounded(act, size_of(fs), factor=factor)


def refused(fs: MemoryFileSystem, match: str, path: str = "x", kind: type[Exception] = DataLossError) -> None:
    """Reading everything says this, and doing anything else does no harm."""
    with pytest.raises(kind, match=match):
        load_tensors(path, fs=fs)
    survive(fs, path)


class TestTables:
    def test_keys_that_expand_in_an_index(self):
        """One key of 1 MiB, then thousands that share all of it and add a byte: gigabytes from megabytes."""
        long = 1 << 20
        entries = [(0, b"", HEADER), (0, b"a" * long, b""), *((long + at, b"b", b"") for at in range(10_000))]
        fs = bundle_of_index(table_of_blocks([(b"b", block(entries))]))
        with pytest.raises(DataLossError, match="its keys take more than 64 times its"):
            list_tensors("x", fs=fs)
        survive(fs, factor=150)

    def test_keys_that_expand_in_a_v1_file(self):
        """The same where a key is only sought: each step copies a megabyte, though none is kept."""
        message = SavedTensorSlices()
        message.meta.tensor.add(name="zz", type=FLOAT, shape={}, slice=[{}])
        long = 1 << 20
        entries = [(0, b"", serialize(message)), (0, b"\0a" * (long // 2), b""), *[(long, b"b", b"")] * 100_000]
        survive(store_of({"x": table_of_blocks([(b"\xff", block(entries))])}))

    def test_one_large_block_named_over_and_over(self):
        """Thousands of index entries that name the same block, which holds nothing: each has to be read to know."""
        empty = block([], restarts=[0] * 300_000)
        file = table_of_blocks(
            [(b"a", empty)], index=lambda handles: [(b"%06d" % at, handles[0].encode()) for at in range(10_000)]
        )
        refused(bundle_of_index(file), "it has no header")
        refused(store_of({"x": file}), "does not begin with a list of tensors")

    @pytest.mark.parametrize("shift", [0, 1, -1])
    def test_blocks_that_overlap(self, shift):
        """Two index entries for (nearly) the same bytes: entries twice, or entries made of other entries."""
        first = block([(0, b"", HEADER), (0, b"a", entry())])
        second = block([(0, b"b", entry())])

        def index(handles: Any) -> list[tuple[bytes, bytes]]:
            low = BlockHandle(max(handles[0].offset + shift, 0), handles[0].size)
            return [(b"a", handles[0].encode()), (b"b", low.encode()), (b"c", handles[1].encode())]

        fs = bundle_of_index(table_of_blocks([(b"a", first), (b"b", second)], index=index))
        with pytest.raises(DataLossError, match="inside the block before it"):
            list_tensors("x", fs=fs)
        survive(fs)

    @pytest.mark.parametrize(
        "handle",
        [
            BlockHandle(0, 1 << 62).encode(),
            BlockHandle((1 << 64) - 1, (1 << 64) - 1).encode(),
            BlockHandle(1 << 63, 0).encode(),
            BlockHandle(0, 0).encode(),
            b"",
            b"\x80",
            b"\xff" * 20,
        ],
        ids=bytes.hex,
    )
    def test_handles_that_point_nowhere(self, handle):
        """A block beyond the end, of 2**64 bytes, of none, or not even a number."""
        good = block([(0, b"", HEADER), (0, b"a", entry())])
        for index in (
            lambda handles: [(b"a", handle)],
            lambda handles: [(b"a", handles[0].encode()), (b"b", handle)],
        ):
            fs = bundle_of_index(table_of_blocks([(b"a", good)], index=index))
            with pytest.raises(DataLossError, match=r'"x\.index"'):
                list_tensors("x", fs=fs)
            survive(fs)
            survive(store_of({"x": fs.contents()["x.index"]}))

    def test_an_index_that_is_its_own_data(self):
        """The footer names the index block; the index block names itself."""
        contents = block([(0, b"z", BlockHandle(0, 14).encode())])
        assert len(contents) == 14
        file = seal(contents) + Footer(BlockHandle(0, 14), BlockHandle(0, 14)).encode()
        survive(bundle_of_index(file))
        survive(store_of({"x": file}))

    @pytest.mark.parametrize("restarts", [[2**32 - 1], [0, 5, 3], [7], [], [0] * 1000, [10**6, 0]], ids=str)
    def test_restarts_that_lead_astray(self, restarts):
        """Positions beyond the block, out of order, in the middle of an entry, or none at all."""
        contents = block([(0, b"", HEADER), (0, b"a", entry()), (1, b"b", entry())], restarts)
        fs = bundle_of_index(table_of_blocks([(b"b", contents)]))
        survive(fs)
        survive(store_of({"x": fs.contents()["x.index"]}))

    def test_more_restarts_than_fit(self):
        """A count of 2**32 - 1 at the end of a block of 20 bytes."""
        contents = bytes(16) + b"\xff" * 4
        refused(bundle_of_index(table_of_blocks([(b"a", contents)])), "claims 4294967295 restarts")

    @pytest.mark.parametrize("at", [0, 1, 2])
    def test_lengths_of_entries_that_wrap_around(self, at):
        """Lengths of 2**64 - 1: added up in machine words they would come out small."""
        lengths = [0, 1, 1]
        lengths[at] = (1 << 64) - 1
        contents = b"".join(map(encode_varint, lengths)) + b"ab" + EMPTY_BLOCK
        refused(bundle_of_index(table_of_blocks([(b"a", contents)])), "bad entry")

    @pytest.mark.parametrize(
        "stream",
        [
            encode_varint(1 << 40),
            encode_varint((1 << 64) - 1) + b"\0a",
            encode_varint(5) + b"\0a" + b"\xfe\x01\x00" * 1000,  # says five, yields 64 thousand
            encode_varint(100) + b"\0a" + b"\xfe\x00\x00",  # copies from nowhere
            encode_varint(100) + b"\0a" + b"\xff\xff\xff\xff\xff",
            encode_varint(100) + b"\xfc\xff\xff\xff\xff",  # a literal of 4 GiB
            encode_varint(100) + b"\xf0",
            b"",
            b"\xff",
        ],
        ids=bytes.hex,
    )
    def test_snappy_streams_that_lie(self, stream):
        """A length of terabytes, output beyond it, copies from before the start, elements cut off."""
        refused(bundle_of_index(table_of_blocks([(b"a", stream)], compression=1)), "snappy|varint")

    def test_snappy_bombs(self):
        """Blocks that really do expand to the most snappy can make of a byte."""
        copies = 20_000
        head = b"\x00\x00" + encode_varint(len(HEADER)) + HEADER + b"\x00\x01" + encode_varint(64 * copies) + b"a"
        tail = (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
        stream = encode_varint(len(head) + 64 * copies + len(tail))
        stream += bytes([(len(head) - 1) << 2]) + head + b"\xfe\x01\x00" * copies + bytes([(len(tail) - 1) << 2]) + tail
        fs = bundle_of_index(table_of_blocks([(b"a", stream)], compression=1))
        assert list(open_checkpoint("x", fs=fs).intact_names) == ["a"]
        survive(fs)

    @pytest.mark.parametrize("compression", [2, 3, 255])
    def test_unknown_compression(self, compression):
        """A way of compressing that a later writer might know."""
        contents = block([(0, b"", HEADER)])
        refused(
            bundle_of_index(table_of_blocks([(b"a", contents)], compression=compression)),
            f"compression type {compression}, known are 0",
        )

    def test_a_multitude_of_damaged_blocks(self):
        """Thousands of blocks of no bytes whose checksums are wrong: an error each, a page long."""
        out = bytearray(seal(block([(0, b"", HEADER), (0, b"a", entry())])))
        rows = [(b"a", BlockHandle(0, len(out) - 5).encode())]
        for number in range(4_000):
            rows.append((b"b%06d" % number, BlockHandle(len(out), 0).encode()))
            out += bytes(5)
        meta = BlockHandle(len(out), 8)
        out += seal(EMPTY_BLOCK)
        contents = block([(0, key, value) for key, value in rows])
        index = BlockHandle(len(out), len(contents))
        out += seal(contents) + Footer(meta, index).encode()
        survive(bundle_of_index(bytes(out)))

    def test_keys_out_of_order(self):
        """Which of two entries of one name counts? Neither."""
        contents = block([(0, b"", HEADER), (0, b"b", entry()), (0, b"a", entry())])
        refused(bundle_of_index(table_of_blocks([(b"b", contents)])), "not in order")
        contents = block([(0, b"", HEADER), (0, b"a", entry()), (0, b"a", entry())])
        refused(bundle_of_index(table_of_blocks([(b"b", contents)])), "not in order")

    def test_a_table_of_nothing(self):
        """No entries; no blocks; a block of no bytes."""
        for file in (
            table({}),
            table_of_blocks([]),
            table_of_blocks([(b"a", b"")]),
            table_of_blocks([(b"a", bytes(3))]),
        ):
            survive(bundle_of_index(file))
            survive(store_of({"x": file}))


class TestHeaders:
    @pytest.mark.parametrize(
        ("head", "message"),
        [
            (header(0), "0 data files"),
            (header(-1), "-1 data files"),
            (header(1, endianness=2), "in byte order 2"),
            (b"\x08", "not a valid BundleHeaderProto"),
            (b"\x0b" * 100_000, "not a valid BundleHeaderProto"),  # groups within groups, a hundred thousand deep
        ],
        ids=lambda value: str(value)[:12],
    )
    def test_that_make_no_sense(self, head, message):
        """No data files, fewer than none, another byte order, no message, a message of endless depth."""
        refused(bundle({"a": entry()}, head=head), message)

    def test_two_thousand_million_data_files(self):
        """Whoever would list, open or count them one by one would be busy."""
        fs = bundle({"a": entry((1,), size=4, shard=2**31 - 2), "b": entry((1,), size=4)}, head=header(2**31 - 1))
        put(fs, "d/x.index", fs.contents()["x.index"])
        survive(fs)
        survive(fs, "d/x")
        bounded(lambda: merge_bundles(["x"], "y", fs=fs), size_of(fs))
        bounded(lambda: save_checkpoint("x", {"a": np.zeros(1)}, fs=fs), size_of(fs))


class TestEntries:
    @pytest.mark.parametrize("number", [0, -1, 34, 101, 107, 2**31 - 1])
    def test_types_that_are_none(self, number):
        """Numbers without a type, and types of references, which occur in graphs alone."""
        refused(bundle({"a": entry(dtype=number)}), "data type number -?[0-9]+ is unknown")

    def test_a_resource(self):
        """A type that cannot be stored, said to be stored."""
        survive(bundle({"a": entry((1,), dtype=20, size=20)}, bytes(20)))

    @pytest.mark.parametrize("shape", [(-1,), (2, -3), (-(2**63),)], ids=str)
    def test_negative_sizes(self, shape):
        """Two of them multiply to something positive."""
        refused(bundle({"a": entry(shape)}), "a stored tensor of unknown shape")

    def test_an_unknown_rank(self):
        """What a graph may say of a tensor, and a file may not."""
        message = BundleEntryProto(dtype=FLOAT, shape={"unknown_rank": True})
        refused(bundle({"a": serialize(message)}), "a stored tensor of unknown shape")

    @pytest.mark.parametrize(
        "shape",
        [(2**62,), (2**31, 2**31), (2**63 - 1,) * 5, (2**20,) * 64, (2**32, 2**32)],
        ids=lambda shape: f"{shape[0]:#x}x{len(shape)}",
    )
    @pytest.mark.parametrize("dtype", [FLOAT, STRING, 10, 18])
    @pytest.mark.parametrize("size", [0, 8, 2**62])
    def test_shapes_of_terabytes(self, shape, dtype, size):
        """More elements than there are bytes, in a file or on earth; some multiply to 0 modulo 2**64."""
        fs = bundle({"a": entry(shape, dtype=dtype, size=size)}, bytes(64))
        with pytest.raises(TensorKeepError):
            load_tensors("x", fs=fs)
        survive(fs)

    @pytest.mark.parametrize("shape", [(0, 2**62), (2**62, 0), (2**31, 0, 2**31), (0,) * 64, (0, 2**63 - 1)], ids=str)
    def test_nothing_times_everything(self, shape):
        """No elements, and so no bytes; but NumPy multiplies the other sizes all the same."""
        for dtype in (FLOAT, STRING):
            survive(bundle({"a": entry(shape, dtype=dtype)}))
            part = TensorSlice(tuple((0, size) for size in shape))
            survive(bundle({"a": entry(shape, dtype=dtype, slices=[part]), slice_key(b"a", part): entry(shape)}))
            survive(store_of({"x": slice_file({"a": (dtype, shape, [part])}, {("a", part): b""})}))

    @pytest.mark.parametrize("rank", [65, 254, 255, 50_000])
    @pytest.mark.parametrize("side", [0, 1, 2**62])
    def test_a_thousand_dimensions(self, rank, side):
        """More than NumPy or TensorFlow can count. Their product has more digits than Python prints."""
        fs = bundle({"a": entry((side,) * rank, size=4)}, bytes(4), prefix="d/x")
        if rank <= 254:
            refused(fs, f"{rank} dimensions are more than the 64 that NumPy can hold", "d/x", UnimplementedError)
            assert list_tensors("d/x", fs=fs)["a"].size == side**rank
        else:
            refused(fs, f"{rank} dimensions, more than the 254 that TensorFlow knows", "d/x")
        assert latest_checkpoint("d", fs=fs) is None

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"size": -4}, "negative"),
            ({"offset": -1}, "negative"),
            ({"shard": -1}, "negative"),
            ({"shard": 1}, "data file 1 of 1"),
            ({"shard": 2**31 - 1}, "data file 2147483647 of 1"),
            ({"offset": 2**63 - 1}, "is 8 bytes long"),
            ({"offset": 5}, "is 8 bytes long"),
            ({"size": 8}, "has 8 bytes, expected 4"),
            ({"size": 2**63 - 1}, "has 9223372036854775807 bytes, expected 4"),
        ],
        ids=lambda value: str(value)[:20],
    )
    def test_extents_that_are_not_there(self, fields, message):
        """Before the file, beyond it, beyond what 64 bits can say once added up, in a file that is none."""
        for dtype, shape in ((FLOAT, (1,)), (4, (4,))):
            value = entry(shape, dtype=dtype, **{"size": 4, **fields})
            refused(bundle({"a": value}, bytes(8)), message)

    @pytest.mark.parametrize("number", [29, 30, 31, 32, 33])
    def test_bits_that_mean_nothing(self, number):
        """Of a 4-bit float, the upper half of the byte is to be ignored; ml_dtypes takes it for a sign."""
        data = bytes(range(256))
        fs = bundle({"a": entry((2, 128), dtype=number, size=256, crc=crc32c(data))}, data)
        with open_checkpoint("x", fs=fs) as reader:
            low = np.frombuffer(data, np.uint8) & ((1 << reader["a"].dtype.bits) - 1)
            for array in (
                reader.read("a"),
                reader.read("a", copy=False),
                reader.read_many()["a"],
                reader.source("a").gather(),
                np.concatenate([reader.read("a", slice(0, 1)), reader.read("a", slice(1, 2))]),
                reader.read_rows("a", [0, 1]),
            ):
                assert array.tobytes() == low.tobytes()

    def test_entries_on_the_same_bytes(self):
        """A thousand tensors that share one stretch of data. Each is real, so each may be read; none costs more."""
        data = np.arange(1000, dtype=np.float32).tobytes()
        value = entry((1000,), size=4000, crc=crc32c(data))
        fs = bundle({f"{number:04d}": value for number in range(1000)}, data)
        with open_checkpoint("x", ReadOptions(copy=False), fs=fs) as reader:
            bounded(reader.read_many, size_of(fs))
        bounded(lambda: check_checkpoint("x", fs=fs), size_of(fs))

    def test_a_name_of_megabytes(self):
        """Which every message about it would have to quote."""
        fs = bundle({"n" * (1 << 20): b"\xff"})
        with pytest.raises(DataLossError, match="not a valid BundleEntryProto"):
            load_tensors("x", fs=fs)
        survive(fs)

    def test_names_that_are_no_text(self):
        """Bytes that are not UTF-8, controls, and the very key of a slice."""
        keys = [b"\xff\xfe", b"\0", b"\xed\xa0\x80", b"a\nb", slice_key(b"w", WHOLE), b"\xc0\x80"]
        fs = bundle({key: entry((), size=4, crc=0x48674BC7) for key in keys}, bytes(4))
        assert len(load_tensors("x", fs=fs)) == len(keys)
        survive(fs)


class TestStrings:
    @pytest.mark.parametrize(
        "data",
        [
            encode_varint(2**63) * 2 + bytes(8),
            encode_varint(2**64 - 1) + encode_varint(5) + bytes(8),
            encode_varint(2**40) + b"\0" + bytes(20),
            b"\x80" * 30,
            b"\0" * 3,
        ],
        ids=bytes.hex,
    )
    def test_lengths_of_exabytes(self, data):
        """Two lengths of 2**63 add up to 0 in 64 bits, and would seem to fit."""
        fs = bundle({"a": entry((2,), dtype=STRING, size=len(data))}, data)
        refused(fs, 'tensor "a"')

    def test_more_elements_than_bytes(self):
        """2**40 strings in a hundred bytes: even empty ones take one each."""
        fs = bundle({"a": entry((2**40,), dtype=STRING, size=100)}, bytes(100))
        refused(fs, "has 100 bytes, expected at least 1099511627776")

    def test_a_million_empty_strings(self):
        """The most objects a byte can ask for."""
        count = 200_000
        lengths = crc32c(bytes(4 * count))
        check = mask(lengths).to_bytes(4, "little")
        value = entry((count,), dtype=STRING, size=count + 4, crc=crc32c(check, lengths))
        survive(bundle({"a": value}, bytes(count) + check))

    @pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**40])
    def test_variants_of_exabytes(self, length):
        """The same for variants, whose lengths stand between them."""
        data = encode_varint(length) + bytes(20)
        refused(bundle({"a": entry((1,), dtype=21, size=len(data))}, data), "runs past the end")


class TestSlices:
    def test_that_claim_terabytes(self):
        """Two slices that cover a tensor of 2 TiB, of which not a byte is there."""
        parts = [TensorSlice(((0, 2**38),)), TensorSlice(((2**38, 2**38),))]
        entries = {slice_key(b"a", part): entry((2**38,), size=2**40) for part in parts}
        refused(bundle({"a": entry((2**39,), slices=parts), **entries}), "bytes long, but tensor")

    def test_that_all_lie_in_the_same_place(self):
        """A thousand slices of one tensor, and all of them the same hundred kilobytes."""
        count, length = 1_000, 100_000
        parts = [TensorSlice(((at * length, length),)) for at in range(count)]
        data = bytes(length)
        value = entry((length,), dtype=4, size=length, crc=crc32c(data))
        fs = bundle(
            {"a": entry((count * length,), dtype=4, slices=parts), **{slice_key(b"a", part): value for part in parts}},
            data,
        )
        bounded(lambda: load_tensors("x", fs=fs), size_of(fs))

    @pytest.mark.parametrize(
        "part",
        [
            TensorSlice(((0, 5),)),
            TensorSlice(((2**62, 2**62),)),
            TensorSlice(()),
            TensorSlice(((0, 2), (0, 1))),
        ],
        ids=str,
    )
    def test_that_lie_outside(self, part):
        """Beyond the tensor, or in another number of dimensions."""
        refused(bundle({"a": entry((4,), slices=[part])}), 'entry of "a": slice')
        refused(store_of({"x": slice_file({"a": (FLOAT, (4,), [part])}, {})}), 'tensor "a": slice')

    def test_of_negative_length(self):
        """Lengths below zero make a box whose end comes before its start."""
        message = BundleEntryProto(dtype=FLOAT, shape={"dim": [{"size": 4}]}, slices=[{"extent": [{"length": -4}]}])
        refused(bundle({"a": serialize(message)}), "negative")

    def test_listed_twice(self):
        """One slice given twice has as many elements as a whole tensor."""
        part = TensorSlice(((0, 2),))
        fs = bundle({"a": entry((4,), slices=[part, part]), slice_key(b"a", part): entry((2,), size=8)}, bytes(8))
        refused(fs, "overlap")

    def test_of_slices(self):
        """A slice that is itself stored in slices, one of which is itself."""
        part = TensorSlice(((0, 4),))
        nested = entry((4,), slices=[part])
        key = slice_key(b"a", part)
        fs = bundle({"a": nested, key: nested, slice_key(key, part): nested})
        refused(fs, "is stored as float32|lists the slice")

    def test_of_a_scalar(self):
        """A tensor without rows to cut it by, said to be cut."""
        whole = TensorSlice(())
        value = entry((), size=4, crc=0x48674BC7)
        fs = bundle({"a": entry((), slices=[whole]), slice_key(b"a", whole): value}, bytes(4))
        assert load_tensors("x", fs=fs) == {"a": 0}
        with open_checkpoint("x", fs=fs) as reader:
            assert reader.source("a").gather().tolist() == [0]
        survive(fs)
        survive(store_of({"x": slice_file({"a": (FLOAT, (), [whole])}, {("a", whole): bytes.fromhex("2a0400000000")})}))

    @pytest.mark.parametrize("rank", [1, 64, 65, 254])
    def test_of_a_tensor_without_measure(self, rank):
        """A gap of more elements than Python prints the number of."""
        parts = [TensorSlice((*((0, 1),) * rank,))]
        survive(bundle({"a": entry((2**62,) * rank, slices=parts), slice_key(b"a", parts[0]): entry((1,) * rank)}))
        survive(store_of({"x": slice_file({"a": (FLOAT, (2**62,) * rank, parts)}, {})}))

    def test_a_cube_of_them(self):
        """The thousand corners of a cube of ten dimensions: no axis keeps many of them apart."""
        parts = [TensorSlice(tuple((bit, 1) for bit in bits)) for bits in product((0, 1), repeat=10)]
        survive(bundle({"a": entry((2,) * 10, slices=parts)}))

    def test_many_of_a_tensor_of_a_long_name(self):
        """Half the file is one name, half is slices, and each slice has a key that holds the name."""
        parts = [TensorSlice(((at, 1),)) for at in range(3_000)]
        survive(bundle({b"\0": entry(), "n" * (1 << 20): entry((3_000,), slices=parts)}))

    def test_thousands_of_empty_ones(self):
        """Two bytes each in the file."""
        survive(bundle({"a": entry((), slices=[TensorSlice(())] * 3_000)}))


class TestV1:
    @pytest.mark.parametrize("dtype", [FLOAT, STRING, INT64, 18, 21, 20])
    def test_shapes_of_terabytes(self, dtype):
        """The list of tensors says so; the file has two hundred bytes."""
        for shape in ((2**38,), (2**62,), (2**20, 2**20, 2**20)):
            part = TensorSlice.whole(len(shape))
            fs = store_of({"x": slice_file({"a": (dtype, shape, [part])}, {("a", part): b""})})
            refused(fs, 'tensor "a"')

    def test_slices_that_add_up_to_terabytes(self):
        """Each slice claims no more than the file could hold; all of them together do."""
        count, length = 2_000, 500_000
        parts = [TensorSlice(((at * length, length),)) for at in range(count)]
        survive(store_of({"x": slice_file({"a": (18, (count * length,), parts)}, {("b", WHOLE): bytes(length)})}))

    @pytest.mark.parametrize(
        "value",
        [
            b"\x2a\x04\0\0\0\0",  # one float for two
            b"\x2a\x0c" + bytes(12),  # three
            b"\x2a\x03\0\0\0",  # three bytes
            b"\x2a\xff\xff\xff\xff\x0f",  # four gigabytes
            b"\x2d\0\0\0",  # half a float
            b"\x28\x01",  # a number of another kind
            b"\x0b\x0b\x0b",  # groups
            b"\x2a" * 9,
            b"\x00",
        ],
        ids=bytes.hex,
    )
    def test_values_that_are_not_what_was_promised(self, value):
        """Too few, too many, cut off, of another kind."""
        refused(store_of({"x": slice_file({"a": (FLOAT, (2,), [WHOLE])}, {("a", WHOLE): value})}), 'tensor "a"')

    @pytest.mark.parametrize(
        ("dtype", "value"),
        [(INT64, b"\x50\x01"), (STRING, b"\x42\0"), (FLOAT, b"\x2d\0\0\0\0"), (10, b"\x58\1")],
        ids=str,
    )
    def test_elements_one_by_one(self, dtype, value):
        """Not packed, as old writers might: a field, and for a moment an object, for each."""
        count = 10_000
        fs = store_of({"x": slice_file({"a": (dtype, (count,), [WHOLE])}, {("a", WHOLE): value * count})})
        assert load_tensors("x", fs=fs)["a"].size == count
        survive(fs, factor=200)

    @pytest.mark.parametrize(("dtype", "number"), [(6, 128), (4, 256), (17, 65536), (19, 65536), (3, 2**31), (10, 2)])
    def test_numbers_that_do_not_fit(self, dtype, number):
        """An int8 of 128, a bool of 2: cut down to size they would be other numbers."""
        field = {10: 11, 19: 13}.get(dtype, 7)
        value = encode_varint(field << 3) + encode_varint(number)
        fs = store_of({"x": slice_file({"a": (dtype, (1,), [WHOLE])}, {("a", WHOLE): value})})
        survive(fs)
        if dtype != 10:  # protocol buffers take any number but 0 for true
            refused(fs, "holds a number that is no")

    def test_one_tensor_ten_thousand_times(self):
        """The same name again and again, each time with the same slice."""
        message = SavedTensorSlices()
        for _ in range(10_000):
            message.meta.tensor.add(name="a", type=FLOAT, shape={}, slice=[{}])
        survive(store_of({"x": table({b"": serialize(message)})}))

    def test_a_list_that_is_none(self):
        """Where the list of tensors should be: nothing, garbage, groups without end, data instead."""
        for value in (b"", b"\xff", b"\x0b" * 100_000, b"\x12\x02\x0a\x00"):
            survive(store_of({"x": table({b"": value})}))

    def test_a_file_name_that_counts_to_ten_thousand_million(self):
        """One file, whose name says that there are 9999999999 more."""
        fs = MemoryFileSystem()
        save_checkpoint("d/a-00000-of-9999999999", {"w": np.zeros(1)}, fs=fs)
        file = fs.contents().popitem()[1]
        fs = store_of({"d/a-00000-of-9999999999": file})
        with ends(), at_most_lines(100_000):
            assert latest_checkpoint("d", fs=fs) is None
        bounded(lambda: open_checkpoint("d/a", fs=fs), 1000)
        bounded(lambda: open_checkpoint("d/a-?????-of-9999999999", fs=fs), 1000)


class TestStateFiles:
    @pytest.mark.parametrize(
        "text",
        [
            b"a{" * 100_000,
            b"[" * 100_000,
            b"model_checkpoint_path: " + b'"x" ' * 5_000,
            b'model_checkpoint_path: "' + b"\\" * 100_001,
            b'model_checkpoint_path: "' + b"\\377" * 10_000 + b'"',
            b'model_checkpoint_path: "x" last_preserved_timestamp: ' + b"9" * 10_000,
            b'model_checkpoint_path: "x" last_preserved_timestamp: 1e999999999999',
            b'model_checkpoint_path: "\\ud800"',
            b'model_checkpoint_path: "\\U00110000"',
            b"[type.googleapis.com/tensorflow.CheckpointState] {" * 1000,
            b"model_checkpoint_path <" * 1000,
            b"1: 2 " * 1000,
            b"\0" * 1000,
            b"#" * 100_000,
            b'model_checkpoint_path: "' + b"x/" * 100_000 + b'"',
        ],
        ids=lambda text: text[:30].decode() if isinstance(text, bytes) else "",
    )
    def test_text_without_end(self, text):
        """Nesting, repetition, escapes and numbers beyond all measure."""
        fs = store_of({"d/checkpoint": text})
        bounded(lambda: read_checkpoint_state("d", fs=fs), len(text), factor=150)
        bounded(lambda: open_checkpoint("d", fs=fs), len(text), factor=150)

    def test_a_number_of_five_thousand_digits_in_a_path(self):
        """More than Python turns into a number without being told to."""
        path = "x-?????-of-" + "9" * 5000
        fs = store_of({"d/checkpoint": f'model_checkpoint_path: "{path}"'.encode()})
        assert latest_checkpoint("d", fs=fs) is None
        with pytest.raises(TensorKeepError, match="holds no checkpoint"):
            open_checkpoint("x.data-" + "0" * 5000 + "-of-00001", fs=fs)
        with pytest.raises(TensorKeepError, match="holds no checkpoint"):
            open_checkpoint(path, fs=fs)

    def test_a_folder_that_leads_to_itself(self):
        """The pattern of a V1 checkpoint, which is also a folder, whose latest checkpoint is that folder."""
        folder = "/d/x-?????-of-00001"
        fs = store_of(
            {f"{folder}/checkpoint": f'model_checkpoint_path: "{folder}"'.encode(), "/d/x-00000-of-00001": b""}
        )
        with pytest.raises(TensorKeepError, match=r"which does not exist|is not a table"):
            open_checkpoint(folder, fs=fs)

    def test_paths_that_are_none(self, tmp_path: Path):
        """A NUL, a name of a megabyte, a device, the folder itself, the state file itself."""
        for path in ("a\\000b", "x" * 10_000, "/dev/zero", ".", "checkpoint", "..", "/"):
            (tmp_path / "checkpoint").write_text(f'model_checkpoint_path: "{path}"')
            with ends(), at_most_lines(100_000), pytest.raises(TensorKeepError):
                open_checkpoint(tmp_path)

    def test_a_pipe_in_place_of_a_file(self, tmp_path: Path):
        """Opened the usual way, it waits for its other end for ever."""
        for name in ("checkpoint", "x.index", "y"):
            os.mkfifo(tmp_path / name)
        for path in (tmp_path, tmp_path / "x", tmp_path / "y"):
            with pytest.raises(TensorKeepError, match="is a device or pipe, expected a file"):
                open_checkpoint(path)


class TestObjectGraphs:
    def test_a_chain_of_objects(self):
        """Each the child of the one before: the paths grow with every step, and so does their sum, squared."""
        message = TrackableObjectGraph()
        count = 5_000
        for number in range(count):
            node = message.nodes.add()
            node.attributes.add(name="VARIABLE_VALUE", checkpoint_key="k")
            if number + 1 < count:
                node.children.add(node_id=number + 1, local_name="x")
        data = serialize(message)
        bounded(lambda: ObjectGraph.parse(data), len(data))

    def test_a_long_name_with_many_children(self):
        """A child of a name of 100 kilobytes, and thousands of children of that child."""
        message = TrackableObjectGraph()
        message.nodes.add().children.add(node_id=1, local_name="y" * 100_000)
        node = message.nodes.add()
        for number in range(3000):
            message.nodes.add().attributes.add(name="VARIABLE_VALUE", checkpoint_key="k")
            node.children.add(node_id=2 + number, local_name=str(number))
        data = serialize(message)
        bounded(lambda: ObjectGraph.parse(data), len(data))

    def test_everybody_a_child_of_everybody(self):
        """As many ways from one object to another as there are orders of objects."""
        message = TrackableObjectGraph()
        for _ in range(200):
            node = message.nodes.add()
            for other in range(200):
                node.children.add(node_id=other, local_name=str(other))
        data = serialize(message)
        bounded(lambda: ObjectGraph.parse(data), len(data))

    def test_ten_thousand_objects_of_nothing(self):
        """Two bytes each."""
        data = b"\x0a\x00" * 10_000
        bounded(lambda: ObjectGraph.parse(data), len(data))

    def test_one_child_ten_thousand_times(self):
        """The same name for the same object, over and over."""
        message = TrackableObjectGraph()
        node = message.nodes.add()
        for _ in range(10_000):
            node.children.add(node_id=0, local_name="a")
        data = serialize(message)
        bounded(lambda: ObjectGraph.parse(data), len(data))

    @pytest.mark.parametrize("data", [b"\x0b" * 100_000, b"\x0a" * 1000, b"\x0a\xff\xff\xff\xff\x07"], ids=len)
    def test_what_is_no_graph(self, data):
        """Groups a hundred thousand deep, lengths beyond the end."""
        with pytest.raises(DataLossError, match="not a valid TrackableObjectGraph"):
            ObjectGraph.parse(data)


def test_a_reader_is_usable_after_every_kind_of_error() -> None:
    """Nothing is remembered wrongly: what failed fails again, what is sound stays sound."""
    good = np.arange(4, dtype=np.float32)
    fs = bundle(
        {
            "good": entry((4,), size=16, crc=crc32c(good.tobytes())),
            "huge": entry((2**50,), size=2**52),
            "odd": b"\xff",
            "wide": entry((1,) * 70, size=4),
        },
        good.tobytes(),
    )
    with BundleReader("x", fs=fs) as reader:
        for _ in range(2):
            use(reader)
            assert reader.read("good").tolist() == [0, 1, 2, 3]
            for name in ("huge", "odd", "wide"):
                with pytest.raises(TensorKeepError):
                    reader.read(name)
