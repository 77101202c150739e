"""Ops that call Python need a function: tests show them."""

from __future__ import annotations

ELSEWHERE = dict.fromkeys(("PyFunc", "PyFuncStateless", "EagerPyFunc"), "tests/tf1/functions/test_script.py")
