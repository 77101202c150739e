"""Edits of checkpoints with DeepRec's hash tables leave these ones that DeepRec restores: each slice says its keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep import MemoryFileSystem, open_checkpoint
from tensorkeep.edit import EditOptions, average, cast, merge, set_tensors
from tests.checkpoint.bundle.test_hash_tables import RANGES, ROWS, SIZE, listed, ranges_of, tables

WHOLE = np.concatenate(ROWS)
EDITS: dict[str, tuple[Callable[[MemoryFileSystem], Any], Any]] = {
    "cast": (lambda fs: cast("x", "y", "float16", fs=fs), WHOLE.astype(np.float16)),
    "set": (lambda fs: set_tensors("x", "y", {"user": WHOLE + 1}, fs=fs), WHOLE + 1),
    "average": (lambda fs: average(["x", "x"], "y", fs=fs), WHOLE),
    "written anew": (lambda fs: merge(["x"], "y", options=EditOptions(compact=True), fs=fs), WHOLE),
}


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_keeps_the_ranges_of_keys(edit: str, merged: bool) -> None:
    fs = tables(merged).store()
    act, wanted = EDITS[edit]
    act(fs)
    for name in ("user", "user/ids"):
        entry = listed(fs, "y", name)
        assert (entry.is_hash_table, ranges_of(entry)) == (True, [(*one, SIZE) for one in RANGES])
    with open_checkpoint("y", fs=fs) as reader:
        found = reader.read("user")
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        reader.verify_many(list(reader))


def test_a_range_may_begin_within_a_chunk_and_end_in_another() -> None:
    """Rows are read some at a time, and never end where a range does."""
    counts = [70_000, 3, 50_000]
    rows = [np.full((count, 8), number, np.float32) for number, count in enumerate(counts)]
    keys = [np.arange(count, dtype=np.int64) for count in counts]
    fs = tables(True, keys, rows, [(0, 100), (100, 100), (200, 65336)]).store()
    cast("x", "y", "float16", fs=fs)
    with open_checkpoint("y", fs=fs) as reader:
        np.testing.assert_array_equal(reader.read("user"), np.concatenate(rows).astype(np.float16))
