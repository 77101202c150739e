"""The page of every op and its state in ONNX is what its tool writes."""

from __future__ import annotations

import re

import pytest

from tensorkeep.onnx.rules.registry import RULES
from tests.ops.sample import all_samples
from tests.ops.walking import import_all_ops
from tools.onnx_table import PAGE, listed_ops, main, page, state_of, without_rule

import_all_ops()


def test_the_page_lists_every_op_and_which_have_rules() -> None:
    rows = dict(re.findall(r"^\| `([^`]+)` \| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE))
    assert set(listed_ops()) == rows.keys(), "run python -m tools.onnx_table"
    wrong = [op for op, told in rows.items() if (told != "**no**") != (op in RULES or without_rule(op) is not None)]
    assert not wrong, "run python -m tools.onnx_table"


def test_an_op_is_told_by_its_operators_the_oldest_opset_and_why_others_are_refused() -> None:
    text = page([state_of(op, all_samples()[op]) for op in ("StaticRegexFullMatch", "StringLower", "Substr")])
    assert "| `StaticRegexFullMatch` | `RegexFullMatch` | 20 |  |" in text
    assert re.search(r"\| `StringLower` \| .*`StringNormalizer`.* \| 13 \| ONNX changes the case", text)
    assert "| `Substr` | **no** |  | ONNX has no operator that cuts strings |" in text


@pytest.mark.slow
def test_the_page_is_what_the_tool_writes() -> None:
    assert main(["--check"]) == 0, "run python -m tools.onnx_table"
