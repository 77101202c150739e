"""Where queues are shown: they keep what one run leaves for another."""

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
