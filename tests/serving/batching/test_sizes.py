"""How many rows a run had best have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from tensorkeep.serving.batching.parameters import BatchSettings
from tensorkeep.serving.batching.queues import BatchingRunner
from tensorkeep.serving.batching.sizes import RunSizes
from tests.serving.batching.fakes import ENDS, FunctionModel, Stage, settled


def learnt(seconds: Callable[[int], float], waiting: int, runs: int = 40) -> tuple[RunSizes, list[int]]:
    """What is known after so many runs that took so long, while so many rows were waiting; and their sizes."""
    sizes = RunSizes()
    taken = []
    for _ in range(runs):
        rows = sizes.rows_for(waiting)
        assert 1 <= rows <= waiting
        taken.append(rows)
        sizes.ran(rows, seconds(rows))
    return sizes, taken


def test_where_rows_cost_nothing_all_are_taken_soon() -> None:
    sizes, taken = learnt(lambda rows: 1.0, waiting=32)
    assert sizes.best == 32
    assert taken[:4] == [4, 8, 16, 32]
    assert taken[-1] == 32


def test_where_large_runs_are_slow_they_are_left_soon() -> None:
    cost = {1: 55.0, 2: 28.0, 4: 22.0, 8: 26.0, 16: 41.0, 32: 56.0}
    sizes, taken = learnt(lambda rows: cost[rows] * rows, waiting=32)
    assert sizes.best == 4
    assert taken[:5] == [4, 8, 2, 4, 4]
    assert max(taken) == 8


def test_where_single_rows_are_best_they_are_taken() -> None:
    sizes, taken = learnt(lambda rows: float(rows * rows), waiting=32)
    assert sizes.best == 1
    assert taken[-1] == 1


def test_a_machine_that_changes_is_noticed() -> None:
    sizes, _ = learnt(lambda rows: float(rows * rows), waiting=32)
    for _ in range(2000):
        rows = sizes.rows_for(32)
        sizes.ran(rows, 1.0)
    assert sizes.best == 32


@pytest.mark.parametrize("waiting", [1, 2, 3, 5])
def test_no_more_than_there_is_is_taken(waiting: int) -> None:
    learnt(lambda rows: 1.0, waiting)


def test_runs_without_rows_teach_nothing() -> None:
    sizes = RunSizes()
    sizes.ran(0, 1.0)
    assert sizes.best == 0


def test_a_batch_is_taken_in_pieces_and_everyone_is_answered() -> None:
    async def test() -> None:
        stage = Stage(learns_sizes=True)
        asked = [stage.ask(np.full((1, 1), value)) for value in range(10)]
        await settled()
        await stage.pool.do_all()
        assert stage.model.calls[0] == (4, 1)
        assert sum(rows for rows, _ in stage.model.calls) == 10
        assert [(await task)[0].item() for task in asked] == [value * 2 for value in range(10)]

    asyncio.run(asyncio.wait_for(test(), 10))


def test_sizes_that_were_set_are_not_second_guessed() -> None:
    stage = Stage()
    settings = BatchSettings(max_batch_size=8, allowed_batch_sizes=(8,))
    assert BatchingRunner(FunctionModel(), settings, stage.threads).sizes_of(ENDS) is None
    assert BatchingRunner(FunctionModel(), BatchSettings(), stage.threads).sizes_of(ENDS) is not None
