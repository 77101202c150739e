"""`tensorkeep saved-model warmup`."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.models.model_changes import report_files
from tensorkeep.cli.output import Output, amount_of, shown_value, size_text
from tensorkeep.errors import AlreadyExistsError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.saved_model.files.constants import EXTRA_ASSETS_DIRECTORY, SERVING, WARMUP_FILENAME
from tensorkeep.saved_model.files.layout import join, meta_graph_with_tags, read_saved_model
from tensorkeep.saved_model.files.warmup import predict_log, read_warmup_requests, write_warmup_requests
from tensorkeep.saved_model.show.flag_values import split_tags
from tensorkeep.saved_model.show.signature_runs import InputTexts


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the directory of a SavedModel")
    parser.add_argument("--list", action="store_true", help="only list the requests that the model has")
    parser.add_argument("--tag_set", metavar="TAGS", default=SERVING, help="the tags of the meta graph")
    parser.add_argument("--signature_def", metavar="KEY", default="serving_default", help="the signature that is asked")
    parser.add_argument("--inputs", metavar="KEY=FILE", default="", help="x=x.npy;y=arrays.npz[y]")
    parser.add_argument("--input_exprs", metavar="KEY=EXPR", default="", help="x=np.ones((2,3));y=[1,2]")
    parser.add_argument("--input_examples", metavar="KEY=LIST", default="", help='x=[{"age":[31],"name":["a"]}]')
    parser.add_argument("--count", metavar="N", type=int, default=1, help="how many times the request is written")
    parser.add_argument("--force", action="store_true", help="in the place of requests that are there")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")


def _run(given: Namespace, output: Output) -> int:
    if given.list:
        return _list(given, output)
    values = InputTexts(given.inputs, given.input_exprs, given.input_examples).values(output.note)
    path = join(given.model, f"{EXTRA_ASSETS_DIRECTORY}/{WARMUP_FILENAME}")
    if FILES.exists(path) and not given.force:
        raise AlreadyExistsError(f'"{path}" is there already: say --force to replace it')
    tags = split_tags(given.tag_set)
    log = predict_log(meta_graph_with_tags(read_saved_model(given.model), tags), values, given.signature_def)
    if not given.dry_run:
        write_warmup_requests(given.model, [log] * given.count, given.signature_def, tags)
    return report_files(
        given, output, {path: f"{amount_of(given.count, 'request')} of {size_text(log.ByteSize())} each"}
    )


def _list(given: Namespace, output: Output) -> int:
    found = []
    for log in read_warmup_requests(given.model):
        kind = log.WhichOneof("log_type")
        request: Any = getattr(log, kind).request if kind else None
        inputs = sorted(request.inputs) if kind == "predict_log" else []
        signature = getattr(getattr(request, "model_spec", None), "signature_name", "")
        found.append({"kind": kind or "empty", "signature": signature, "inputs": inputs})
    if output.is_json:
        output.data("saved-model.warmup/1", {"source": given.model, "requests": found})
        return DONE
    for item in found:
        output.line("\t".join(map(shown_value, (item["kind"], item["signature"], ",".join(item["inputs"])))))
    return DONE


COMMANDS = {
    "saved-model warmup": Command(
        "Writes requests with which TensorFlow Serving warms a model up before it serves it.",
        (
            "saved-model warmup export/1 --inputs x=x.npy --count 10",
            "saved-model warmup export/1 --list --json",
        ),
        _add_arguments,
        _run,
    )
}
