"""A graph exported whole: checked, run by ONNX Runtime, and compared with our session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.onnx.models import TranslateOptions, translate_graph
from tensorkeep.runtime.session import Session
from tests.onnx.walking import OPSETS, from_onnx, to_onnx
from tests.ops.walking import assert_close


@dataclass(frozen=True)
class Exported:
    """An exported graph."""

    proto: onnx.ModelProto
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]

    @property
    def ops(self) -> Counter[str]:
        """How many nodes there are of each op, those of branches and loops among them."""
        return Counter(node.op_type for node in _nodes(self.proto.graph))

    def assert_equal(self, feeds: Mapping[Tensor, Any], session: Session, tolerance: float | None = None) -> None:
        """Asserts that ONNX Runtime computes from the file what our session computes from the graph."""
        options = ort.SessionOptions()
        options.log_severity_level = 4
        run = ort.InferenceSession(self.proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        taken = {item.name for item in run.get_inputs()}
        given = {
            name: np.asarray(to_onnx(feeds[tensor], tensor.dtype))
            for name, tensor in self.inputs.items()
            if name in taken
        }
        theirs = run.run(list(self.outputs), given)
        ours = session.run(list(self.outputs.values()), dict(feeds))
        for (name, tensor), mine, other in zip(self.outputs.items(), ours, theirs, strict=True):
            assert_close(from_onnx(other, tensor.dtype), mine, tensor.dtype, tolerance, f"{name}, {tensor.name}")


def _nodes(graph: onnx.GraphProto) -> Iterable[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attr in node.attribute:
            if attr.type == onnx.AttributeProto.GRAPH:
                yield from _nodes(attr.g)


def exported(
    outputs: Sequence[Tensor],
    inputs: Iterable[Tensor],
    opset: int = OPSETS[-1],
    resource_of: Callable[[Operation], object] = lambda op: None,
    *,
    is_for_engine: bool = False,
) -> Exported:
    """A graph exported and checked."""
    taken = {tensor.op.name: tensor for tensor in inputs}
    given = {f"result_{number}": tensor for number, tensor in enumerate(outputs)}
    options = TranslateOptions(opset, is_for_engine=is_for_engine)
    proto = translate_graph(taken, given, resource_of, options).proto()
    onnx.checker.check_model(proto, full_check=True)
    return Exported(proto, taken, given)


def assert_exports(
    outputs: Sequence[Tensor],
    feeds: Sequence[Mapping[Tensor, Any]],
    opsets: Sequence[int] = OPSETS,
    session: Any = None,
) -> Exported:
    """Exports a graph for several versions of ONNX, and compares each with our session. Gives the newest."""
    session = session or Session(outputs[0].graph)
    made = [exported(outputs, feeds[0], opset, session_resources(session)) for opset in opsets]
    for found in made:
        for given in feeds:
            found.assert_equal(given, session)
    return made[-1]


def session_resources(session: Session) -> Callable[[Operation], object]:
    """What operations of a session's graph lead to: its variables."""

    def resource_of(op: Operation) -> object:
        if op.type not in ("VarHandleOp", "VariableV2"):
            return None
        name = (op.attr("shared_name") or op.name.encode()).decode()
        return session.resources.find(op.attr("container").decode(), name)

    return resource_of
