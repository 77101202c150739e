"""A share of the requests goes to a version that is being tried."""

from __future__ import annotations

from random import Random

import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.serving.models import ModelAsked
from tensorkeep.serving.traffic.canaries import Canaries, Canary
from tests.serving.traffic.fakes import NamedModels, Notes


def test_as_many_go_there_as_were_set() -> None:
    notes = Notes()
    canaries = Canaries([Canary("m", 7, 10)], NamedModels(m=[7]), notes, Random(1).random)
    routed = [canaries.routed(ModelAsked("m", signature="s")) for _ in range(10_000)]
    moved = [asked for asked in routed if asked.version == 7]
    assert 900 < len(moved) < 1100
    assert set(moved) == {ModelAsked("m", 7, None, "s")}
    assert notes.all == [("redirected", "m", "7")] * len(moved)


def test_several_canaries_share_the_requests() -> None:
    draws = iter([0.05, 0.15, 0.95])
    canaries = Canaries(
        [Canary("m", 7, 10), Canary("m", "next", 20)], NamedModels(m=[7, "next"]), Notes(), lambda: next(draws)
    )
    routed = [canaries.routed(ModelAsked("m")) for _ in range(3)]
    assert routed == [ModelAsked("m", 7), ModelAsked("m", label="next"), ModelAsked("m")]


def test_requests_that_are_not_of_the_share_go_to_the_newest_version_that_is_not_being_tried() -> None:
    models = NamedModels(m=[5, 6, 7])
    canaries = Canaries([Canary("m", 7, 10)], models, Notes(), lambda: 0.5)
    assert canaries.routed(ModelAsked("m")) == ModelAsked("m", 6)
    models.there["m"] = {7}  # there is no other
    assert canaries.routed(ModelAsked("m")) == ModelAsked("m")
    models.there["m"] = {7, 8}  # the newest is not being tried
    assert canaries.routed(ModelAsked("m")) == ModelAsked("m")


@pytest.mark.parametrize(
    "asked", [ModelAsked("other"), ModelAsked("m", version=3), ModelAsked("m", label="stable")], ids=repr
)
def test_who_names_a_version_gets_it(asked: ModelAsked) -> None:
    canaries = Canaries([Canary("m", 7, 100)], NamedModels(m=[7]), Notes())
    assert canaries.routed(asked) is asked


def test_nobody_is_sent_to_a_version_that_is_not_there() -> None:
    models, notes = NamedModels(m=[]), Notes()
    canaries = Canaries([Canary("m", 7, 100)], models, notes)
    assert canaries.routed(ModelAsked("m")) == ModelAsked("m")
    assert not notes.all
    models.there["m"].add(7)
    assert canaries.routed(ModelAsked("m")) == ModelAsked("m", 7)


def test_canaries_are_read_from_text() -> None:
    assert Canary.of("m=7:5") == Canary("m", 7, 5)
    assert Canary.of("m=next:0.5%") == Canary("m", "next", 0.5)
    for wrong in ("m", "m=7", "m=7:many", "=7:5", "m=7:101", "m=7:-1"):
        with pytest.raises(InvalidArgumentError):
            Canary.of(wrong)
    with pytest.raises(InvalidArgumentError, match='the canaries of model "m" are 120 percent together'):
        Canaries([Canary("m", 1, 60), Canary("m", 2, 60)], NamedModels(), Notes())
