"""Ops on files need files: tests show them."""

from __future__ import annotations

ELSEWHERE = dict.fromkeys(("ReadFile", "WriteFile", "MatchingFiles"), "tests/functions/test_files.py")
