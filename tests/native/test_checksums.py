"""Checksums of many stretches by the compiled library are those that the stretches have one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.io.coding.crc32c import crc32c
from tensorkeep.native import checksums
from tensorkeep.native.checksums import crc32c_of_stretches
from tests.native.implementations import IMPLEMENTATIONS, implementation, present

Stretches = list[tuple[int, int]]

pytestmark = pytest.mark.usefixtures("native")


@st.composite
def cases(draw: st.DrawFn) -> tuple[bytes, Stretches]:
    data = draw(st.binary(max_size=200))
    ends = st.integers(0, len(data))
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=30))
    return data, [(min(pair), max(pair)) for pair in pairs]


def columns(stretches: Stretches) -> tuple[np.ndarray, np.ndarray]:
    starts = np.array([start for start, _ in stretches], np.int64)
    return starts, np.array([end for _, end in stretches], np.int64) - starts


@given(cases(), st.sampled_from([bytes, bytearray, lambda data: memoryview(b"." + data + b".")[1:-1]]))
def test_every_implementation_gives_the_checksums(case: tuple[bytes, Stretches], kind: type[bytes]) -> None:
    data, stretches = case
    expected = [crc32c(data[start:end]) for start, end in stretches]
    for name in IMPLEMENTATIONS:
        for by_tables in (False, True):
            with implementation(name):
                assert crc32c_of_stretches(kind(data), *columns(stretches), by_tables=by_tables).tolist() == expected


@pytest.mark.parametrize("by_tables", [False, True])
def test_the_known_checksum_comes_out(by_tables: bool) -> None:
    with implementation("native"):
        crcs = crc32c_of_stretches(b"x123456789x", *columns([(1, 10), (4, 4)]), by_tables=by_tables)
    assert crcs.tolist() == [0xE3069283, 0]
    assert crcs.dtype == np.uint32


@pytest.mark.parametrize("start", [-1, 11, 2**62, -(2**63)])
@pytest.mark.parametrize("length", [0, 1, -1, 2**62, 2**63 - 1, -(2**63)])
def test_the_library_looks_at_nothing_outside(start: int, length: int) -> None:
    present()
    compiled = checksums.functions()
    assert compiled is not None
    crcs = np.full(2, 7, np.uint32)
    starts, lengths = np.array([0, start], np.int64), np.array([1, length], np.int64)
    places = (starts.ctypes.data, lengths.ctypes.data)
    assert compiled(b"0123456789", 10, *places, 2, 0, crcs.ctypes.data) == 0
    assert crcs.tolist() == [7, 7]
