"""Models as text for readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tensorkeep.io.showing.amounts import amount_of
from tensorkeep.runtime.partitions.engines import Split, types_in
from tensorkeep.saved_model.load.restored_functions import RestoredFunction
from tensorkeep.saved_model.load.signature import Signature, Spec
from tensorkeep.saved_model.load.tensor_values import TensorSpec

_MOST_KINDS = 8  # of operations of a part
_MOST_LISTED = 200  # variables


@dataclass(frozen=True)
class ModelDescription:
    """What there is to tell of a model."""

    directory: str
    tags: frozenset[str]
    tag_sets: Sequence[frozenset[str]]
    tensorflow_version: str
    signatures: Mapping[str, Signature]
    functions: Mapping[str, RestoredFunction]
    variables: Mapping[str, TensorSpec]
    assets: Sequence[str]
    splits: Sequence[tuple[str, Split]] | None = None
    """Which parts an engine runs of what has been compiled: graphs ("") and functions by name."""


def describe_model(model: ModelDescription) -> str:
    """The text: signatures, functions, variables, assets."""
    version = f", in the format of TensorFlow {model.tensorflow_version}" if model.tensorflow_version else ""
    lines = [f'SavedModel "{model.directory}", tags {_tags(model.tags)}{version}']
    if len(model.tag_sets) > 1:
        lines.append(f"Tag sets: {', '.join(sorted(map(_tags, model.tag_sets)))}")
    for name, signature in model.signatures.items():
        lines += ["", f"Signature {name} ({signature.method_name or 'no method'})"]
        optional = set(signature.defaults)
        lines += _table(
            "takes", {f"{key}{' (optional)' * (key in optional)}": s for key, s in signature.inputs.items()}
        )
        lines += _table("gives", signature.outputs)
    if model.functions:
        lines += ["", "Functions"]
        for path, function in model.functions.items():
            lines += [f"  {path}{trace}" for trace in function.traces] or [f"  {path}: never called, cannot be run"]
    lines += _variables(model.variables)
    if model.assets:
        lines += ["", "Assets", *(f"  {name}" for name in model.assets)]
    if model.splits is not None:
        lines += _engine(model.splits)
    return "\n".join(lines) + "\n"


def _engine(splits: Sequence[tuple[str, Split]]) -> list[str]:
    """Which operations run where, and why some stay."""
    lines = ["", "Engine"]
    for name, split in splits:
        parts = [sum(map(types_in, part.ops), Counter[str]()) for part in split.parts]
        there = sum(counts.total() for counts in parts)
        all_ = there + len(split.kept)
        where = f"function {name}" if name and name[0] != "(" else "graph"
        lines.append(f"  {where}: ONNX Runtime runs {there} of {all_} operations, in {amount_of(len(parts), 'part')}")
        for part, counts in zip(split.parts, parts, strict=True):
            listed = ", ".join(f"{count} {kind}" for kind, count in counts.most_common(_MOST_KINDS))
            more = f" and {len(counts) - _MOST_KINDS} other ops" if len(counts) > _MOST_KINDS else ""
            ends = f"{amount_of(len(part.inputs), 'input')}, {amount_of(len(part.outputs), 'output')}"
            lines.append(f"    there  {listed}{more} ({ends})")
        reasons: dict[tuple[str, str], int] = {}
        for kept in split.kept:
            reasons[kept.op.type, kept.reason] = reasons.get((kept.op.type, kept.reason), 0) + 1
        lines += [f"    here   {count} {kind}: {reason}" for (kind, reason), count in reasons.items()]
    return lines


def _tags(tags: frozenset[str]) -> str:
    return "{" + ", ".join(sorted(tags)) + "}"


def _table(title: str, specs: Mapping[str, Spec]) -> list[str]:
    width = max(map(len, specs), default=0)
    lines = [f"{name:<{width}}  {spec}" for name, spec in specs.items()] or ["nothing"]
    return [f"  {title if i == 0 else '':<5}  {line}" for i, line in enumerate(lines)]


def _variables(variables: Mapping[str, TensorSpec]) -> list[str]:
    if not variables:
        return []
    values = sum(spec.shape.element_count() or 0 for spec in variables.values())
    width = max(map(len, variables))
    listed = [f"  {path:<{width}}  {spec}" for path, spec in list(variables.items())[:_MOST_LISTED]]
    if len(variables) > _MOST_LISTED:
        listed.append(f"  and {len(variables) - _MOST_LISTED} more")
    return ["", f"Variables: {len(variables)} of {values:,} values", *listed]
