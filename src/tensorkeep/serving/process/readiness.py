"""Whether a server can answer: its ports are open, it is not about to stop, and every model has a version."""

from __future__ import annotations

from collections.abc import Callable

from tensorkeep.errors import NotFoundError
from tensorkeep.serving.models import Models, State


class Readiness:
    """Says whether requests should be sent here."""

    def __init__(self, models: Models, drain: Callable[[], None]) -> None:
        """`drain` is called when the server is about to stop."""
        self._models = models
        self._drain = drain
        self.is_open = False

    def open(self) -> None:
        """Requests are answered from now on."""
        self.is_open = True

    def close(self) -> None:
        """The server is about to stop: those who ask whether it is ready should send requests elsewhere."""
        self.is_open = False
        self._drain()

    def reasons_against(self, name: str | None = None) -> list[str]:
        """Why requests, for one model or for any, should not be sent here; nothing if they should.

        NotFoundError for a model that there is not.
        """
        if not self.is_open:
            return ["the server is starting or stopping"]
        models = [model for model in self._models.overview() if name in (None, model.name)]
        if name is not None and not models:
            raise NotFoundError(f"Could not find any versions of model {name}")
        return [
            f"no version of model {model.name} is available"
            for model in models
            if not any(status.state is State.AVAILABLE for status in model.versions)
        ]
