"""`tensorkeep convert` and `presets`."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from tensorkeep.checkpoint.casting import CastLossError
from tensorkeep.cli.catalog import nearest
from tensorkeep.cli.changing.checkpoint_changes import (
    add_allow_loss,
    add_writing,
    allowing_loss,
    has_selection,
    losses_data,
    pairs_of,
    print_losses,
    require_name,
)
from tensorkeep.cli.changing.onnx_export import add_onnx, refuse_onnx_arguments, run_onnx
from tensorkeep.cli.cluster_options import add_cluster, cluster_of
from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.looking.tensor_filters import add_selection, selection_of
from tensorkeep.cli.models.model_arguments import add_run_initializers
from tensorkeep.cli.output import Column, Output, ProgressBar, amount_of, shape_text, shown_value, size_text
from tensorkeep.cluster.jobs.converting import convert as convert_on_cluster
from tensorkeep.convert import PRESETS, Converted, ConvertOptions, Explanation, ModelOptions, convert, explain
from tensorkeep.convert.converting import TargetExistsError
from tensorkeep.convert.formats import FORMATS
from tensorkeep.convert.hub import listed_names
from tensorkeep.convert.onnx_format import ONNX
from tensorkeep.convert.rules import AnyRule, CastTo
from tensorkeep.dtypes import ALL_DTYPES, DType
from tensorkeep.edit.names import RenameExactly
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError
from tensorkeep.io.showing.amounts import size_of, some_of

_EXPLAINED = (
    Column("tensor", is_name=True),
    Column("becomes", "cyan", is_name=True),
    Column("type"),
    Column("shape"),
    Column("how", is_prose=True),
)


def _add_convert(parser: Parser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="a checkpoint, .safetensors, .npz, .h5, .pt, .pb, SavedModel")
    parser.add_argument("target", metavar="TARGET", help="what to write; the end of the name says the format")
    parser.add_argument(
        "--to",
        metavar="FORMAT",
        help="the format, where the name does not say it: checkpoint-v1, ...",
        values=[item.name for item in FORMATS if " " not in item.name],
    )
    parser.add_argument(
        "--preset",
        metavar="NAME",
        action="append",
        default=[],
        help="rules by name; see `presets`",
        values=sorted(PRESETS),
    )
    parser.add_argument("--map", metavar="OLD=NEW", action="append", default=[], help="give a tensor another name")
    parser.add_argument(
        "--dtype",
        metavar="TYPE",
        help="give all floating-point numbers another type: float16, ...",
        values=[dtype.name for dtype in ALL_DTYPES if dtype.is_floating and dtype.is_storable],
    )
    add_allow_loss(parser)
    add_selection(parser, "tensors to convert; all by default")
    parser.add_argument("--explain", action="store_true", help="show what becomes of every tensor, and write nothing")
    parser.add_argument("--prove", action="store_true", help="read the result back and write TARGET.proof.json")
    parser.add_argument("--max-shard-size", metavar="SIZE", help="500MB, 2GiB, or bytes; for formats in several files")
    parser.add_argument("--graph", metavar="FILE", help="the graph of a model to write: .meta, .pb or .pbtxt")
    parser.add_argument(
        "--outputs", metavar="NODE,...", default="", help="what a frozen graph, or ONNX, shall compute: y=dense/MatMul"
    )
    parser.add_argument("--ev", metavar="NAME", help="the embedding table, for Parquet")
    add_run_initializers(parser)
    add_onnx(parser)
    add_cluster(parser)
    add_writing(parser)


def _rules(given: Namespace) -> list[str | AnyRule]:
    if unknown := [name for name in given.preset if name not in PRESETS]:
        raise InvalidArgumentError(f"there is no preset {unknown[0]!r}{nearest(unknown[0], sorted(PRESETS))}")
    exact: list[str | AnyRule] = [RenameExactly(pairs_of(given.map, "--map"))] if given.map else []
    types: list[str | AnyRule] = [CastTo(DType.of(given.dtype).name)] if given.dtype else []
    return [*exact, *given.preset, *types]


def _run_convert(given: Namespace, output: Output) -> int:
    require_name(given.target)
    if given.to == ONNX.name or (given.to is None and given.target.lower().endswith(ONNX.endings)):
        return run_onnx(given, output)
    refuse_onnx_arguments(given)
    only = selection_of(given) if has_selection(given) else None
    if given.explain:
        return _report_explanation(explain(given.source, _rules(given), only=only), output)
    bar = ProgressBar(output)
    options = ConvertOptions(
        to=given.to,
        only=only,
        prove=given.prove,
        overwrite=given.force,
        dry_run=given.dry_run,
        allow_loss=given.allow_loss,
        shard_bytes=size_of(given.max_shard_size) if given.max_shard_size else None,
        model=ModelOptions(
            given.graph,
            tuple(filter(None, given.outputs.split(","))),
            table=given.ev,
            run_initializers=given.run_initializers,
        ),
        progress=bar,
    )
    try:
        with cluster_of(given) as executor:
            wanted = (given.source, given.target, _rules(given), options)
            done = convert(*wanted) if executor is None else convert_on_cluster(*wanted, executor)
    except TargetExistsError as error:
        raise AlreadyExistsError(f"{listed_names(error.paths)} is there already: say --force to replace it") from None
    except CastLossError as error:
        raise allowing_loss(error) from None
    finally:
        bar.clear()
    if output.is_json:
        output.data("convert/2", _data(done))
        return DONE
    verb = "would write" if done.is_dry_run else "wrote"
    proven = ", proven" if done.proof is not None else ""
    count = len(done.explanation.tensors)  # 0 of what is made of a model as a whole
    amount = f": {amount_of(count, 'tensor')}, {size_text(done.nbytes)}" if count else ""
    output.line(f"{verb} {shown_value(done.target)} ({done.target_format}){amount}{proven}")
    print_losses(done.losses, output)
    if left_out := done.explanation.left_out:
        output.line(f"  left out {amount_of(len(left_out), 'tensor')}: {shown_value(some_of(left_out, 5))}")
    return DONE


def _data(done: Converted) -> dict[str, Any]:
    return {
        "source": done.source,
        "target": done.target,
        "source_format": done.source_format,
        "target_format": done.target_format,
        "is_dry_run": done.is_dry_run,
        "files": list(done.files),
        "tensors": len(done.explanation.tensors),
        "bytes": done.nbytes,
        "is_proven": done.proof is not None,
        "losses": losses_data(done.losses),
    }


def _report_explanation(found: Explanation, output: Output) -> int:
    if output.is_json:
        tensors = [
            {
                "origins": list(item.origins),
                "name": item.name,
                "dtype": item.dtype.name,
                "shape": list(item.shape),
                "history": list(item.history),
            }
            for item in found.tensors
        ]
        data = {"tensors": tensors, "left_out": dict(found.left_out), "idle": list(found.idle)}
        output.data("convert.explain/1", data)
        return DONE
    rows = [
        (" + ".join(item.origins), item.name, item.dtype, shape_text(item.shape), "; ".join(item.history) or "-")
        for item in found.tensors
    ]
    output.table(_EXPLAINED, rows)
    for name, why in found.left_out.items():
        output.line(f"{shown_value(name)} is left out: {shown_value(why)}")
    for rule in found.idle:
        output.note(f"{rule} found nothing to do")
    return DONE


def _run_presets(given: Namespace, output: Output) -> int:
    if output.is_json:
        presets = [{"name": name, "summary": PRESETS[name].summary} for name in sorted(PRESETS)]
        output.data("presets/1", {"presets": presets})
        return DONE
    columns = (Column("preset", "cyan", is_name=True), Column("what it does", is_prose=True))
    output.table(columns, [(name, PRESETS[name].summary) for name in sorted(PRESETS)])
    return DONE


COMMANDS = {
    "convert": Command(
        "Writes tensors in another format, by the end of the target's name: a checkpoint prefix, .safetensors, .npz,\n"
        ".h5, .pt, .parquet for an embedding table, .pb and SavedModels where there is a graph, .onnx of models. What\n"
        "a format cannot hold is refused by name before anything is written.",
        (
            "convert run/model-1000 model.safetensors",
            "convert run/model-1000 model.safetensors --preset tensorflow-to-torch --explain",
            "convert run/model-1000 half.safetensors --dtype bfloat16",
            "convert train/model-2 model.npz --preset without-optimizer --prove",
            "convert run/model-1000 old/model --to checkpoint-v1",
            "convert export/1 model.onnx --verify",
            "convert export/1 one.onnx --shape x=1,4 --opset 17 --report report.txt",
            "convert run/model-1000 part.onnx --inputs x --outputs y=logits --axis x=batch",
        ),
        _add_convert,
        _run_convert,
    ),
    "presets": Command(
        "Lists the rules by which `convert` changes layouts and names.",
        ("presets",),
        lambda parser: None,
        _run_presets,
    ),
}
