"""Jobs over checkpoints: what workers of a cluster find and write is what one process finds and writes."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep import cluster, edit, embedding, inspect
from tensorkeep.cluster.executors import Executor
from tensorkeep.cluster.jobs.journals import Journal
from tests.cluster.crafting import assert_same_tensors, save_mixed, save_tables


@pytest.fixture(params=["serial", pytest.param("ray", marks=pytest.mark.slow)])
def any_executor(request: pytest.FixtureRequest, small_parts: None) -> Executor:
    return cluster.SerialExecutor() if request.param == "serial" else request.getfixturevalue("executor")


def test_verify_reports_what_one_process_reports(any_executor: Executor, folder: str) -> None:
    path = save_mixed(f"{folder}/model")
    assert cluster.check_checkpoint(path, any_executor) == tk.check_checkpoint(path)


def test_verify_finds_the_same_damage_in_small_and_in_cut_tensors(any_executor: Executor, folder: str) -> None:
    path = save_mixed(f"{folder}/model")
    data = Path(f"{path}.data-00000-of-00001")
    with tk.open_checkpoint(path) as reader:
        places = {name: found[0] for name, found in reader.places(["big", "small/3", "words"])}
    broken = bytearray(data.read_bytes())
    for place in places.values():
        broken[place.offset + place.size - 1] ^= 1
    data.write_bytes(broken)
    found, expected = cluster.check_checkpoint(path, any_executor), tk.check_checkpoint(path)
    assert str(found) == str(expected)
    assert {problem.tensor for problem in found.problems} == set(places)
    assert [problem.error.__class__ for problem in found.problems] == [tk.DataLossError] * 3


def test_verify_finds_a_file_that_was_cut_short(any_executor: Executor, folder: str) -> None:
    path = save_mixed(f"{folder}/model")
    data = Path(f"{path}.data-00000-of-00001")
    data.write_bytes(data.read_bytes()[: 1 << 20])
    assert str(cluster.check_checkpoint(path, any_executor)) == str(tk.check_checkpoint(path))


def test_statistics_health_and_differences_are_the_same_to_the_last_bit(any_executor: Executor, folder: str) -> None:
    first, second = save_mixed(f"{folder}/first", 1), save_mixed(f"{folder}/second", 2)
    with tk.open_checkpoint(first) as one, tk.open_checkpoint(second) as other:
        assert cluster.checkpoint_statistics(first, any_executor, bins=7) == list(
            inspect.checkpoint_statistics(one, bins=7)
        )
        assert cluster.compare(first, second, any_executor, tolerance=0.1) == inspect.compare(one, other, tolerance=0.1)
    assert cluster.examine(first, any_executor) == inspect.examine(first)


def test_statistics_of_a_damaged_tensor_that_is_cut_are_refused(any_executor: Executor, folder: str) -> None:
    path = save_mixed(f"{folder}/model")
    data = Path(f"{path}.data-00000-of-00001")
    with tk.open_checkpoint(path) as reader:
        [(_, [place])] = reader.places(["big"])
    broken = bytearray(data.read_bytes())
    broken[place.offset] ^= 1
    data.write_bytes(broken)
    with pytest.raises(tk.DataLossError, match="big"):
        cluster.checkpoint_statistics(path, any_executor)


def test_edits_have_the_tensors_that_one_process_writes(any_executor: Executor, folder: str) -> None:
    first, second = save_mixed(f"{folder}/first", 1), save_mixed(f"{folder}/second", 2)
    options = edit.EditOptions()
    cast = cluster.cast(first, f"{folder}/cast", "bfloat16", None, options, any_executor)
    expected = edit.cast(first, f"{folder}/cast-1", "bfloat16")
    assert cast.losses == expected.losses
    assert cast.written_bytes == expected.written_bytes + expected.linked_bytes
    cluster.average([first, second], f"{folder}/mean", options, any_executor, weights=[1, 3])
    edit.average([first, second], f"{folder}/mean-1", weights=[1, 3])
    for name in ("cast", "mean"):
        assert_same_tensors(f"{folder}/{name}", f"{folder}/{name}-1")


def test_a_cast_that_would_lose_numbers_is_refused_and_writes_nothing(any_executor: Executor, folder: str) -> None:
    path = tk.save_checkpoint(f"{folder}/model", {"a": np.array([1e-30, 1.0], np.float32)})
    for cast in (edit.cast, lambda *given: cluster.cast(*given, executor=any_executor)):
        with pytest.raises(tk.InvalidArgumentError, match="to zero"):
            cast(path, f"{folder}/half", "float16")
    assert not any(name.startswith("half") for name in tk.LocalFileSystem().list(folder))


def test_a_split_has_the_same_files_byte_for_byte(any_executor: Executor, folder: str) -> None:
    path = save_mixed(f"{folder}/model")
    cluster.split(path, f"{folder}/a/model", 2000, edit.EditOptions(), any_executor)
    edit.split(path, f"{folder}/b/model", 2000)
    assert _files(f"{folder}/a") == _files(f"{folder}/b")


def test_safetensors_in_several_files_are_the_same_byte_for_byte(any_executor: Executor, folder: str) -> None:
    path = save_mixed(f"{folder}/model")
    options = tk.convert.ConvertOptions(shard_bytes=2000, only=edit.Selection(["small/*", "big"]))
    done = cluster.convert(path, f"{folder}/a/model.safetensors", (), options, any_executor)
    expected = tk.convert.convert(path, f"{folder}/b/model.safetensors", (), options)
    assert _files(f"{folder}/a") == _files(f"{folder}/b")
    assert [posixpath.basename(file) for file in done.files] == [posixpath.basename(file) for file in expected.files]
    cluster.convert(expected.files[-1], f"{folder}/back", (), tk.convert.ConvertOptions(), any_executor)
    tk.convert.convert(expected.files[-1], f"{folder}/back-1")
    assert_same_tensors(f"{folder}/back", f"{folder}/back-1")


def test_formats_of_one_file_are_left_to_one_process(folder: str) -> None:
    path = save_mixed(f"{folder}/model")
    with pytest.raises(tk.UnimplementedError, match="one process"):
        cluster.convert(path, f"{folder}/model.npz", (), tk.convert.ConvertOptions(only=edit.Selection(["big"])))


RULES = [
    embedding.KeepFrequent(4),
    embedding.KeepUpdatedSince(50),
    embedding.KeepByNorm(1.5),
    embedding.KeepTop(700, "frequency"),  # with ties
    embedding.KeepTop(700, "norm"),
    embedding.KeepTop(10_000, "norm"),
]


def test_tables_are_repartitioned_and_pruned_as_one_process_does(any_executor: Executor, folder: str) -> None:
    path = save_tables(f"{folder}/model")
    cluster.repartition_checkpoint(path, f"{folder}/five", 5, any_executor)
    embedding.repartition_checkpoint(path, f"{folder}/five-1", 5)
    assert_same_tensors(f"{folder}/five", f"{folder}/five-1")
    for number, rule in enumerate(RULES):
        found = cluster.prune_checkpoint(path, f"{folder}/p{number}", rule, any_executor)
        assert found == embedding.prune_checkpoint(path, f"{folder}/p{number}-1", rule)
        assert_same_tensors(f"{folder}/p{number}", f"{folder}/p{number}-1")


def test_pruning_that_leaves_nothing_is_refused_and_writes_nothing(any_executor: Executor, folder: str) -> None:
    path = save_tables(f"{folder}/model")
    for prune in (embedding.prune_checkpoint, lambda *given: cluster.prune_checkpoint(*given, any_executor)):
        with pytest.raises(tk.InvalidArgumentError, match="would lose all of its 3000 keys"):
            prune(path, f"{folder}/none", embedding.KeepFrequent(100))
    assert not any(name.startswith("none") for name in tk.LocalFileSystem().list(folder))


def test_deltas_are_compacted_as_one_process_does(any_executor: Executor, folder: str) -> None:
    table = cluster.ShardedEmbeddingTable(4, name="user", partitions=3, home=f"{folder}/home", in_process=True)
    keys = np.arange(2000)
    table.assign(keys, np.ones((2000, 4), np.float32))
    full = table.save(f"{folder}/model-1", {"dense": np.arange(3.0)}, step=1)
    table.assign(keys[500:900], np.full((400, 4), 2, np.float32))
    table.remove(keys[:100])
    delta = table.save_delta(f"{folder}/.incremental_checkpoint/incremental_model.ckpt-2", step=2)
    cluster.compact_checkpoint(full, f"{folder}/whole", delta, any_executor)
    embedding.compact_checkpoint(full, f"{folder}/whole-1", delta)
    assert_same_tensors(f"{folder}/whole", f"{folder}/whole-1")


def test_parquet_files_are_the_same_byte_for_byte(any_executor: Executor, folder: str) -> None:
    path = save_tables(f"{folder}/model")
    cluster.export_parquet(path, f"{folder}/a/user.parquet", "user", executor=any_executor, parts=3)
    embedding.export_parquet(path, f"{folder}/b/user.parquet", "user", parts=3)
    assert _files(f"{folder}/a") == _files(f"{folder}/b")


# ---------------------------------------------------------------------------------------------------- What goes wrong


class _Dying(cluster.SerialExecutor):
    """A driver that dies after so many parts."""

    def __init__(self, parts: int) -> None:
        self.left = parts
        self.done = 0

    def run(self, work: Any, parts: Any) -> Any:
        for found in super().run(work, parts):
            if work.__name__ == "write_part":
                self.done += 1
                if self.done > self.left:
                    raise KeyboardInterrupt
            yield found


def test_a_driver_that_dies_leaves_no_half_result_and_the_next_run_goes_on(small_parts: None, folder: str) -> None:
    random = np.random.default_rng(3)
    tensors = {f"t{at}": random.random((1 << 18) + at, np.float32) for at in range(6)}
    path = tk.save_checkpoint(f"{folder}/model", tensors)
    options = edit.EditOptions()
    for parts in range(2):
        with pytest.raises(KeyboardInterrupt):
            cluster.split(path, f"{folder}/out/model", 500, options, _Dying(parts))
        assert not tk.LocalFileSystem().exists(f"{folder}/out/model.index")
    last = _Dying(1 << 30)
    cluster.split(path, f"{folder}/out/model", 500, options, last)
    whole = _Dying(1 << 30)
    cluster.split(path, f"{folder}/again/model", 500, options, whole)
    assert (last.done, whole.done) == (3, 6)  # what was done before was not done again
    edit.split(path, f"{folder}/expected/model", 500)
    assert _files(f"{folder}/out") == _files(f"{folder}/again") == _files(f"{folder}/expected")


def test_a_finished_part_that_was_changed_meanwhile_is_done_again(small_parts: None, folder: str) -> None:
    path = save_mixed(f"{folder}/model")
    with pytest.raises(KeyboardInterrupt):
        cluster.split(path, f"{folder}/out/model", 500, edit.EditOptions(), _Dying(1))
    place = Journal(f"{folder}/out/model", tk.LocalFileSystem()).place(0)
    damaged = Path(f"{place}.index")
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    cluster.split(path, f"{folder}/out/model", 500)
    edit.split(path, f"{folder}/expected/model", 500)
    assert _files(f"{folder}/out") == _files(f"{folder}/expected")


def test_parts_of_another_source_are_not_taken(small_parts: None, folder: str) -> None:
    path = save_mixed(f"{folder}/model", 1)
    with pytest.raises(KeyboardInterrupt):
        cluster.cast(path, f"{folder}/out/model", "bfloat16", None, edit.EditOptions(), _Dying(1))
    save_mixed(path, 2)
    cluster.cast(path, f"{folder}/out/model", "bfloat16")
    edit.cast(path, f"{folder}/expected/model", "bfloat16")
    assert_same_tensors(f"{folder}/out/model", f"{folder}/expected/model")


def _die_once(part: tuple[str, int]) -> int:
    """Ends its process the first time it is asked to do a part."""
    import os

    marker, number = part
    if number == 1 and not os.path.exists(marker):
        with open(marker, "w"):
            os._exit(1)
    return number * 10


def test_a_worker_that_dies_is_replaced(executor: cluster.RayExecutor, folder: str) -> None:
    found = dict(executor.run(_die_once, [(f"{folder}/died", number) for number in range(4)]))
    assert found == {0: 0, 1: 10, 2: 20, 3: 30}
    assert Path(f"{folder}/died").exists()


def _take(size: int) -> int:
    return int(np.ones(size, np.uint8).sum())


def test_memory_of_a_worker_is_bounded(ray_cluster: Any) -> None:
    executor = cluster.RayExecutor(workers=1, memory=128 << 20)
    assert dict(executor.run(_take, [1 << 20])) == {0: 1 << 20}
    with pytest.raises(tk.ResourceExhaustedError, match="more memory"):
        dict(executor.run(_take, [512 << 20]))
    with pytest.raises(tk.InvalidArgumentError, match="at least"):
        cluster.RayExecutor(memory=1)


def test_files_in_the_memory_of_this_process_are_refused(executor: cluster.RayExecutor) -> None:
    with pytest.raises(tk.UnimplementedError, match="memory of this process"):
        cluster.check_checkpoint("model", executor, fs=tk.MemoryFileSystem())


def test_an_error_of_a_worker_is_raised_as_itself(executor: cluster.RayExecutor, folder: str) -> None:
    with pytest.raises(tk.NotFoundError, match="missing"):
        cluster.check_checkpoint(f"{folder}/missing", executor)


def _files(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}
