"""Whether a server can answer: its ports are open, it is not about to stop, and every model has a version."""

from __future__ import annotations

from collections.abc import Callable

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

    def missing(self) -> list[str]:
        """What is not ready: models without an available version, or the server itself."""
        if not self.is_open:
            return ["the server is starting or stopping"]
        return [
            model.name
            for model in self._models.overview()
            if not any(status.state is State.AVAILABLE for status in model.versions)
        ]
