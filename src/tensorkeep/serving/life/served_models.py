"""The models of a server: found, loaded, looked up, switched and unloaded while requests are answered.

A thread looks what lies below base paths and has versions loaded and unloaded by other threads, so that neither
requests nor other models wait. All that it does is a `tick`, which tests call by a clock of their own.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from math import inf
from threading import Event, RLock, Thread
from typing import Final

from tensorkeep.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
    TensorKeepError,
    UnknownError,
)
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.machine.parallel import processors
from tensorkeep.proto.serving import ModelServerConfig
from tensorkeep.serving.life.configuration import ConfigFile, InForce, ModelSettings, checked_settings
from tensorkeep.serving.life.deltas import Deltas
from tensorkeep.serving.life.finding import Content, content_of, find_versions
from tensorkeep.serving.life.holding import Hold
from tensorkeep.serving.life.lifecycle import Transition
from tensorkeep.serving.life.loading import Job, close_servable, run_in_a_thread
from tensorkeep.serving.life.options import Extras, LifeOptions, ModelExtras, extras_of
from tensorkeep.serving.life.readiness import Waiters, not_settled, unavailable_text
from tensorkeep.serving.life.roster import Begun, Gone, Roster
from tensorkeep.serving.life.versions import Problem
from tensorkeep.serving.models import ModelAsked, ModelOverview, State, VersionStatus
from tensorkeep.serving.servables import Servable

Loader = Callable[[str, int, str, ModelExtras], Servable]
"""Loads a version: the name of its model, its number, its folder, and what is said of the model."""

_LOGGER: Final = logging.getLogger("tensorkeep.serving")
_PAUSE: Final = 0.1  # seconds between looks at what is to be done, unless something happens
_LOOKS: Final = 1.0  # seconds between looks at the files of versions that could not be loaded, if nothing is polled
_MOST_MODELS: Final = 100  # that ended and are not configured any more


class ServedModels:
    """All models of a server. Safe to use from several threads; `start` it, and `close` it at the end."""

    def __init__(
        self,
        load: Loader,
        options: LifeOptions = LifeOptions(),
        *,
        extras: Extras | None = None,
        fs: FileSystem = FILES,
        clock: Callable[[], float] = time.monotonic,
        run: Callable[[Job], None] = run_in_a_thread,
        collect: Callable[[], object] = gc.collect,
    ) -> None:
        """`load` loads a version; `run` has a job done in another thread; `collect` frees memory after an unload."""
        self._load = load
        self._options = options
        self._extras: Extras = extras or {}
        self._fs = fs
        self._clock = clock
        self._run = run
        self._collect = collect  # graphs are full of circles, and what they hold is large
        self._roster = Roster(options.retries, options.most_ended)
        self._waiters = Waiters()
        self._listeners: list[Callable[[str, VersionStatus], None]] = []
        self._telling = RLock()
        self._deltas = Deltas(fs)
        self._remarks: dict[str, tuple[str, ...]] = {}
        self._next_look: float | None = 0.0 if options.poll_seconds >= 0 else None
        self._next_glance = 0.0
        self._config_file = ConfigFile(options.config_file, options.config_poll_seconds, fs)
        self._loads = 0  # that are running
        self._is_starting = True
        self._has_looked = False
        self._ended_models: deque[str] = deque()
        self._wake = Event()
        self._is_stopping = False
        self._thread: Thread | None = None

    # ------------------------------------------------------------------------------------------------ requests

    def hold(self, asked: ModelAsked) -> AbstractContextManager[Servable]:
        """The version that answers, which stays loaded until the context ends."""
        return Hold(lambda: self._roster.table, asked)

    def statuses(self, asked: ModelAsked) -> list[VersionStatus]:
        """All versions of a model, highest first, or the one asked for."""
        found = self._roster.statuses(asked.name)
        if asked.version is not None:
            found = [status for status in found if status.version == asked.version]
            if not found:
                raise NotFoundError(f"Could not find version {asked.version} of model {asked.name}")
        if not found:
            raise NotFoundError(f"Could not find any versions of model {asked.name}")
        return found

    def overview(self) -> list[ModelOverview]:
        """All models, by name."""
        known, roster = self._roster.settings, self._roster
        labels = {name: dict(known[name].labels) if name in known else {} for name in roster.names()}
        return [ModelOverview(name, tuple(roster.statuses(name)), labels[name]) for name in labels]

    @property
    def settings(self) -> Mapping[str, ModelSettings]:
        """The configuration in force, by the names of models."""
        return self._roster.settings

    # ------------------------------------------------------------------------------------------------ configuration

    def configure(self, config: ModelServerConfig) -> list[str]:
        """Puts a configuration in force, without waiting. Returns the models that it names for the first time."""
        with self._roster.lock:
            before = self._roster.settings
            in_force = InForce(before, self._roster.is_available, self._options.allows_unavailable_labels)
            settings = checked_settings(config, in_force)
            if settings is None or settings == before:
                return []
            self._roster.configure(settings)
            if self._next_look is not None:
                self._next_look = 0.0  # at once, also where there is no look otherwise
            self._forget_models(before)
        self._tell()
        self._wake.set()
        return sorted(set(settings) - set(before))

    async def reload(self, config: ModelServerConfig) -> None:
        """Puts a configuration in the place of the one in force; comes back when newly named models serve.

        UnknownError "1 model(s) did not become available: …" if one of them has failed.
        """
        if config.WhichOneof("config") != "model_config_list":
            raise InvalidArgumentError(
                "ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList is currently "
                "supported"
            )
        names = self.configure(config)
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        take_back = self._waiters.add(
            lambda: not not_settled(self._still(names), self._roster.lives),
            lambda: _call_in(loop, over.set),
        )
        try:
            await over.wait()
        finally:
            take_back()
        if problem := unavailable_text(names, self._roster.lives, "model"):
            raise UnknownError(problem)

    def _still(self, names: list[str]) -> list[str]:
        """The names among these that are still configured: nobody waits for the others."""
        return [name for name in names if name in self._roster.settings]

    def _forget_models(self, before: Mapping[str, ModelSettings]) -> None:
        self._ended_models.extend(sorted(set(before) - set(self._roster.settings)))
        while len(self._ended_models) > _MOST_MODELS:
            self._roster.forget([self._ended_models.popleft()])

    # ------------------------------------------------------------------------------------------------ start, end

    def start(self) -> None:
        """Begins to look, to load and to unload, in a thread."""
        self._thread = Thread(target=self._drive, name="tensorkeep-life", daemon=True)
        self._thread.start()

    def wait_until_ready(self, timeout: float | None = None, *, lenient: bool = False) -> None:
        """Comes back when each configured model has a version available, or has failed for good.

        UnknownError "1 servable(s) did not become available: …" if one failed; DeadlineExceededError if it takes too
        long. A lenient server waits for no model of which no version is found, and lets no failed one keep the others
        from serving: it only raises if nothing at all is available.
        """
        over = Event()
        take_back = self._waiters.add(lambda: not self._awaited_names(lenient), over.set)
        try:
            if not over.wait(timeout):
                waiting = ", ".join(self._awaited_names(lenient))
                raise DeadlineExceededError(f"after {timeout} seconds no version is available of: {waiting}")
        finally:
            take_back()
        self._is_starting = False
        problem = unavailable_text(self._roster.settings, self._roster.lives, "servable")
        if problem and lenient and self._roster.available():
            _LOGGER.error("%s", problem)
        elif problem:
            raise UnknownError(problem)

    def _awaited_names(self, lenient: bool) -> list[str]:
        names = not_settled(self._roster.settings, self._roster.lives)
        if not lenient or not self._has_looked:
            return names
        return [name for name in names if any(life.is_wished for life in self._roster.lives(name).values())]

    def close(self, timeout: float = 30.0) -> None:
        """Unloads everything, when the requests that run have been answered, or after so many seconds."""
        self._is_stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout)
        self._roster.wish_nothing()
        over = Event()
        take_back = self._waiters.add(self._roster.is_idle, over.set)
        self._act(self._clock())
        self._tell()
        if not over.wait(timeout):
            _LOGGER.warning("models were still in use or being loaded %s seconds after the end", timeout)
        take_back()

    def on_change(self, callback: Callable[[str, VersionStatus], None]) -> None:
        """Calls `callback` with the name of a model and each new state of one of its versions, in order, in any thread.

        It must neither block nor raise.
        """
        self._listeners.append(callback)

    # ------------------------------------------------------------------------------------------------ driving

    def _drive(self) -> None:
        while not self._is_stopping:
            self._wake.clear()
            try:
                self.tick(self._clock())
            except Exception:
                _LOGGER.exception("the thread that looks after models failed, and goes on")
            self._wake.wait(_PAUSE)

    def tick(self, now: float) -> None:
        """Does what is due: looks for versions, begins to load and to unload, puts deltas over models."""
        if (config := self._config_file.read_if_due(now)) is not None:
            self._config_file.apply(config, self.configure)
        if self._next_look is not None and now >= self._next_look:
            self._next_look = now + (self._options.poll_seconds or inf)  # before it: a new configuration says "now"
            self._look()
            self._has_looked = True
        if now >= self._next_glance:
            self._next_glance = now + (self._options.poll_seconds if self._options.poll_seconds > 0 else _LOOKS)
            self._look_at_files(now)
            self._look_for_deltas()
        if self._has_looked and not not_settled(self._roster.settings, self._roster.lives):
            self._is_starting = False
        self._act(now)
        self._tell()

    def _look(self) -> None:
        for name, settings in self._roster.settings.items():
            try:
                found = find_versions(settings, self._fs)
            except TensorKeepError as error:  # of this model nothing changes
                self._remark(name, (str(error),), logging.ERROR)
                continue
            elsewhere = self._roster.wish(settings, found.paths)
            stays = (
                f"version {life.version} of {name} is served from {life.path} and stays so, though it lies in "
                f"{found.paths[life.version]} now: give that another number"
                for life in elsewhere
                if life.state is State.AVAILABLE
            )
            self._remark(name, (*found.remarks, *stays), logging.WARNING)

    def _remark(self, name: str, remarks: tuple[str, ...], level: int) -> None:
        """Says what is to be said of a model once, not at every look."""
        for remark in remarks:
            if remark not in self._remarks.get(name, ()):
                _LOGGER.log(level, "%s", remark)
        self._remarks[name] = remarks

    def _look_at_files(self, now: float) -> None:
        for name, life in self._roster.watched():
            self._roster.look_at(name, life.version, content_of(life.path, self._fs), now)

    def _look_for_deltas(self) -> None:
        for name, servable in self._roster.available():
            folder = extras_of(self._extras, name).delta_path
            if folder and self._deltas.begin(servable):
                self._run(partial(self._refresh, servable, folder))

    def _refresh(self, servable: Servable, folder: str) -> None:
        asked = ModelAsked(servable.name, servable.version)
        try:
            with self.hold(asked) as held:
                if held is servable:
                    self._deltas.refresh(servable, folder)
        except NotFoundError:
            return  # it was unloaded meanwhile
        finally:
            self._deltas.end(servable)

    # ------------------------------------------------------------------------------------------------ loading

    def _transition(self, name: str) -> Transition:
        return extras_of(self._extras, name).transition

    def _act(self, now: float) -> None:
        while gone := self._roster.next_unload(self._transition, now):
            gone.held.let_go(partial(self._run, partial(self._unload_one, gone)))
        while self._loads < self._most_loads() and not self._is_stopping:
            begun = self._roster.next_load(self._transition, now)
            if begun is None:
                return
            with self._roster.lock:
                self._loads += 1
            self._run(partial(self._load_one, begun))

    def _most_loads(self) -> int:
        return 4 * processors() if self._is_starting else max(1, self._options.load_threads)

    def _load_one(self, begun: Begun) -> None:
        """Loads a version, in a thread of its own."""
        before = content_of(begun.path, self._fs)
        try:
            servable = self._load(begun.name, begun.version, begun.path, extras_of(self._extras, begun.name))
        except Exception as error:
            self._note_failure(begun, error, before)
        else:
            self._note_loaded(begun, servable, before)
        finally:
            with self._roster.lock:
                self._loads -= 1
            self._tell()
            self._wake.set()

    def _note_failure(self, begun: Begun, error: Exception, before: Content) -> None:
        if not isinstance(error, TensorKeepError):
            _LOGGER.error("loading %s failed in a way nobody foresaw", _servable_id(begun), exc_info=error)
        problem = Problem.of(error)
        after, now = content_of(begun.path, self._fs), self._clock()
        if after != before:
            life = self._roster.changed(begun, before, after, now)
        else:
            life = self._roster.failed(begun, problem, after, now)
        if life.state is State.END:
            _LOGGER.error("%s failed to load and is given up until its files change: %s", _servable_id(begun), problem)
        else:
            _LOGGER.warning("%s failed to load and is tried again: %s", _servable_id(begun), problem)

    def _note_loaded(self, begun: Begun, servable: Servable, before: Content) -> None:
        after = content_of(begun.path, self._fs)
        if after != before and self._roster.may_change_again(begun):
            self._close(servable)
            self._roster.changed(begun, before, after, self._clock())
            _LOGGER.warning("the files of %s changed while it was loaded: it is loaded anew", _servable_id(begun))
        elif self._roster.loaded(begun, servable):
            _LOGGER.info("Successfully loaded servable version %s", _servable_id(begun))
        else:
            self._close(servable)
            _LOGGER.info("%s is not wished any more: what was loaded of it is dropped", _servable_id(begun))

    def _unload_one(self, gone: Gone) -> None:
        """Closes a version that nobody holds, in a thread of its own."""
        self._close(gone.held.servable)
        self._roster.ended(gone)
        _LOGGER.info("Successfully unloaded servable version %s", _servable_id(gone))
        self._tell()
        self._wake.set()

    def _close(self, servable: Servable) -> None:
        """Gives the memory of a servable back."""
        try:
            close_servable(servable)
        except Exception:
            _LOGGER.exception("%r could not be closed", servable)
        self._collect()

    def _tell(self) -> None:
        """Tells of changes in their order, and those who wait for them."""
        with self._telling:
            while self._roster.changes:
                name, status = self._roster.changes.popleft()
                for listener in tuple(self._listeners):
                    listener(name, status)
        self._waiters.look()


def _call_in(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(callback)


def _servable_id(one: Begun | Gone) -> str:
    return f"{{name: {one.name} version: {one.version}}}"
