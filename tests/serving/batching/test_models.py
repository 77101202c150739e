"""Real models, with their requests joined."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import TensorKeepError
from tensorkeep.saved_model.files.layout import meta_graph_with_tags, read_saved_model
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.serving.batching.parameters import BatchSettings
from tensorkeep.serving.batching.queues import BatchingRunner
from tensorkeep.serving.batching.threads import BatchThreads
from tensorkeep.serving.servables import Ends, Runner, Servable
from tests.support.golden import golden


@pytest.fixture(scope="module")
def servable() -> Iterator[Servable]:
    path = str(golden("g26_tf1_simple_save") / "model")
    signatures = meta_graph_with_tags(read_saved_model(path), ("serve",)).signature_def
    made = Servable("m", 1, load_saved_model(path), signatures)
    yield made
    made.close()


def ends_of(servable: Servable) -> Ends:
    signature = servable.signature_defs["serving_default"]
    return Ends(
        tuple(sorted(info.name for info in signature.inputs.values())),
        tuple(sorted(info.name for info in signature.outputs.values())),
    )


SETTINGS = (
    BatchSettings(num_batch_threads=2),
    BatchSettings(num_batch_threads=1, max_batch_size=8, allowed_batch_sizes=(2, 8)),
    BatchSettings(
        max_batch_size=8, max_execution_batch_size=3, enable_large_batch_splitting=True, max_enqueued_batches=99
    ),
)


@pytest.mark.parametrize("settings", SETTINGS, ids=["plain", "allowed", "cut"])
@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_every_request_is_answered_as_if_it_were_alone(
    servable: Servable, settings: BatchSettings, sizes: list[int], seed: int
) -> None:
    ends = ends_of(servable)
    random = np.random.default_rng(seed)
    requests = [random.normal(size=(size, 6)).astype(np.float32) for size in sizes]

    async def ask() -> list[Any]:
        threads = BatchThreads(settings.num_batch_threads)
        runner: Runner = BatchingRunner(servable, settings, threads)
        try:
            return await asyncio.gather(*(runner.run(ends, [request], None) for request in requests))
        finally:
            threads.close()

    for request, found in zip(requests, asyncio.run(ask()), strict=True):
        for wanted, output in zip(servable.compute(ends, [request]), found, strict=True):
            np.testing.assert_allclose(output, wanted, rtol=1e-5)


def test_a_wrong_request_among_good_ones_fails_alone(servable: Servable) -> None:
    ends = ends_of(servable)

    async def ask() -> list[Any]:
        threads = BatchThreads(1)
        runner = BatchingRunner(servable, BatchSettings(), threads)
        arrays = [np.ones((1, 6), np.float32), np.ones((1, 5), np.float32)]
        try:
            return await asyncio.gather(*(runner.run(ends, [array], None) for array in arrays), return_exceptions=True)
        finally:
            threads.close()

    good, bad = asyncio.run(ask())
    assert all(len(output) == 1 for output in good)
    assert isinstance(bad, TensorKeepError)
