"""How HTTP is spoken, and what is told to whom."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.native.json_tape import JsonLimits
from tensorkeep.serving.exchanges import Exchange

METRICS_PATH: Final = "/monitoring/prometheus/metrics"  # where TensorFlow Serving has them, unless it is told otherwise


def _always_ready(model: str | None) -> list[str]:
    return []


def _everyone(headers: Mapping[str, str]) -> None:
    return None


def _ignore_exchange(exchange: Exchange) -> None:
    return None


@dataclass(frozen=True, slots=True)
class RestOptions:
    """What a server of HTTP is told."""

    timeout: float | None = 30.0
    """Seconds that an answer may take, as `--rest_api_timeout_in_ms` says; None for any time."""
    cors: bool = False
    """Whether pages of other sites may use it, as `--rest_api_enable_cors_support` asks."""
    most_body: int = 1 << 30
    """Bytes of a request's body."""
    most_unpacked: int = 100 << 20
    """Bytes of a body that came compressed, when it is unpacked."""
    body_timeout: float = 60.0
    """Seconds that a body may take to arrive."""
    json: JsonLimits = field(default_factory=JsonLimits)
    large: int = 1 << 16
    """Bytes from which on bodies are read and written beside the event loop."""
    compress_from: int | None = 1 << 20
    """Bytes from which on an answer is compressed for clients that take it so; None for never."""
    metrics_path: str = METRICS_PATH
    render_metrics: Callable[[], bytes] | None = None
    """The metrics as text; None where there are none to be had."""
    unready: Callable[[str | None], list[str]] = _always_ready
    """Why the server, or a model, is not ready to answer; nothing if it is. NotFoundError for an unknown model."""
    authorize: Callable[[Mapping[str, str]], None] = _everyone
    """Raises UnauthenticatedError or PermissionDeniedError for headers, in lower case, of those who may not ask."""
    finished: Callable[[Exchange], None] = _ignore_exchange
    """Takes note of a request that did not come to inference: questions about models, and what could not be read."""
    shadow_report: Callable[[str], Mapping[str, object]] | None = None
    """What became of copies of requests for a model that went to another version; None where none are sent."""
    pages: bool = True
    """Whether there are pages for people, and a description of the interface."""
    executor: Executor | None = None
    """Where work is done beside the event loop; None for the loop's own threads."""
    clock: Callable[[], float] = time.monotonic
