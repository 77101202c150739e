"""Which requests are logged, and what is written of them.

A model's configuration says it (LoggingConfig): where to, and what part of the requests. The original has the place for
it in its configuration and nothing behind it. A record is a PredictionLog, in a TFRecord file; `replay` reads it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import random
from threading import Thread
from time import time
from typing import Final, Protocol

from tensorkeep.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, path_text
from tensorkeep.proto.messages import serialize
from tensorkeep.proto.serving import LoggingConfig, PredictionLog, SamplingConfig
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.traffic.log_files import LogFiles, Rotation

TYPES: Final = ("", "file", "tfrecord")
"""The types of collectors that there are: all write record files."""


@dataclass(frozen=True, slots=True)
class LogTask:
    """Which of the tasks of a cluster this process is, for rates that are set by task."""

    dc: str = ""
    index: int = 0


def sampling_rate(config: SamplingConfig, task: LogTask = LogTask()) -> float:
    """The part of requests that is logged: of the first entry that is for this task, or else of all."""
    for entry in config.per_task_sampling_configs:
        is_here = not entry.dc or entry.dc == task.dc
        if is_here and (not entry.HasField("task_index") or entry.task_index == task.index):
            return entry.sampling_rate
    return config.sampling_rate


def require_loggable(config: LoggingConfig) -> None:
    """Raises what is wrong with a configuration before anything is changed."""
    if config.HasField("custom_logging_config"):
        raise UnimplementedError("custom_logging_config is not supported; use log_collector_config")
    collector = config.log_collector_config
    if collector.type not in TYPES:
        raise NotFoundError(f"Cannot find LogCollector::Factory for type: {collector.type}")
    if not collector.filename_prefix:
        raise InvalidArgumentError("log_collector_config has no filename_prefix: where shall requests be logged?")
    path_text(collector.filename_prefix)
    rates = [config.sampling_config.sampling_rate]
    rates += [entry.sampling_rate for entry in config.sampling_config.per_task_sampling_configs]
    if any(not 0 <= rate <= 1 for rate in rates):
        raise InvalidArgumentError(f"a sampling_rate is 0 to 1, got {', '.join(f'{rate:g}' for rate in rates)}")


def logging_of_text(text: str) -> tuple[str, LoggingConfig]:
    """The model and its configuration, of a text such as "m=logs/m:0.01": model, prefix of files, rate."""
    model, _, rest = text.partition("=")
    prefix, _, rate = rest.rpartition(":")
    try:
        number = float(rate)
    except ValueError:
        number = -1.0
    if not (model and prefix and 0 <= number <= 1):
        raise InvalidArgumentError(f'"{text}" is not MODEL=PREFIX:RATE, such as m=/logs/m:0.01; a rate is 0 to 1')
    config = LoggingConfig()
    config.log_collector_config.filename_prefix = prefix
    config.sampling_config.sampling_rate = number
    return model, config


class LogNotes(Protocol):
    """Whatever counts requests that are logged."""

    def logged(self, model: str, code: int) -> None:
        """Counts a request that was logged, or could not be. Called in any thread."""
        ...

    def not_logged(self, model: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Logged:
    """A model whose requests are logged."""

    rate: float
    sampling: SamplingConfig
    files: LogFiles


class RequestLogs:
    """Logs samples of the requests of models. Equal collectors of several models write to the same files."""

    def __init__(
        self,
        configs: Mapping[str, LoggingConfig],
        notes: LogNotes,
        *,
        rotation: Rotation = Rotation(),
        task: LogTask = LogTask(),
        tags: tuple[str, ...] = ("serve",),
        chance: Callable[[], float] = random,
        clock: Callable[[], float] = time,
        fs: FileSystem = FILES,
    ) -> None:
        self._notes = notes
        self._rotation = rotation
        self._task = task
        self._tags = tags
        self._chance = chance
        self._clock = clock
        self._fs = fs
        self._models: dict[str, _Logged] = {}
        self._files: dict[bytes, LogFiles] = {}
        self.change(configs)

    def change(self, configs: Mapping[str, LoggingConfig]) -> None:
        """Puts other configurations in force, by model; files that none of them names are ended.

        A configuration that cannot be is an error, and nothing has changed.
        """
        for config in configs.values():
            require_loggable(config)
        files: dict[bytes, LogFiles] = {}
        models: dict[str, _Logged] = {}
        for model, config in configs.items():
            collector = config.log_collector_config
            key = serialize(collector)
            if key in self._files:
                files[key] = self._files[key]
            elif key not in files:
                files[key] = LogFiles(collector.filename_prefix, self._rotation, fs=self._fs, clock=self._clock)
            rate = sampling_rate(config.sampling_config, self._task)
            models[model] = _Logged(rate, config.sampling_config, files[key])
        old, self._files, self._models = self._files, files, models
        for key in old.keys() - files.keys():
            Thread(target=old[key].close).start()  # it waits for the disk

    def finished(self, exchange: Exchange) -> None:
        """Has a request logged, if it was answered and is one of the sample. Takes no time of the event loop."""
        logged = self._models.get(exchange.asked.name)
        if logged is None or exchange.log is None or self._chance() >= logged.rate:
            return
        name = exchange.asked.name
        record = _Record(exchange, exchange.log, logged.sampling, self._tags, int(self._clock()), self._task.dc)
        if not logged.files.put(record, lambda code: self._notes.logged(name, code)):
            self._notes.not_logged(name)

    def drain(self) -> None:
        """Waits until everything is written that was to be logged so far."""
        for files in self._files.values():
            files.drain()

    def close(self) -> None:
        """Writes what waits, and ends the files."""
        files, self._files, self._models = self._files, {}, {}
        for each in files.values():
            each.close()


@dataclass(frozen=True, slots=True)
class _Record:
    """A record whose bytes are made when it is written, by the thread that writes."""

    exchange: Exchange
    log: Callable[[], PredictionLog]
    sampling: SamplingConfig
    tags: tuple[str, ...]
    seconds: int
    dc: str

    def __call__(self) -> bytes:
        log = PredictionLog()
        log.CopyFrom(self.log())
        about, exchange = log.log_metadata, self.exchange
        about.model_spec.name = exchange.asked.name
        if exchange.version is not None:
            about.model_spec.version.value = exchange.version
        about.model_spec.signature_name = exchange.signature or exchange.asked.signature
        about.sampling_config.CopyFrom(self.sampling)
        about.saved_model_tags.extend(self.tags)
        about.timestamp_secs = self.seconds
        about.dc = self.dc
        return serialize(log)
