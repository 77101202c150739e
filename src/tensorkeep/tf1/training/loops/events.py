"""Writers of event files: what training reports about itself, as TensorBoard reads it."""

from __future__ import annotations

import posixpath
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, SupportsInt

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.io.coding.records import read_records
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import (
    Durability,
    FileSystem,
    PathLike,
    path_text,
    prepare_directory,
)
from tensorkeep.metagraph.exporting import create_meta_graph_def
from tensorkeep.ops.files.event_files import EventFile
from tensorkeep.proto.messages import (
    Event,
    GraphDef,
    MetaGraphDef,
    SessionLog,
    Summary,
    TaggedRunMetadata,
    parse,
    serialize,
)
from tensorkeep.tf1.training.loops.session_events import SessionEvents

if TYPE_CHECKING:
    from tensorkeep.proto.session_config import RunMetadata


class FileWriter:
    """Writes events to a file of a folder, which is made if it is missing.

    A closed writer takes events and drops them, with a warning, until it is reopened; it goes on in another file.
    `max_queue` and `flush_secs` are accepted and change nothing: no event is held back. With a `session`, events are
    written by operations of its graph, to a file that all writers of the session for that folder share.
    """

    clock: Callable[[], float] = staticmethod(time.time)
    filesystem: FileSystem = FILES

    def __init__(
        self,
        logdir: PathLike,
        graph: Graph | GraphDef | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: GraphDef | None = None,
        filename_suffix: str | None = None,
        session: SessionLike | None = None,
    ) -> None:
        self._logdir = path_text(logdir)
        prepare_directory(self.filesystem, self._logdir, Durability.CACHE)
        self._events: EventFile | SessionEvents = (
            EventFile(self._logdir, filename_suffix or "", self.clock, self.filesystem)
            if session is None
            else SessionEvents(session, self._logdir, max_queue, flush_secs, filename_suffix)
        )
        self._closed = False
        self._seen_tags: set[str] = set()
        self._run_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            exported = export_graph(graph, True) if isinstance(graph, Graph) else graph
            owner = graph if isinstance(graph, Graph) else current_graph()
            self.add_meta_graph(create_meta_graph_def(owner, graph_def=graph_def or exported))

    def get_logdir(self) -> str:
        return self._logdir

    def add_event(self, event: Event) -> None:
        """Adds an event as it is."""
        if self._is_open():
            self._events.add(event)

    def add_summary(self, summary: Summary | bytes, global_step: SupportsInt | None = None) -> None:
        """Adds what a summary operation gave. What describes a tag is kept for the first of its summaries."""
        found = (
            parse(Summary, summary, "summary")
            if isinstance(summary, bytes)
            else Summary.FromString(summary.SerializeToString())
        )
        for value in found.value:
            if value.tag in self._seen_tags:
                value.ClearField("metadata")
            self._seen_tags.add(value.tag)
        self._add(Event(summary=found), global_step)

    def add_session_log(self, session_log: SessionLog, global_step: SupportsInt | None = None) -> None:
        """Adds that a session starts, stops or has saved a checkpoint."""
        self._add(Event(session_log=SessionLog.FromString(session_log.SerializeToString())), global_step)

    def add_graph(
        self, graph: Graph | GraphDef | None, global_step: SupportsInt | None = None, graph_def: GraphDef | None = None
    ) -> None:
        """Adds a graph, or a GraphDef."""
        if graph is not None and graph_def is not None:
            raise InvalidArgumentError("Please pass only graph, or graph_def (deprecated), but not both.")
        found = graph_def if graph is None else graph
        if not isinstance(found, Graph | GraphDef):
            raise WrongTypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        exported = export_graph(found, True) if isinstance(found, Graph) else found
        self._add(Event(graph_def=serialize(exported)), global_step)

    def add_meta_graph(self, meta_graph_def: MetaGraphDef, global_step: SupportsInt | None = None) -> None:
        """Adds a graph with its collections."""
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise WrongTypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(Event(meta_graph_def=serialize(meta_graph_def)), global_step)

    def add_run_metadata(self, run_metadata: RunMetadata, tag: str, global_step: SupportsInt | None = None) -> None:
        """Adds what a run reported about itself. A tag serves once."""
        if tag in self._run_tags:
            raise InvalidArgumentError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(Event(tagged_run_metadata=tagged), global_step)

    def _add(self, event: Event, step: SupportsInt | None) -> None:
        event.wall_time = self.clock()
        if step is not None:
            event.step = int(step)
        self.add_event(event)

    def _is_open(self) -> bool:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                "explicitly reopened.",
                stacklevel=3,
            )
        return not self._closed

    def flush(self) -> None:
        """Nothing is held back: this only warns if the writer is closed; if it is a session's, it is an error."""
        self._is_open()
        if isinstance(self._events, SessionEvents):
            self._events.flush()

    def close(self) -> None:
        if not self._closed:
            self._events.close()
        self._closed = True

    def reopen(self) -> None:
        """Lets a closed writer take events again."""
        if self._closed and isinstance(self._events, SessionEvents):
            self._events.open()
        self._closed = False

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class EventFileWriter(FileWriter):
    """`event_file_writer`: a writer of events without the summaries of a graph around them."""

    def __init__(
        self, logdir: PathLike, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str | None = None
    ) -> None:
        super().__init__(logdir, max_queue=max_queue, flush_secs=flush_secs, filename_suffix=filename_suffix)


class EventsWriter:
    """`pywrap_tensorflow.EventsWriter`: events into the file `<prefix>.out.tfevents.<seconds>.<host>`."""

    def __init__(self, file_prefix: PathLike) -> None:
        directory, prefix = posixpath.split(path_text(file_prefix))
        prepare_directory(filesystem := FileWriter.filesystem, directory or ".", Durability.CACHE)
        self._events = EventFile(directory, "", FileWriter.clock, filesystem, prefix)

    def Init(self) -> bool:  # noqa: N802 - TensorFlow's name
        """Begins the file now."""
        self._events.open()
        return True

    def FileName(self) -> bytes:  # noqa: N802 - TensorFlow's name
        """The file that events go to."""
        return self._events.open().encode()

    def WriteEvent(self, event: Event) -> None:  # noqa: N802 - TensorFlow's name
        """Adds an event."""
        self._events.add(event)

    def Flush(self) -> bool:  # noqa: N802 - TensorFlow's name
        """Whether all events are in the file, which they are."""
        return True

    def Close(self) -> bool:  # noqa: N802 - TensorFlow's name
        """Ends the file."""
        self._events.close()
        return True


class FileWriterCache:
    """One writer per folder, for all that report there."""

    _cache: ClassVar[dict[str, FileWriter]] = {}
    _lock: ClassVar = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Closes all writers, and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache.clear()

    @staticmethod
    def get(logdir: PathLike) -> FileWriter:
        """The writer of a folder; a new one begins with the graph being built."""
        folder = path_text(logdir)
        with FileWriterCache._lock:
            found = FileWriterCache._cache.get(folder)
            if found is None:
                found = FileWriterCache._cache[folder] = FileWriter(folder, graph=current_graph())
            return found


def summary_iterator(path: PathLike, fs: FileSystem = FILES) -> Iterator[Event]:
    """The events of a file. DataLossError where it is damaged or cut off."""
    text = path_text(path)
    return (parse(Event, record, f'"{text}"') for record in read_records(fs, text))
