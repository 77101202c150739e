"""`tensorkeep convert` to ONNX: its arguments, and what is said of an export."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from posixpath import normpath
from typing import TYPE_CHECKING, Any, Final

from tensorkeep._lazy import later
from tensorkeep.cli.changing.checkpoint_changes import pairs_of
from tensorkeep.cli.command import DONE, Parser
from tensorkeep.cli.files import require_free, require_writable, write_text
from tensorkeep.cli.output import Column, Output, amount_of, shown_value, size_text
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.showing.amounts import some_of

if TYPE_CHECKING:
    from tensorkeep.convert.onnx import exporting, options
    from tensorkeep.convert.onnx.reports import OnnxExport
else:  # it takes all of the operations
    exporting = later("tensorkeep.convert.onnx.exporting")
    options = later("tensorkeep.convert.onnx.options")

_ONLY_HERE: Final = {
    "signature": "--signature", "function": "--function", "tags": "--tag_set", "checkpoint": "--checkpoint",
    "inputs": "--inputs", "opset": "--opset", "shape": "--shape", "axis": "--axis",
    "channels_first": "--channels-first",
    "external_data": "--external-data", "no_fold": "--no-fold", "custom_op": "--custom-op", "split": "--split",
    "metadata": "--metadata", "verify": "--verify", "verify_inputs": "--verify-inputs", "allow": "--allow",
    "report": "--report",
}  # fmt: skip
_NOT_HERE: Final = {
    "preset": "--preset", "map": "--map", "dtype": "--dtype", "allow_loss": "--allow-loss", "match": "--match",
    "regex": "--regex", "exclude": "--exclude", "prove": "--prove", "max_shard_size": "--max-shard-size", "ev": "--ev",
    "run_initializers": "--run-initializers",
}  # fmt: skip
_NODES: Final = (
    Column("operation", is_name=True),
    Column("op", "cyan"),
    Column("became", is_prose=True),
)


def add_onnx(parser: Parser) -> None:
    """Adds the arguments that only exporting to ONNX has."""
    for names, keywords in (
        (("--signature",), {"metavar": "KEY", "help": "to ONNX: the signature; serving_default, or the only one"}),
        (("--function",), {"metavar": "NAME", "help": "to ONNX: a function of the model in place of a signature"}),
        (
            ("--tag_set",),
            {"dest": "tags", "metavar": "TAGS", "help": "to ONNX: the tags of the meta graph, with commas"},
        ),
        (("--checkpoint",), {"metavar": "PREFIX", "help": "to ONNX: the variables of a .meta or .pb file"}),
        (("--inputs",), {"metavar": "NAME,...", "help": "to ONNX: what goes in, any tensors: x,ids=embed/ids:0"}),
        (("--opset",), {"metavar": "N", "type": int, "help": "to ONNX: 13 to the newest; what ONNX Runtime runs"}),
        (("--shape",), _several("NAME=SIZES", "to ONNX: the shape of an input, x=1,224,224,3; ? for any size")),
        (("--axis",), _several("NAME=NAMES", "to ONNX: names of an input's axes of any size: x=batch,length")),
        (("--channels-first",), _several("NAME", "to ONNX: an input whose channels come before height and width")),
        (("--external-data",), {"action": "store_true", "help": "to ONNX: weights in TARGET.data"}),
        (("--fold",), {"action": "store_true", "help": "to ONNX: compute now what is known now, as by default"}),
        (("--no-fold",), {"action": "store_true", "help": "to ONNX: an operation stays what it is"}),
        (("--custom-op",), _several("OP=DOMAIN", "to ONNX: an op that stays a node, for others to run")),
        (("--split",), {"action": "store_true", "help": "to ONNX: what it cannot do stays SavedModels beside TARGET"}),
        (("--metadata",), _several("KEY=TEXT", "to ONNX: what else the file says of itself")),
        (
            ("--verify",),
            {"action": "store_true", "help": "to ONNX: run the file and compare; leave none that is wrong"},
        ),
        (("--verify-inputs",), {"metavar": "FILE", "help": "to ONNX: the same, on the arrays of an .npz file"}),
        (("--allow",), {"metavar": "NAMES", "help": "to ONNX: what the model may do besides computing: prints"}),
        (("--report",), {"metavar": "FILE", "help": "to ONNX: write what became of each operation; .json for JSON"}),
    ):
        parser.add_argument(*names, **keywords)


def _several(metavar: str, text: str) -> dict[str, Any]:
    return {"metavar": metavar, "action": "append", "default": [], "help": text}


def refuse_onnx_arguments(given: Namespace) -> None:
    """InvalidArgumentError if something is asked for that only exporting to ONNX has."""
    if asked := [flag for name, flag in _ONLY_HERE.items() if getattr(given, name)]:
        raise InvalidArgumentError(f"{', '.join(asked)} is for exporting to ONNX: the target ends in .onnx then")


def run_onnx(given: Namespace, output: Output) -> int:
    """Exports a model, and says what came of it."""
    if asked := [flag for name, flag in _NOT_HERE.items() if getattr(given, name)]:
        raise InvalidArgumentError(f"ONNX is made of a model as it is: {', '.join(asked)} cannot be used")
    if given.fold and given.no_fold:
        raise InvalidArgumentError("--fold and --no-fold are both given")
    for flag in ("inputs", "outputs"):
        if getattr(given, flag) and not _names(getattr(given, flag)):
            raise InvalidArgumentError(f"--{flag} names nothing: leave it out, or name what goes in or comes out")
    if given.report is not None:
        if normpath(given.report) in (normpath(given.target), normpath(f"{given.target}.data")):
            raise InvalidArgumentError(f"--report {given.report}: the model is written there; name another file")
        require_free(given.report, given.force)
        require_writable(given.report)
    source = given.source if given.graph is None else given.graph
    done = exporting.export_onnx(source, given.target, _options(given))
    if given.report is not None and not given.dry_run:
        text = done.report_json() if given.report.lower().endswith(".json") else done.report()
        write_text(given.report, text, overwrite=given.force)
    if output.is_json:
        output.data("convert.onnx/1", done.data())
        return DONE
    _print(done, given, output)
    return DONE


def _options(given: Namespace) -> options.OnnxOptions:
    checkpoint = given.checkpoint
    if given.graph is not None and checkpoint is None:
        checkpoint = given.source
    return options.OnnxOptions(
        signature=given.signature,
        function=given.function,
        tags=_names(given.tags) or None,
        checkpoint=checkpoint,
        inputs=_names(given.inputs) or None,
        outputs=_names(given.outputs) or None,
        opset=given.opset,
        shapes={name: _sizes(name, text) for name, text in pairs_of(given.shape, "--shape", "NAME=SIZES").items()},
        axes={name: _axes(text) for name, text in pairs_of(given.axis, "--axis", "NAME=NAMES").items()},
        channels_first=tuple(given.channels_first),
        external_data=True if given.external_data else None,
        folds=not given.no_fold,
        custom_ops=pairs_of(given.custom_op, "--custom-op", "OP=DOMAIN"),
        split=given.split,
        metadata=pairs_of(given.metadata, "--metadata", "KEY=TEXT"),
        verify=given.verify or given.verify_inputs is not None,
        verify_inputs=given.verify_inputs,
        allow=_names(given.allow),
        overwrite=given.force,
        dry_run=given.dry_run or given.explain,
    )


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _sizes(name: str, text: str) -> Sequence[int | None]:
    """Sizes of axes with commas between them; a scalar has none: []."""
    items = [] if text.strip() == "[]" else [item.strip() for item in text.split(",")]
    try:
        return [None if item in ("?", "-1", "None") else int(item) for item in items]
    except ValueError:
        raise InvalidArgumentError(f"--shape {name}={text}: expected sizes with commas, such as 1,224,224,3") from None


def _axes(text: str) -> Mapping[int, str]:
    """Names of axes in their order; none between two commas, or _, for an axis without."""
    return {at: item.strip() for at, item in enumerate(text.split(",")) if item.strip() not in ("", "_")}


def _print(done: OnnxExport, given: Namespace, output: Output) -> None:
    if given.explain:
        output.table(_NODES, [(item.node, item.op, item.became) for item in done.nodes])
    verb = "would write" if done.is_dry_run else "wrote"
    count = amount_of(sum(done.node_counts.values()), "node")
    output.line(f"{verb} {shown_value(done.target)} (onnx): opset {done.opset}, {count}, {size_text(done.nbytes)}")
    for kind, ends in (("input", done.inputs), ("output", done.outputs)):
        for name, spec in ends.items():
            output.line(f"  {kind} {shown_value(name)}: {shown_value(spec)}")
    for word, directory in done.parts.items():
        output.line(f"  {word}: {shown_value(directory)}")
    if done.verification is not None:
        output.line(f"  verified in {amount_of(done.verification.runs, 'run')}")
        for item in done.verification.outputs:
            far = "equal" if item.is_equal else f"differs by at most {item.absolute:.3g} ({item.relative:.3g} of it)"
            output.line(f"    {shown_value(item.output)}: {far}")
        for remark in done.verification.remarks:
            output.line(f"    {shown_value(remark)}")
    for remark in done.remarks:
        output.note(remark)
    if len(done.files) > 1:
        output.line(f"  weights: {shown_value(some_of(done.files[1:], 3))}")
