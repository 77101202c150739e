"""Samples: inputs and attributes on which an op is compared with TensorFlow, and its shape rule with its kernel.

A family's file in `tests/ops/samples/` has `SAMPLES`, a mapping from the name of an op to a list of samples, and may
have `ELSEWHERE`, a mapping from the name of an op that a single node cannot show (it keeps state, or needs a loop
around it) to the test that shows it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import tests.ops.samples


@dataclass(frozen=True)
class Sample:
    """One call of an op. An input is an array, a list of arrays where the signature has a list, or None for a ref."""

    inputs: tuple[Any, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    constant: tuple[int, ...] = ()
    """Which inputs, by position in the signature, are constants rather than fed: sizes that a shape rule reads."""
    tolerance: float | None = None
    """Relative; by default what the type of the result allows."""
    gradient: bool = True
    """Whether to compare gradients, where the op has them: not at a point where it has none."""
    fails: bool = False
    """Whether both must refuse it, when built or when run."""
    oracle: bool = True
    """Whether TensorFlow can run it, on the machine of the test; if it cannot, only static shapes are compared."""
    unspecified: tuple[int, ...] = ()
    """Outputs, by position, whose values are left open: room that kernels keep for themselves."""


def sample(
    *inputs: Any,
    constant: tuple[int, ...] = (),
    tolerance: float | None = None,
    gradient: bool = True,
    fails: bool = False,
    oracle: bool = True,
    unspecified: tuple[int, ...] = (),
    **attrs: Any,
) -> Sample:
    return Sample(inputs, attrs, constant, tolerance, gradient, fails, oracle, unspecified)


def strings(values: Any) -> Any:
    """Nested lists of bytes as an array of objects."""
    return np.array(values, dtype=object)


def quantized(values: Any, dtype: str) -> Any:
    """Whole numbers as an array of a quantised type, marked as TensorFlow's Python marks it: `[("qint8", int8)]`."""
    plain = np.asarray(values, dtype.removeprefix("q"))
    return plain.view([(dtype, plain.dtype)]) if plain.ndim else plain.reshape(1).view([(dtype, plain.dtype)])[0]


@cache
def _modules() -> tuple[Any, ...]:
    found = pkgutil.walk_packages(tests.ops.samples.__path__, "tests.ops.samples.")
    return tuple(importlib.import_module(module.name) for module in found)


@cache
def all_samples() -> dict[str, list[Sample]]:
    """Every sample of every family, by op."""
    merged: dict[str, list[Sample]] = {}
    for module in _modules():
        for name, samples in getattr(module, "SAMPLES", {}).items():
            assert name not in merged, f"{name} has samples in two files"
            merged[name] = list(samples)
    return merged


@cache
def shown_elsewhere() -> dict[str, str]:
    """Ops without samples, with the test that shows them."""
    merged: dict[str, str] = {}
    for module in _modules():
        merged.update(getattr(module, "ELSEWHERE", {}))
    return merged
