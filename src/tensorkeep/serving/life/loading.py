"""A version becomes a servable: read, made ready to run, warmed up and, if that is wished, held against old answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from typing import Final, Protocol, runtime_checkable

from tensorkeep.errors import NotFoundError, PermissionDeniedError, TensorKeepError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.saved_model.files.constants import INIT_OP_SIGNATURE_KEY, SERVING
from tensorkeep.saved_model.files.layout import contains_saved_model, join
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.serving.life.options import NO_EXTRAS, ModelExtras
from tensorkeep.serving.life.warming import WarmUp, warm_up
from tensorkeep.serving.servables import Ends, Runner, Servable
from tensorkeep.serving.statuses import OK, code_of

_LOGGER: Final = logging.getLogger("tensorkeep.serving")
_SESSION_BUNDLE: Final = "export.meta"
_LITE: Final = "model.tflite"

Job = Callable[[], None]


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What became of one try to load a version, for metrics."""

    name: str
    version: int
    directory: str
    seconds: float
    """From beginning to end, warm-up included."""
    code: int = OK
    message: str = ""


def _ignore_report(report: LoadReport) -> None:
    """Does nothing: the default where no metrics are kept."""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How versions are loaded, whatever model they are of."""

    make_runner: Callable[[Servable], Runner]
    """Makes what runs requests to a servable, which is its `runner` from then on."""
    tags: frozenset[str] = frozenset((SERVING,))
    mapped: bool | None = None
    """Whether values of variables stay in the files, where several processes share them; None: if an engine has its own
    copy of them."""
    engine: str = "numpy"
    """What runs models, as `load_saved_model` has it."""
    warm_up: WarmUp | None = None
    """How warm-up requests are run; None: not at all."""
    report: Callable[[LoadReport], None] = _ignore_report
    """Is told of every try."""
    fs: FileSystem = FILES


@runtime_checkable
class Closable(Protocol):
    """A runner that holds threads or queues, which are to be given back."""

    def close(self) -> None:
        """Gives back what the runner holds."""


def load_servable(
    name: str, version: int, directory: str, options: LoadOptions, extras: ModelExtras = NO_EXTRAS
) -> Servable:
    """The version of a model that lies in a directory, ready to answer. Raises what its status then says."""
    start = time.monotonic()
    try:
        servable = _open_version(name, version, directory, options, extras)
        try:
            _make_ready(servable, directory, options, extras)
        except BaseException:
            close_servable(servable)
            raise
    except Exception as error:
        seconds = time.monotonic() - start
        options.report(LoadReport(name, version, directory, seconds, code_of(error), str(error)))
        raise
    options.report(LoadReport(name, version, directory, time.monotonic() - start))
    return servable


def _open_version(name: str, version: int, directory: str, options: LoadOptions, extras: ModelExtras) -> Servable:
    _check_is_saved_model(directory, options.fs)
    model = load_saved_model(
        directory,
        sorted(options.tags),
        allow=extras.allow,
        limits=extras.limits,
        mapped=options.mapped,
        engine=options.engine,
        fs=options.fs,
    )
    return Servable(name, version, model, model.signature_defs)


def _check_is_saved_model(directory: str, fs: FileSystem) -> None:
    if contains_saved_model(directory, fs):
        return
    if fs.exists(join(directory, _SESSION_BUNDLE)):
        raise UnimplementedError("Session Bundle is deprecated and removed.")
    if fs.exists(join(directory, _LITE)):
        raise UnimplementedError(
            f"{directory} has only a {_LITE}: models of TensorFlow Lite are not served, export it as a SavedModel"
        )
    raise NotFoundError(
        "Specified file path does not appear to contain a SavedModel bundle (should have a file called "
        f"`saved_model.pb`)\nSpecified file path: {directory}"
    )


def _make_ready(servable: Servable, directory: str, options: LoadOptions, extras: ModelExtras) -> None:
    _prepare_signatures(servable)
    servable.runner = options.make_runner(servable)
    if options.warm_up is not None:
        tolerance = extras.tolerance if extras.validate else None
        warm_up(servable, directory, options.warm_up, tolerance, options.fs)


def _prepare_signatures(servable: Servable) -> None:
    """Restores what signatures use and compiles them, so that no request has to wait for it.

    One that cannot run here, for what its operations are or would do, is told, and only requests to it fail; unless
    that holds for all.
    """
    problems: dict[str, TensorKeepError] = {}
    ready = 0
    for key, signature in sorted(servable.signature_defs.items()):
        ends = ends_of(signature)
        if ends is None:
            continue
        try:
            servable.prepare(ends)
            ready += 1
        except (UnimplementedError, PermissionDeniedError) as error:
            problems[key] = error
    if not servable.signature_defs.keys() - {INIT_OP_SIGNATURE_KEY}:
        _LOGGER.warning("%r has no signature, so that no request to it can be answered: export it with one", servable)
    if problems and not ready:
        raise next(iter(problems.values()))
    for key, problem in problems.items():
        _LOGGER.warning('signature "%s" of %r cannot run: %s', key, servable, problem)


def ends_of(signature: SignatureDef) -> Ends | None:
    """What a request for all outputs of a signature feeds and fetches; None if it cannot be asked for."""
    feeds = sorted({info.name for info in signature.inputs.values()})
    fetches = sorted({info.name for info in signature.outputs.values()})
    is_plain = all(":" in name for name in [*feeds, *fetches])  # else a sparse tensor, or one that is in parts
    return Ends(tuple(feeds), tuple(fetches)) if fetches and is_plain else None


def close_servable(servable: Servable) -> None:
    """Gives back what a servable and its runner have."""
    runner, servable.runner = servable.runner, None
    if isinstance(runner, Closable):
        runner.close()
    servable.close()


def run_in_a_thread(job: Job) -> None:
    """Has a job done in a thread of its own; here and now if the system gives no more threads."""
    try:
        Thread(target=job, name="tensorkeep-life", daemon=True).start()
    except RuntimeError as error:  # a version that is neither loaded nor given up would be so for ever
        _LOGGER.warning("a model is loaded or unloaded without a thread of its own: %s", error)
        job()
