"""Memory that is used once more, by nobody who could notice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.reused_memory import ReusedMemory

LARGE = (1 << 17, 16)
FLOAT = np.dtype(np.float32)


def address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def test_memory_is_used_again_when_it_was_let_go_of() -> None:
    memory = ReusedMemory()
    first = memory.empty(LARGE, FLOAT)
    assert (first.shape, first.dtype, first.flags.c_contiguous, first.flags.writeable) == (LARGE, FLOAT, True, True)
    place = address(first)
    assert memory.nbytes == 0
    del first
    assert memory.nbytes == 8 << 20
    assert address(memory.empty(LARGE, FLOAT)) == place
    assert address(memory.empty((1 << 16, 32), np.dtype(ml_dtypes.bfloat16))) == place


@pytest.mark.parametrize("view", [lambda a: a[5:], lambda a: a.reshape(-1, 4), memoryview, lambda a: a.T[3]])
def test_memory_that_somebody_can_see_is_not_used_again(view: object) -> None:
    memory = ReusedMemory()
    first = memory.empty(LARGE, FLOAT)
    first[...] = 7
    seen = view(first)  # type: ignore[operator]
    place = address(first)
    del first
    other = memory.empty(LARGE, FLOAT)
    assert address(other) != place
    other[...] = 8
    assert (np.asarray(seen) == 7).all()


def test_a_piece_is_not_used_for_much_less_or_for_more_and_little_is_kept() -> None:
    memory = ReusedMemory()
    place = address(memory.empty(LARGE, FLOAT))
    assert address(memory.empty((LARGE[0] + 1, 16), FLOAT)) != place
    memory.empty((1 << 16, 16), FLOAT)
    memory.empty((1 << 21, 16), FLOAT)
    several = [memory.empty(LARGE, FLOAT) for _ in range(5)]
    del several
    assert memory.nbytes == 2 * (8 << 20)
    assert memory.empty((3, 2), FLOAT).shape == (3, 2)


def test_rows_of_a_lookup_stay_while_others_are_looked_up() -> None:
    table = EmbeddingTable(16)
    keys = np.arange(1 << 17)
    table.assign(keys, np.repeat(keys[:, None], 16, axis=1))

    def check(seed: int) -> bool:
        asked = np.random.default_rng(seed).permutation(keys)
        rows = [table.lookup(part) for part in (asked, asked[::-1].copy(), asked[: 1 << 16])]
        wanted = (asked, asked[::-1], asked[: 1 << 16])
        return all((found == part[:, None]).all() for found, part in zip(rows, wanted, strict=True))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(check, range(12)))
