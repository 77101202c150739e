"""Ops on files need files: tests show them."""

from __future__ import annotations

ELSEWHERE = dict.fromkeys(("ReadFile", "WriteFile", "MatchingFiles"), "tests/tf1/functions/test_files.py")
