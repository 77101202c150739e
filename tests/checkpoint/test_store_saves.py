"""Saves to object stores are whole or absent: whoever dies, whatever is lost on the way, and whoever else saves."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.objects import remove_leftovers_of
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tests.support.depth import thinned
from tests.support.fault_proxy import Fault, FaultProxy, at_random, fault_proxy
from tests.support.stores import memory_bucket, s3_bucket, s3_client, s3_endpoint

OTHERS = (Fault.TWICE, Fault.CUT_BEFORE, Fault.ERROR, Fault.SLOW_DOWN, Fault.LATE)
SIZES = (3, 3 << 20)  # elements: one request, and several parts


def contents(number: int, size: int = 3) -> dict[str, Array]:
    return {"a": np.full(size, number, np.float32), "b": np.array([number])}


def which(prefix: str, size: int = 3) -> int | None:
    """The number of the save that is there, whole; None if there is none. Anything else is an error."""
    try:
        found = tk.load_tensors(prefix)
    except tk.NotFoundError:
        return None
    [number] = found["b"].tolist()
    np.testing.assert_array_equal(found["a"], np.full(size, number, np.float32))
    assert sorted(found) == ["a", "b"]
    return int(number)


def data_files(prefix: str) -> list[str]:
    folder, _, base = prefix.rpartition("/")
    return [name for name in FILES.list(folder) if name.startswith(f"{base}.data")]


def sharded() -> tk.SaveOptions:
    return tk.SaveOptions(sharding=tk.ShardByName(lambda name: int(name == "b")))


@pytest.mark.parametrize("options", [tk.SaveOptions(), sharded()], ids=["one file", "two files"])
def test_a_save_again_and_again_leaves_one_checkpoint_and_no_more_data_than_its_own(options: tk.SaveOptions) -> None:
    prefix = f"{memory_bucket()}/run/m"
    for number in range(5):
        tk.save_checkpoint(prefix, contents(number), options)
        assert which(prefix) == number
        assert len(data_files(prefix)) == (1 if options == tk.SaveOptions() else 2)


def test_a_first_save_has_the_files_that_one_on_the_disk_has(tmp_path: os.PathLike[str]) -> None:
    url, plain = f"{memory_bucket()}/m", f"{os.fspath(tmp_path)}/m"
    for prefix in (url, plain):
        tk.save_checkpoint(prefix, contents(1), sharded())
    for ending in (".index", ".data-00000-of-00002", ".data-00001-of-00002"):
        with open(f"{plain}{ending}", "rb") as file:
            stored = FILES.open(f"{url}{ending}")
            assert bytes(stored.read(0, stored.size)) == file.read()


@pytest.mark.parametrize("options", [tk.SaveOptions(), sharded()], ids=["one file", "two files"])
@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_save_that_dies_anywhere_leaves_the_old_checkpoint_or_the_new(before: int, options: tk.SaveOptions) -> None:
    changes = 0
    seen: set[int | None] = set()
    while True:
        prefix = f"{memory_bucket()}/run/m"
        for number in range(before):
            tk.save_checkpoint(prefix, contents(number), options)
        old = before - 1 if before else None
        crashing = CrashingFileSystem(FILES, changes)
        try:
            tk.save_checkpoint(prefix, contents(7), options, fs=crashing)
        except SimulatedCrash:
            assert which(prefix) in (old, 7)
            seen.add(which(prefix))
            tk.save_checkpoint(prefix, contents(8), options)  # what was left behind is in nobody's way
            assert which(prefix) == 8
            changes += 1
            continue
        break
    assert which(prefix) == 7
    assert changes > 2
    assert seen == ({old, 7} if before else {old})  # a first save changes nothing after its index


def test_what_dead_writers_left_is_removed_when_it_is_old() -> None:
    prefix = f"{memory_bucket()}/run/m"
    for changes in range(1, 4):
        with pytest.raises(SimulatedCrash):
            tk.save_checkpoint(prefix, contents(1), fs=CrashingFileSystem(FILES, changes))
    left = data_files(prefix)
    assert left
    tk.save_checkpoint(prefix, contents(2))
    puts = FILES.puts(prefix)
    assert puts is not None
    with tk.open_checkpoint(prefix) as reader:
        total = reader.shard_count  # type: ignore[attr-defined]
    assert remove_leftovers_of(FILES, puts, prefix, total) == []  # their writers may be alive
    removed = remove_leftovers_of(FILES, puts, prefix, total, age=0)
    assert sorted(path.rpartition("/")[2] for path in removed) == sorted(left)
    assert which(prefix) == 2
    assert len(data_files(prefix)) == 1


def test_a_writer_whose_place_was_taken_for_abandoned_gives_up() -> None:
    prefix = f"{memory_bucket()}/run/m"
    writer = tk.BundleWriter(prefix)
    writer.add("a", np.zeros(3))
    [mark] = data_files(prefix)
    FILES.delete(f"{prefix.rpartition('/')[0]}/{mark}")
    with pytest.raises(tk.AbortedError, match="save it again"):
        writer.commit()
    assert which(prefix) is None


def test_an_error_while_saving_leaves_nothing() -> None:
    prefix = f"{memory_bucket()}/run/m"
    writer = tk.BundleWriter(prefix)
    writer.add("a", np.zeros(5 << 20, np.float32))
    writer.abort()
    assert not FILES.exists(prefix.rpartition("/")[0]) or data_files(prefix) == []


@pytest.mark.parametrize("place", ["memory", "s3"])
def test_writers_of_one_name_do_not_mix(place: str) -> None:
    with s3_bucket() as bucket:
        prefix = f"{bucket if place == 's3' else memory_bucket()}/run/m"
        start = threading.Barrier(4)

        def save(writer: int) -> None:
            start.wait()
            for number in range(4):
                options = sharded() if writer % 2 else tk.SaveOptions()
                tk.save_checkpoint(prefix, contents(10 * writer + number), options)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(save, range(4)))
        assert which(prefix) in range(40)
        with tk.open_checkpoint(prefix) as reader:
            total = reader.shard_count  # type: ignore[attr-defined]
        assert {name.rpartition("-of-")[2] for name in data_files(prefix)} == {f"{total:05d}"}


def save_surely(prefix: str, number: int, size: int) -> None:
    """Saves, once more if it fails: an upload whose answers end in the middle does, and leaves what was there."""
    old = which(prefix, size)
    for _ in range(10):
        try:
            tk.save_checkpoint(prefix, contents(number, size))
        except tk.UnavailableError:
            assert which(prefix, size) in (old, number)
        else:
            return
    raise AssertionError("it never worked")


@pytest.fixture
def proxied() -> Iterator[tuple[str, FaultProxy]]:
    """A bucket behind a proxy."""
    with fault_proxy(s3_endpoint()) as proxy, s3_bucket(proxy.endpoint) as bucket:
        yield bucket, proxy


@pytest.mark.slow
@pytest.mark.parametrize("size", thinned(SIZES, 2))
@pytest.mark.parametrize("fault", [Fault.CUT_AFTER, Fault.CUT_BODY, *thinned(OTHERS, 5)[1:], OTHERS[0]])
def test_a_save_and_a_load_go_through_one_fault_at_each_request(
    proxied: tuple[str, FaultProxy], fault: Fault, size: int
) -> None:
    bucket, proxy = proxied
    prefix = f"{bucket}/run/m"
    tk.save_checkpoint(prefix, contents(0, size))
    tk.save_checkpoint(prefix, contents(1, size))
    proxy.requests.clear()
    tk.save_checkpoint(prefix, contents(0, size))
    assert which(prefix, size) == 0
    count = len(proxy.requests)
    for at in range(count):
        proxy.requests.clear()
        proxy.choose = lambda number, method, path, at=at: fault if number == at else Fault.NONE  # type: ignore[misc]
        save_surely(prefix, at + 2, size)
        assert which(prefix, size) == at + 2, f"request {at}: {proxy.requests[at]}"


@pytest.mark.parametrize("seed", thinned(range(12), 3))
def test_saves_and_loads_go_through_many_faults(proxied: tuple[str, FaultProxy], seed: int) -> None:
    bucket, proxy = proxied
    faults = tuple(fault for fault in Fault if fault is not Fault.NONE)
    proxy.choose = at_random(seed, 0.2, faults)
    for number in range(2):
        save_surely(f"{bucket}/m", number, SIZES[1])
        assert which(f"{bucket}/m", SIZES[1]) == number


Process: TypeAlias = "subprocess.Popen[bytes]"

_SAVE = """
import sys
import numpy as np
import tensorkeep as tk
bucket, endpoint, number, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
tk.storage(bucket, endpoint=endpoint, region="us-east-1", access_key_id="someone", secret_access_key="something")
tk.save_checkpoint(f"{bucket}/run/m", {"a": np.full(size, number, np.float32), "b": np.array([number])})
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", thinned(SIZES, 2))
def test_a_writer_killed_at_each_request_leaves_the_old_checkpoint_or_the_new(
    proxied: tuple[str, FaultProxy], size: int
) -> None:
    bucket, proxy = proxied
    prefix = f"{bucket}/run/m"
    tk.save_checkpoint(prefix, contents(0, size))
    proxy.requests.clear()
    tk.save_checkpoint(prefix, contents(1, size))
    seen: list[int | None] = []
    for at in range(len(proxy.requests)):
        old = which(prefix, size)
        proxy.requests.clear()
        arguments = [bucket, proxy.endpoint, str(at + 2), str(size)]
        process = subprocess.Popen([sys.executable, "-c", _SAVE, *arguments], env={**os.environ})

        def kill(number: int, method: str, path: str, at: int = at, process: Process = process) -> Fault:
            if number >= at:
                process.kill()
                process.wait()
                return Fault.CUT_AFTER if at % 2 else Fault.CUT_BEFORE
            return Fault.NONE

        proxy.choose = kill
        process.wait(60)
        proxy.choose = lambda number, method, path: Fault.NONE
        found = which(prefix, size)
        assert found in (old, at + 2)
        seen.append(found)
    tk.save_checkpoint(prefix, contents(99, size))
    assert which(prefix, size) == 99
    assert len(set(seen)) > 1


def test_an_upload_that_is_given_up_leaves_no_parts_in_the_store() -> None:
    with s3_bucket() as bucket:
        writer = tk.BundleWriter(f"{bucket}/m")
        writer.add("a", np.zeros(8 << 20, np.float32))
        writer.abort()
        name = bucket.removeprefix("s3://")
        assert not s3_client().list_multipart_uploads(Bucket=name).get("Uploads")
        assert not s3_client().list_objects_v2(Bucket=name).get("Contents")
