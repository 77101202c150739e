"""The life of one version, as a value: what it is, and what it becomes when something happens to it.

    START ──▶ LOADING ──▶ AVAILABLE ──▶ UNLOADING ──▶ END
      ▲          │ ▲                                   │
      │          ▼ └ tried again                       │
      │         END, with an error                     │
      └── wished again, or its files have changed ─────┘

A version that cannot be loaded is tried again for as long as its files change, as they do while it is being copied.
With the same files it is tried so many times and then given up, until they change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tensorkeep.errors import CancelledError
from tensorkeep.serving.life.finding import Content
from tensorkeep.serving.models import State, VersionStatus
from tensorkeep.serving.statuses import code_name, code_of


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a version ended."""

    code: int
    message: str

    @classmethod
    def of(cls, error: BaseException) -> Problem:
        """What a status says of an error."""
        return cls(code_of(error), str(error) or type(error).__name__)

    def __str__(self) -> str:
        return f"{code_name(self.code)}: {self.message}"


_REST: Final = 1.0  # seconds that files are given at least to come to rest
CANCELLED: Final = Problem(CancelledError.error_code, "Loading of servable cancelled")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a version that cannot be loaded is tried once more, and how many seconds later."""

    most: int = 5
    seconds: float = 60.0

    def after_failure(self, now: float) -> float:
        """When a version is tried again whose files have not changed."""
        return now + max(0.0, self.seconds)

    def after_change(self, now: float) -> float:
        """When a version is tried again whose files do not come to rest."""
        return now + max(_REST, self.seconds)


@dataclass(frozen=True, slots=True)
class VersionLife:
    """Where one version is in its life."""

    version: int
    path: str
    state: State = State.START
    is_wished: bool = True
    is_busy: bool = False
    """Whether a thread is loading it."""
    is_doomed: bool = False
    """Whether what a thread is loading is not wanted any more."""
    tries: int = 0
    """How many times it failed to load with the files that are there."""
    changed_tries: int = 0
    """How many times its files changed while it was loaded."""
    due: float = 0.0
    """When it is tried again."""
    tried: Content | None = None
    """The files that it was last tried with."""
    seen: Content | None = None
    """The files that were last seen."""
    problem: Problem | None = None
    """The error of the last try."""

    @property
    def status(self) -> VersionStatus:
        """What others are told of it. Errors are told when they are final."""
        problem = self.problem if self.state is State.END else None
        return VersionStatus(self.version, self.state, *((problem.code, problem.message) if problem else ()))

    @property
    def has_failed(self) -> bool:
        """Whether it is wished, and was given up."""
        return self.state is State.END and self.is_wished and self.problem is not None

    @property
    def is_watched(self) -> bool:
        """Whether a change of its files makes a difference."""
        return self.has_failed or (self.state is State.LOADING and not self.is_busy)

    def may_load(self, now: float) -> bool:
        """Whether it is its turn to be loaded, or to be tried again."""
        if not self.is_wished or self.is_busy:
            return False
        return self.state is State.START or (self.state is State.LOADING and self.due <= now)

    # ---------------------------------------------------------------------------------------- what is wished

    def wished(self, path: str) -> VersionLife:
        """It is wished, and lies there."""
        if self.state is State.AVAILABLE:
            return replace(self, is_wished=True)  # from wherever it was loaded
        if self.is_busy or self.state is State.UNLOADING:
            return replace(self, is_wished=True, is_doomed=self.is_doomed or self.path != path, path=path)
        if self.is_wished and self.path == path:
            return self
        return VersionLife(self.version, path)

    def unwished(self) -> VersionLife:
        """It is not wished any more."""
        if not self.is_wished:
            return self
        if self.is_busy:
            return replace(self, is_wished=False, is_doomed=True)
        if self.state is State.START:
            return replace(self, is_wished=False, state=State.END)
        if self.state is State.LOADING:
            return replace(self, is_wished=False, state=State.END, problem=CANCELLED)
        return replace(self, is_wished=False)

    # ---------------------------------------------------------------------------------------- what is done

    def loading(self) -> VersionLife:
        """A thread begins to load it."""
        return replace(self, state=State.LOADING, is_busy=True)

    def available(self) -> VersionLife:
        """It is loaded, and can be looked up."""
        return VersionLife(self.version, self.path, State.AVAILABLE, self.is_wished)

    def dropped(self) -> VersionLife:
        """A thread has ended that loaded it in vain."""
        if self.is_wished:
            return VersionLife(self.version, self.path)
        return VersionLife(self.version, self.path, State.END, is_wished=False, problem=CANCELLED)

    def changed(self, before: Content, after: Content, retries: Retries, now: float) -> VersionLife:
        """Its files have changed while it was loaded: such a try does not count, whatever came of it."""
        return replace(
            self, is_busy=False, tries=0, changed_tries=self.changed_tries + 1, tried=before, seen=after,
            due=retries.after_change(now),
        )  # fmt: skip

    def failed(self, problem: Problem, content: Content, retries: Retries, now: float) -> VersionLife:
        """It could not be loaded from these files, which are as they were."""
        tries = self.tries + 1 if content == self.tried else 1
        tried = replace(self, is_busy=False, tries=tries, tried=content, seen=content, problem=problem)
        if tries > retries.most:
            return replace(tried, state=State.END)
        return replace(tried, due=retries.after_failure(now))

    def looked_at(self, content: Content, retries: Retries, now: float) -> VersionLife:
        """Its files were looked at. Once they have changed and come to rest, it is time to try again."""
        if content != self.seen:
            return replace(self, seen=content, tries=0, due=retries.after_change(now))
        if content == self.tried:
            return self
        return replace(self, state=State.LOADING, tries=0, due=now)

    def unloading(self) -> VersionLife:
        """It cannot be looked up any more, and ends when the last request is answered."""
        return replace(self, state=State.UNLOADING)

    def ended(self) -> VersionLife:
        """It is unloaded; if it was wished again in the meantime, it begins anew."""
        if self.is_wished:
            return VersionLife(self.version, self.path)
        return VersionLife(self.version, self.path, State.END, is_wished=False)
