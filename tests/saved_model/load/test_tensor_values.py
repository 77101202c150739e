"""Texts and bytes as arrays of strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saved_model.load.tensor_values import string_array


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Zürich", "Zürich".encode()),
        (b"\xff", b"\xff"),
        ([], []),
        (["a", "é"], [b"a", b"\xc3\xa9"]),
        ([b"a", b"\0"], [b"a", b"\0"]),
        ([["a"], [b"\xff"]], [[b"a"], [b"\xff"]]),
        ([b"a", "b", np.str_("c")], [b"a", b"b", b"c"]),
        (np.array(["a", "bc"]), [b"a", b"bc"]),
        (np.array([b"a", b"bc"]), [b"a", b"bc"]),
        (np.array([[b"a", "b"], ["c", "d"]], object)[:, ::-1], [[b"b", b"a"], [b"d", b"c"]]),
    ],
)
def test_texts_and_bytes_become_bytes(value: Any, expected: Any) -> None:
    found = string_array(value)
    assert found.dtype == object
    assert found.tolist() == expected
    assert all(type(item) is bytes for item in found.reshape(-1).tolist())


def test_an_array_of_bytes_is_taken_as_it_is() -> None:
    array = np.array([[b"a", b"b"]], object)
    assert string_array(array) is array


@pytest.mark.parametrize("before", [[], ["a"], [b"a"], ["a", b"b"]])
@pytest.mark.parametrize(
    ("bad", "reason"), [(3, "expected a string, got 3 of type int"), ("\ud800", "expected a string, got '.ud800'")]
)
def test_what_is_no_string_is_named(before: list[Any], bad: Any, reason: str) -> None:
    with pytest.raises(InvalidArgumentError, match=reason):
        string_array([*before, bad])
