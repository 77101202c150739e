"""Where queues, barriers and stages are shown: they keep what one run leaves for another."""

from __future__ import annotations

from typing import Any

SAMPLES: dict[str, list[Any]] = {}

_KINDS = ("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue")
_OPS = ("Enqueue", "EnqueueMany", "Dequeue", "DequeueMany", "DequeueUpTo", "Close", "IsClosed", "Size")

ELSEWHERE = {
    f"{name}{version}": "tests/ops/data/test_queues.py::test_what_is_put_in_comes_out"
    for name in (*_KINDS, *(f"Queue{op}" for op in _OPS))
    for version in ("", "V2")
}
ELSEWHERE |= {
    f"Barrier{op}": "tests/ops/data/test_barriers.py::test_an_element_is_taken_when_its_components_are_there"
    for op in ("", "InsertMany", "TakeMany", "Close", "ReadySize", "IncompleteSize")
}
ELSEWHERE |= dict.fromkeys(
    ["MutexV2", "MutexLock", "ConsumeMutexLock"],
    "tests/interop/test_critical_sections.py::test_runs_of_several_threads_take_turns",
)
ELSEWHERE |= dict.fromkeys(
    ("Stage", "Unstage", "StagePeek", "StageSize", "StageClear"),
    "tests/ops/data/test_stages.py::test_what_one_run_puts_in_a_later_one_takes",
)
ELSEWHERE |= {
    f"{kind}{op}": "tests/ops/data/test_stages.py::test_an_element_is_there_when_all_its_components_are"
    for kind in ("Map", "OrderedMap")
    for op in ("Stage", "Unstage", "UnstageNoKey", "Peek", "Size", "IncompleteSize", "Clear")
}
ELSEWHERE |= {
    f"{kind}Accumulator{op}": "tests/ops/data/test_accumulators.py::test_gradients_are_added_up_and_taken"
    for kind in ("", "Resource")
    for op in ("ApplyGradient", "NumAccumulated", "SetGlobalStep", "TakeGradient")
}
ELSEWHERE |= dict.fromkeys(
    ("ConditionalAccumulator", "ResourceConditionalAccumulator"),
    "tests/ops/data/test_accumulators.py::test_gradients_are_added_up_and_taken",
)
ELSEWHERE |= dict.fromkeys(
    ("SparseConditionalAccumulator", "SparseAccumulatorApplyGradient", "SparseAccumulatorTakeGradient"),
    "tests/ops/data/test_accumulators.py::test_rows_are_added_up_by_index",
)
