"""What runs requests, as the options and the files in version folders say it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from tensorkeep.arrays import Array
from tensorkeep.io.machine.parallel import thread_limit
from tensorkeep.proto.serving import BatchingParameters
from tensorkeep.serving.batching.queues import BatchingRunner
from tensorkeep.serving.inference.running import ThreadRunner
from tensorkeep.serving.process.loading import BatchRunners
from tensorkeep.serving.process.options import BatchOptions, ServerOptions
from tensorkeep.serving.process.original_flags import options_of, parse_flags
from tensorkeep.serving.servables import Ends, Servable
from tests.support.serving import golden_servable, run


@pytest.fixture(scope="module")
def servable() -> Iterator[Servable]:
    made = golden_servable("g26_tf1_simple_save")
    yield made
    made.close()


def runners(**told: Any) -> BatchRunners:
    return BatchRunners(ServerOptions(batching=BatchOptions(is_on=True, **told)))


def test_a_version_may_have_settings_of_its_own(tmp_path: Path, servable: Servable) -> None:
    made = runners(by_model=True)
    for most in (1000, 7):
        runner = made.of(servable, str(tmp_path))
        assert isinstance(runner, BatchingRunner)
        assert runner.settings.max_batch_size == most
        (tmp_path / "batching_params.pbtxt").write_text("max_batch_size { value: 7 }")
    assert made.close()


def test_for_the_original_a_version_without_settings_of_its_own_is_not_batched(
    tmp_path: Path, servable: Servable
) -> None:
    flags = ("--model_base_path=/m", "--enable_batching", "--enable_per_model_batching_parameters")
    made = BatchRunners(options_of(parse_flags(flags)))
    assert isinstance(made.of(servable, str(tmp_path)), ThreadRunner)
    (tmp_path / "batching_params.pbtxt").write_text("max_batch_size { value: 7 }")
    runner = made.of(servable, str(tmp_path))
    assert isinstance(runner, BatchingRunner)
    assert runner.settings.max_batch_size == 7
    assert made.close()


def test_where_all_have_the_same_settings_files_in_version_folders_are_left_alone(
    tmp_path: Path, servable: Servable
) -> None:
    made = runners()
    (tmp_path / "batching_params.pbtxt").write_text("max_batch_size { value: 7 }")
    runner = made.of(servable, str(tmp_path))
    assert isinstance(runner, BatchingRunner)
    assert runner.settings.max_batch_size == 1000
    assert made.close()


def test_another_number_of_threads_is_told_to_need_another_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "batching.config"
    file.write_text("num_batch_threads { value: 2 }")
    made = runners(parameters_file=str(file))
    made.reread()
    assert not caplog.text
    file.write_text("num_batch_threads { value: 3 }")
    made.reread()
    assert "num_batch_threads is 2 until the server is started again" in caplog.text
    assert made.close()


class NotingThreads:
    """A version that notes how many threads it may compute with."""

    name, version = "m", 1

    def __init__(self) -> None:
        self.threads: list[int] = []

    def compute(self, ends: Ends, arrays: Sequence[Array]) -> list[Array]:
        self.threads.append(thread_limit())
        return list(arrays)


@pytest.mark.parametrize(("count", "told", "each"), [(2, 0, 4), (8, 0, 1), (16, 0, 1), (2, 3, 3)])
def test_runs_that_go_on_at_once_share_the_processors_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, told: int, each: int
) -> None:
    monkeypatch.setenv("TENSORKEEP_THREADS", "8")
    message = BatchingParameters(num_batch_threads={"value": count}).SerializeToString()
    made = BatchRunners(ServerOptions(batching=BatchOptions(is_on=True, message=message), threads=told))
    version = NotingThreads()
    runner = made.of(cast("Servable", version), str(tmp_path))
    run(runner.run(Ends(("x:0",), ("y:0",)), [np.ones((1, 2))], None))  # type: ignore[arg-type]  # it is a coroutine
    assert version.threads == [each]
    assert made.close()
