"""Which weights and activations are quantized: those of the layers that patterns find in a graph.

    weights -> layer -> [correction] -> [bias] -> [bypass] -> activation -> [bypass after it]

Of a layer the weights are quantized (`weights_quant`) and what it comes to (`act_quant`); where it goes around other
layers, what comes to the sum (`conv_quant`) and the sum (`add_quant`, `post_activation_bypass_quant`). After these,
sums and products of what is quantized are (`activation_Mul_quant`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.tf1.contrib.quantize.matching import ANY, Match, Pattern, matches, of, one_of, reroute
from tensorkeep.tf1.contrib.quantize.ranges import Rounding, quantization_step, rounded_tensor
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.numbers.elementwise import greater_equal

LOG: Final = logging.getLogger("tensorkeep")

LAYERS: Final = "Conv2D DepthwiseConv2dNative MatMul"
_SUMS: Final = "Add AddV2"
_RECTIFIERS: Final = frozenset(("Relu", "Relu6"))
_ACTIVATIONS: Final = _RECTIFIERS | {"Identity"}
_SUMS_AND_PRODUCTS: Final = frozenset(("Add", "AddV2", "Mul"))
_NORMALIZATIONS: Final = frozenset(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"))
_ROUNDINGS: Final = frozenset(
    ("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
)
_HANDED_ON: Final = frozenset(("BatchToSpaceND", "Identity", "Max", "MaxPool", "Reshape", "SpaceToBatchND"))

_VARIABLE: Final = of("Variable VariableV2")
_PART: Final = of("Identity", _VARIABLE)
_READ: Final = of("Identity", one_of(_PART, of("ConcatV2", _PART, ANY, ANY), _VARIABLE))
_RESOURCE_READ: Final = of("ReadVariableOp")
_FOLDED_WEIGHTS: Final = of("Mul")
_LAYER: Final = of(LAYERS, ANY, one_of(_READ, _RESOURCE_READ, _FOLDED_WEIGHTS), in_any_order=True)
_OUTPUT: Final = one_of(of("BatchToSpaceND", _LAYER, ANY, ANY), _LAYER)
_SEPARABLE: Final = of(LAYERS, _OUTPUT, ANY, in_any_order=True)
_CORRECTED: Final = of(_SUMS, of("Mul", ANY, _OUTPUT, in_any_order=True), ANY, in_any_order=True)
_FOLDED_BIAS: Final = of(_SUMS, _CORRECTED, ANY, in_any_order=True)
_UPDATED: Final = of("Identity", _FOLDED_BIAS)  # after a normalization that waits for its averages to move
_BIAS: Final = of(f"{_SUMS} BiasAdd", _OUTPUT, ANY, in_any_order=True)
_BYPASS: Final = of(_SUMS, one_of(_BIAS, _FOLDED_BIAS, _UPDATED), ANY, in_any_order=True)
_ACTIVATION: Final = of(" ".join(sorted(_ACTIVATIONS)), one_of(_BIAS, _FOLDED_BIAS, _UPDATED, _BYPASS, _LAYER))
_LATE_BYPASS: Final = of(_SUMS, ANY, _ACTIVATION, in_any_order=True)


@dataclass(frozen=True)
class Layer:
    """The operations of a layer; None for those that it has not."""

    layer: Operation
    weights: Tensor | None
    activation: Operation
    bias: Operation | None = None
    bypass: Operation | None = None
    late_bypass: Operation | None = None


def find_layers(graph: Graph) -> list[Layer]:
    """The layers of a graph, each once, in the order in which they are quantized: the longest patterns go first."""
    found: dict[Operation, Layer] = {}
    for one in matches(_LATE_BYPASS, graph):
        found.setdefault(one[_LAYER], _whole_layer(one))
    for one in matches(_ACTIVATION, graph):
        if one[_LAYER] not in found and not _feeds_normalization(one[_ACTIVATION]):
            found[one[_LAYER]] = _whole_layer(one)
    for one in matches(one_of(_BIAS, _FOLDED_BIAS), graph):  # the last layer may have no activation
        last = one.get(_BIAS) or one[_FOLDED_BIAS]
        found.setdefault(one[_LAYER], Layer(one[_LAYER], _weights(one), last))
    for one in matches(_SEPARABLE, graph):  # nothing is between the two parts of a separable convolution
        found.setdefault(one[_LAYER], Layer(one[_LAYER], _weights(one, _READ, _RESOURCE_READ), one[_LAYER]))
    return list(found.values())


def _whole_layer(found: Match) -> Layer:
    return Layer(
        found[_LAYER],
        _weights(found),
        found[_ACTIVATION],
        found.get(_BIAS) or found.get(_FOLDED_BIAS),
        found.get(_BYPASS),
        found.get(_LATE_BYPASS),
    )


def _weights(found: Match, *kinds: Pattern) -> Tensor | None:
    ops = (found.get(kind) for kind in kinds or (_READ, _RESOURCE_READ, _FOLDED_WEIGHTS))
    return next((op.outputs[0] for op in ops if op is not None), None)


def _feeds_normalization(op: Operation) -> bool:
    """Whether it stands between a layer and the statistics that its normalization takes, which are not quantized."""
    consumers = op.outputs[0].consumers()
    return op.type == "Identity" and len(consumers) == 1 and consumers[0].type in _NORMALIZATIONS


# ---------------------------------------------------------------------------------------------------- Inserting


@dataclass(frozen=True)
class Quantization:
    """How a graph is quantized: to how many bits, after how many runs, and within which scope of names."""

    is_training: bool
    weight_bits: int = 8
    activation_bits: int = 8
    is_symmetric: bool = False
    delay: int | None = None
    scope: str = ""


def quantize(graph: Graph, how: Quantization) -> None:
    """Rounds weights and activations of the layers of a graph, in place."""
    _Quantizer(graph, how).quantize()


class _Quantizer:
    def __init__(self, graph: Graph, how: Quantization) -> None:
        self._graph = graph
        self._how = how
        self._done: set[Operation] = set()
        self._consumers = _consumers(graph)
        self._weights = Rounding(how.weight_bits, is_averaged=False, is_narrow=True, is_symmetric=how.is_symmetric)
        self._sums = Rounding(how.activation_bits, is_symmetric=how.is_symmetric)

    def quantize(self) -> None:
        for layer in find_layers(self._graph):
            self._quantize_layer(layer)
        self._consumers = _consumers(self._graph)
        for op in list(self._graph.get_operations()):
            if self._is_of_rounded(op):
                LOG.info("quantizing what %s gives, for it takes what is quantized", op.name)
                plain = replace(self._sums, is_symmetric=False)
                self._insert(f"{op.name}/activation_{op.type}_quant", op, plain, asks_producer=True)

    def _quantize_layer(self, layer: Layer) -> None:
        context = _scope_of(layer.layer.name)
        around = _scope_of(context)
        if layer.weights is not None:
            self._insert(_below(context, "weights_quant"), layer.weights.op, self._weights, asks_consumers=True)
        outer = context if layer.bypass is None else around
        activation = replace(self._sums, first_min=0.0)
        self._insert(_below(outer, "act_quant"), layer.activation, activation, asks_producer=True)
        self._done.add(layer.activation)
        if layer.bypass is not None:
            assert layer.bias is not None
            self._insert(_below(context, "conv_quant"), layer.bias, self._sums, asks_producer=True, asks_consumers=True)
            self._done.add(layer.bias)
            self._quantize_sum(layer.bypass, _below(outer, "add_quant"), _ACTIVATIONS, asks_consumers=True)
        if layer.late_bypass is not None:
            name = _below(_scope_of(layer.late_bypass.name), "post_activation_bypass_quant")
            self._quantize_sum(layer.late_bypass, name, _RECTIFIERS, asks_consumers=False)

    def _quantize_sum(self, op: Operation, name: str, skipped: Iterable[str], asks_consumers: bool) -> None:
        """Quantizes a sum, unless an activation follows, with which it will be one."""
        if any(consumer.type in skipped for consumer in self._consumers.get(op, ())):
            LOG.info("%s is not quantized, for an activation follows", op.name)
            return
        self._insert(name, op, self._sums, asks_producer=True, asks_consumers=asks_consumers)
        self._done.add(op)

    def _insert(
        self,
        name: str,
        producer: Operation,
        rounding: Rounding,
        asks_producer: bool = False,
        asks_consumers: bool = False,
    ) -> None:
        """Rounds what an operation gives, for all that took it before the rewriting began.

        Of operations outside of the scope nothing is rounded, if the scope of the producer or of the consumers is asked
        for; nor is what is rounded already.
        """
        consumers = self._consumers.get(producer, [])
        asked = [producer] * asks_producer + consumers * asks_consumers
        if not all(op.name.startswith(self._how.scope) for op in asked):
            LOG.info("%s is not quantized: it is not, or not all of its consumers are, in the scope", producer.name)
            return
        inputs = producer.outputs[0]
        if _is_rounded(inputs):
            return
        current = self._graph.scopes.name
        name = name.removeprefix(f"{current}/") if current else name
        result = rounded_tensor(inputs, name, rounding, self._how.is_training)
        if self._how.delay is not None and self._how.delay > 0:
            is_time = greater_equal(quantization_step(self._graph), self._how.delay, name=f"{name}/activate_quant")
            late: Tensor = cond(is_time, lambda: result, lambda: inputs, name=f"{name}/delayed_quant")
            result = late
        if reroute(inputs, result, consumers) < len(consumers):
            names = ", ".join(op.name for op in consumers)
            raise InvalidArgumentError(f"No inputs quantized for ops: [{names}] of {inputs.name}")

    def _is_of_rounded(self, op: Operation) -> bool:
        """Whether an operation is a sum or a product of what is rounded, which no activation follows."""
        if op in self._done or op.type not in _SUMS_AND_PRODUCTS:
            return False
        consumers = op.outputs[0].consumers()
        if len(consumers) == 1 and consumers[0].type in _RECTIFIERS:
            return False
        for tensor in op.inputs:
            source = tensor.op
            while source.type in _HANDED_ON:
                source = source.inputs[0].op
            if source.type == "FakeQuantWithMinMaxVars" or source.name.endswith("delayed_quant/Merge"):
                return True
            if source.type in _SUMS_AND_PRODUCTS and any(self._is_of_rounded(one.op) for one in source.inputs):
                return True
        return False


def _consumers(graph: Graph) -> dict[Operation, list[Operation]]:
    """What takes something that an operation gives, as it is now."""
    found: dict[Operation, dict[Operation, None]] = {}
    for op in graph.get_operations():
        for tensor in op.inputs:
            found.setdefault(tensor.op, {})[op] = None
    return {op: list(consumers) for op, consumers in found.items()}


def _is_rounded(tensor: Tensor) -> bool:
    pending = tensor.consumers()
    while pending:
        op = pending.pop()
        if op.type in _ROUNDINGS:
            return True
        if op.type in ("Identity", "Reshape"):
            pending.extend(op.outputs[0].consumers())
    return False


def _scope_of(name: str) -> str:
    return name.rpartition("/")[0]


def _below(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name
