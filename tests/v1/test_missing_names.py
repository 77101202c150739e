"""No name of TensorFlow that is missing is left without advice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tensorkeep.v1 as tf
from tensorkeep.v1.absent import advice

PAGE = Path(__file__).parents[2] / "docs" / "api-coverage.md"


def missing_names() -> list[str]:
    """The names that the page on coverage lists as missing, by their paths below `tf`."""
    found, module = [], ""
    for line in PAGE.read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"## `tf\.?(.*)`", line):
            module = heading[1]
        if line.startswith("Missing: "):
            found += [f"{module}.{name}".strip(".") for name in re.findall(r"`([^`]+)`", line)]
        if row := re.fullmatch(r"\| `tf\.(contrib[^`]*)` \| \d+ \| (.*) \|", line):
            found += [f"{row[1]}.{name}" for name in re.findall(r"`([^`]+)`", row[2])]
    return found


def test_what_is_missing_has_advice() -> None:
    names = missing_names()
    assert len(names) > 100
    assert [name for name in names if not advice(name)] == []


def test_the_error_of_a_missing_name_says_what_to_use() -> None:
    with pytest.raises(AttributeError, match=r"tf\.sparse\.bincount\): tf\.math\.bincount"):
        _ = tf.sparse.bincount
