"""How many threads the library of products under NumPy uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep.io.machine import blas
from tensorkeep.io.machine.blas import BlasThreads, ThreadFunctions, all_threads, inner_product, one_thread


class Library:
    """A library with threads of its own, of which a program may use no more than six."""

    def __init__(self, count: int = 8) -> None:
        self.count = count
        self.threads = BlasThreads(ThreadFunctions(lambda: self.count, self.put), limit=lambda: 6)
        self.one, self.all = one_thread(self.threads), all_threads(self.threads)

    def put(self, count: int) -> None:
        self.count = count


def test_the_number_of_threads_is_put_back() -> None:
    library = Library()
    with library.one:
        assert library.count == 1
    assert library.count == 8
    with library.all:
        assert library.count == 6
    assert library.count == 8


def test_it_is_put_back_after_an_error() -> None:
    library = Library()
    with pytest.raises(ValueError, match="mine"), library.one:
        raise ValueError("mine")
    assert library.count == 8


def test_uses_are_nested() -> None:
    library = Library()
    with library.one:
        with library.one:
            assert library.count == 1
        assert library.count == 1
        with library.all:
            assert library.count == 6
        assert library.count == 1
    assert library.count == 8


def test_what_the_program_has_set_meanwhile_is_kept_and_never_raised() -> None:
    library = Library()
    with library.one:
        pass
    library.count = 2
    with library.all:
        assert library.count == 2
    with library.one:
        assert library.count == 1
    assert library.count == 2


def test_one_thread_of_the_program_can_have_all_while_another_wants_one() -> None:
    library, inside, done = Library(), threading.Event(), threading.Event()

    def small() -> None:
        with library.one:
            inside.set()
            done.wait(60)

    other = threading.Thread(target=small)
    other.start()
    inside.wait(60)
    with library.all:
        assert library.count == 6
    assert library.count == 1
    done.set()
    other.join()
    assert library.count == 8


def test_a_use_goes_around_a_function() -> None:
    library = Library()

    @library.one
    def count() -> int:
        """Its own words."""
        return library.count

    assert (count(), library.count, count.__doc__) == (1, 8, "Its own words.")


def test_without_a_known_library_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_libraries", lambda: iter(("/nowhere/numpy.so",)))
    assert blas.find_thread_functions() is None
    with one_thread(BlasThreads(None)), all_threads(BlasThreads(None)):
        pass


@pytest.mark.parametrize("size", [0, 1, 8191, 8192, 8193, 100_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_inner_product_is_numpys(size: int, dtype: Any) -> None:
    generator = np.random.default_rng(size)
    left, right = (generator.normal(size=size).astype(dtype) for _ in range(2))
    product = inner_product(left, right)
    assert product.dtype == dtype
    np.testing.assert_allclose(product, np.dot(left, right), rtol=1e-4, atol=1e-3)


# Does some work, and prints for each piece of it whether the threads that NumPy came with have run meanwhile.
_PROGRAM = """
import json, os, sys, threading, time
import numpy as np
import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.inspect.comparing import compare
from tensorkeep.inspect.statistics import checkpoint_statistics

def wake():
    np.dot(np.ones(100_000), np.ones(100_000))

def runs():
    return [open(f"/proc/self/task/{task}/schedstat").read() for task in workers]

def settled():
    before, since = runs(), time.monotonic()
    while time.monotonic() - since < 0.2:
        if before != runs():
            before, since = runs(), time.monotonic()
    return before

def session(build):
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(build())

def is_woken(work):
    before = settled()
    work()
    return before != runs()

prefix = os.path.join(sys.argv[1], "model")
generator = np.random.default_rng(0)
tk.save_checkpoint(prefix, {"x": generator.normal(size=300_000).astype(np.float32)})
matrix = generator.normal(size=(64, 64)).astype(np.float32)
work = {
    "statistics": lambda: list(checkpoint_statistics(tk.open_checkpoint(prefix))),
    "comparison": lambda: compare(tk.open_checkpoint(prefix), tk.open_checkpoint(prefix)),
    "vector": lambda: session(lambda: tf.matmul(tf.ones([1, 1024]), tf.ones([1024, 1024]))),
    "middling": lambda: session(lambda: tf.matmul(tf.ones([32, 784]), tf.ones([784, 64]))),
    "loss": lambda: session(lambda: tf.nn.l2_loss(tf.ones([100_000], tf.float64))),
    "convolution": lambda: session(lambda: tf.nn.conv2d(tf.ones([1, 28, 28, 8]), tf.ones([3, 3, 8, 16]), 1, "SAME")),
    "svd": lambda: session(lambda: tf.linalg.svd(tf.constant(matrix))),
    "eigenvalues": lambda: session(lambda: tf.linalg.eigh(tf.constant(matrix + matrix.T))),
    "solution": lambda: session(lambda: tf.linalg.solve(tf.constant(matrix), tf.constant(matrix))),
    "numpy": wake,
}
wake()
workers = [task for task in os.listdir("/proc/self/task") if task != str(threading.get_native_id())]
print(json.dumps({name: is_woken(do) for name, do in work.items()}))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="the system does not tell how threads have run")
def test_work_on_small_blocks_wakes_no_thread(tmp_path: Path) -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "4"}
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    woken = json.loads(answer)
    if not woken.pop("numpy"):
        pytest.skip("NumPy's library wakes no threads for a dot product")
    assert [name for name, is_woken in woken.items() if is_woken] == []
