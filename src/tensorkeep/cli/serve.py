"""`tensorkeep serve`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from tensorkeep.cli.command import DONE, FAILED, Command, Parser
from tensorkeep.cli.fitting import Column
from tensorkeep.cli.output import Output
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.filesystem import path_text
from tensorkeep.io.files.paths import absolute_path
from tensorkeep.serving.process.options import (
    ENGINES,
    GRPC_PORT,
    METRICS_PATH,
    REST_PORT,
    STOP_SECONDS,
    BatchOptions,
    Listening,
    Loading,
    ModelPlace,
    Security,
    ServerOptions,
    TrafficRules,
)
from tensorkeep.serving.process.sockets import check_port
from tensorkeep.serving.process.start import check_installed, serve

_SECONDS: Final = ("poll", "config-poll", "rest-timeout", "stop-delay", "stop-timeout")


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("--model", metavar="NAME=DIR", action="append", default=[], help="a model; may be repeated")
    parser.add_argument("--config", metavar="FILE", help="models, versions and labels: ModelServerConfig as text")
    parser.add_argument(
        "--config-poll",
        metavar="SECONDS",
        type=float,
        default=0.0,
        help="look at it again so often; 0: at a hang-up (%(default)g)",
    )
    parser.add_argument(
        "--poll", metavar="SECONDS", type=float, default=1.0, help="look for new versions; 0: once (%(default)g)"
    )
    parser.add_argument("--tag_set", metavar="TAGS", default="serve", help="the meta graph to load (%(default)s)")
    parser.add_argument("--allow", metavar="NAME=OPS", action="append", default=[], help="what a model may do besides")
    parser.add_argument(
        "--deltas", metavar="NAME=DIR", action="append", default=[], help="incremental checkpoints to put over a model"
    )
    parser.add_argument(
        "--unload-first", metavar="NAME", action="append", default=[], help="unload its old version before the new one"
    )
    parser.add_argument("--validate", action="store_true", help="a version must give its recorded answers first")
    parser.add_argument("--no-warm-up", action="store_true", help="send no recorded requests before a version serves")
    _add_listening(parser)
    _add_protection(parser)
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="processes that share ports and weights")
    parser.add_argument("--threads", metavar="N", type=int, default=0, help="threads of each that compute; 0: a share")
    parser.add_argument("--engine", choices=ENGINES, default=ENGINES[0], help="what runs models (%(default)s)")
    parser.add_argument("--batching", action="store_true", help="join requests into batches")
    parser.add_argument("--batching-file", metavar="FILE", help="how: BatchingParameters as text")
    parser.add_argument("--canary", metavar="NAME=VERSION:PERCENT", action="append", default=[], help="send it a share")
    parser.add_argument("--shadow", metavar="NAME=VERSION:PERCENT", action="append", default=[], help="send copies")
    parser.add_argument(
        "--limit", metavar="NAME=LIMITS", action="append", default=[], help="m=concurrency:8,queue:64; *: all"
    )
    parser.add_argument("--log-requests", metavar="NAME=PREFIX:RATE", action="append", default=[], help="log a sample")
    parser.add_argument(
        "--stop-delay",
        metavar="SECONDS",
        type=float,
        default=0.0,
        help="not ready, but answering, before it stops (%(default)g)",
    )
    parser.add_argument(
        "--stop-timeout", metavar="SECONDS", type=float, default=STOP_SECONDS, help="to finish requests (%(default)g)"
    )
    parser.add_argument("--dry-run", action="store_true", help="load the models, say what would be served, and end")


def _add_listening(parser: Parser) -> None:
    parser.add_argument("--host", metavar="ADDRESS", default="", help="where to listen; all addresses otherwise")
    parser.add_argument("--port", metavar="PORT", type=int, default=GRPC_PORT, help="of gRPC; 0 for none (%(default)s)")
    parser.add_argument("--socket", metavar="PATH", default="", help="a Unix socket for gRPC besides")
    parser.add_argument(
        "--rest-port", metavar="PORT", type=int, default=REST_PORT, help="of HTTP; 0: none (%(default)s)"
    )
    parser.add_argument(
        "--rest-timeout", metavar="SECONDS", type=float, default=30.0, help="of a request; 0: none (%(default)g)"
    )
    parser.add_argument("--cors", action="store_true", help="answer requests of pages of other sites")
    parser.add_argument("--metrics-path", metavar="PATH", default=METRICS_PATH, help="of HTTP; empty: none")


def _add_protection(parser: Parser) -> None:
    parser.add_argument("--tls-cert", metavar="FILE", default="", help="the server's certificate (PEM)")
    parser.add_argument("--tls-key", metavar="FILE", default="", help="its key (PEM)")
    parser.add_argument("--client-ca", metavar="FILE", default="", help="who signs clients' certificates (PEM)")
    parser.add_argument("--token-file", metavar="FILE", default="", help="bearer tokens, one in each line")


def _run(given: Namespace, output: Output) -> int:
    options = _options_of(given)
    if given.dry_run:
        return _rehearse(options, output)
    if output.is_json:
        raise InvalidArgumentError("--json goes with --dry-run: a server prints nothing but its log")
    return serve(options)


def _options_of(given: Namespace) -> ServerOptions:
    if bool(given.model) == bool(given.config):
        raise InvalidArgumentError("a server needs models: either --model NAME=DIR, or --config FILE")
    if given.config_poll and not given.config:
        raise InvalidArgumentError("--config-poll looks at the file of --config, and there is none")
    for option in _SECONDS:
        seconds = getattr(given, option.replace("-", "_"))
        if not seconds >= 0:
            raise InvalidArgumentError(f"--{option} is {seconds:g}, expected seconds, 0 or more")
    return ServerOptions(
        models=tuple(ModelPlace(name, _absolute(place)) for name, place in _pairs(given.model, "--model", "NAME=DIR")),
        config_file=_absolute(given.config) if given.config else "",
        listening=_listening_of(given),
        security=Security(given.tls_cert, given.tls_key, given.client_ca, token_file=given.token_file),
        loading=_loading_of(given),
        batching=BatchOptions(given.batching or bool(given.batching_file), given.batching_file or "", by_model=True),
        traffic=TrafficRules(*(tuple(item) for item in (given.canary, given.shadow, given.limit, given.log_requests))),
        workers=given.workers,
        threads=given.threads,
        stop_delay=given.stop_delay,
        stop_seconds=given.stop_timeout,
        is_lenient=True,
    )


def _listening_of(given: Namespace) -> Listening:
    if not (given.port or given.socket or given.rest_port):
        raise InvalidArgumentError("there is nowhere to listen: --port, --socket and --rest-port are all off")
    for port, option in ((given.port, "--port"), (given.rest_port, "--rest-port")):
        if port:
            check_port(port, option)
    if given.metrics_path and not given.metrics_path.startswith("/"):
        raise InvalidArgumentError(f'--metrics-path is "{given.metrics_path}", expected one that begins with /')
    if given.port and given.port == given.rest_port:
        raise InvalidArgumentError(f"gRPC and HTTP cannot share port {given.port}: see --port and --rest-port")
    return Listening(
        host=given.host,
        grpc_port=given.port or None,
        grpc_socket=given.socket,
        rest_port=given.rest_port or None,
        rest_seconds=given.rest_timeout or None,
        allows_other_origins=given.cors,
        has_metrics=bool(given.metrics_path),
        metrics_path=given.metrics_path,
    )


def _loading_of(given: Namespace) -> Loading:
    allowed = _pairs(given.allow, "--allow", "NAME=OPS")
    return Loading(
        poll_seconds=given.poll,
        config_poll_seconds=given.config_poll,
        retries=0,  # a version whose files change is tried again in any case
        tags=tuple(tag for tag in given.tag_set.split(",") if tag),
        warms_up=not given.no_warm_up,
        validates=given.validate,
        labels_may_wait=True,
        allowed=tuple((name, tuple(filter(None, names.split(",")))) for name, names in allowed),
        deltas=tuple((name, _absolute(place)) for name, place in _pairs(given.deltas, "--deltas", "NAME=DIR")),
        unloads_first=tuple(given.unload_first),
        engine=given.engine,
    )


def _pairs(texts: Sequence[str], option: str, form: str) -> list[tuple[str, str]]:
    """The two parts of each text; a name must not stand twice."""
    found = [(name, value) for name, _, value in (text.partition("=") for text in texts)]
    for text, (name, value) in zip(texts, found, strict=True):
        if not (name and value):
            raise InvalidArgumentError(f'{option} is "{text}", expected {form}')
    names = [name for name, _ in found]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidArgumentError(f"{option} names {', '.join(doubled)} more than once")
    return found


def _absolute(path: str) -> str:
    return absolute_path(path_text(path))


def _rehearse(options: ServerOptions, output: Output) -> int:
    """Loads the models, says which versions would be served, and unloads them."""
    check_installed()
    overviews = import_module("tensorkeep.serving.process.loading").rehearse(options)
    rows = [(model.name, status) for model in overviews for status in model.versions]
    if output.is_json:
        models = [
            {"name": name, "version": status.version, "state": status.state.name, "error": status.message}
            for name, status in rows
        ]
        output.data("serve/1", {"models": models})
    else:
        columns = [Column("model"), Column("version", is_number=True), Column("state"), Column("error", is_prose=True)]
        output.table(columns, [(name, status.version, status.state.name, status.message) for name, status in rows])
    served = {name for name, status in rows if status.state.name == "AVAILABLE"}
    return DONE if served == {model.name for model in overviews} else FAILED


COMMANDS = {
    "serve": Command(
        "Serves SavedModels as TensorFlow Serving does: the same URLs, the same gRPC services, the same files.\n"
        "A model's folder has a numbered folder for each version, or is a SavedModel itself; new versions are found\n"
        "and take over while the server runs. tensorkeep-model-server is the same server by the original's flags.",
        (
            "serve --model m=export                          # gRPC on port 8500, HTTP on 8501",
            "serve --model a=export --model b=export/1 --workers 2 --batching",
            "serve --model m=export --dry-run --json         # load, say what would be served, and end",
        ),
        _add_arguments,
        _run,
    )
}
