"""Checkpoints that Orbax has written (tools/make_orbax_fixtures.py), and what is in them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

FIXTURES = Path(__file__).parent / "fixtures"


def expected(name: str) -> dict[str, npt.NDArray[Any]]:
    """The leaves of a fixture that have values, by name; text as the reader gives it."""
    leaves = json.loads((FIXTURES / "expected.json").read_text())[name]
    return {leaf: _array(value) for leaf, value in leaves.items()}


def _array(value: dict[str, Any]) -> npt.NDArray[Any]:
    if "text" in value:
        return np.array(value["text"].encode(), object)
    dtype = np.dtype(getattr(ml_dtypes, value["dtype"], None) or value["dtype"])
    return np.frombuffer(base64.b64decode(value["data"]), dtype).reshape(value["shape"])
