"""Matrix products: equal to NumPy's however they are computed, and on one thread where several do not pay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.io.machine.blas import BlasThreads, ThreadFunctions
from tensorkeep.ops.linear_algebra import products
from tensorkeep.ops.linear_algebra.products import multiply


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


@pytest.mark.parametrize("columns", [1, 2, 7, 16, 33, 64, 65, 300])
@pytest.mark.parametrize(("depth", "rows"), [(700, 520), (1024, 1100), (41, 4100)])
def test_a_left_matrix_that_lies_column_by_column_gives_numpys_product(depth: int, rows: int, columns: int) -> None:
    generator = np.random.default_rng(0)
    left = generator.normal(size=(depth, rows)).astype(np.float32)
    right = generator.normal(size=(depth, columns)).astype(np.float32)
    found = multiply(left.T, right)
    np.testing.assert_allclose(found, left.T @ right, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(multiply(left.T[None], right[None])[0], found)  # a batch of one is that matrix
    np.testing.assert_allclose(multiply(left.T, np.asfortranarray(right)), found, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("batches", [((1,), (1,)), ((3,), (1,)), ((2, 3), (1, 1)), ((1,), (1, 1)), ((), (1,))], ids=str)
def test_a_batch_of_one_matrix_gives_the_shape_of_numpys_product(batches: Any) -> None:
    generator = np.random.default_rng(0)
    first, second = batches
    left = generator.normal(size=(*first, 200, 160)).astype(np.float32)
    right = generator.normal(size=(*second, 160, 90)).astype(np.float32)
    found = multiply(left, right)
    expected = left @ right
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


class FakeLibrary:
    """A library of four threads that notes how many each product is computed by; and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, present: bool = True) -> None:
        self.count = 4
        self.used: list[int] = []
        self.clock = 100.0
        self.duration = 0.0
        monkeypatch.setattr(products, "perf_counter", lambda: self.clock)
        monkeypatch.setattr(products.np, "matmul", self.matmul)
        functions = ThreadFunctions(lambda: self.count, self.put) if present else None
        self.products = products.Products(BlasThreads(functions, limit=lambda: 3))

    def put(self, count: int) -> None:
        self.count = count

    def matmul(self, left: Any, right: Any, out: Any = None) -> None:
        self.used.append(self.count)
        self.clock += self.duration

    def multiply(self, work: int, seconds: float = 1e-4) -> None:
        self.duration = seconds
        self.products.product(np.ones((2, 2)), np.ones((2, 2)), work)


def test_only_large_products_are_computed_on_all_threads_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary(monkeypatch)
    for work in (1 << 14, 1 << 20, 1 << 22, 1 << 28):
        library.multiply(work)
        assert library.count == 4
    assert library.used == [1, 1, 3, 3]


def test_products_that_wait_are_followed_by_products_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary(monkeypatch)
    library.multiply(1 << 22)
    library.multiply(1 << 22, seconds=0.02)
    library.multiply(1 << 22)
    library.clock += 1.0
    library.multiply(1 << 22)
    assert library.used == [3, 3, 1, 3]


def test_repeated_waiting_lengthens_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary(monkeypatch)
    for _ in range(3):
        library.multiply(1 << 22, seconds=0.02)
        library.clock += 2.0
    library.multiply(1 << 22, seconds=0.02)
    library.clock += 0.75
    library.multiply(1 << 22)
    library.clock += 0.75
    library.multiply(1 << 22)
    assert library.used == [3, 3, 3, 3, 1, 3]


def test_a_library_that_cannot_be_told_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary(monkeypatch, present=False)
    for _ in range(3):
        library.multiply(1 << 22, seconds=0.02)
    assert library.used == [4, 4, 4]
