"""Summary writers: files that last from run to run, and are shared by name."""

from __future__ import annotations

import pytest

from tensorkeep.errors import DataLossError, NotFoundError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.io.coding.records import read_records
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.ops.files.summary_writers import (
    close_summary_writer,
    create_summary_file_writer,
    flush_summary_writer,
    import_event,
    summary_writer,
)
from tensorkeep.proto.messages import Event, parse, serialize
from tensorkeep.runtime.session import Session


def events(fs: MemoryFileSystem, path: str) -> list[Event]:
    return [parse(Event, record, path) for record in read_records(fs, path)]


def test_events_go_into_a_file_that_is_created_and_closed() -> None:
    fs = MemoryFileSystem()
    with building(Graph()) as graph:
        writers = [summary_writer(shared_name="shared") for _ in range(2)]
        create = [create_summary_file_writer(writer, "run/logs", 10, 1000, ".mine") for writer in writers]
        add = import_event(writers[1], serialize(Event(step=7, wall_time=2.0)))
        flush, close = flush_summary_writer(writers[0]), close_summary_writer(writers[0])
    session = Session(graph, filesystem=fs)
    for operation in (add, flush):
        with pytest.raises(NotFoundError, match='summary writer "shared" has no file'):
            session.run(operation)
    for operation in (close, *create, add, flush, close, close):
        session.run(operation)
    (name,) = fs.list("run/logs")
    assert name.startswith("events.out.tfevents.")
    assert name.endswith(".mine")
    assert [(event.file_version, event.step) for event in events(fs, f"run/logs/{name}")] == [
        ("brain.Event:2", 0),
        ("", 7),
    ]
    session.run(create[0])
    assert len(fs.list("run/logs")) == 2


def test_what_is_no_event_is_refused() -> None:
    with building(Graph()) as graph:
        writer = summary_writer()
        create, add = create_summary_file_writer(writer, "logs", 1, 1, ""), import_event(writer, b"\xff\xff")
    session = Session(graph, filesystem=MemoryFileSystem())
    session.run(create)
    with pytest.raises(DataLossError, match="event"):
        session.run(add)
