"""What a URL asks for.

Paths are matched before they are percent-decoded and without regard to case, but for the verb. Queries do not count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.serving.models import ModelAsked

PREDICT: Final = "predict"
CLASSIFY: Final = "classify"
REGRESS: Final = "regress"
STATUS: Final = "status"
METADATA: Final = "metadata"
MODELS: Final = "models"

_MODEL: Final = r"/v1/models/([^/:]+)(?:/versions/([0-9]+)|/labels/([^/:]+))?"
_INFERENCE: Final = re.compile(rf"{_MODEL}:([a-z]+)", re.IGNORECASE)
_QUESTION: Final = re.compile(rf"{_MODEL}(/metadata)?", re.IGNORECASE)
_VERBS: Final = (PREDICT, CLASSIFY, REGRESS)
_MOST_VERSION: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Route:
    """What is asked for, and of which model; MODELS is asked of none."""

    what: str
    asked: ModelAsked


@lru_cache(1024)
def route_of(method: str, path: str, target: str) -> Route:
    """What is asked for by a path below /v1/, which is not decoded yet; `target` is what the client sent, for errors.

    InvalidArgumentError for what nobody asks.
    """
    if method == "POST" and (found := _INFERENCE.fullmatch(path)) is not None and found.group(4) in _VERBS:
        return Route(found.group(4), _asked_model(found))
    if method == "GET" and path.rstrip("/").lower() == "/v1/models":
        return Route(MODELS, ModelAsked(""))
    if method == "GET" and (found := _QUESTION.fullmatch(path)) is not None:
        return Route(METADATA if found.group(4) else STATUS, _asked_model(found))
    raise InvalidArgumentError(f"Malformed request: {method} {target}")


def _asked_model(found: re.Match[str]) -> ModelAsked:
    name, version, label = found.group(1), found.group(2), found.group(3)
    if version is not None and int(version[:30]) > _MOST_VERSION:
        raise InvalidArgumentError(f"Version {version[:30]} is larger than any version can be")
    return ModelAsked(
        unquote(name), int(version) if version is not None else None, unquote(label) if label is not None else None
    )
