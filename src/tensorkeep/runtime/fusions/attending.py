"""Attention: two products and a softmax between them, as one call.

    scores = product(queries, keys)        product is Einsum or BatchMatMulV2, whatever the order of their axes
    shares = Softmax(scores * scale + mask)                          both may be missing
    result = product(shares, values)

Axes have labels, as in Einsum's equations: those of batches are the same in all, and then there are those of queries,
of keys, of what queries and keys have in common, and of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native import layers
from tensorkeep.native.networks import attend
from tensorkeep.runtime.fusions.finishing import nothing_changes
from tensorkeep.runtime.plans.blocks import Block
from tensorkeep.runtime.plans.makers import Makers
from tensorkeep.runtime.plans.names import Names

_PRODUCTS: Final = ("Einsum", "BatchMatMulV2")
_BATCHES: Final = 2  # axes at most
_FLOAT: Final = np.dtype(np.float32)


@dataclass(frozen=True)
class _Labels:
    """The labels of a product's factors and of its result."""

    factors: tuple[str, str]
    result: str


@dataclass(frozen=True)
class _Axes:
    """Which axes of arrays are those of batches, rows and columns, in this order."""

    queries: tuple[int, ...]
    keys: tuple[int, ...]
    values: tuple[int, ...]
    bias: tuple[int, ...]
    result: tuple[int, ...]

    def seen(self, array: Any, axes: tuple[int, ...]) -> Any:
        """A view with the axes of batches, of which there are two, rows and columns."""
        view = array.transpose(axes)
        return view.reshape((1,) * (2 + _BATCHES - view.ndim) + view.shape)


@dataclass(frozen=True, eq=False)
class Attention:
    """Operations in their order; what they take: queries, keys, values and perhaps a mask; and the scale."""

    ops: tuple[Operation, ...]
    inputs: tuple[Tensor, ...]
    scale: float
    axes: _Axes

    def applied(self) -> Callable[..., Any]:
        """What computes it of the inputs; None if the operations have to."""
        axes, scale = self.axes, self.scale

        def attended(queries: Any, keys: Any, values: Any, mask: Any = None) -> Any:
            arrays = (queries, keys, values) if mask is None else (queries, keys, values, mask)
            wanted = [len(axes.queries), len(axes.keys), len(axes.values), len(axes.bias)]
            for array, rank in zip(arrays, wanted, strict=False):
                if type(array) is not np.ndarray or array.dtype != _FLOAT or not array.size:
                    return None
                if array.ndim != rank and array is not mask:
                    return None
            if mask is not None:
                if mask.ndim > len(axes.bias):
                    return None
                mask = axes.seen(mask.reshape((1,) * (len(axes.bias) - mask.ndim) + mask.shape), axes.bias)
            first, second, third = (
                axes.seen(array, order)
                for array, order in ((queries, axes.queries), (keys, axes.keys), (values, axes.values))
            )
            sizes = [*(queries.shape[axis] for axis in axes.queries[:-1]), third.shape[-1]]
            shape = [0] * len(sizes)
            for axis, size in zip(axes.result, sizes, strict=True):
                shape[axis] = size
            out = result_array(shape, _FLOAT)
            is_done = attend(first, second, third, axes.seen(out, axes.result), scale=scale, bias=mask)
            return out if is_done else None

        return attended


def find_attentions(block: Block, names: Names) -> list[tuple[Attention, int]]:
    """The attentions of a block itself, each with the number of the item that ends it; none without the library."""
    if layers.functions() is None:
        return []
    makers = Makers(block, names)
    found = (_attention(op, makers, names) for kind in _PRODUCTS for op in makers.all(kind))
    attentions = [(each, makers.places[each.ops[-1]]) for each in found if each is not None]
    return [(each, at) for each, at in attentions if nothing_changes(block, makers.places[each.ops[0]], at)]


def _attention(root: Operation, makers: Makers, names: Names) -> Attention | None:
    labels = _labels(root)
    if labels is None:
        return None
    for place in (0, 1):
        softmax = makers.sole(root.inputs[place], "Softmax")
        between = None if softmax is None else _between(softmax.inputs[0], makers)
        if softmax is None or between is None:
            continue
        product, steps, scale, mask = between
        scores = _labels(product)
        if scores is None:
            continue
        inputs = [*product.inputs, root.inputs[1 - place], *mask]
        if any(tensor.dtype is not FLOAT32 or names.values[tensor] in names.deferred for tensor in inputs):
            continue
        found = _axes(scores, labels, place)
        if found is not None:
            axes, is_swapped = found
            first, second, *others = inputs
            inputs = [second, first, *others] if is_swapped else inputs
            return Attention((product, *steps, softmax, root), tuple(inputs), scale, axes)
    return None


