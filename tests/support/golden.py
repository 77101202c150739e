"""The golden files: what real TensorFlow wrote, and what it says is in there.

Every case is a folder of `tests/golden` with an `expected.json`. A tensor in it has one of three encodings:

    {"dtype": "DT_FLOAT", "shape": [4, 3], "npz": "t2"}                          entry t2 of expected.npz
    {"dtype": "DT_INT4", "shape": [16], "npz": "t26", "bits": "uint8"}           … which holds the bit patterns
    {"dtype": "DT_STRING", "shape": [2, 2], "b64": ["YWxwaGE=", "", …]}          row by row

A quantized tensor is given as plain integers of the same width.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import ml_dtypes
import numpy as np

from tensorkeep.arrays import Array

ROOT: Final = Path(__file__).resolve().parents[1] / "golden"


def golden(case: str) -> Path:
    """The folder of a case, e.g. `golden("g01_v2_single_ref") / "model.ckpt-100.index"`."""
    folder = ROOT / case
    if not (folder / "expected.json").is_file():
        raise LookupError(f'no golden case "{case}"; there are: {", ".join(cases())}')
    return folder


def cases() -> tuple[str, ...]:
    """The names of all cases, sorted."""
    return tuple(sorted(path.parent.name for path in ROOT.glob("*/expected.json")))


def expected(case: str) -> dict[str, Any]:
    """What `expected.json` says, decoded anew for every call."""
    text = (golden(case) / "expected.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def expected_tensors(case: str, section: str = "tensors") -> dict[str, tuple[str, Array]]:
    """The tensors of a section as `name → (TensorFlow's name of the dtype, value)`, e.g. `("DT_HALF", array)`.

    Strings come as an object array of bytes, narrow types in the dtypes of ml_dtypes. The arrays are read-only.
    """
    return {name: (entry["dtype"], decode(case, entry)) for name, entry in expected(case)[section].items()}


def decode(case: str, entry: Mapping[str, Any], archive: str = "expected") -> Array:
    """The value of one tensor in any of the three encodings, wherever in `expected.json` it stands.

    What went into a run and came out of it lies in archives of its own, "inputs" and "outputs".
    """
    shape = tuple(entry["shape"])
    if "b64" in entry:
        array: Array = np.empty(len(entry["b64"]), dtype=object)
        array[:] = [base64.b64decode(text, validate=True) for text in entry["b64"]]
        array = array.reshape(shape)
        array.flags.writeable = False
        return array
    array = _stored_arrays(case, archive)[entry["npz"]]
    assert array.shape == shape, f"{case}: {entry} is stored as {array.shape}"
    if "bits" in entry:
        assert array.dtype.name == entry["bits"], f"{case}: {entry} is stored as {array.dtype}"
        array = array.view(getattr(ml_dtypes, entry["dtype"].removeprefix("DT_").lower()))
    return array


@cache
def _stored_arrays(case: str, archive: str) -> Mapping[str, Array]:
    with np.load(golden(case) / f"{archive}.npz", allow_pickle=False) as file:
        arrays = dict(file)
    for array in arrays.values():
        array.flags.writeable = False
    return arrays
