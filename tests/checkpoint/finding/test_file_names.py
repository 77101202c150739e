"""The names of checkpoint files, and what is read out of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.checkpoint.finding.file_names import (
    data_path,
    index_path,
    parse_data_path,
    parse_shard_path,
    parse_shard_pattern,
    prefix_of_file,
    shard_path,
    shard_pattern,
)

prefixes = st.text(min_size=1, max_size=12)
counts = st.integers(1, 2**31 - 1)


def test_names_of_a_v2_checkpoint() -> None:
    assert index_path("run/m-7") == "run/m-7.index"
    assert data_path("run/m-7", 0, 3) == "run/m-7.data-00000-of-00003"
    assert data_path("m", 123456, 200000) == "m.data-123456-of-200000"


def test_names_of_a_v1_checkpoint_in_several_files() -> None:
    assert shard_path("run/m-7", 2, 3) == "run/m-7-00002-of-00003"
    assert shard_pattern("run/m-7", 3) == "run/m-7-?????-of-00003"


@given(prefixes, counts, counts)
def test_what_was_named_can_be_parsed(prefix: str, shard: int, count: int) -> None:
    assert parse_data_path(data_path(prefix, shard, count)) == (prefix, shard, count)
    assert parse_shard_path(shard_path(prefix, shard, count)) == (prefix, shard, count)
    assert parse_shard_pattern(shard_pattern(prefix, count)) == (prefix, count)
    assert prefix_of_file(data_path(prefix, shard, count)) == prefix
    assert prefix_of_file(index_path(prefix)) == prefix


@pytest.mark.parametrize(
    "name",
    [
        "m.data-0000-of-0001",  # too few digits
        "m.data-00000-of-00001.tmp",
        "m.data-00000",
        "m-00000-of-00001",
        "m.data-0000a-of-00001",
        "m.data-\u0660\u0660\u0660\u0660\u0660-of-00001",  # digits, but not ours
        "m.data-" + "0" * 5000 + "-of-00001",  # more than Python would turn into a number
    ],
)
def test_what_is_no_data_file(name: str) -> None:
    assert parse_data_path(name) is None
    assert prefix_of_file(name) is None


@pytest.mark.parametrize(
    "name", ["m-????-of-00003", "m-??????-of-00003x", "m-?????-of-3", "m-00000-of-00003", "m-?????-of-" + "9" * 5000]
)
def test_what_is_no_pattern(name: str) -> None:
    assert parse_shard_pattern(name) is None


@pytest.mark.parametrize(
    ("path", "prefix"),
    [
        ("run/m-7.index", "run/m-7"),
        ("run/m-7.meta", "run/m-7"),
        ("run/m-7.data-00001-of-00002", "run/m-7"),
        ("a.index.index", "a.index"),
        ("run/m\n7.data-00001-of-00002", "run/m\n7"),
        (".index", None),
        (".meta", None),
        ("run/m-7", None),
        ("run/m-7.indexes", None),
        ("run/m-7-00000-of-00001", None),
    ],
)
def test_the_prefix_somebody_meant_who_named_a_file(path: str, prefix: str | None) -> None:
    assert prefix_of_file(path) == prefix