def _between(
    tensor: Tensor, makers: Makers
) -> tuple[Operation, tuple[Operation, ...], float, tuple[Tensor, ...]] | None:
    """Of what is under a softmax: the product, the operations over it, the scale, and the mask if there is one."""
    steps: tuple[Operation, ...] = ()
    mask: tuple[Tensor, ...] = ()
    scale = 1.0
    maker = makers.sole_maker(tensor)
    if maker is not None and maker.type in ("Add", "AddV2"):
        under = [(each, makers.sole_maker(each)) for each in maker.inputs]
        chosen = [
            at for at, (_, op) in enumerate(under) if op is not None and op.type in (*_PRODUCTS, "Mul", "RealDiv")
        ]
        if len(chosen) != 1:
            return None
        steps, mask = (maker,), (maker.inputs[1 - chosen[0]],)
        maker = under[chosen[0]][1]
    if maker is not None and maker.type in ("Mul", "RealDiv"):
        places = (0, 1) if maker.type == "Mul" else (0,)
        constants = {at: constant_value(maker.inputs[1 - at]) for at in places}
        found = [(at, value) for at, value in constants.items() if value is not None and value.size == 1]
        if len(found) != 1 or found[0][1].ndim:
            return None
        at, value = found[0]
        if maker.type == "RealDiv" and not value.item():
            return None
        scale = float(value.item()) if maker.type == "Mul" else float(np.float32(1) / value.item())
        steps = (maker, *steps)
        maker = makers.sole_maker(maker.inputs[at])
    return (maker, steps, scale, mask) if maker is not None and maker.type in _PRODUCTS else None


def _labels(product: Operation) -> _Labels | None:
    """The labels of a product of two arrays; None if one has a label twice, or its rank is not known."""
    if product.type == "Einsum":
        left, _, result = product.attr("equation").decode("utf-8", "replace").replace(" ", "").partition("->")
        factors = left.split(",")
    else:
        ranks = [tensor.static_shape.rank for tensor in product.inputs]
        if ranks[0] is None or ranks[0] != ranks[1] or not 2 < ranks[0] <= 2 + _BATCHES:
            return None
        batch = "ab"[: ranks[0] - 2]
        factors = [
            batch + ("km" if product.attr("adj_x") else "mk"),
            batch + ("nk" if product.attr("adj_y") else "kn"),
        ]
        result = batch + "mn"
    if len(factors) != 2 or any(len(set(labels)) != len(labels) or "." in labels for labels in (*factors, result)):
        return None
    return _Labels((factors[0], factors[1]), result)


def _axes(scores: _Labels, product: _Labels, place: int) -> tuple[_Axes, bool] | None:
    """Which axes are which, and whether the keys come before the queries; None if it is no attention.

    `place` is that of the shares among the factors of the second product.
    """
    first, second = map(set, scores.factors)
    shares = scores.result
    key = shares[-1:]
    if len(product.factors[place]) != len(shares) or not key:
        return None
    is_swapped = key in first
    queries, keys = (second, first) if is_swapped else (first, second)
    query, common = (queries - keys), (queries & keys) - set(shares)
    batch = tuple(label for label in shares if label in queries and label in keys)
    if len(query) != 1 or len(common) != 1 or keys - queries != {key} or len(batch) > _BATCHES:
        return None
    (row,), (inner,) = query, common
    if set(shares) != {*batch, row, key} or queries != {*batch, row, inner} or keys != {*batch, key, inner}:
        return None
    renamed = dict(zip(product.factors[place], shares, strict=True))
    values = [renamed.get(label, f"{label}'") for label in product.factors[1 - place]]
    result = [renamed.get(label, f"{label}'") for label in product.result]
    own = [label for label in values if label not in shares]
    if len(own) != 1 or set(values) != {*batch, key, *own} or set(result) != {*batch, row, *own}:
        return None
    labels_of_queries, labels_of_keys = reversed(scores.factors) if is_swapped else scores.factors
    found = _Axes(
        _places(labels_of_queries, [*batch, row, inner]),
        _places(labels_of_keys, [*batch, key, inner]),
        _places(values, [*batch, key, *own]),
        _places(shares, [*batch, row, key]),
        _places(result, [*batch, row, *own]),
    )
    return found, is_swapped


def _places(labels: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...]:
    listed = list(labels)
    return tuple(listed.index(label) for label in wanted)
