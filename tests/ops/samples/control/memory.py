"""Ops that tell how much memory there is: TensorFlow 1 has them in contrib, and TensorFlow 2 does not."""

from __future__ import annotations

ELSEWHERE = dict.fromkeys(("BytesInUse", "BytesLimit", "MaxBytesInUse"), "tests/tf1/contrib/test_small_spaces.py")
