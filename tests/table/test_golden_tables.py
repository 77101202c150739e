"""Every table that TensorFlow wrote for the golden files, written anew from its entries, has the very same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.io.files.local import LOCAL
from tensorkeep.table.format import MAGIC
from tensorkeep.table.table import Table
from tests.support.golden import ROOT, golden
from tests.table.slow_table import written

NOT_BY_TENSORFLOW = {"g35_corrupt_v2", "g36_corrupt_v1", "g37_crafted"}


def is_table(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[-len(MAGIC) :] == MAGIC


TABLES = sorted(
    path.relative_to(ROOT).as_posix()
    for case in ROOT.iterdir()
    if case.name not in NOT_BY_TENSORFLOW
    for path in case.rglob("*")
    if is_table(path)
)


def items(path: Path) -> list[tuple[bytes, bytes]]:
    return list(Table(LOCAL.open(str(path))).items())


def test_there_are_tables_of_both_formats_to_look_at() -> None:
    assert len(TABLES) >= 60
    assert any(path.endswith(".index") for path in TABLES)
    assert any(path.startswith("g10_v1") for path in TABLES)


@pytest.mark.parametrize("path", TABLES)
def test_a_table_written_anew_has_the_same_bytes(path: str) -> None:
    assert written(items(ROOT / path)) == (ROOT / path).read_bytes()


@pytest.mark.parametrize("name", ["snappy", "restart_2", "tiny_blocks"])
def test_tables_packed_in_other_ways_hold_the_same(name: str) -> None:
    case = golden("g37_crafted")
    assert items(case / f"{name}.index") == items(case / "good.index")
