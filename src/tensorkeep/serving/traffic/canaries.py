"""A share of the requests that name no version goes to one of them: a version that is being tried.

The others go to the newest version that is not being tried, so that a share is what it says even of the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import random
from typing import Protocol

from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.serving.models import ModelAsked, Models, State


@dataclass(frozen=True, slots=True)
class Canary:
    """So many of a hundred requests for a model, and the version, or the label of one, that they go to."""

    model: str
    target: int | str
    percent: float

    def __post_init__(self) -> None:
        require_percent(self.model, self.percent)

    @classmethod
    def of(cls, text: str) -> Canary:
        """The canary of a text such as "m=7:5" or "m=next:0.5": model, version or label, percent."""
        return cls(*share_of_text(text))


def share_of_text(text: str) -> tuple[str, int | str, float]:
    """Model, version or label, and percent, of a text such as "m=7:5" or "m=next:0.5"."""
    model, _, rest = text.partition("=")
    target, _, percent = rest.rpartition(":")
    try:
        share = float(percent.removesuffix("%"))
    except ValueError:
        share = -1.0
    if not model or not target or share < 0:
        raise InvalidArgumentError(f'"{text}" is not MODEL=VERSION:PERCENT, such as m=7:5')
    return model, int(target) if target.isdecimal() else target, share


def require_percent(model: str, percent: float) -> None:
    """InvalidArgumentError for what is no share of requests."""
    if not 0 <= percent <= 100:
        raise InvalidArgumentError(f'"{model}": a share is 0 to 100 percent, got {percent:g}')


def asked_of_target(asked: ModelAsked, target: int | str) -> ModelAsked:
    """The request as one to a version, or to a label."""
    if isinstance(target, int):
        return replace(asked, version=target, label=None)
    return replace(asked, version=None, label=target)


class CanaryNotes(Protocol):
    """Whatever counts requests that were sent elsewhere."""

    def redirected(self, model: str, target: str) -> None: ...


def version_for(models: Models, asked: ModelAsked) -> int | None:
    """The version that would answer; None if there is none."""
    try:
        with models.hold(asked) as servable:
            return servable.version
    except (NotFoundError, InvalidArgumentError):
        return None


def is_available(models: Models, asked: ModelAsked) -> bool:
    """Whether there is a version that would answer."""
    return version_for(models, asked) is not None


def canaries_by_model(canaries: Sequence[Canary]) -> dict[str, list[Canary]]:
    """The canaries of each model; InvalidArgumentError where they are more than all requests."""
    by_model: dict[str, list[Canary]] = {}
    for canary in canaries:
        by_model.setdefault(canary.model, []).append(canary)
    for model, shares in by_model.items():
        if (total := sum(share.percent for share in shares)) > 100:
            raise InvalidArgumentError(f'the canaries of model "{model}" are {total:g} percent together')
    return by_model


class Canaries:
    """Sends shares of the requests elsewhere; never to a version that is not there."""

    def __init__(
        self,
        canaries: Sequence[Canary],
        models: Models,
        notes: CanaryNotes,
        chance: Callable[[], float] = random,
    ) -> None:
        self._models = models
        self._notes = notes
        self._chance = chance
        self._by_model = canaries_by_model(canaries)

    def change(self, canaries: Sequence[Canary]) -> None:
        """Puts other shares in force."""
        self._by_model = canaries_by_model(canaries)

    def routed(self, asked: ModelAsked) -> ModelAsked:
        """The request as one to a version that is being tried, or to the newest of the others."""
        shares = self._by_model.get(asked.name)
        if shares is None or asked.version is not None or asked.label is not None:
            return asked
        drawn = self._chance() * 100
        for share in shares:
            if drawn < share.percent:
                target = asked_of_target(asked, share.target)
                if not is_available(self._models, target):
                    break
                self._notes.redirected(share.model, str(share.target))
                return target
            drawn -= share.percent
        return self._beside(asked, shares)

    def _beside(self, asked: ModelAsked, shares: Sequence[Canary]) -> ModelAsked:
        """The request to the newest version that is not being tried; as it is, if there is no such version."""
        tried = {self._version_of(asked, share.target) for share in shares}
        newest = version_for(self._models, asked)
        if newest is None or newest not in tried:
            return asked
        others = [
            status.version
            for status in self._models.statuses(asked)
            if status.state is State.AVAILABLE and status.version not in tried
        ]
        return replace(asked, version=max(others)) if others else asked

    def _version_of(self, asked: ModelAsked, target: int | str) -> int | None:
        return target if isinstance(target, int) else version_for(self._models, asked_of_target(asked, target))
