"""What is done with the bytes of a fuzzer, and what they are made of to begin with.

A target takes any bytes and uses them for all they are worth. What is ours to raise may be raised; everything else,
and a result that contradicts what was promised of it, is a finding.

Bytes as they come from a fuzzer rarely get past the first checksum. So the *sealed* targets do not take them for a
file but for its contents, and put the checksums on themselves:

    sealed = options(1) length(4) record* rest            records up to `length`, little-endian; the rest is data
    record = length(2) key length(2) value

`mutate` knows this form, and changes a record rather than the lengths between them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import numpy as np

from tensorkeep import (
    ArraySource,
    CheckpointFormat,
    CheckpointReader,
    Checksums,
    MemoryFileSystem,
    ObjectGraph,
    PartitionedArray,
    ReadOptions,
    RenamedReader,
    SaveOptions,
    TensorKeepError,
    TensorSlice,
    check_checkpoint,
    latest_checkpoint,
    merge_bundles,
    open_checkpoint,
    read_checkpoint_state,
    save_checkpoint,
)
from tensorkeep.checkpoint.bundle.codec import decode_objects
from tensorkeep.checkpoint.bundle.format import Entry
from tensorkeep.checkpoint.slices.tensor_slice import box_shape, slice_key
from tensorkeep.dtypes import ALL_DTYPES, DType
from tensorkeep.io.coding.crc32c import crc32c, mask, masked_crc32c
from tensorkeep.io.coding.varint_arrays import decode_varints
from tensorkeep.proto.messages import (
    BundleEntryProto,
    BundleHeaderProto,
    Message,
    SavedTensorSlices,
    parse,
    serialize,
)
from tensorkeep.proto.wire import encode_bytes_field
from tensorkeep.table.table import Table
from tests.checkpoint.crafting import block, store_of, table_of_blocks
from tests.support.golden import ROOT

Record = tuple[bytes, bytes]

SORTED, MENDED, SNAPPY, TINY, UNCHECKED, REWRITTEN = 1, 2, 4, 8, 16, 32


# Using everything


def use_reader(reader: CheckpointReader) -> None:
    with suppress(TensorKeepError):
        for name, info in reader.items():
            assert info.shape == tuple(info.shape), name
    with suppress(TensorKeepError):
        found = reader.read_many()
        assert set(found) == set(reader)
    names: Sequence[str] = ()
    with suppress(TensorKeepError):
        names = reader.intact_names
    for name in names[:8]:
        use_tensor(reader, name)
    with suppress(TensorKeepError):
        reader.read("no such tensor")
    for view in (RenamedReader.by_path, RenamedReader.by_full_name):
        with suppress(TensorKeepError):
            list(view(reader).items())


def use_tensor(reader: CheckpointReader, name: str) -> None:
    try:
        info = reader[name]
        whole = reader.read(name)
    except TensorKeepError:
        whole = None
    if whole is not None:
        assert (whole.shape, whole.dtype) == (info.shape, info.dtype.array_dtype)
        assert whole.flags.writeable
    for act in (
        lambda: reader.read(name, copy=False),
        lambda: reader.read(name, ()),
        lambda: reader.source(name).gather().reshape(info.shape),
    ):
        with suppress(TensorKeepError):
            again = act()
            assert whole is None or same(again, whole)
    with suppress(TensorKeepError):
        reader.verify(name)
    with suppress(TensorKeepError):
        part = reader.read(name, tuple(slice(size // 2, size) for size in reader[name].shape))
        assert whole is None or same(part, whole[(..., *(slice(size // 2, size) for size in whole.shape))])
    with suppress(TensorKeepError):
        rows = reader.read_rows(name, [-1, 0, 0])
        assert whole is None or same(rows, whole[[-1, 0, 0]])


def same(first: np.ndarray, second: np.ndarray) -> bool:
    if first.dtype == object:
        return bool(first.shape == second.shape and first.reshape(-1).tolist() == second.reshape(-1).tolist())
    return bool(first.shape == second.shape and first.tobytes() == second.tobytes())


def use_checkpoint(fs: MemoryFileSystem, options: int = 0, path: str = "d/x") -> None:
    policy = Checksums.OFF if options & UNCHECKED else Checksums.ALWAYS
    with suppress(TensorKeepError), open_checkpoint(path, ReadOptions(checksums=policy), fs=fs) as reader:
        use_reader(reader)
    if not options & REWRITTEN:
        return
    check_checkpoint(path, fs=fs)  # which never raises, whatever it finds
    latest = latest_checkpoint("d", fs=fs)
    assert latest in (None, path)
    with suppress(TensorKeepError):
        merge_bundles([path], "d/merged", fs=fs, delete_inputs=False)
    with suppress(TensorKeepError):
        save_checkpoint(path, {"new": np.zeros(2)}, fs=fs)
        with open_checkpoint(path, fs=fs) as reader:
            assert list(reader) == ["new"]


# Targets


def table_file(data: bytes) -> None:
    """Any bytes for a table."""
    fs = store_of({"x": data})
    with suppress(TensorKeepError):
        use_table(Table(fs.open("x")))


def sealed_table(data: bytes) -> None:
    """Any entries for a table, its checksums right."""
    options, records, rest = unpack(data)
    file = sealed(options, records)
    with suppress(TensorKeepError):
        use_table(Table(store_of({"x": file}).open("x")))
    contents = rest  # and any contents for a block of it
    for compression in (0, 1):
        file = table_of_blocks([(b"\xff", contents)], compression=compression)
        with suppress(TensorKeepError):
            use_table(Table(store_of({"x": file}).open("x")))
    with suppress(TensorKeepError):
        index = table_of_blocks([(b"", contents)], index=lambda handles: records or [(b"", handles[0].encode())])
        use_table(Table(store_of({"x": index}).open("x")))


def use_table(table: Table) -> None:
    with suppress(TensorKeepError):
        for key, _ in table.items():
            table.get(key)
    with suppress(TensorKeepError):
        for _, found in table.blocks():
            if not isinstance(found, TensorKeepError):
                with suppress(TensorKeepError):
                    keys, values = found.load()
                    assert list(found) == list(zip(keys, values, strict=True))
    with suppress(TensorKeepError):
        table.get(b"\x80")


def bundle_index(data: bytes) -> None:
    """Any bytes for the index of a V2 checkpoint."""
    fs = store_of({"d/x.index": data, "d/x.data-00000-of-00001": bytes(64)})
    use_checkpoint(fs, REWRITTEN if len(data) % 4 == 0 else 0)


def sealed_bundle(data: bytes) -> None:
    """Any entries and any data for a V2 checkpoint, its checksums right, if asked for those of tensors too."""
    options, records, rest = unpack(data)
    if options & MENDED:
        records = mended(records, rest)
    files = {"d/x.index": sealed(options, records)}
    for shard, count in ((0, 1), (0, 2), (1, 2)):
        files[f"d/x.data-{shard:05d}-of-{count:05d}"] = rest
    use_checkpoint(store_of(files), options)


def slice_file(data: bytes) -> None:
    """Any bytes for a V1 checkpoint."""
    use_checkpoint(store_of({"d/x": data}), REWRITTEN if len(data) % 4 == 0 else 0)


def sealed_slice_file(data: bytes) -> None:
    """Any entries for a V1 checkpoint, their checksums right, and, if asked for, the keys its list of tensors needs."""
    options, records, rest = unpack(data)
    if options & MENDED:
        records = keyed(records, rest)
    use_checkpoint(store_of({"d/x": sealed(options, records)}), options)


def state_file(data: bytes) -> None:
    """Any bytes for a state file."""
    fs = store_of({"d/checkpoint": data, "d/x-00000-of-00001": b"", "d/m.index": b""})
    with suppress(TensorKeepError):
        read_checkpoint_state("d", fs=fs)
    with suppress(TensorKeepError):
        latest_checkpoint("d", fs=fs)
    with suppress(TensorKeepError):
        open_checkpoint("d", fs=fs)


def object_graph(data: bytes) -> None:
    """Any bytes for an object graph."""
    with suppress(TensorKeepError):
        graph = ObjectGraph.parse(data)
        graph.keys_by_full_name()
        for path in graph.keys_by_path():
            with suppress(TensorKeepError):
                graph.find(path)


def strings(data: bytes) -> None:
    """Any bytes for a string or variant tensor; of the strings, the lengths with their checksum right."""
    if len(data) < 2:
        return
    dtype = DType.of("variant" if data[0] & 1 else "string")
    order = ">" if data[0] & 2 else "<"
    count, body = data[1], data[2:]
    with suppress(TensorKeepError):
        decode_objects(dtype, memoryview(body), (count,), order)
    with suppress(TensorKeepError):
        values, at = decode_varints(body, 0, count)
        lengths = crc32c(values.astype(f"{order}u4").tobytes()) if not values.size or values.max() < 2**32 else 0
        check = mask(lengths).to_bytes(4, "little" if order == "<" else "big")
        array, _ = decode_objects(DType.of("string"), memoryview(body[:at] + check + body[at:]), (count,), order)
        assert sum(map(len, array)) <= len(body)


# Sealing


def unpack(data: bytes) -> tuple[int, list[Record], bytes]:
    options = data[0] if data else 0
    length = int.from_bytes(data[1:5], "little") if len(data) >= 5 else 0
    body = data[5 : 5 + length]
    return options, list(_records(body)), data[5 + length :]


def _records(body: bytes) -> Iterator[Record]:
    at = 0
    while at < len(body):
        pair = []
        for _ in range(2):
            length = int.from_bytes(body[at : at + 2], "little")
            pair.append(body[at + 2 : at + 2 + length])
            at += 2 + length
        yield pair[0], pair[1]


def pack(options: int, records: Sequence[Record], rest: bytes) -> bytes:
    pieces = (len(item).to_bytes(2, "little") + item for pair in records for item in pair)
    body = b"".join(pieces)
    return bytes((options,)) + len(body).to_bytes(4, "little") + body + rest


def sealed(options: int, records: Sequence[Record]) -> bytes:
    """A table of these entries, be they sorted or not, in one block or one each."""
    if options & SORTED:
        records = sorted(dict(records).items())
    groups = [[record] for record in records] if options & TINY else [list(records)]
    blocks = []
    for group in groups:
        contents = block([(0, key, value) for key, value in group])
        if options & SNAPPY:
            contents = _literal(contents)
        blocks.append((group[-1][0] if group else b"", contents))
    return table_of_blocks(blocks, compression=1 if options & SNAPPY else 0)


def _literal(contents: bytes) -> bytes:
    """A snappy stream of one literal."""
    length = len(contents)
    head = bytearray()
    while length >= 0x80:
        head.append(length & 0x7F | 0x80)
        length >>= 7
    head.append(length)
    return bytes(head) + b"\xfc" + (len(contents) - 1).to_bytes(4, "little") + contents if contents else b"\0"


def mended(records: Sequence[Record], data: bytes) -> list[Record]:
    """The same entries with the checksums their bytes have, and with entries for the slices that are listed."""
    out: list[Record] = []
    for key, value in records:
        try:
            entry = Entry.decode("", value, "")
        except TensorKeepError:
            out.append((key, value))
            continue
        out.append((key, with_checksum(entry, data) if not entry.slices else value))
        for part in entry.slices[:50]:
            shape = box_shape(part.box(entry.shape))
            size = int(np.prod([float(side) for side in shape])) * entry.dtype.itemsize
            piece = Entry("", entry.dtype, shape, 0, 0, min(size, 2**62))
            out.append((slice_key(key, part), with_checksum(piece, data)))
    return out


def with_checksum(entry: Entry, data: bytes) -> bytes:
    stored = data[entry.offset : entry.offset + entry.size]
    return entry._replace(masked_crc=masked_crc32c(stored)).encode()


def keyed(records: Sequence[Record], data: bytes) -> list[Record]:
    """The list of tensors, and the values of the other entries under the keys of the slices it lists."""
    first = next((value for key, value in records if not key), b"")
    values = [value for key, value in records if key] or [encode_bytes_field(2, encode_bytes_field(3, data))]
    out = [(b"", first)]
    with suppress(TensorKeepError):
        meta = parse(SavedTensorSlices, first, "fuzz").meta
        keys = []
        for tensor in meta.tensor[:50]:
            for message in tensor.slice[:50]:
                keys.append(slice_key(tensor.name.encode(), TensorSlice.from_proto(message)))
        out += [(key, values[at % len(values)]) for at, key in enumerate(keys)]
    return out


def mutate(data: bytes, max_size: int, seed: int, change: Callable[[bytes, int], bytes]) -> bytes:
    """Another input of the sealed form: one record, the data or the options changed; `change` mutates plain bytes."""
    generator = random.Random(seed)
    options, records, rest = unpack(data)
    choice = generator.randrange(10)
    if choice == 0:
        options ^= 1 << generator.randrange(6)
    elif choice == 1 or not records:
        rest = change(rest, max(len(rest) * 2, 64))
    elif choice == 2:
        records.insert(generator.randrange(len(records) + 1), generator.choice(records))
    elif choice == 3:
        del records[generator.randrange(len(records))]
    else:
        at = generator.randrange(len(records))
        key, value = records[at]
        if choice == 4:
            key = change(key, len(key) + 16)
        elif choice < 8:
            value = edited(key, value, generator)
        else:
            value = change(value, len(value) + 64)
        records[at] = key[:60_000], value[:60_000]
    out = pack(options, records, rest)
    return out if len(out) <= max_size else data[:max_size]


NUMBERS = [0, 1, 2, 3, 7, 64, 65, 127, 128, 255, 2**16, 2**31 - 1, 2**31, 2**32, 2**38, 2**62, 2**63 - 1, -1, -(2**63)]


def edited(key: bytes, value: bytes, generator: random.Random) -> bytes:
    """An entry with one of its fields changed, which keeps the lengths of messages within messages right."""
    for kind in (SavedTensorSlices, BundleHeaderProto) if not key else (BundleEntryProto, SavedTensorSlices):
        with suppress(TensorKeepError, ValueError):
            message = parse(kind, value, "fuzz")
            for _ in range(generator.randrange(1, 4)):
                edit_message(message, generator)
            return serialize(message)
    return value


def edit_message(message: Message, generator: random.Random) -> None:
    """Changes a field, or one of a message within; numbers become such as have made trouble before."""
    fields = [field for field, _ in message.ListFields()]
    field = generator.choice(fields if fields and generator.random() < 0.8 else message.DESCRIPTOR.fields)
    item = getattr(message, field.name)
    if field.message_type is not None:
        if not field.is_repeated:
            edit_message(item, generator)
        elif not item or generator.random() < 0.2:
            edit_message(item.add(), generator)
        elif generator.random() < 0.2:
            del item[generator.randrange(len(item))]
        else:
            edit_message(generator.choice(item), generator)
        return
    number = generator.choice(NUMBERS) if generator.random() < 0.7 else generator.randrange(40)
    new = {field.CPPTYPE_BOOL: bool(number & 1), field.CPPTYPE_STRING: "t" * (number & 3)}.get(field.cpp_type, number)
    if field.type == field.TYPE_BYTES:
        new = b"x" * (number & 63)
    if field.is_repeated:
        item.extend([new] * generator.randrange(3))
    else:
        setattr(message, field.name, new)


# Seeds


def entries_of(file: bytes) -> list[Record]:
    return list(Table(store_of({"x": file}).open("x")).items())


def golden_files(*patterns: str, most: int = 20_000) -> list[bytes]:
    paths = sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()})
    return [data for path in paths if len(data := path.read_bytes()) <= most]


V1_FILES = ("g1[0-3]*/*ckpt-12", "g11*/*-of-00003", "g12*/one", "g12*/*-of-00003", "g13*/all.v1", "g36*/*")


def tiny_checkpoints(format: CheckpointFormat) -> Iterator[dict[str, bytes]]:
    """The files of checkpoints of one tensor, one of each type and form: the smaller, the more can be tried."""
    for dtype in ALL_DTYPES:
        if not dtype.is_storable:
            continue
        array = np.array([b"ab", b"c"], object) if dtype.is_object else np.ones(2, dtype.array_dtype)
        source = ArraySource.of(array, dtype)
        parts = [(TensorSlice(((at, 1),)), ArraySource.of(array[at : at + 1], dtype)) for at in range(2)]
        for value in (source, PartitionedArray((2,), parts)):
            fs = MemoryFileSystem()
            with suppress(TensorKeepError):
                save_checkpoint("x", {"t": value}, SaveOptions(format=format), fs=fs)
                yield fs.contents()


def sealed_indexes() -> list[bytes]:
    seeds = []
    for files in tiny_checkpoints(CheckpointFormat.V2):
        records = entries_of(files["x.index"])
        seeds += [
            pack(options, records, files["x.data-00000-of-00001"]) for options in (0, SORTED | MENDED | REWRITTEN)
        ]
    for path in sorted(ROOT.glob("*/*.index")):
        data = path.with_suffix("").with_name(path.stem + ".data-00000-of-00001")
        rest = data.read_bytes() if data.exists() else b""
        with suppress(TensorKeepError):
            records = entries_of(path.read_bytes())
            if len(records) < 16 and len(rest) < 4000:
                seeds += [
                    pack(options, records, rest) for options in (SORTED | MENDED, TINY | REWRITTEN, SNAPPY | UNCHECKED)
                ]
    return seeds


def sealed_slice_files() -> list[bytes]:
    files = [file for files in tiny_checkpoints(CheckpointFormat.V1) for file in files.values()]
    seeds = []
    for file in (*files, *golden_files(*V1_FILES, most=2000)):
        with suppress(TensorKeepError):
            records = entries_of(file)
            seeds += [pack(options, records, b"") for options in (REWRITTEN, SORTED | MENDED)]
    return seeds


def object_graphs() -> list[bytes]:
    seeds = []
    for path in sorted(ROOT.glob("**/*.index")):
        with suppress(TensorKeepError), open_checkpoint(path.with_suffix("")) as reader:
            seeds.append(reader.read("_CHECKPOINTABLE_OBJECT_GRAPH").item())
    return seeds


def string_tensors() -> list[bytes]:
    seeds = []
    for path in sorted(ROOT.glob("*/*.index")):
        with suppress(TensorKeepError), open_checkpoint(path.with_suffix("")) as reader:
            for name, info in reader.items():
                if info.dtype.is_object and info.size < 256:
                    entry = reader.entry(name)  # type: ignore[attr-defined]
                    stored = reader.shard(entry.shard).read(entry.offset, entry.size)  # type: ignore[attr-defined]
                    seeds.append(bytes((info.dtype.name == "variant", info.size)) + bytes(stored))
    return seeds


TARGETS: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "table": (table_file, lambda: golden_files("*/*.index", *V1_FILES)),
    "sealed_table": (sealed_table, sealed_indexes),
    "bundle": (bundle_index, lambda: golden_files("**/*.index")),
    "sealed_bundle": (sealed_bundle, sealed_indexes),
    "slice_file": (slice_file, lambda: golden_files(*V1_FILES)),
    "sealed_slice_file": (sealed_slice_file, sealed_slice_files),
    "state": (state_file, lambda: golden_files("**/checkpoint", "**/checkpoint.*", "*/my_latest")),
    "objects": (object_graph, object_graphs),
    "strings": (strings, string_tensors),
}
