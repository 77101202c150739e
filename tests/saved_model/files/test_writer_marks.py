"""The mark by which a model that we wrote is known again."""

from __future__ import annotations

import pytest

from tensorkeep import __version__
from tensorkeep.proto.messages import FingerprintDef
from tensorkeep.saved_model.files.fingerprint import read_fingerprint
from tensorkeep.saved_model.files.writer_marks import marked_uuid, writer_of
from tests.support.golden import golden


def test_the_mark_says_which_version_wrote_a_model() -> None:
    assert writer_of(FingerprintDef(uuid=str(marked_uuid().int))) == f"tensorkeep {__version__}"
    assert writer_of(FingerprintDef(uuid=str(marked_uuid("12.34.56").int))) == "tensorkeep 12.34.56"


def test_a_mark_is_a_uuid_of_its_own_kind_and_like_no_other() -> None:
    marks = [marked_uuid() for _ in range(100)]
    assert {mark.version for mark in marks} == {8}
    assert {mark.variant for mark in marks} == {"specified in RFC 4122"}
    assert len(set(marks)) == 100


@pytest.mark.parametrize("case", ["g28_tf2_module", "g29_keras_dense", "g33_tf2_composite"])
def test_models_that_tensorflow_wrote_bear_no_mark(case: str) -> None:
    assert writer_of(read_fingerprint(golden(case) / "model")) == ""


@pytest.mark.parametrize("uuid", ["", "x", "-1", "5", str(1 << 200), "\u0665"])
def test_what_is_no_uuid_bears_no_mark(uuid: str) -> None:
    assert writer_of(FingerprintDef(uuid=uuid)) == ""
