"""LSTM layers: one cell, three ways to store it. There are I inputs and H units.

    TensorFlow 1   kernel [I + H, 4 H], bias [4 H]                              gates i c f o   (c is also called j)
                   and while it runs it adds a constant to the bias of the forget gate, which is 1 unless it was set
    Keras          kernel [I, 4 H], recurrent_kernel [H, 4 H], bias [4 H]       gates i f c o
    PyTorch        weight_ih [4 H, I], weight_hh [4 H, H], bias_ih and bias_hh [4 H], which are added   gates i f g o

A layer of PyTorch may have several: "…_l1" is the second, "…_l0_reverse" the one that goes backwards. In TensorFlow
these get a scope of that name; the first has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.convert.rules import Change, through
from tensorkeep.convert.steps import (
    AddToBlock,
    Lazy,
    Reorder,
    Step,
    Take,
    Transpose,
    Zeros,
    concatenated_tensors,
    sum_of_tensors,
)

_TO_IFGO: Final = (0, 2, 1, 3)  # from i c f o; and back, for it swaps two
_FORGET: Final = 1  # of i f g o
_GATES: Final = 4
_SWAPPED: Final = "gates i c f o -> i f g o"
_SWAPPED_BACK: Final = "gates i f g o -> i c f o"
_LAYER: Final = re.compile(r"((?:.*[/.])?)(l\d+(?:_reverse)?)[/.]")
_TORCH: Final = re.compile(r"((?:.*[/.])?)weight_ih_(l\d+(?:_reverse)?)")


@dataclass(frozen=True)
class TensorFlowLstmToTorch:
    """Cells of TensorFlow 1: a kernel and a bias in a scope with "lstm" in its name."""

    forget_bias: float = 1.0

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        return [self._change(tensors, scope) for scope in self._scopes(tensors)]

    def _scopes(self, tensors: Mapping[str, Lazy]) -> Iterator[str]:
        for name, kernel in tensors.items():
            scope = name.removesuffix("kernel")
            if scope == name or "lstm" not in scope.lower() or f"{scope}recurrent_kernel" in tensors:
                continue
            bias = tensors.get(f"{scope}bias")
            if bias is None or len(kernel.shape) != 2 or bias.shape != kernel.shape[1:]:
                continue
            if bias.shape[0] % _GATES == 0 and kernel.shape[0] > bias.shape[0] // _GATES:
                yield scope

    def _change(self, tensors: Mapping[str, Lazy], scope: str) -> Change:
        kernel, bias = tensors[f"{scope}kernel"], tensors[f"{scope}bias"]
        inputs = kernel.shape[0] - bias.shape[0] // _GATES
        swap = Reorder(0, _TO_IFGO, _SWAPPED)
        forget = AddToBlock(_FORGET, _GATES, self.forget_bias, f"{self.forget_bias:+g} to the forget gate")
        ends = {
            "weight_ih": (kernel, (Take(0, 0, inputs), Transpose((1, 0)), swap)),
            "weight_hh": (kernel, (Take(0, inputs, kernel.shape[0]), Transpose((1, 0)), swap)),
            "bias_ih": (bias, (swap, forget)),
            "bias_hh": (bias, (Zeros(),)),
        }
        return _to_torch(scope, (f"{scope}kernel", f"{scope}bias"), ends)


@dataclass(frozen=True)
class KerasLstmToTorch:
    """Layers of Keras: a kernel, a recurrent kernel of four gates, and perhaps a bias."""

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        found: list[Change] = []
        for name, recurrent in tensors.items():
            scope = name.removesuffix("recurrent_kernel")
            kernel, bias = tensors.get(f"{scope}kernel"), tensors.get(f"{scope}bias")
            if scope == name or kernel is None or len(recurrent.shape) != 2 or len(kernel.shape) != 2:
                continue
            if recurrent.shape[1] != _GATES * recurrent.shape[0] or kernel.shape[1] != recurrent.shape[1]:
                continue
            turned = (Transpose((1, 0)),)
            ends: dict[str, tuple[Lazy, tuple[Step, ...]]] = {
                "weight_ih": (kernel, turned),
                "weight_hh": (recurrent, turned),
            }
            takes = [f"{scope}kernel", name]
            if bias is not None and bias.shape == kernel.shape[1:]:
                ends |= {"bias_ih": (bias, ()), "bias_hh": (bias, (Zeros(),))}
                takes.append(f"{scope}bias")
            found.append(_to_torch(scope, tuple(takes), ends))
        return found


@dataclass(frozen=True)
class TorchLstmToTensorFlow:
    """Layers of PyTorch as cells of TensorFlow 1."""

    forget_bias: float = 1.0

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        return [self._change(tensors, scope, layer) for scope, layer in _torch_layers(tensors, needs_bias=True)]

    def _change(self, tensors: Mapping[str, Lazy], scope: str, layer: str) -> Change:
        names = {what: f"{scope}{what}_{layer}" for what in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
        turned = (Reorder(0, _TO_IFGO, _SWAPPED_BACK), Transpose((1, 0)))
        weights = [through(tensors[names[what]], turned, names[what]) for what in ("weight_ih", "weight_hh")]
        bias = sum_of_tensors([tensors[names[what]] for what in ("bias_ih", "bias_hh")])
        forget = AddToBlock(_FORGET, _GATES, -self.forget_bias, f"{-self.forget_bias:+g} to the forget gate")
        bias = through(bias, (forget, Reorder(0, _TO_IFGO, _SWAPPED_BACK)), names["bias_ih"])
        target = _tensorflow_scope(scope, layer)
        return Change(
            tuple(names.values()), {f"{target}kernel": concatenated_tensors(weights, 0), f"{target}bias": bias}
        )


@dataclass(frozen=True)
class TorchLstmToKeras:
    """Layers of PyTorch as layers of Keras."""

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        found: list[Change] = []
        for scope, layer in _torch_layers(tensors, needs_bias=False):
            names = {what: f"{scope}{what}_{layer}" for what in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
            target = _tensorflow_scope(scope, layer)
            turned = (Transpose((1, 0)),)
            gives = {
                f"{target}kernel": through(tensors[names["weight_ih"]], turned, names["weight_ih"]),
                f"{target}recurrent_kernel": through(tensors[names["weight_hh"]], turned, names["weight_hh"]),
            }
            if names["bias_ih"] in tensors and names["bias_hh"] in tensors:
                gives[f"{target}bias"] = sum_of_tensors([tensors[names["bias_ih"]], tensors[names["bias_hh"]]])
            found.append(Change(tuple(name for name in names.values() if name in tensors), gives))
        return found


def _to_torch(scope: str, takes: tuple[str, ...], ends: Mapping[str, tuple[Lazy, Sequence[Step]]]) -> Change:
    layer = _LAYER.fullmatch(scope)
    base, suffix = (layer[1], layer[2]) if layer else (scope, "l0")
    gives = {f"{base}{what}_{suffix}": through(tensor, steps, takes[0]) for what, (tensor, steps) in ends.items()}
    return Change(takes, gives)


def _torch_layers(tensors: Mapping[str, Lazy], *, needs_bias: bool) -> Iterator[tuple[str, str]]:
    """The scope and the layer of every LSTM: its matrices have four gates."""
    for name, weight in tensors.items():
        found = _TORCH.fullmatch(name)
        recurrent = tensors.get(f"{found[1]}weight_hh_{found[2]}") if found else None
        if found is None or recurrent is None or len(recurrent.shape) != 2:
            continue
        if weight.shape[:1] != recurrent.shape[:1] or recurrent.shape[0] != _GATES * recurrent.shape[1]:
            continue
        biases = [f"{found[1]}{what}_{found[2]}" in tensors for what in ("bias_ih", "bias_hh")]
        if all(biases) or not needs_bias:
            yield found[1], found[2]


def _tensorflow_scope(scope: str, layer: str) -> str:
    separator = scope[-1:] or "/"
    return scope if layer == "l0" else f"{scope}{layer}{separator}"
