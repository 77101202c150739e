"""Hyperparameters: given by name, and set from texts and JSON without losing anything."""

from __future__ import annotations

import pytest

import tensorkeep.v1 as tf

HParams = tf.contrib.training.HParams


def made() -> HParams:
    return HParams(rate=0.1, units=10, name="net", is_deep=True, sizes=[1, 2, 3], none=None)


def test_they_are_attributes_and_are_set_from_a_text() -> None:
    hparams = made().parse("rate=0.3,units=20, name=other,is_deep=false,sizes=[4,5]")
    assert hparams.values() == {
        "rate": 0.3, "units": 20, "name": "other", "is_deep": False, "sizes": [4, 5], "none": None
    }  # fmt: skip
    assert hparams.rate == 0.3
    assert "rate" in hparams
    assert made().parse("sizes[1]=7").sizes == [1, 7, 3]
    assert made().parse("rate=1").rate == 1.0


@pytest.mark.parametrize(
    "text", ["units=1.5", "unknown=1", "units=[1]", "sizes=1", "rate", "units=1,units=2", "is_deep=maybe", "sizes[9]=1"]
)
def test_what_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each case has its own words
        made().parse(text)


def test_they_are_written_as_json_and_read_again() -> None:
    text = made().to_json(sort_keys=True)
    assert HParams(rate=0.0, units=0, name="", is_deep=False, sizes=[0], none=None).parse_json(text).values() == (
        made().values()
    )
    with pytest.raises(ValueError, match="not JSON"):
        made().parse_json("{")


def test_they_can_be_added_set_removed_and_asked_for() -> None:
    hparams = made()
    with pytest.raises(ValueError, match="reserved"):
        hparams.add_hparam("rate", 1)
    with pytest.raises(ValueError, match="reserved"):
        hparams.add_hparam("parse", 1)
    with pytest.raises(ValueError, match="empty"):
        hparams.add_hparam("more", [])
    hparams.set_hparam("rate", 2)
    assert hparams.rate == 2.0
    assert isinstance(hparams.rate, float)
    with pytest.raises(KeyError, match="no hyperparameter"):
        hparams.set_hparam("more", 1)
    with pytest.raises(ValueError, match="cast"):
        hparams.set_hparam("units", 1.5)
    hparams.del_hparam("rate")
    assert "rate" not in hparams
    assert hparams.get("rate", 5) == 5
    assert hparams.get("units", 5) == 10
    with pytest.raises(ValueError, match="incompatible"):
        hparams.get("units", [5])


def test_types_of_a_text_can_be_told_by_a_map() -> None:
    parse = tf.contrib.training.parse_values
    assert parse("a=1,b=[x,y],c[2]=3.5", {"a": int, "b": str, "c": float}) == {
        "a": 1, "b": ["x", "y"], "c": {2: 3.5}
    }  # fmt: skip
    assert parse("a=1,z=2", {"a": int}, ignore_unknown=True) == {"a": 1}
