"""Matrix products: equal to NumPy's however they are computed, and on one thread where several do not pay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.ops import _products
from tensorkeep.ops._products import multiply


@pytest.mark.parametrize(
    ("rows", "depth", "columns"),
    [(3, 4, 5), (64, 700, 20), (65, 700, 20), (64, 1024, 16), (96, 128, 170), (40, 300, 300)],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_a_product_is_numpys(rows: int, depth: int, columns: int, dtype: Any) -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=(rows, depth)).astype(dtype), generator.normal(size=(columns, depth)).astype(dtype)
    for left, right in ((a, b.T), (np.asfortranarray(a), np.ascontiguousarray(b.T)), (a[::-1], b.T)):
        found = multiply(left, right)
        assert (found.shape, found.dtype) == ((rows, columns), dtype)
        np.testing.assert_allclose(found, left @ right, rtol=1e-3, atol=1e-3)


def test_a_product_of_batches_is_numpys() -> None:
    a, b = np.ones((2, 1, 90, 90)), np.ones((3, 90, 90))
    np.testing.assert_array_equal(multiply(a, b), a @ b)


class FakeLibrary:
    """Threads that count how often they are told to be one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, present: bool = True) -> None:
        self.count = 4
        self.seen: list[int] = []
        functions = (lambda: self.count, self.put) if present else None
        monkeypatch.setattr(_products, "_thread_functions", lambda: functions)
        self.clock = 100.0
        self.durations: list[float] = []
        monkeypatch.setattr(_products, "perf_counter", self.tick)
        self.threads = _products._Threads()

    def put(self, count: int) -> None:
        self.count = count
        self.seen.append(count)

    def tick(self) -> float:
        self.clock += self.durations.pop(0) if self.durations else 0.0
        return self.clock

    def multiply(self, seconds: float) -> None:
        """A product that takes so long; nothing is asked between its start and its end."""
        self.durations = [0.0, seconds]
        self.threads.watched(np.ones((2, 2)), np.ones((2, 2)), 4 << 20)


def test_products_that_wait_are_followed_by_products_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary(monkeypatch)
    library.multiply(1e-4)
    assert library.seen == []
    library.multiply(0.02)
    library.multiply(1e-4)
    assert library.seen == [1, 4]
    library.clock += 1.0
    library.multiply(1e-4)
    assert library.seen == [1, 4]


def test_repeated_waiting_lengthens_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary(monkeypatch)
    for _ in range(3):
        library.multiply(0.02)
        library.clock = library.threads._resume
    library.multiply(0.02)
    assert library.threads._resume - library.clock == pytest.approx(0.8)


def test_a_library_that_cannot_be_told_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary(monkeypatch, present=False)
    for _ in range(3):
        library.multiply(0.02)
    assert library.seen == []


def test_the_number_of_threads_is_put_back_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary(monkeypatch)
    with pytest.raises(ValueError, match="mismatch"):
        library.threads.alone(np.ones((2, 3)), np.ones((2, 3)))
    assert library.seen == [1, 4]
