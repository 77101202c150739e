"""Ops on vocabularies and checkpoints need files: tests show them."""

from __future__ import annotations

ELSEWHERE = dict.fromkeys(
    ("GenerateVocabRemapping", "LoadAndRemapMatrix"), "tests/ops/files/test_vocabulary_remapping.py"
)
