"""The functions of `tf.contrib.quantize`, which rewrite a graph in place before gradients are added to it."""

from __future__ import annotations

import re
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.contrib.quantize.folding import fold_batch_norms
from tensorkeep.tf1.contrib.quantize.layers import Quantization, quantize

_TRAINING_OPS: Final = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]")


def create_training_graph(input_graph: Graph | None = None, quant_delay: int | None = 0) -> None:
    """Rewrites a graph so that it trains as it will compute with eight bits, from run `quant_delay` on.

    The ranges of weights and activations become variables, and are learned. Gradients are to be added afterwards.
    """
    _rewrite(input_graph, Quantization(is_training=True, delay=quant_delay))


def create_eval_graph(input_graph: Graph | None = None) -> None:
    """Rewrites a graph so that it computes with eight bits, in ranges that are restored from a checkpoint."""
    _rewrite(input_graph, Quantization(is_training=False))


def experimental_create_training_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """As `create_training_graph`, with other bits, with ranges of equal sides, or of operations of one scope only.

    After `freeze_bn_delay` runs batches are normalized by moving averages, which then stay.
    """
    how = Quantization(True, weight_bits, activation_bits, symmetric, quant_delay, _prefix(scope))
    _rewrite(input_graph, how, freeze_bn_delay)


def experimental_create_eval_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """As `create_eval_graph`, with other bits, or of operations of one scope only."""
    _rewrite(input_graph, Quantization(False, weight_bits, activation_bits, symmetric, quant_delay, _prefix(scope)))


def _prefix(scope: str | None) -> str:
    return "" if not scope else f"{scope.removesuffix('/')}/"


def _rewrite(input_graph: Graph | None, how: Quantization, freeze_delay: int | None = None) -> None:
    graph = current_graph() if input_graph is None else input_graph
    graph.check_not_finalized()
    found = sorted({op.type for op in graph.get_operations() if _TRAINING_OPS.match(op.type)})
    if found:
        raise InvalidArgumentError(
            f"Training op found in graph, exiting {found}: rewrite the graph before gradients and optimizers are added"
        )
    for what, bits in (("weight_bits", how.weight_bits), ("activation_bits", how.activation_bits)):
        if not 2 <= bits <= 16:
            raise InvalidArgumentError(f"{what} are 2 to 16, got {bits}")
    with building(graph):
        fold_batch_norms(graph, how.is_training, freeze_delay)
        quantize(graph, how)
