"""Event files: what is added is in the file at once, one after the other, and nothing is written over."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest

from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.machine.resources import host_name
from tensorkeep.proto.messages import Event, GraphDef, MetaGraphDef, SessionLog, Summary, SummaryMetadata
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.training.loops.events import EventsWriter, FileWriter, FileWriterCache, summary_iterator


class Writer(FileWriter):
    filesystem = MemoryFileSystem()
    clock = staticmethod(lambda: 1234.5)


@pytest.fixture(autouse=True)
def empty() -> None:
    Writer.filesystem = MemoryFileSystem()


def _files() -> list[str]:
    return list(Writer.filesystem.list("logs"))


def _events(name: str | None = None) -> list[Event]:
    return list(summary_iterator(f"logs/{name or _files()[-1]}", Writer.filesystem))


def _summary(value: float, **more: Any) -> Summary:
    return Summary(value=[Summary.Value(tag="loss", simple_value=value, **more)])


def test_a_file_begins_with_its_first_event() -> None:
    writer = Writer("logs")
    assert _files() == []
    writer.add_summary(_summary(1.0), 7)
    assert _files() == [f"events.out.tfevents.0000001234.{host_name()}"]
    first, second = _events()
    assert (first.wall_time, first.file_version) == (1234, "brain.Event:2")
    assert (second.wall_time, second.step, second.summary.value[0].simple_value) == (1234.5, 7, 1.0)


def test_a_reopened_writer_goes_on_in_another_file() -> None:
    writer = Writer("logs", filename_suffix=".mine")
    writer.add_summary(_summary(1.0))
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(_summary(2.0))
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.flush()
    writer.reopen()
    writer.add_summary(_summary(3.0))
    seconds = [name.split(".")[3] for name in _files()]
    assert seconds == ["0000001234", "0000001235"]
    assert all(name.endswith(".mine") for name in _files())
    assert [event.summary.value[0].simple_value for name in _files() for event in _events(name)[1:]] == [1.0, 3.0]


def test_summaries_are_taken_as_bytes_and_described_once() -> None:
    writer = Writer("logs")
    metadata = SummaryMetadata(display_name="the loss")
    given = _summary(1.0, metadata=metadata)
    writer.add_summary(given.SerializeToString())
    writer.add_summary(given)
    assert given.value[0].HasField("metadata")  # what was given is not changed
    assert [event.summary.value[0].metadata.display_name for event in _events()[1:]] == ["the loss", ""]


def test_a_writer_of_a_graph_begins_with_it() -> None:
    graph = Graph()
    with building(graph):
        constant(1.0, name="one")
        Writer("logs", graph=graph)
    _, first, second = _events()
    assert GraphDef.FromString(first.graph_def) == export_graph(graph, True)
    assert MetaGraphDef.FromString(second.meta_graph_def).graph_def == export_graph(graph, True)


def test_logs_of_sessions_and_whole_events_are_added() -> None:
    with Writer("logs") as writer:
        writer.add_session_log(SessionLog(status=SessionLog.START), 3)
        writer.add_event(Event(wall_time=5.0, step=4))
        writer.add_run_metadata(SessionLog(), "step_1")
        with pytest.raises(InvalidArgumentError, match="tag was already used"):
            writer.add_run_metadata(SessionLog(), "step_1")
    _, log, event, tagged = _events()
    assert (log.step, log.session_log.status) == (3, SessionLog.START)
    assert (event.wall_time, event.step) == (5.0, 4)
    assert tagged.tagged_run_metadata.tag == "step_1"
    assert writer.get_logdir() == "logs"


def test_what_is_no_graph_is_refused() -> None:
    writer = Writer("logs")
    with pytest.raises(WrongTypeError, match="must be an instance of `Graph`"):
        writer.add_graph("graph")
    with pytest.raises(InvalidArgumentError, match="not both"):
        writer.add_graph(Graph(), graph_def=GraphDef())
    with pytest.raises(WrongTypeError, match="must be type MetaGraphDef"):
        writer.add_meta_graph(GraphDef())  # type: ignore[arg-type]


def test_a_damaged_file_gives_what_is_whole() -> None:
    writer = Writer("logs")
    writer.add_summary(_summary(1.0))
    writer.close()
    path = f"logs/{_files()[0]}"
    file = Writer.filesystem.open(path)
    whole = bytes(file.read(0, file.size))
    cut = Writer.filesystem.create("logs/cut")
    cut.write(whole[:-3])
    cut.close()
    found = summary_iterator("logs/cut", Writer.filesystem)
    assert next(found).file_version == "brain.Event:2"
    with pytest.raises(DataLossError, match="truncated record"):
        next(found)


def test_all_who_report_to_a_folder_share_a_writer(tmp_path: Any) -> None:
    with building(Graph()), warnings.catch_warnings():
        warnings.simplefilter("error")
        first = FileWriterCache.get(str(tmp_path))
        assert FileWriterCache.get(str(tmp_path)) is first
        FileWriterCache.clear()
        assert FileWriterCache.get(str(tmp_path)) is not first
        FileWriterCache.clear()


def test_a_writer_of_a_session_writes_by_operations_of_its_graph() -> None:
    fs = MemoryFileSystem()
    session = Session(Graph(), filesystem=fs)
    shared = Writer("logs", session=session)
    with Writer("logs", session=session) as writer:
        writer.add_summary(_summary(1.0), 1)
        shared.add_summary(_summary(2.0), 2)
        assert len(fs.list("logs")) == 1
    with pytest.raises(NotFoundError, match="has no file"):
        shared.flush()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(_summary(3.0), 3)
    writer.reopen()
    writer.add_summary(_summary(4.0), 4)
    first, second = fs.list("logs")
    steps = [[event.step for event in summary_iterator(f"logs/{file}", fs=fs)] for file in (first, second)]
    assert sorted(steps) == [[0, 1, 2], [0, 4]]
    assert "filewriter_1/ImportEvent" in session.graph


def test_events_are_written_to_a_file_of_a_given_beginning(tmp_path: Any) -> None:
    writer = EventsWriter(os.fsencode(tmp_path / "logs" / "mine"))
    assert writer.Init()
    writer.WriteEvent(Event(wall_time=2.0, step=3, summary=_summary(1.5)))
    path = writer.FileName().decode()
    assert path.startswith(f"{tmp_path.as_posix()}/logs/mine.out.tfevents.")
    assert writer.Flush()
    assert writer.Close()
    first, second = summary_iterator(path)
    assert first.file_version == "brain.Event:2"
    assert (second.step, second.summary.value[0].simple_value) == (3, 1.5)


def test_a_folder_may_be_bytes(tmp_path: Any) -> None:
    writer = FileWriter(os.fsencode(tmp_path))
    assert writer.get_logdir() == tmp_path.as_posix()
    writer.close()
