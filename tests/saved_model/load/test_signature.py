"""What a signature takes for its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32, STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.texts import JoinedTexts
from tensorkeep.saved_model.load.signature import RunOfTexts, Signature, SignatureSpec
from tensorkeep.saved_model.load.tensor_values import TensorSpec
from tensorkeep.shapes import Shape

NUMBERS = np.zeros((2, 3), np.float32)


@pytest.fixture
def signature() -> Signature:
    """One that gives what its function is called with."""
    inputs = {"numbers": TensorSpec(FLOAT32, Shape((None, 3))), "words": TensorSpec(STRING, Shape((None, 2)))}
    names = {name: (name,) for name in inputs}
    spec = SignatureSpec("echo", "", inputs, inputs, names, names)
    return Signature(spec, lambda spec: lambda arrays: arrays)


@pytest.mark.parametrize("words", [[["a", "é"]], np.array([["a", "é"]]), np.array([["a", "é"]], object)])
def test_texts_are_encoded_and_numbers_handed_on(signature: Signature, words: Any) -> None:
    found = signature(words=words, numbers=NUMBERS)
    assert found["numbers"] is NUMBERS
    assert found["words"].tolist() == [[b"a", b"\xc3\xa9"]]


@pytest.mark.parametrize("is_joined", [True, False])
def test_texts_are_joined_for_runs_that_take_them_so(signature: Signature, is_joined: bool) -> None:
    joining = Signature(signature._spec, lambda spec: RunOfTexts(lambda arrays: arrays, frozenset([1])))
    words = np.array([["a", "é" if is_joined else b"\xc3\xa9"]], object)
    found = joining(words=words, numbers=NUMBERS)["words"]
    assert isinstance(found, JoinedTexts) == is_joined
    assert (found.array() if is_joined else found).tolist() == [[b"a", b"\xc3\xa9"]]
    with pytest.raises(InvalidArgumentError, match="surrogates not allowed"):
        joining(words=np.array([["a", "\ud800"]], object), numbers=NUMBERS)


def test_bytes_are_handed_on(signature: Signature) -> None:
    words = np.array([[b"a", b"\xff"]], object)
    assert signature(words=words, numbers=NUMBERS)["words"] is words


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([["a", 3]], 'input "words": expected a string, got 3 of type int'),
        ([["a", "\ud800"]], 'input "words": expected a string, got .*surrogates not allowed'),
        ([["a", "b", "c"]], r'input "words": expected string \[\?, 2\], got string \[1, 3\]'),
    ],
)
@pytest.mark.parametrize("as_array", [False, True])
def test_an_input_that_does_not_fit_is_named(signature: Signature, words: Any, reason: str, as_array: bool) -> None:
    value = np.array(words, object) if as_array else words
    with pytest.raises(InvalidArgumentError, match=f'signature "echo": {reason}.* It takes numbers'):
        signature(words=value, numbers=NUMBERS)
