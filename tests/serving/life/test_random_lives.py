"""Folders that come and go, loads that fail, requests that last: whatever the order, some things always hold."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError, NotFoundError
from tensorkeep.serving.life.options import LifeOptions
from tensorkeep.serving.life.versions import Retries
from tensorkeep.serving.models import ModelAsked, State
from tests.serving.life.fakes import World


@dataclass(frozen=True)
class Step:
    """Something happens to a version, time passes, some of what was begun ends, a request comes or is answered."""

    change: str
    version: int
    seconds: float
    jobs: int
    request: str


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["whole", "whole", "whole", "half", "broken", "gone", "gone", "none"]),
        st.integers(1, 5),
        st.sampled_from([0.0, 1.0, 1.0, 3.0]),
        st.integers(0, 3),
        st.sampled_from(["none", "none", "ask", "answer"]),
    ),
    min_size=10,
    max_size=30,
)


class Lives:
    """One model, whose versions live as the steps have it, and what must hold after each."""

    def __init__(self, count: int) -> None:
        self.world = World(LifeOptions(retries=Retries(1, 3.0)))
        self.world.base("m")
        self.world.configure("m", more=f"model_version_policy {{ latest {{ num_versions: {count} }} }}")
        self.there: dict[int, str] = {}
        self.held: list[AbstractContextManager[Any]] = []
        self.was_available = False

    def take(self, step: Step) -> None:
        self._change(step.change, step.version)
        if step.seconds:
            self.world.tick(step.seconds, finish=False)
            self.check()
        for job in [self.world.jobs.pop(0) for _ in range(min(step.jobs, len(self.world.jobs)))]:
            job()
            self.check()
        self._request(step.request)
        self.check()

    def _change(self, change: str, version: int) -> None:
        before = self.there.get(version)
        if change == "gone" and before:
            del self.there[version]
            self.world.vanish("m", version)
        elif change in ("half", "broken", "whole") and (not before or (before, change) == ("half", "whole")):
            self._appear(version, change)

    def _appear(self, version: int, kind: str) -> None:
        self.there[version] = kind
        self.world.broken.pop(("m", version), None)
        if kind == "broken":
            self.world.broken["m", version] = DataLossError("damaged")
        self.world.put(f"/models/m/{version}/{'variables' if kind == 'half' else 'saved_model.pb'}")

    def _request(self, request: str) -> None:
        if request == "answer" and self.held:
            self.held.pop(0).__exit__(None, None, None)
        elif request == "ask":
            hold = self.world.models.hold(ModelAsked("m"))
            try:
                hold.__enter__()
            except NotFoundError:
                return
            self.held.append(hold)

    def check(self) -> None:
        alive = [servable.version for servable in self.world.loaded if not servable.is_closed]
        assert len(alive) == len(set(alive)), "a version is loaded twice at once"
        available = [version for version, state in self.world.states("m").items() if state is State.AVAILABLE]
        for version in available:
            assert self.world.answers("m", version) == version
        if available:
            assert self.world.answers("m") == max(available)
        elif self.was_available:
            lives = self.world.models._roster.lives("m").values()
            assert not any(life.is_wished for life in lives), "nothing answers, though something is wished"
        self.was_available = bool(available)
        for hold in self.held:
            assert not hold._held.servable.is_closed, "a request lost its model"  # type: ignore[attr-defined]

    def end(self) -> None:
        """In the end the newest version serves if it works, and everything is closed when all is over."""
        while self.held:
            self.held.pop().__exit__(None, None, None)
        for _ in range(8):
            self.world.tick(3.0)
            self.check()
        if self.there and self.there[max(self.there)] == "whole":
            assert self.world.answers("m") == max(self.there)
        self.world.runs_at_once = True
        self.world.models.close(0)
        self.world.finish()
        assert all(servable.is_closed for servable in self.world.loaded)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 2), STEPS)
def test_whatever_happens_a_model_answers_and_nothing_is_lost(count: int, steps: list[Step]) -> None:
    lives = Lives(count)
    for step in steps:
        lives.take(step)
    lives.end()
