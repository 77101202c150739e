"""Whether models serve, or never will: what the start of a server and the change of its configuration wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock

from tensorkeep.serving.life.lifecycle import Lives, is_settled
from tensorkeep.serving.models import State


def not_settled(names: Iterable[str], lives: Callable[[str], Lives]) -> list[str]:
    """The models of which nothing is available yet, and something still may be."""
    return [name for name in names if not is_settled(lives(name))]


def unavailable_text(names: Iterable[str], lives: Callable[[str], Lives], kind: str) -> str | None:
    """What TensorFlow Serving says of models that failed; None if none did. `kind` is "servable" or "model"."""
    failed = []
    for name in names:
        versions = lives(name).values()
        if any(life.state is State.AVAILABLE for life in versions):
            continue
        worst = max((life for life in versions if life.has_failed), key=lambda life: life.version, default=None)
        if worst is not None:
            failed.append(f"{{{{name: {name} version: {worst.version}}} due to error: {worst.problem}}}, ")
    return f"{len(failed)} {kind}(s) did not become available: {{{''.join(failed)}}}" if failed else None


@dataclass(frozen=True, slots=True)
class _Waiter:
    is_over: Callable[[], bool]
    tell: Callable[[], None]


class Waiters:
    """Callbacks that wait for a condition. Safe to use from several threads."""

    def __init__(self) -> None:
        self._waiting: list[_Waiter] = []
        self._lock = Lock()

    def add(self, is_over: Callable[[], bool], tell: Callable[[], None]) -> Callable[[], None]:
        """Calls `tell`, which must not block, once `is_over` is true. Returns a function that stops waiting for it."""
        waiter = _Waiter(is_over, tell)
        with self._lock:
            self._waiting.append(waiter)

        def take_back() -> None:
            with self._lock:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)

        self.look()
        return take_back

    def look(self) -> None:
        """Calls the callbacks whose condition is true now, and forgets them."""
        with self._lock:
            over = [waiter for waiter in self._waiting if waiter.is_over()]
            self._waiting = [waiter for waiter in self._waiting if waiter not in over]
        for waiter in over:
            waiter.tell()
