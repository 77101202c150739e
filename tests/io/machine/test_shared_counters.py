"""Numbers that several processes count, each in a file of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError, StorageError
from tensorkeep.io.machine.shared_counters import CounterMemory, read_counters


def read(path: str) -> dict[bytes, list[float]]:
    return {key: numbers.tolist() for key, numbers in read_counters(path)[1].items()}


def test_what_is_counted_is_in_the_file_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "counters")
    memory = CounterMemory(path)
    place = memory.add(b"requests", 2)
    assert place is not None
    memory.values[place + 1] += 3.0
    assert read(path) == {b"requests": [0.0, 3.0]}
    assert read_counters(path)[0] == os.getpid()
    memory.close()


def test_who_opens_the_file_again_goes_on_counting(tmp_path: Path) -> None:
    path = str(tmp_path / "counters")
    for count in (1.0, 2.0, 3.0):
        memory = CounterMemory(path)
        place = memory.add(b"requests", 1)
        assert place is not None
        memory.values[place] += 1.0
        assert read(path) == {b"requests": [count]}
        memory.close()


@given(st.dictionaries(st.binary(max_size=20), st.lists(st.floats(allow_nan=False), max_size=5), max_size=8))
def test_keys_and_numbers_of_any_length_come_back(wanted: dict[bytes, list[float]]) -> None:
    memory = CounterMemory()
    for key, numbers in wanted.items():
        place = memory.add(key, len(numbers))
        assert place is not None
        assert memory.add(key, len(numbers)) == place
        for number, value in enumerate(numbers):
            memory.values[place + number] = value
    assert {key: numbers.tolist() for key, numbers in memory.numbers().items()} == wanted
    memory.close()


def test_there_is_an_end_to_the_room(tmp_path: Path) -> None:
    memory = CounterMemory(str(tmp_path / "counters"), size=4096)
    assert memory.add(b"many", 1000) is None
    assert memory.add(b"few", 100) is not None
    assert memory.places.keys() == {b"few"}
    memory.close()


def test_what_is_not_such_a_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "counters"
    assert read_counters(str(path)) == (0, {})
    path.write_bytes(b"something else, and long enough")
    with pytest.raises(DataLossError, match="is not a file of counters"):
        read_counters(str(path))
    with pytest.raises(DataLossError, match="is not a file of counters"):
        CounterMemory(str(path))
    path.write_bytes(b"")
    assert read_counters(str(path)) == (0, {})
    with pytest.raises(StorageError):
        CounterMemory(str(tmp_path / "missing" / "counters"))
