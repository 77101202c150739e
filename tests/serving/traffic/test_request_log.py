"""Requests are logged by sample, and read again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from threading import Event

import numpy as np
import pytest

from tensorkeep.errors import (
    DataLossError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    UnimplementedError,
)
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.serving import LoggingConfig, PredictionLog
from tensorkeep.saved_model.files.warmup import read_warmup_requests
from tensorkeep.serving.statuses import OK
from tensorkeep.serving.traffic.log_files import LogFiles, Rotation
from tensorkeep.serving.traffic.replay import as_warmup, replay_log
from tensorkeep.serving.traffic.request_log import LogTask, RequestLogs, logging_of_text, sampling_rate
from tests.serving.traffic.fakes import Notes, answered, predict_log
from tests.support.golden import golden


def config(prefix: str, rate: float = 1.0, kind: str = "") -> LoggingConfig:
    made = LoggingConfig()
    made.log_collector_config.filename_prefix = prefix
    made.log_collector_config.type = kind
    made.sampling_config.sampling_rate = rate
    return made


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir(), key=lambda path: int(path.name.split(".")[3]))


def test_a_record_is_the_request_the_answer_and_what_is_known_of_them(tmp_path: Path) -> None:
    notes = Notes()
    logs = RequestLogs({"m": config(f"{tmp_path}/logs/m")}, notes, clock=lambda: 1785412800.5)
    request = predict_log(y=np.array([1.5], np.float32))
    logs.finished(answered(version=7, log=request))
    logs.close()
    (path,) = (tmp_path / "logs").iterdir()
    assert path.name == f"m.20260730T120000.{os.getpid()}.0.tfrecord"
    (found,) = replay_log(path)
    about = found.log_metadata
    assert (about.model_spec.name, about.model_spec.version.value) == ("m", 7)
    assert about.model_spec.signature_name == "serving_default"
    assert (about.timestamp_secs, list(about.saved_model_tags)) == (1785412800, ["serve"])
    assert about.sampling_config.sampling_rate == 1.0
    found.ClearField("log_metadata")
    assert found == request
    assert notes.all == [("logged", "m", OK)]


def test_as_many_are_logged_as_were_set() -> None:
    notes = Notes()
    fs = MemoryFileSystem()
    logs = RequestLogs({"m": config("logs/m", 0.2)}, notes, chance=Random(1).random, fs=fs)
    for _ in range(1000):
        logs.finished(answered())
        if len(notes.all) % 50 == 0:
            logs.drain()
    logs.finished(answered("other"))
    logs.close()
    assert 160 < len(notes.all) < 240
    (name,) = fs.list("logs")
    assert len(list(replay_log(f"logs/{name}", fs=fs))) == len(notes.all)


def test_who_was_not_answered_is_not_logged() -> None:
    notes = Notes()
    logs = RequestLogs({"m": config("logs/m")}, notes, fs=MemoryFileSystem())
    failed = answered()
    failed.log, failed.code = None, 3
    logs.finished(failed)
    logs.close()
    assert not notes.all


def test_the_first_rate_that_is_for_a_task_counts() -> None:
    sampling = config("m", 0.1).sampling_config
    sampling.per_task_sampling_configs.add(dc="aa", task_index=3, sampling_rate=0.3)
    sampling.per_task_sampling_configs.add(dc="aa", sampling_rate=0.4)
    sampling.per_task_sampling_configs.add(task_index=0, sampling_rate=0.5)
    tasks = [LogTask("aa", 3), LogTask("aa", 0), LogTask("bb", 0), LogTask("bb", 1)]
    assert [sampling_rate(sampling, task) for task in tasks] == [0.3, 0.4, 0.5, 0.1]


@pytest.mark.parametrize(
    ("wrong", "kind", "text"),
    [
        (config("m", kind="kafka"), NotFoundError, "Cannot find LogCollector::Factory for type: kafka"),
        (config(""), InvalidArgumentError, "log_collector_config has no filename_prefix"),
        (config("m", 1.5), InvalidArgumentError, "a sampling_rate is 0 to 1, got 1.5"),
    ],
)
def test_a_configuration_that_cannot_be_changes_nothing(wrong: LoggingConfig, kind: type[Exception], text: str) -> None:
    notes = Notes()
    logs = RequestLogs({"m": config("logs/m")}, notes, fs=MemoryFileSystem())
    with pytest.raises(kind, match=text):
        logs.change({"m": wrong})
    logs.finished(answered())
    logs.close()
    assert notes.all == [("logged", "m", OK)]


def test_a_configuration_of_ones_own_is_refused() -> None:
    custom = config("m")
    custom.custom_logging_config.SetInParent()
    with pytest.raises(UnimplementedError):
        RequestLogs({"m": custom}, Notes())


def test_models_with_equal_collectors_share_their_files() -> None:
    fs = MemoryFileSystem()
    logs = RequestLogs({"a": config("logs/x"), "b": config("logs/x"), "c": config("logs/y")}, Notes(), fs=fs)
    for model in "abc":
        logs.finished(answered(model))
    logs.close()
    x, y = fs.list("logs")
    assert [log.log_metadata.model_spec.name for log in replay_log(f"logs/{x}", fs=fs)] == ["a", "b"]
    assert [log.log_metadata.model_spec.name for log in replay_log(f"logs/{x}", model="b", fs=fs)] == ["b"]
    assert len(list(replay_log(f"logs/{y}", fs=fs))) == 1


def test_logging_is_read_from_text() -> None:
    assert logging_of_text("m=logs/m:0.01") == ("m", config("logs/m", 0.01))
    for wrong in ("m", "m=logs/m", "m=logs/m:often", "m=:0.5", "m=logs/m:2"):
        with pytest.raises(InvalidArgumentError):
            logging_of_text(wrong)


# ------------------------------------------------------------------------------------------ Files


def test_a_file_that_is_large_enough_is_followed_by_another(tmp_path: Path) -> None:
    files = LogFiles(f"{tmp_path}/m", Rotation(size=100))
    for number in range(6):
        files.put(lambda number=number: bytes([number]) * 30, lambda code: None)  # type: ignore[misc]
    files.close()
    assert [path.stat().st_size for path in files_in(tmp_path)] == [92, 92, 92]


def test_a_file_that_is_old_enough_is_followed_by_another(tmp_path: Path) -> None:
    times = [0.0]
    files = LogFiles(f"{tmp_path}/m", Rotation(seconds=60), clock=lambda: times[-1])
    for time in (0.0, 59.0, 60.0, 61.0):
        times.append(time)
        files.put(lambda: b"", lambda code: None)
        files.drain()
    files.close()
    assert [path.stat().st_size for path in files_in(tmp_path)] == [32, 32]


def test_what_does_not_fit_into_the_queue_is_counted_and_nobody_waits() -> None:
    notes, gate = Notes(), Event()

    def slow() -> PredictionLog:
        gate.wait(10)
        return predict_log()

    logs = RequestLogs({"m": config("logs/m")}, notes, fs=MemoryFileSystem())
    exchange = answered()
    exchange.log = slow
    for _ in range(300):
        logs.finished(exchange)
    dropped = notes.all.count(("not_logged", "m"))
    assert dropped in (43, 44)  # one may have left the queue already
    gate.set()
    logs.close()
    assert notes.all.count(("logged", "m", OK)) == 300 - dropped


def test_a_full_disk_is_told_once_and_what_comes_after_it_is_in_a_new_file(caplog: pytest.LogCaptureFixture) -> None:
    class Filling(MemoryFileSystem):
        is_full = True

        def create(self, path: str):  # type: ignore[no-untyped-def]
            if self.is_full:
                raise ResourceExhaustedError("no space is left")
            return super().create(path)

    fs, codes = Filling(), []
    files = LogFiles("logs/m", fs=fs)
    for _ in range(3):
        files.put(lambda: b"", codes.append)
    files.drain()
    fs.is_full = False
    files.put(lambda: b"", codes.append)
    files.close()
    assert codes == [8, 8, 8, OK]
    assert [record.getMessage() for record in caplog.records] == [
        'requests are not logged to "logs/m…": no space is left'
    ]
    assert len(fs.list("logs")) == 1


def test_a_killed_process_leaves_whole_records(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from tensorkeep.serving.traffic.log_files import LogFiles\n"
        "from tensorkeep.proto.serving import PredictionLog\n"
        "from tensorkeep.proto.messages import serialize\n"
        "log = PredictionLog(); log.log_metadata.timestamp_secs = 7\n"
        f"files = LogFiles({str(tmp_path / 'm')!r})\n"
        "for _ in range(5): files.put(lambda: serialize(log), lambda code: None)\n"
        "files.drain(); os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    (path,) = tmp_path.iterdir()
    assert [log.log_metadata.timestamp_secs for log in replay_log(path)] == [7] * 5


def test_a_log_that_was_cut_off_is_read_up_to_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logs = RequestLogs({"m": config(f"{tmp_path}/m")}, Notes())
    for _ in range(3):
        logs.finished(answered())
    logs.close()
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    assert len(list(replay_log(path))) == 2
    assert "the log ends in the middle of a record" in caplog.text
    path.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    with pytest.raises(DataLossError):
        list(replay_log(path))


def test_a_log_becomes_what_a_model_is_warmed_up_with(tmp_path: Path) -> None:
    fs = MemoryFileSystem()
    source = golden("g26_tf1_simple_save") / "model" / "saved_model.pb"
    fs.make_directory("model")
    file = fs.create("model/saved_model.pb")
    file.write(source.read_bytes())
    file.close()
    logs = RequestLogs({"m": config("logs/m"), "n": config("logs/m")}, Notes(), fs=fs)
    for model in "mnm":
        logs.finished(answered(model))
    streamed = PredictionLog()
    streamed.session_run_log.SetInParent()
    logs.finished(answered(log=streamed))
    logs.close()
    (name,) = fs.list("logs")
    path = as_warmup(f"logs/{name}", "model", model="m", fs=fs)
    assert path == "model/assets.extra/tf_serving_warmup_requests"
    assert len(read_warmup_requests("model", fs=fs)) == 2
    as_warmup([f"logs/{name}", f"logs/{name}"], "model", count=3, fs=fs)
    assert len(read_warmup_requests("model", fs=fs)) == 3
    with pytest.raises(InvalidArgumentError, match='no request of model "other" to warm up with is in'):
        as_warmup(f"logs/{name}", "model", model="other", fs=fs)
