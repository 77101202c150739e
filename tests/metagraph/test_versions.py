"""What versions tell."""

from __future__ import annotations

import pytest

from tensorkeep.metagraph.versions import TENSORFLOW_VERSION, says_trainable


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("1.8.0", False),
        ("1.9.0", True),
        ("1.15.5", True),
        ("2.21.0", True),
        ("1.9.0-rc1", True),
        ("0.12", False),
        ("", True),
        ("unknown", True),
        ("1", False),
        (TENSORFLOW_VERSION, True),
    ],
)
def test_variables_say_whether_they_are_trainable_since_1_9(version: str, says: bool) -> None:
    assert says_trainable(version) is says
