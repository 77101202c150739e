"""The coefficients of special functions are what their tool writes."""

from __future__ import annotations

import pytest

from tools import compile_special_tables as tool


@pytest.mark.slow
def test_the_file_is_what_the_tool_writes() -> None:
    assert tool.render() == tool.TARGET.read_text("utf-8"), "run tools/compile_special_tables.py"
