"""Batch normalizations folded into the weights of the layers before them, as they will be when the network is used.

    weights * gamma / sqrt(variance + epsilon), and then + beta - mean * gamma / sqrt(variance + epsilon)

In training weights are scaled by the moving variance, which changes slowly, so that their range does; what comes out is
corrected to what the batch's own statistics give, until these are frozen. The layer as it was is still computed, for
these statistics.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.tf1.contrib.quantize.layers import LAYERS
from tensorkeep.tf1.contrib.quantize.matching import ANY, Match, Pattern, matches, of, one_of, reroute
from tensorkeep.tf1.contrib.quantize.ranges import quantization_step
from tensorkeep.tf1.functions.arrays.patches import batch_to_space_nd
from tensorkeep.tf1.functions.arrays.shapes import identity, ones, reshape, size, zeros
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.numbers.elementwise import (
    add,
    cast,
    divide,
    greater_equal,
    multiply,
    reciprocal,
    rsqrt,
    subtract,
)

_FLOAT: Final = DType.of("float32")
_GRADIENT: Final = "FoldFusedBatchNormGrad"

_INPUTS: Final = Pattern(frozenset())
_LAYER: Final = of(LAYERS, _INPUTS, ANY)
_SPACED: Final = of("BatchToSpaceND", _LAYER, ANY, ANY)
_OUTPUT: Final = one_of(of("Identity", one_of(_SPACED, _LAYER)), _LAYER, _SPACED)
_NORM: Final = of(
    "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
    *(one_of(of("Reshape", _OUTPUT, ANY), _OUTPUT), ANY, ANY, ANY, ANY),
)
_RESHAPED: Final = of("Reshape", _NORM, ANY)  # of a matrix, which is normalized as an image
_UNFUSED: Final = re.compile(r"batchnorm(_\d+)?/add_1$")


@dataclass(frozen=True)
class _Average:
    """A moving average: its value, and the product of how far it is from a new one and what part of that it moves."""

    value: Tensor
    step: Operation

    @property
    def decay(self) -> Tensor:
        return self.step.inputs[1]


@dataclass(frozen=True)
class _Norm:
    """A layer, and its normalization: the operations, and the mean and the variance that it goes by."""

    layer: Operation
    norm: Operation
    spaced: Operation | None
    output: Tensor
    mean: Tensor
    variance: Tensor

    @property
    def gamma(self) -> Tensor:
        return self.norm.inputs[1]

    @property
    def beta(self) -> Tensor:
        return self.norm.inputs[2]

    @property
    def epsilon(self) -> float:
        found: Any = self.norm.attr("epsilon")
        return float(found)


def fold_batch_norms(graph: Graph, is_training: bool, freeze_delay: int | None) -> None:
    """Folds normalizations into the layers before them, in place; frozen after so many runs, if that is said."""
    _refuse_unfused(graph)
    norms: dict[Operation, _Norm] = {}
    for found in matches(one_of(_RESHAPED, _NORM), graph):
        norm = None if found[_LAYER] in norms else _norm_of(found)
        if norm is not None:
            norms[norm.layer] = norm
    for norm in norms.values():
        _fold(graph, norm, is_training, freeze_delay)


def _refuse_unfused(graph: Graph) -> None:
    """TensorFlow finds these by the names that its own layers gave to the parts of normalizations in some versions."""
    for op in graph.get_operations():
        if not (_UNFUSED.search(op.name) and op.outputs[0].consumers() and op.inputs[0].op.type == "Mul"):
            continue
        sources = [tensor.op for tensor in op.inputs[0].op.inputs]
        if any(source.type in LAYERS.split() for source in sources):
            raise InvalidArgumentError(
                f'"{op.name}" ends a batch normalization that is made of several operations, which is not folded here: '
                "make it with fused=True"
            )


def _norm_of(found: Match) -> _Norm | None:
    """What was found; None if nothing takes its output, or if it is the part of a longer match."""
    layer, norm = found[_LAYER], found[_NORM]
    output = norm.outputs[0]
    if layer.type == "MatMul":
        if _RESHAPED not in found:
            return None
        output = found[_RESHAPED].outputs[0]
    if not output.consumers():
        return None
    _check_layout(layer, norm)
    mean, variance = norm.inputs[3], norm.inputs[4]
    if norm.attr("is_training"):
        norm.decorate("_gradient_op_type", _GRADIENT.encode())  # as TensorFlow's, in files
        norm.extras["gradient_function"] = _gradient
        mean = norm.outputs[1]
        scope = norm.name.rpartition("/")[0]
        with name_scope(f"{scope}/" if scope else None):
            count = cast(size(layer.outputs[0]) / size(mean), _FLOAT)
            variance = multiply(norm.outputs[2], (count - 1) / count, name="Undo_Bessel_Correction")
    return _Norm(layer, norm, found.get(_SPACED), output, mean, variance)


def _check_layout(*ops: Operation) -> None:
    for op in ops:
        if op.type != "MatMul" and op.attr("data_format") not in (b"NHWC", None):
            raise InvalidArgumentError(
                f'"{op.name}" has data_format {op.attr("data_format")!r}: batch normalizations are folded where '
                "channels come last (NHWC)"
            )


def _fold(graph: Graph, norm: _Norm, is_training: bool, freeze_delay: int | None) -> None:
    layer, weights = norm.layer, norm.layer.inputs[1]
    scope = layer.name.rpartition("/")[0]
    outer = f"{scope}/" if scope else None
    correction = None
    with name_scope(outer):
        with name_scope(f"{scope}/BatchNorm_Fold/" if scope else "BatchNorm_Fold"):
            multiplier = norm.gamma * rsqrt(norm.variance + norm.epsilon)
            bias = subtract(norm.beta, norm.mean * multiplier, name="bias")
            if is_training:
                correction = _corrections(graph, norm, freeze_delay)
            scale = None if correction is None else correction.scale
            if layer.type == "DepthwiseConv2dNative":  # whose weights have channels and multiples of them
                sizes = weights.get_shape().as_list()[2:]
                multiplier = reshape(multiplier, sizes, name="scale_reshape")
                scale = None if scale is None else reshape(scale, sizes, name="correction_reshape")
        if scale is not None:
            weights = multiply(scale, weights, name="correction_mult")
        folded = _layer_with(norm, multiply(weights, multiplier, name="mul_fold"))
        if correction is not None:
            folded = multiply(correction.reciprocal, folded, name="post_conv_mul")
            folded = add(folded, correction.offset, name="correction_add")
        folded = add(folded, bias, name="add_fold")
    reroute(norm.output, folded, norm.output.consumers())


def _layer_with(norm: _Norm, weights: Tensor) -> Tensor:
    """The layer again, with other weights."""
    layer, schema = norm.layer, norm.layer.spec.schema
    attrs = {attr.name: layer.attr(attr.name) for attr in schema.attrs if attr.name != "T"}
    name = f"{layer.name.rpartition('/')[2]}_Fold"
    found = emit(layer.type, layer.inputs[0], weights, name=name, **attrs)
    if norm.spaced is None:
        return found
    _, block, crops = norm.spaced.inputs
    return batch_to_space_nd(found, block, crops, name=f"{norm.spaced.name.rpartition('/')[2]}_Fold")


# ---------------------------------------------------------------------------------------------------- In training


@dataclass(frozen=True)
class _Correction:
    """What weights are scaled by besides, and how what comes out is scaled and moved for it."""

    scale: Tensor
    reciprocal: Tensor
    offset: Tensor


def _corrections(graph: Graph, norm: _Norm, freeze_delay: int | None) -> _Correction:
    mean, variance = (_average_of(norm, number) for number in (1, 2))
    with name_scope("batch_norm_correction"):
        moving = rsqrt(variance.value + norm.epsilon)
        own = rsqrt(norm.variance + norm.epsilon)
        scale = identity(divide(moving, own, name="scale_compute"), name="correction_scale")
        inverse = reciprocal(scale, name="reciprocal_compute")
        offset = multiply(norm.gamma, norm.mean * own - mean.value * moving, name="offset_compute")
        if freeze_delay is None:
            return _Correction(scale, inverse, zeros(offset.get_shape()))
        is_frozen = greater_equal(quantization_step(graph), freeze_delay, name="use_moving_average")
        for average, name in ((mean, "freeze_moving_mean"), (variance, "freeze_moving_var")):
            decay = average.decay
            stopped: Tensor = cond(is_frozen, lambda: 0.0, lambda decay=decay: decay, name=name)  # type: ignore[misc]
            reroute(decay, stopped, [average.step])
        recip: Tensor = cond(is_frozen, lambda: ones(scale.get_shape()), lambda: inverse, name="correction_recip")
        moved: Tensor = cond(is_frozen, lambda: offset, lambda: zeros(offset.get_shape()), name="correction_offset")
        return _Correction(scale, recip, moved)


def _average_of(norm: _Norm, number: int) -> _Average:
    """The moving average of a statistic of batches, an output of the normalization."""
    statistic = norm.norm.outputs[number]
    for difference in statistic.consumers():
        if difference.type == "Sub" and difference.inputs[1] is statistic:
            for product in difference.outputs[0].consumers():
                if product.type == "Mul" and product.inputs[0] is difference.outputs[0]:
                    return _Average(difference.inputs[0], product)
    what = "mean" if number == 1 else "variance"
    raise InvalidArgumentError(
        f'the moving {what} of "{norm.norm.name}" is not found, which a graph for training needs: make the '
        "normalization with is_training=True, and with moving averages; graphs that are only used go to "
        "create_eval_graph"
    )


def _gradient(op: Operation, _: Tensor, grad_mean: Tensor, grad_variance: Tensor, *__: Tensor) -> list[Tensor | None]:
    """The gradient of the mean and the variance of a batch, which the op itself does not give."""
    inputs = op.inputs[0]
    count = cast(size(inputs) / size(grad_mean), _FLOAT)
    by_variance = 2 * grad_variance * (inputs - op.outputs[1]) / (count - 1)
    return [grad_mean / count + by_variance, None, None, None, None]
