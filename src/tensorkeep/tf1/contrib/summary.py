"""`tf.contrib.summary`: summaries that operations write to event files themselves, at the step of training.

A writer, and whether summaries are recorded, hold inside of `with`; without a writer nothing is written. What
writes are conditions on that, and are run with the training step, as `all_summary_ops` gives them. The graph is that of
TensorFlow 1.15's `summary_ops_v2.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32, INT64, UINT8
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import SessionLike, TensorLike
from tensorkeep.graph.building import control_dependencies, current_graph, device, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.ops.files import summary_writers as ops
from tensorkeep.proto.messages import SummaryMetadata
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal, mod
from tensorkeep.tf1.variables.global_step import get_or_create_global_step
from tensorkeep.tf1.variables.variable import Variable

_SUMMARIES: Final = GraphKeys.SUMMARIES + "_V2"
_BAD_COLOR: Final = (255, 0, 0, 255)

_writer: ContextVar[SummaryWriter | None] = ContextVar("summary_writer", default=None)
_recording: ContextVar[Any] = ContextVar("summary_recording", default=None)


class SummaryWriter:
    """What summaries are written by, once `init` has been run."""

    def __init__(self, handle: Tensor | None, create: Callable[[Tensor], Operation] | None) -> None:
        self._handle, self._create = handle, create
        if create is not None and handle is not None:
            add_to_collection(current_graph(), ops.WRITERS, create(handle))

    def set_as_default(self) -> None:
        """Lets summaries go to this writer from here on."""
        if self._handle is not None:
            _writer.set(self)

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Lets summaries go to this writer inside of `with`."""
        if self._handle is None:
            yield self
            return
        token = _writer.set(self)
        try:
            yield self
        finally:
            _writer.reset(token)

    def init(self) -> Operation | None:
        """An operation that begins the file, unless it has begun."""
        return None if self._handle is None or self._create is None else self._create(self._handle)

    def flush(self) -> Operation | None:
        return flush(self)

    def close(self) -> Operation | None:
        """An operation that ends the file."""
        if self._handle is None:
            return None
        flushed = self.flush()
        assert flushed is not None
        with control_dependencies([flushed]), device("cpu:0"):
            found: Operation = ops.close_summary_writer(self._handle)
        return found


