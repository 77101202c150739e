"""Folders that come and go, loads that fail, requests that last: whatever the order, some things always hold."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tensorkeep.errors import DataLossError, NotFoundError
from tensorkeep.serving.asked import ModelAsked
from tensorkeep.serving.life.life_options import LifeOptions
from tensorkeep.serving.life.versions import Retries
from tensorkeep.serving.models import State
from tests.serving.life.fakes import World

VERSIONS = st.integers(1, 4)


class RandomLives(RuleBasedStateMachine):
    """One model, whose versions live as chance has it."""

    @initialize(count=st.integers(1, 2))
    def begin(self, count: int) -> None:
        self.world = World(LifeOptions(retries=Retries(1, 3.0)))
        self.world.base("m")
        self.world.configure("m", more=f"model_version_policy {{ latest {{ num_versions: {count} }} }}")
        self.there: set[int] = set()
        self.held: list[AbstractContextManager[Any]] = []
        self.was_available = False

    @rule(version=VERSIONS, works=st.booleans())
    def appear(self, version: int, works: bool) -> None:
        if version in self.there:
            return
        self.there.add(version)
        if works:
            self.world.broken.pop(("m", version), None)
        else:
            self.world.broken["m", version] = DataLossError("damaged")
        self.world.version("m", version)

    @rule(version=VERSIONS)
    def half_appear(self, version: int) -> None:
        if version not in self.there:
            self.there.add(version)
            self.world.broken.pop(("m", version), None)
            self.world.put(f"/models/m/{version}/variables")

    @rule(version=VERSIONS)
    def become_whole(self, version: int) -> None:
        if version in self.there and not self.world.fs.exists(f"/models/m/{version}/saved_model.pb"):
            self.world.version("m", version)

    @rule(version=VERSIONS)
    def vanish(self, version: int) -> None:
        if version in self.there:
            self.there.discard(version)
            self.world.vanish("m", version)

    @rule(seconds=st.floats(0.1, 5))
    def pass_time(self, seconds: float) -> None:
        self.world.tick(seconds, finish=False)

    @precondition(lambda self: self.world.jobs)
    @rule(data=st.data())
    def end_a_job(self, data: st.DataObject) -> None:
        self.world.jobs.pop(data.draw(st.integers(0, len(self.world.jobs) - 1)))()

    @rule()
    def ask(self) -> None:
        hold = self.world.models.hold(ModelAsked("m"))
        try:
            hold.__enter__()
        except NotFoundError:
            return
        self.held.append(hold)

    @precondition(lambda self: self.held)
    @rule()
    def answer(self) -> None:
        self.held.pop(0).__exit__(None, None, None)

    @invariant()
    def no_version_is_loaded_twice_at_once(self) -> None:
        alive = [servable.version for servable in self.world.loaded if not servable.is_closed]
        assert len(alive) == len(set(alive))

    @invariant()
    def what_is_available_answers(self) -> None:
        available = [version for version, state in self.world.states("m").items() if state is State.AVAILABLE]
        for version in available:
            assert self.world.answers("m", version) == version
        if available:
            assert self.world.answers("m") == max(available)

    @invariant()
    def a_model_that_answers_goes_on_while_something_is_wished(self) -> None:
        """It is only without a version when nothing was below its base path at the last look."""
        is_available = State.AVAILABLE in self.world.states("m").values()
        if self.was_available and not is_available:
            assert not any(life.is_wished for life in self.world.models._roster.lives("m").values())
        self.was_available = is_available

    @invariant()
    def what_is_held_is_open(self) -> None:
        for hold in self.held:
            assert not hold._held.servable.is_closed  # type: ignore[attr-defined]

    def teardown(self) -> None:
        """In the end everything settles, the newest that works serves, and all is closed when all is over."""
        if not hasattr(self, "world"):
            return
        while self.held:
            self.held.pop().__exit__(None, None, None)
        for _ in range(8):
            self.world.tick(3.0)
        working = [
            version
            for version in sorted(self.there)
            if ("m", version) not in self.world.broken and self.world.fs.exists(f"/models/m/{version}/saved_model.pb")
        ]
        if self.there and working and working[-1] == max(self.there):
            assert self.world.answers("m") == working[-1]
        self.world.runs_at_once = True
        self.world.models.close(0)
        self.world.finish()
        assert all(servable.is_closed for servable in self.world.loaded)


TestRandomLives = RandomLives.TestCase
TestRandomLives.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
