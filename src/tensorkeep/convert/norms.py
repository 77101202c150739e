"""Batch and layer normalization: the same four vectors by two sets of names.

TensorFlow   gamma   beta   moving_mean    moving_variance
PyTorch      weight  bias   running_mean   running_var       and num_batches_tracked, a count that nothing needs
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.convert.rules import Change
from tensorkeep.convert.steps import Lazy

_NAMES: Final = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}
_COUNT: Final = "num_batches_tracked"
_SCOPED: Final = re.compile(r"((?:.*[/.])?)([^/.]+)")


@dataclass(frozen=True)
class NormsToTorch:
    """TensorFlow's names of what normalizes, which say it by themselves, become PyTorch's."""

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        return [
            Change((name,), {scope + _NAMES[last]: tensor.told("a part of a normalization")})
            for name, tensor in tensors.items()
            for scope, last in (_split_scope(name),)
            if last in _NAMES
        ]


@dataclass(frozen=True)
class NormsToTensorFlow:
    """PyTorch's names become TensorFlow's where they are of a normalization.

    Which is told by a weight of one axis, or by a running mean. The count of batches is left out.
    """

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        scopes = dict.fromkeys(
            scope
            for name, tensor in tensors.items()
            for scope, last in (_split_scope(name),)
            if len(tensor.shape) == 1 and last in ("weight", "running_mean")
        )
        found: list[Change] = []
        for scope in scopes:
            found += [
                Change((scope + theirs,), {scope + ours: tensors[scope + theirs].told("a part of a normalization")})
                for ours, theirs in _NAMES.items()
                if scope + theirs in tensors
            ]
            found += [Change((scope + _COUNT,), {})] if scope + _COUNT in tensors else []
        return found


def _split_scope(name: str) -> tuple[str, str]:
    found = _SCOPED.fullmatch(name)
    return (found[1], found[2]) if found else ("", name)
