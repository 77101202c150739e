"""What was exported, and what became of each operation: as a value, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tensorkeep.io.showing.amounts import amount_of, size_text


@dataclass(frozen=True)
class ExportedNode:
    """What one operation became."""

    node: str
    op: str
    became: str


@dataclass(frozen=True)
class OutputDifference:
    """How far an output of the file was from ours, at most, over all inputs that were tried."""

    output: str
    absolute: float
    relative: float
    """The largest difference over the largest magnitude of the output."""
    is_equal: bool
    """Whether every element was the same."""


@dataclass(frozen=True)
class Verification:
    """What came of running the file beside our engine."""

    runs: int
    shapes: Sequence[Mapping[str, tuple[int, ...]]]
    """The shapes of the inputs of each run."""
    outputs: Sequence[OutputDifference]
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class OnnxExport:
    """What an export has written, or would have."""

    source: str
    target: str
    signature: str
    opset: int
    files: Sequence[str]
    nbytes: int
    inputs: Mapping[str, str]
    """Types and shapes by name, as text."""
    outputs: Mapping[str, str]
    node_counts: Mapping[str, int]
    """How many nodes of each kind the file has."""
    nodes: Sequence[ExportedNode] = ()
    dropped: Sequence[ExportedNode] = ()
    """Operations that check, print or keep something, which the file does not do."""
    verification: Verification | None = None
    remarks: Sequence[str] = ()
    is_dry_run: bool = False
    parts: Mapping[str, str] = field(default_factory=dict)
    """SavedModels of what stays before ("before") and after ("after") the file, if it was split."""

    def __str__(self) -> str:
        verb = "would be exported" if self.is_dry_run else "was exported"
        verified = ", verified" if self.verification is not None else ""
        count = amount_of(sum(self.node_counts.values()), "node")
        amounts = f"opset {self.opset}, {count}, {size_text(self.nbytes)}"
        return f'"{self.source}" {verb} to "{self.target}": {amounts}{verified}'

    def report(self) -> str:
        """What became of each operation, a line each, after what goes in and comes out."""
        lines = [str(self), ""]
        lines += [f"input   {name}: {spec}" for name, spec in self.inputs.items()]
        lines += [f"output  {name}: {spec}" for name, spec in self.outputs.items()]
        lines += [f"remark  {text}" for text in self.remarks]
        if self.verification is not None:
            lines += ["", f"verified in {amount_of(self.verification.runs, 'run')}"]
            lines += [f"  {_difference_text(item)}" for item in self.verification.outputs]
            lines += [f"  {text}" for text in self.verification.remarks]
        lines += ["", "nodes of the file"]
        lines += [f"  {count:>6}  {op}" for op, count in sorted(self.node_counts.items())]
        lines += ["", "operations of the graph"]
        lines += [f"  {item.node} ({item.op}): {item.became}" for item in self.nodes]
        if self.dropped:
            lines += ["", "operations that the file does without"]
            lines += [f"  {item.node} ({item.op})" for item in self.dropped]
        return "\n".join(lines) + "\n"

    def data(self) -> dict[str, Any]:
        """The same as plain lists and dicts."""
        return {
            "source": self.source,
            "target": self.target,
            "signature": self.signature,
            "opset": self.opset,
            "files": list(self.files),
            "bytes": self.nbytes,
            "is_dry_run": self.is_dry_run,
            "inputs": dict(self.inputs),
            "outputs": dict(self.outputs),
            "node_counts": dict(sorted(self.node_counts.items())),
            "verification": _verification_data(self.verification),
            "remarks": list(self.remarks),
            "parts": dict(self.parts),
            "nodes": [asdict(item) for item in self.nodes],
            "dropped": [asdict(item) for item in self.dropped],
        }

    def report_json(self) -> str:
        """The same as one document of JSON."""
        return json.dumps(self.data(), indent=1) + "\n"


def _difference_text(item: OutputDifference) -> str:
    if item.is_equal:
        return f"{item.output}: equal"
    return f"{item.output}: differs by at most {item.absolute:.3g}, {item.relative:.3g} of its largest value"


def _verification_data(found: Verification | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "runs": found.runs,
        "shapes": [{name: list(shape) for name, shape in shapes.items()} for shapes in found.shapes],
        "outputs": [asdict(item) for item in found.outputs],
        "remarks": list(found.remarks),
    }
