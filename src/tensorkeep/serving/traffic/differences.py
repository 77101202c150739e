"""How far two answers to one request are apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.proto.serving import ClassificationResult, PredictionLog, RegressionResult
from tensorkeep.proto.tensors import array_of_tensor

_TINY: Final = 1e-12  # what a difference is divided by at least


@dataclass(frozen=True, slots=True)
class Difference:
    """How far an output is from what it was expected to be, at worst."""

    absolute: float = 0.0
    relative: float = 0.0
    """Of the larger of the two values."""
    count: int = 0
    """How many elements are further apart than is tolerated."""
    what: str = ""
    """What differs besides numbers: the shape, the type, a string; empty if nothing does."""
    place: tuple[int, ...] = ()
    """Where it is furthest."""
    expected: str = ""
    found: str = ""
    """The values there."""

    @property
    def is_any(self) -> bool:
        """Whether it is more than is tolerated."""
        return bool(self.count or self.what)


def outputs_of(log: PredictionLog) -> dict[str, Array]:
    """The answer of a log, as arrays by name."""
    kind = log.WhichOneof("log_type")
    if kind == "predict_log":
        return {name: array_of_tensor(proto, name) for name, proto in log.predict_log.response.outputs.items()}
    if kind == "classify_log":
        return _classes(log.classify_log.response.result, "")
    if kind == "regress_log":
        return _values(log.regress_log.response.result, "")
    outputs: dict[str, Array] = {}
    for result in log.multi_inference_log.response.results:
        start = f"{result.model_spec.signature_name}/"
        if result.HasField("classification_result"):
            outputs.update(_classes(result.classification_result, start))
        else:
            outputs.update(_values(result.regression_result, start))
    return outputs


def _classes(result: ClassificationResult, start: str) -> dict[str, Array]:
    classes = [item for row in result.classifications for item in row.classes]
    labels = np.empty(len(classes), object)
    labels[:] = [item.label.encode() for item in classes]
    return {f"{start}classes": labels, f"{start}scores": np.array([item.score for item in classes], np.float32)}


def _values(result: RegressionResult, start: str) -> dict[str, Array]:
    return {f"{start}value": np.array([row.value for row in result.regressions], np.float32)}


def compare_outputs(
    expected: Mapping[str, Array], found: Mapping[str, Array], tolerance: float
) -> dict[str, Difference]:
    """How far two answers are apart, by the names of outputs; an output that only one of them has is a difference."""
    differences = {}
    for name in sorted(expected.keys() | found.keys()):
        if name not in found or name not in expected:
            differences[name] = Difference(what="it is missing" if name not in found else "it is new")
        else:
            differences[name] = difference(expected[name], found[name], tolerance)
    return differences


def difference(expected: Array, found: Array, tolerance: float) -> Difference:
    """How far two arrays are apart. Fractions may differ by the tolerance, as a part of the larger one or as they are;
    whole numbers, which may say which of many it is, may not.
    """
    if expected.dtype != found.dtype:
        return Difference(what=f"type {found.dtype} instead of {expected.dtype}")
    if expected.shape != found.shape:
        return Difference(what=f"shape {found.shape} instead of {expected.shape}")
    if not expected.size:
        return Difference()
    if expected.dtype.kind not in "fiucV":  # V for fractions that NumPy does not know, such as bfloat16
        return _of_values(expected, found)
    return _of_numbers(expected, found, tolerance)


def _of_values(expected: Array, found: Array) -> Difference:
    differs = np.asarray(expected != found, bool)
    if not differs.any():
        return Difference()
    place = tuple(int(index[0]) for index in np.nonzero(np.atleast_1d(differs)))
    what = f"{int(differs.sum())} of {differs.size} values"
    return Difference(
        count=int(differs.sum()),
        what=what,
        place=place,
        expected=_value_text(expected, place),
        found=_value_text(found, place),
    )


def _of_numbers(expected: Array, found: Array, tolerance: float) -> Difference:
    kind = np.complex128 if expected.dtype.kind == "c" else np.float64
    wanted, got = np.atleast_1d(expected.astype(kind)), np.atleast_1d(found.astype(kind))
    with np.errstate(invalid="ignore", over="ignore"):
        away = np.abs(wanted - got)
        away[(wanted == got) | (np.isnan(wanted) & np.isnan(got))] = 0.0
        away[np.isnan(away)] = np.inf
        larger = np.maximum(np.maximum(np.abs(wanted), np.abs(got)), _TINY)
        relative = np.where(np.isfinite(larger), away / larger, away)
        relative[np.isnan(relative)] = np.inf
    if expected.dtype.kind in "iu":
        apart = np.asarray(expected != found)
    else:
        apart = (away > tolerance) & (relative > tolerance)
    place = tuple(int(index) for index in np.unravel_index(int(away.argmax()), away.shape))
    return Difference(
        float(away.max()),
        float(relative.max()),
        int(apart.sum()),
        place=place,
        expected=_value_text(expected, place),
        found=_value_text(found, place),
    )


def _value_text(array: Array, place: tuple[int, ...]) -> str:
    value: Any = np.atleast_1d(array)[place]
    return repr(value)[:200] if isinstance(value, bytes) else str(value)
