"""One loaded version of a model, and how tensors are put through its graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, Protocol

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import UnavailableError
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.saved_model.load.model import LoadedModel
from tensorkeep.saved_model.load.signature import Run

_MOST_PREPARED: Final = 64  # a client may ask for any set of outputs; the oldest are prepared anew


@dataclass(frozen=True, slots=True)
class Ends:
    """What is fed and what is fetched: names of tensors ("x:0"), each list sorted and without doubles.

    Requests with equal ends may be answered by one run.
    """

    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    _hash: int = field(init=False, repr=False, compare=False)  # every request looks up something by its ends

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.feeds, self.fetches)))

    def __hash__(self) -> int:
        return self._hash


class Runner(Protocol):
    """Puts tensors through a model, for many requests at a time, without blocking the event loop."""

    async def run(self, ends: Ends, arrays: Sequence[Array], deadline: float | None) -> Sequence[Array]:
        """The fetched tensors for the fed ones, both in the order of `ends`.

        DeadlineExceededError when `deadline`, by `time.monotonic()`, passes before they are there. What the model
        cannot take raises the error that TensorFlow's runtime has for it.
        """
        ...


class Servable:
    """A version of a model that is loaded and can answer."""

    def __init__(self, name: str, version: int, model: LoadedModel, signature_defs: Mapping[str, SignatureDef]) -> None:
        self.name = name
        self.version = version
        self.model = model
        self.signature_defs = signature_defs
        """All signatures of the meta graph, that of its initialization among them."""
        self.runner: Runner | None = None
        """What runs requests; set before the version becomes available."""
        self._prepared: dict[Ends, Run] = {}
        self._lock = Lock()
        self._running = 0
        self._is_closed = False

    def compute(self, ends: Ends, arrays: Sequence[Array]) -> list[Array]:
        """The fetched tensors, computed here and now, in this thread. Any shapes are taken; types are not checked."""
        with self._lock:
            if self._is_closed:
                raise UnavailableError(f"version {self.version} of model {self.name} is not loaded any more")
            self._running += 1
        try:
            return [_as_array(result) for result in self._run_of(ends)(list(arrays))]
        finally:
            with self._lock:
                self._running -= 1
                is_last = self._is_closed and not self._running
            if is_last:
                self._give_back()

    def prepare(self, ends: Ends) -> None:
        """Restores and compiles what a run with these ends needs, so that the first request does not wait for it."""
        self._run_of(ends)

    def _run_of(self, ends: Ends) -> Run:
        run = self._prepared.get(ends)
        if run is not None:
            return run
        run = self.model.prepared_tensors(ends.feeds, ends.fetches)
        with self._lock:
            self._prepared[ends] = run
            while len(self._prepared) > _MOST_PREPARED:
                del self._prepared[next(iter(self._prepared))]
        return run

    def close(self) -> None:
        """Gives the model's files and memory back, when what is computed just now is done: nobody may wait for it."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            is_free = not self._running
        if is_free:
            self._give_back()

    def _give_back(self) -> None:
        self._prepared.clear()
        self.model.close()

    def __repr__(self) -> str:
        return f"<Servable {self.name} version {self.version}>"


def _as_array(result: Any) -> Array:
    """A result as an array; a run gives those without dimensions as scalars, and strings as bytes."""
    if isinstance(result, bytes):  # NumPy would make an array of them that forgets zero bytes at their ends
        array = np.empty((), object)
        array[()] = result
        return array
    return np.asarray(result)