def create_file_writer(
    logdir: PathLike | None,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer to an event file of a folder, shared by all who name it; without a folder, one that does nothing."""
    if logdir is None:
        return SummaryWriter(None, None)
    folder = path_text(logdir)
    with device("cpu:0"):
        queue = constant(10 if max_queue is None else max_queue)
        millis = constant(120_000 if flush_millis is None else flush_millis)
        suffix = constant(".v2" if filename_suffix is None else filename_suffix)
        handle = ops.summary_writer(shared_name=name or f"logdir:{folder}")
        return SummaryWriter(
            handle, lambda writer: ops.create_summary_file_writer(writer, folder, queue, millis, suffix)
        )


def create_db_writer(*_: object, **__: object) -> SummaryWriter:
    """Refused: summaries go to event files."""
    raise UnimplementedError("create_db_writer is not here: write event files by create_file_writer")


def summary_writer_initializer_op() -> list[Operation]:
    """The operations that begin the files of all writers of the graph."""
    return list(get_collection(current_graph(), ops.WRITERS))


def all_summary_ops() -> list[Operation]:
    """The operations of the graph that write summaries."""
    return list(get_collection(current_graph(), _SUMMARIES))


def should_record_summaries() -> Tensor:
    """Whether summaries are recorded: a writer and a condition are in force."""
    told = _recording.get() if _writer.get() is not None else False
    return convert(bool(told) if told is None else told() if callable(told) else told)


@contextmanager
def record_if(condition: TensorLike | Callable[[], TensorLike]) -> Iterator[None]:
    """Lets summaries be recorded inside of `with` if a condition holds: a truth value, a tensor, or a function."""
    token = _recording.set(condition)
    try:
        yield
    finally:
        _recording.reset(token)


def always_record_summaries() -> AbstractContextManager[None]:
    """Lets summaries be recorded inside of `with`."""
    return record_if(True)


def never_record_summaries() -> AbstractContextManager[None]:
    """Lets no summaries be recorded inside of `with`."""
    return record_if(False)


def record_summaries_every_n_global_steps(n: int, global_step: Variable | None = None) -> AbstractContextManager[None]:
    """Lets summaries be recorded at every n-th step inside of `with`."""
    step = get_or_create_global_step() if global_step is None else global_step
    with device("cpu:0"):
        return record_if(equal(mod(cast(step, INT64), n), 0))


def _write_summary(
    name: str, family: str | None, step: Any, values: list[Any], write: Callable[[Tensor, Tensor, str, str], Operation]
) -> Operation:
    """An operation that has a summary written if it is to be: with the tag that its name gives it."""
    if _writer.get() is None:
        return no_op()
    writer = _writer.get()
    assert writer is not None
    handle = writer._handle
    assert handle is not None
    tag = f"{family}/{name}" if family else name
    with device("cpu:0"):
        at = get_or_create_global_step() if step is None else step

        def record() -> Tensor:
            with name_scope(tag.replace(" ", "_")) as scope:
                written = write(handle, cast(at, INT64), tag, scope)
            with control_dependencies([written]):
                return constant(True)

        found = smart_cond(should_record_summaries(), record, lambda: constant(False), name="summary_cond")
        add_to_collection(current_graph(), _SUMMARIES, found.op)
        operation: Operation = found.op
        return operation


def scalar(name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None) -> Operation:
    """Writes a number."""
    value = convert(tensor)
    return _write_summary(
        name, family, step, [value],
        lambda writer, at, tag, scope: ops.write_scalar_summary(writer, at, tag, identity(value), name=scope),
    )  # fmt: skip


def histogram(name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None) -> Operation:
    """Writes how values are distributed."""
    value = convert(tensor)
    return _write_summary(
        name, family, step, [value],
        lambda writer, at, tag, scope: ops.write_histogram_summary(writer, at, tag, identity(value), name=scope),
    )  # fmt: skip


def image(
    name: str,
    tensor: TensorLike,
    bad_color: TensorLike | None = None,
    max_images: int = 3,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Operation:
    """Writes images of a batch."""
    value = convert(tensor)
    color = constant(_BAD_COLOR if bad_color is None else bad_color, UINT8)
    return _write_summary(
        name, family, step, [value],
        lambda writer, at, tag, scope: ops.write_image_summary(
            writer, at, tag, identity(value), color, max_images=max_images, name=scope
        ),
    )  # fmt: skip


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Operation:
    """Writes sounds of a batch."""
    value = convert(tensor)
    return _write_summary(
        name, family, step, [value],
        lambda writer, at, tag, scope: ops.write_audio_summary(
            writer, at, tag, identity(value), cast(sample_rate, FLOAT32), max_outputs=max_outputs, name=scope
        ),
    )  # fmt: skip


def generic(
    name: str,
    tensor: TensorLike,
    metadata: SummaryMetadata | bytes | None = None,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Operation:
    """Writes a tensor, with what describes it."""
    value = convert(tensor)
    described = b"" if metadata is None else metadata if isinstance(metadata, bytes) else metadata.SerializeToString()
    return _write_summary(
        name, family, step, [value],
        lambda writer, at, tag, scope: ops.write_summary(
            writer, at, identity(value), tag, constant(described), name=scope
        ),
    )  # fmt: skip


def import_event(tensor: TensorLike, name: str | None = None) -> Operation:
    """Writes an event as it is."""
    found: Operation = ops.import_event(_needed("import_event"), tensor, name=name)
    return found


def eval_dir(model_dir: PathLike, name: str | None = None) -> str:
    """The folder of the summaries of an evaluation: "eval", or "eval_" and its name, below that of a model."""
    folder = "eval" if not name else f"eval_{name}"
    return f"{path_text(model_dir).rstrip('/')}/{folder}"


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> Operation | None:
    """An operation that sees to it that events are in the file."""
    used = writer or _writer.get()
    if used is None or used._handle is None:
        return no_op()
    with device("cpu:0"):
        found: Operation = ops.flush_summary_writer(used._handle, name=name)
    return found


def _needed(word: str) -> Tensor:
    writer = _writer.get()
    if writer is None or writer._handle is None:
        raise FailedPreconditionError(f"{word} needs a writer: create_file_writer(logdir).as_default()")
    return writer._handle


def initialize(graph: object = None, session: SessionLike | None = None) -> None:
    """Begins the files of all writers of the graph, in a session."""
    _needed("initialize")
    if graph is not None:
        raise UnimplementedError("initialize(graph=) is not here: tf.summary.FileWriter(logdir, graph) writes a graph")
    if session is None:
        raise InvalidArgumentError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
