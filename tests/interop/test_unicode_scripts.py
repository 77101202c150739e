"""The table of scripts is what its tool writes, from what TensorFlow says of every character."""

from __future__ import annotations

from tools import compile_unicode_scripts as tool


def test_the_file_is_what_the_tool_writes() -> None:
    module = tool.TARGET.read_text("utf-8")
    emptied = tool.render([0], module)
    assert emptied != module
    assert tool.render(tool.tensorflow_scripts(), emptied) == module, "run tools/compile_unicode_scripts.py"
