"""Ops that call Python need a function: tests show them."""

from __future__ import annotations

ELSEWHERE = dict.fromkeys(("PyFunc", "PyFuncStateless", "EagerPyFunc"), "tests/functions/test_script.py")
