"""`tensorkeep saved-model run`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.files import written_path
from tensorkeep.cli.models.model_arguments import add_engine, add_limits, add_model, limits_of, model_of, tags_of
from tensorkeep.cli.output import Output, shown_value
from tensorkeep.saved_model.show.flag_values import split_names
from tensorkeep.saved_model.show.signature_runs import (
    InputTexts,
    RunRequest,
    RunResult,
    output_paths,
    plain_value,
    run_signature,
    save_outputs,
    timing_text,
)


def _add_arguments(parser: Parser) -> None:
    add_model(parser)
    parser.add_argument("--signature_def", metavar="KEY", default="serving_default", help="the signature to run")
    parser.add_argument("--inputs", metavar="KEY=FILE", default="", help="x=x.npy;y=arrays.npz[y]")
    parser.add_argument("--input_exprs", metavar="KEY=EXPR", default="", help="x=np.ones((2,3));y=[1,2]")
    parser.add_argument("--input_examples", metavar="KEY=LIST", default="", help='x=[{"age":[31],"name":["a"]}]')
    parser.add_argument("--outdir", type=written_path, metavar="DIR", help="also write each output to DIR/KEY.npy")
    parser.add_argument("--overwrite", "--force", action="store_true", help="over files that are there")
    parser.add_argument("--dry-run", action="store_true", help="with --outdir: run, and say what would be written")
    parser.add_argument("--allow_pickle", action="store_true", help="take pickles, which are programs, as inputs")
    parser.add_argument("--allow", metavar="NAMES", help="what the model may do besides computing: prints,ReadFile")
    add_limits(parser)
    add_engine(parser)
    parser.add_argument("--timing", action="store_true", help="say how long loading and running take")


def _run(given: Namespace, output: Output) -> int:
    texts = InputTexts(given.inputs, given.input_exprs, given.input_examples, given.allow_pickle)
    values = texts.values(output.note, may_be_none=True)
    request = RunRequest(
        model_of(given), tags_of(given), given.signature_def, split_names(given.allow), limits_of(given), given.engine
    )
    result = run_signature(request, values, timing=given.timing)
    paths = _save_results(result, given) if given.outdir else {}
    if output.is_json:
        output.data("saved-model.run/1", _data(result, paths, given))
        return DONE
    word = "would be" if given.dry_run else "is"
    for key in sorted(result.outputs):
        output.write(f"Result for output key {shown_value(key)}:\n{result.outputs[key]}\n")
        if key in paths:
            output.line(f"Output {key} {word} saved to {paths[key]}")
    if given.timing:
        output.note(timing_text(result), "timing", "dim")
    return DONE


def _save_results(result: RunResult, given: Namespace) -> Mapping[str, str]:
    if given.dry_run:
        paths = output_paths(result.outputs, given.outdir, overwrite=given.overwrite)
        return dict(zip(sorted(result.outputs), paths, strict=True))
    return save_outputs(result.outputs, given.outdir, overwrite=given.overwrite)


def _data(result: RunResult, paths: Mapping[str, str], given: Namespace) -> dict[str, object]:
    outputs = {key: plain_value(value) for key, value in sorted(result.outputs.items())}
    times = {"loading": result.loading, "first_run": result.first_run, "best_run": result.best_run}
    return {"outputs": outputs, "files": paths, "seconds": times if given.timing else None}


COMMANDS = {
    "saved-model run": Command(
        "Runs a signature of a SavedModel and prints what comes out, as TensorFlow's saved_model_cli does.\n"
        "The model computes, and reads its own assets; whatever else it may do is named by --allow.",
        (
            "saved-model run export/1 --inputs x=x.npy",
            "saved-model run export/1 --input_exprs 'x=np.ones((1,4))' --timing",
            "saved-model run export/1 --tag_set serve --signature_def serving_default --inputs x=x.npy --outdir out",
            "saved-model run export/1 --inputs x=x.npy --json",
        ),
        _add_arguments,
        _run,
    )
}
