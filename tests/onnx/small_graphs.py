"""Small graphs, exported and run beside our own kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from tensorkeep.dtypes import dtype_of_array
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.onnx.models import NEWEST_OPSET, Translated, TranslateOptions, translate_graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant

Feeds = Mapping[str, Any]


class Exported:
    """A graph and the ONNX model that it became."""

    def __init__(
        self,
        build: Callable[..., Tensor | Sequence[Tensor]],
        feeds: Feeds,
        shapes: Mapping[str, Sequence[int | None]] | None = None,
        opset: int = min(24, NEWEST_OPSET),
        folds: bool = True,
        is_for_processor: bool = False,
    ) -> None:
        """`build` makes the graph from placeholders for the feeds, whose shapes are those of the arrays if not said."""
        self.graph, self.feeds = Graph(), feeds
        with building(self.graph):
            self.inputs = {
                name: placeholder(
                    dtype=dtype_of_array(array.dtype), shape=(shapes or {}).get(name, array.shape), name=name
                )
                for name, array in feeds.items()
            }
            made = build(**self.inputs)
        self.outputs = [made] if isinstance(made, Tensor) else list(made)
        names = {f"y{number}": tensor for number, tensor in enumerate(self.outputs)}
        self.translated: Translated = translate_graph(
            self.inputs, names, lambda op: None, TranslateOptions(opset, folds=folds, is_for_processor=is_for_processor)
        )

    @property
    def counts(self) -> Counter[str]:
        """How many nodes of each kind the model has."""
        return Counter(node.op_type for node in self.translated.model.graph)

    @property
    def order(self) -> list[str]:
        """The kinds of all nodes, in their order."""
        return [node.op_type for node in self.translated.model.graph]

    def run(self, feeds: Feeds | None = None) -> list[Any]:
        """What ONNX Runtime computes, after the checker has seen the model."""
        proto = self.translated.proto()
        onnx.checker.check_model(proto, full_check=True)
        options = ort.SessionOptions()
        options.log_severity_level = 4
        session = ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        found: list[Any] = session.run(None, dict(feeds or self.feeds))
        return found

    def kernels(self, feeds: Feeds | None = None) -> list[Any]:
        """What our kernels compute."""
        given = {self.inputs[name]: array for name, array in (feeds or self.feeds).items()}
        found: list[Any] = Session(self.graph).run(self.outputs, given)
        return found

    def assert_equal(self, feeds: Feeds | None = None, tolerance: float = 2e-5) -> None:
        for theirs, ours in zip(self.run(feeds), self.kernels(feeds), strict=True):
            np.testing.assert_allclose(theirs, ours, rtol=tolerance, atol=tolerance)


def emit(op: str, /, *inputs: Any, **attrs: Any) -> Any:
    """An operation; inputs that are arrays are constants."""
    return get_op(op)(*map(_as_constants, inputs), **attrs)


def _as_constants(item: Any) -> Any:
    if isinstance(item, list):
        return [_as_constants(part) for part in item]
    return constant(item) if isinstance(item, np.ndarray | np.generic) else item


def numbers(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def ints(values: Any) -> Any:
    """Numbers as an array of int32, as sizes and axes are."""
    return np.array(values, np.int32)


def floats(values: Any) -> Any:
    return np.array(values, np.float32)
