"""Events that are written by operations of a session's graph, where all who write to a folder share one file."""

from __future__ import annotations

from tensorkeep.graph.arguments import SessionLike, TensorLike
from tensorkeep.graph.building import building, control_dependencies, device, name_scope
from tensorkeep.graph.collections import add_to_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.arrays.constants import placeholder_with_default
from tensorkeep.ops.files.summary_writers import (
    WRITERS,
    close_summary_writer,
    create_summary_file_writer,
    flush_summary_writer,
    import_event,
    summary_writer,
)
from tensorkeep.proto.messages import Event, serialize
from tensorkeep.tf1.functions.constants import constant


class SessionEvents:
    """An event file of a session. The operations are added to its graph, and the file is begun at once."""

    def __init__(
        self, session: SessionLike, logdir: str, max_queue: int, flush_secs: float, suffix: str | None
    ) -> None:
        self._session = session
        self._add_operations(session.graph, logdir, max_queue, int(flush_secs * 1000), suffix)
        self.open()

    def _add_operations(self, graph: Graph, logdir: str, max_queue: int, millis: int, suffix: str | None) -> None:
        with building(graph), name_scope("filewriter"):
            with device("cpu:0"):
                ending: TensorLike = constant(".v2") if suffix is None else suffix
                writer = summary_writer(shared_name=f"logdir:{logdir}")
                add_to_collection(graph, WRITERS, create_summary_file_writer(writer, logdir, max_queue, millis, ending))
            self._event = placeholder_with_default(constant("unused"), shape=())
            self._import = import_event(writer, self._event)
            with device("cpu:0"):
                flush_summary_writer(writer)
            self._create = create_summary_file_writer(writer, logdir, max_queue, millis, ending)
            with device("cpu:0"):
                self._flush = flush_summary_writer(writer)
                with control_dependencies([flush_summary_writer(writer)]):
                    self._close = close_summary_writer(writer)

    def open(self) -> None:
        """Begins a file, unless the session has one of that folder."""
        self._session.run(self._create)

    def add(self, event: Event) -> None:
        self._session.run(self._import, {self._event: serialize(event)})

    def flush(self) -> None:
        self._session.run(self._flush)

    def close(self) -> None:
        """Ends the file, for all who share it."""
        self.flush()
        self._session.run(self._close)
