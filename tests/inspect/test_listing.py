"""What is told of a checkpoint from its index: with NumPy and without, the same."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tensorkeep import inspect
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.saving import SaveOptions, ShardByName, save_checkpoint
from tensorkeep.checkpoint.slices.tensor_slice import HashSlice
from tensorkeep.errors import MissingFileError, TensorKeepError
from tensorkeep.inspect import listing as lean
from tensorkeep.io.files.memory import MemoryFileSystem
from tests.support.golden import ROOT

INDEXES = sorted(
    str(path)[: -len(".index")]
    for path in ROOT.rglob("*.index")
    if "corrupt" not in str(path) and "crafted" not in str(path)
)


@pytest.mark.parametrize("prefix", INDEXES, ids=[os.path.relpath(prefix, ROOT) for prefix in INDEXES])
def test_without_a_reader_the_same_is_told(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_reader = inspect.list_with_reader(prefix)
    monkeypatch.setattr(lean, "_MOST_BYTES", 1 << 30)
    assert inspect.list_checkpoint(prefix) == with_reader


@pytest.mark.parametrize("prefix", INDEXES[:3])
def test_a_large_index_is_left_to_the_reader(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = inspect.list_checkpoint(prefix)
    monkeypatch.setattr(lean, "_MOST_BYTES", 0)
    assert inspect.list_checkpoint(prefix) == expected


def test_hash_tables_of_deeprec_are_listed_merged_with_and_without_a_reader() -> None:
    fs = MemoryFileSystem()
    with BundleWriter("d/x", fs=fs) as writer:
        writer.add_hash_slice("table", HashSlice(0, 50, 100), np.ones((2, 4), np.float32))
        writer.add_hash_slice("table", HashSlice(50, 50, 100), np.ones((3, 4), np.float32))
        writer.add("step", np.int64(1))
    listed = inspect.list_checkpoint("d/x", fs=fs)
    assert listed == inspect.list_with_reader("d/x", fs=fs)
    assert [(tensor.name, tensor.shape, tensor.nbytes, tensor.slices) for tensor in listed.tensors] == [
        ("step", (), 8, 0),
        ("table", (5, 4), 80, 2),
    ]


def test_a_listing_has_files_sizes_and_totals() -> None:
    fs = MemoryFileSystem()
    fs.make_directory("run")
    tensors = {"a": np.zeros((2, 3), np.float32), "b": np.array([b"xyz", b""], object), "c": np.int64(7)}
    save_checkpoint("run/model", tensors, SaveOptions(sharding=ShardByName(lambda name: int(name != "a"))), fs=fs)
    found = inspect.list_checkpoint("run/model", fs=fs)
    assert [(item.name, item.dtype.name, item.shape, item.shards) for item in found.tensors] == [
        ("a", "float32", (2, 3), (0,)),
        ("b", "string", (2,), (1,)),
        ("c", "int64", (), (1,)),
    ]
    assert (found.elements, found.types) == (9, {"float32": 1, "int64": 1, "string": 1})
    assert found.nbytes == 24 + found.tensors[1].nbytes + 8
    assert list(found.files) == ["run/model.index", "run/model.data-00000-of-00002", "run/model.data-00001-of-00002"]
    assert sum(list(found.files.values())[1:]) == found.nbytes


def test_a_file_that_is_missing_has_no_size() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("model", {"a": np.zeros(2)}, fs=fs)
    fs.delete("model.data-00000-of-00001")
    assert inspect.list_checkpoint("model", fs=fs).files["model.data-00000-of-00001"] is None


@pytest.mark.parametrize("case", sorted(ROOT.glob("g35_corrupt_v2/*.index")), ids=lambda path: path.name)
def test_of_a_damaged_index_the_reader_has_the_say(case: os.PathLike[str]) -> None:
    prefix = os.fspath(case).removesuffix(".index")
    try:
        expected: object = inspect.list_with_reader(prefix)
    except TensorKeepError as error:
        expected = str(error)
    try:
        found: object = inspect.list_checkpoint(prefix)
    except TensorKeepError as error:
        found = str(error)
    assert found == expected


def test_nothing_is_an_error_that_says_what_was_looked_for() -> None:
    with pytest.raises(MissingFileError, match=r'"nothing" holds no checkpoint: neither "nothing\.index" \(V2\)'):
        inspect.list_checkpoint("nothing", fs=MemoryFileSystem())


def test_names_of_the_package_are_imported_when_asked_for() -> None:
    script = (
        "import sys\nfrom tensorkeep import inspect\n"
        "assert not [name for name in sys.modules if name.startswith('tensorkeep.inspect.')]\n"
        "assert inspect.list_checkpoint and 'numpy' not in sys.modules\n"
        "assert set(inspect.__all__) <= set(dir(inspect)) and all(hasattr(inspect, name) for name in inspect.__all__)\n"
        "try: inspect.nothing\nexcept AttributeError: sys.exit(0)\nsys.exit(1)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
