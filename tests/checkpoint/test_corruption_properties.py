"""Any damage to a sound file gives the right values or one of our errors: never other values, never another exception.

Every checkpoint file carries checksums, so damage to it is noticed. A state file and a serialized object graph carry
none; of them only the second half of the promise can be asked.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorkeep import (
    CheckpointFormat,
    CheckpointReader,
    DataLossError,
    MemoryFileSystem,
    ObjectGraph,
    PartitionedArray,
    SaveOptions,
    ShardByName,
    TensorKeepError,
    check_checkpoint,
    latest_checkpoint,
    open_checkpoint,
    read_checkpoint_state,
    save_checkpoint,
    write_checkpoint_state,
)
from tensorkeep.testing.strategies import Saveable, assert_identical, checkpoints, contents
from tests.checkpoint.crafting import peak_memory, put, same, store_of
from tests.support.depth import examples
from tests.support.effort import ends
from tests.support.golden import golden

pytestmark = pytest.mark.slow  # all of them together

# Mutations


@dataclass(frozen=True)
class Truncated:
    size: float

    def __call__(self, data: bytes) -> bytes:
        return data[: int(self.size * len(data))]


@dataclass(frozen=True)
class Flipped:
    """Some bits, each at a share of the length."""

    bits: tuple[tuple[float, int], ...]

    def __call__(self, data: bytes) -> bytes:
        out = bytearray(data)
        for at, bit in self.bits:
            if out:
                out[int(at * len(out))] ^= 1 << bit
        return bytes(out)


@dataclass(frozen=True)
class Spliced:
    """A stretch replaced by other bytes: nothing is a deletion, a stretch of nothing an insertion."""

    start: float
    length: int
    replacement: bytes

    def __call__(self, data: bytes) -> bytes:
        at = int(self.start * (len(data) + 1))
        return data[:at] + self.replacement + data[at + self.length :]


@dataclass(frozen=True)
class Copied:
    """A stretch of the file put somewhere else, over what is there or between."""

    start: float
    length: int
    target: float
    over: bool

    def __call__(self, data: bytes) -> bytes:
        at, to = int(self.start * len(data)), int(self.target * (len(data) + 1))
        piece = data[at : at + self.length]
        return data[:to] + piece + data[to + (len(piece) if self.over else 0) :]


places = st.floats(0, 1, exclude_max=True)
lengths = st.integers(0, 12) | st.integers(0, 2000)
mutations = st.one_of(
    st.builds(Truncated, places),
    st.builds(Flipped, st.lists(st.tuples(places, st.integers(0, 7)), min_size=1, max_size=1).map(tuple)),
    st.builds(Flipped, st.lists(st.tuples(places, st.integers(0, 7)), min_size=2, max_size=40).map(tuple)),
    st.builds(Spliced, places, lengths, st.binary(max_size=12)),
    st.builds(Copied, places, lengths, places, st.booleans()),
)

Act = Callable[[], np.ndarray]


def ways(reader: CheckpointReader, name: str, value: np.ndarray) -> Iterator[tuple[Act, np.ndarray]]:
    """Every way to read a tensor whose checksum is compared, and what it must give if it gives anything."""
    yield lambda: reader.read(name), value
    yield lambda: reader.read(name, copy=False), value
    yield lambda: reader.read_many([name])[name], value
    yield lambda: reader.source(name).gather().reshape(value.shape), value


def assert_right_or_refused(fs: MemoryFileSystem, path: str, tensors: Mapping[str, np.ndarray]) -> bool:
    """Whether everything could be read."""
    intact = True
    try:
        reader = open_checkpoint(path, fs=fs)
    except TensorKeepError as error:
        assert_explains(error, path)
        return False
    with reader:
        try:
            assert set(reader) == set(tensors)
        except TensorKeepError as error:
            assert_explains(error, path)
            intact = False
        for name, value in tensors.items():
            for act, wanted in ways(reader, name, value):
                try:
                    found = act()
                except TensorKeepError as error:
                    assert_explains(error, path)
                    intact = False
                else:
                    assert same(found, wanted), f"{name}: {found!r} was read, {wanted!r} was saved"
            try:
                reader.verify(name)
            except TensorKeepError as error:
                assert_explains(error, path)
                intact = False
            else:
                assert same(reader.read(name), value)  # it was found sound, so it can be read
    report = check_checkpoint(path, fs=fs)
    assert report.is_intact or not intact
    return intact


def assert_explains(error: TensorKeepError, path: str) -> None:
    """A message names the file it is about, which for a V1 checkpoint in several is one of them."""
    assert f'"{path.split("-?")[0]}' in str(error), f"{type(error).__name__}: {error}"


# Checkpoints that have a bit of everything

TENSORS: dict[str, np.ndarray] = {
    "a/float": np.arange(12, dtype=np.float32).reshape(3, 4),
    "a/int": np.array([-1, 0, 2**40]),
    "b": np.array(True),
    "empty": np.zeros((0, 3), np.float32),
    "strings": np.array([[b"hello", b""], [b"\xff" * 40, b"x"]], object),
    "w": np.arange(20.0).reshape(5, 4),
}
SAVED: dict[str, Saveable] = {**TENSORS, "w": PartitionedArray.split(TENSORS["w"], 3)}


def saved(options: SaveOptions) -> tuple[str, dict[str, bytes]]:
    fs = MemoryFileSystem()
    path = save_checkpoint("run/m", SAVED, options, fs=fs)
    return path, fs.contents()


BY_HALF = ShardByName(lambda name: name > "b")
FORMATS = {
    "V2": saved(SaveOptions()),
    "V2 in two": saved(SaveOptions(sharding=BY_HALF)),
    "V2 aligned": saved(SaveOptions(alignment=16)),
    "V1": saved(SaveOptions(format=CheckpointFormat.V1)),
    "V1 in two": saved(SaveOptions(format=CheckpointFormat.V1, sharding=BY_HALF)),
}
FILES = [(name, file) for name, (_, files) in FORMATS.items() for file in files]
every_file = pytest.mark.parametrize(("name", "file"), FILES, ids=[f"{name}-{file}" for name, file in FILES])


@every_file
def test_unharmed_files_are_read(name: str, file: str) -> None:
    path, files = FORMATS[name]
    assert file in files
    assert assert_right_or_refused(store_of(files), path, TENSORS)


@every_file
@examples(120)
@given(mutation=mutations)
def test_any_damage_is_noticed_or_harmless(name: str, file: str, mutation: Callable[[bytes], bytes]) -> None:
    path, files = FORMATS[name]
    with ends(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_right_or_refused(store_of({**files, file: mutation(files[file])}), path, TENSORS)


@pytest.mark.parametrize("name", ["V2", "V1"])
def test_every_single_truncation(name: str) -> None:
    path, files = FORMATS[name]
    for file, data in files.items():
        for size in range(len(data)):
            whole = assert_right_or_refused(store_of({**files, file: data[:size]}), path, TENSORS)
            assert not whole, f"{file} cut to {size} of {len(data)} bytes"


def small(options: SaveOptions) -> tuple[dict[str, np.ndarray], dict[str, bytes]]:
    tensors = {"f": np.array([1.5, -2.0], np.float32), "s": np.array([b"ab", b""], object)}
    fs = MemoryFileSystem()
    save_checkpoint("m", tensors, options, fs=fs)
    return tensors, fs.contents()


@pytest.mark.parametrize("format", CheckpointFormat, ids=lambda format: format.value)
def test_every_single_bit(format: CheckpointFormat) -> None:
    """Of the data files, every bit matters. Of a table, all do but those of the meta-index and of padding."""
    tensors, files = small(SaveOptions(format=format))
    harmless = dict.fromkeys(files, 0)
    for file, data in files.items():
        for at in range(8 * len(data)):
            broken = bytearray(data)
            broken[at // 8] ^= 1 << at % 8
            fs = store_of({**files, file: bytes(broken)})
            harmless[file] += assert_right_or_refused(fs, "m", tensors)
    unread = (
        8 * (8 + 5) + 8 * 36 + 2 * 8
    )  # the meta-index and its trailer, zeros of the footer, the meta-index's handle
    for file, count in harmless.items():
        assert count <= (0 if ".data-" in file else unread), file


@examples(150)
@given(checkpoints(max_size=3), st.sampled_from(["index", "data"]), mutations)
def test_any_checkpoint_any_damage(tensors: dict[str, Saveable], kind: str, mutation: Callable[[bytes], bytes]) -> None:
    fs = MemoryFileSystem()
    save_checkpoint("m", tensors, fs=fs)
    file = "m.index" if kind == "index" else "m.data-00000-of-00001"
    put(fs, file, mutation(fs.contents()[file]))
    with ends():
        try:
            with open_checkpoint("m", fs=fs) as reader:
                names = list(reader)
        except TensorKeepError:
            return
        assert names == sorted(tensors, key=str.encode)
        with open_checkpoint("m", fs=fs) as reader:
            for name, value in tensors.items():
                try:
                    found = reader.read(name)
                except TensorKeepError:
                    continue
                assert_identical(found, *contents(value))


@examples(60)
@given(st.sampled_from(FILES), mutations)
def test_memory_stays_with_the_size_of_the_files(which: tuple[str, str], mutation: Callable[[bytes], bytes]) -> None:
    name, file = which
    path, files = FORMATS[name]
    fs = store_of({**files, file: mutation(files[file])})

    def act() -> None:
        with contextlib.suppress(TensorKeepError), open_checkpoint(path, fs=fs) as reader:
            reader.read_many()

    _, peak = peak_memory(act)
    assert peak < 40 * sum(map(len, fs.contents().values())) + (1 << 20)


@pytest.mark.parametrize(
    "prefix", ["snappy", "tiny_blocks", "restart_2", "aligned64", "bigendian"], ids=lambda prefix: prefix
)
@examples(60)
@given(st.sampled_from(["index", "data-00000-of-00002", "data-00001-of-00002"]), mutations)
def test_files_of_other_writers(prefix: str, suffix: str, mutation: Callable[[bytes], bytes]) -> None:
    folder = golden("g37_crafted")
    files = {path.name: path.read_bytes() for path in folder.glob(f"{prefix}.*")}
    with open_checkpoint(folder / prefix) as reader:
        tensors = reader.read_many()
    file = f"{prefix}.{suffix}"
    assert_right_or_refused(store_of({**files, file: mutation(files[file])}), prefix, tensors)


def test_files_of_two_saves_mixed_up() -> None:
    """An old index with new data, as an interrupted copy leaves them: sizes agree, checksums do not."""
    old, new = MemoryFileSystem(), MemoryFileSystem()
    save_checkpoint("m", {"a": np.zeros(3)}, fs=old)
    save_checkpoint("m", {"a": np.ones(3)}, fs=new)
    mixed = store_of({**new.contents(), "m.index": old.contents()["m.index"]})
    with open_checkpoint("m", fs=mixed) as reader, pytest.raises(DataLossError, match="its checksum is"):
        reader.read("a")


# The state file

STATE = MemoryFileSystem()
STATE.make_directory("run")
write_checkpoint_state(
    "run", "run/m-2", ["run/m-1", "run/é\"'\\\n", "run/m-2"], timestamps=[1.5, 2.5, 3.5], last_preserved=0.5, fs=STATE
)
TEXT = STATE.contents()["run/checkpoint"]


def read_state(text: bytes) -> None:
    fs = store_of({"run/checkpoint": text, "run/m-2": b""})
    for act in (
        lambda: read_checkpoint_state("run", fs=fs),
        lambda: latest_checkpoint("run", fs=fs),
        lambda: open_checkpoint("run", fs=fs),
        lambda: check_checkpoint("run", fs=fs),
    ):
        with contextlib.suppress(TensorKeepError):
            act()


@examples(300)
@given(mutations)
def test_a_damaged_state_file_is_an_error_or_another_state(mutation: Callable[[bytes], bytes]) -> None:
    with ends():
        read_state(mutation(TEXT))


def test_every_truncation_of_a_state_file() -> None:
    for size in range(len(TEXT)):
        read_state(TEXT[:size])


@examples(300)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@example(b'model_checkpoint_path: "\\udc80"')
@example(b"model_checkpoint_path: '")
@example(b"\xef\xbb\xbfmodel_checkpoint_path: 'x'")
@example(b"model_checkpoint_path: 'x' all_model_checkpoint_timestamps: nan")
@example(b"model_checkpoint_path { }")
@example(b"[a.b/c] { }")
def test_any_bytes_for_a_state_file(text: bytes) -> None:
    read_state(text)


@examples(300)
@given(st.text(max_size=30))
def test_any_path_in_a_state_file(path: str) -> None:
    escaped = "".join(f"\\{byte:03o}" for byte in path.encode("utf-8", "replace"))
    read_state(f'model_checkpoint_path: "{escaped}"'.encode())


# The object graph


def graph_of(prefix: str) -> bytes:
    with open_checkpoint(golden("g34_tf2_checkpoint") / prefix) as reader:
        return reader.read("_CHECKPOINTABLE_OBJECT_GRAPH").item()


GRAPH = graph_of("obj/ckpt-1")


def read_graph(data: bytes) -> None:
    try:
        graph = ObjectGraph.parse(data)
    except TensorKeepError:
        return
    graph.keys_by_full_name()
    for path in graph.keys_by_path():
        with contextlib.suppress(TensorKeepError):
            graph.find(path)


@examples(300)
@given(mutations)
def test_a_damaged_object_graph_is_an_error_or_another_graph(mutation: Callable[[bytes], bytes]) -> None:
    with ends():
        read_graph(mutation(GRAPH))


@examples(200)
@given(st.binary(max_size=80))
def test_any_bytes_for_an_object_graph(data: bytes) -> None:
    read_graph(data)
