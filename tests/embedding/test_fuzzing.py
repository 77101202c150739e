"""The fuzzer's target for stored embeddings, run for a moment without the fuzzer."""

from __future__ import annotations

import random

import pytest

from fuzz.embeddings import EMBEDDING_TARGETS, decode, encode
from tests.support.effort import ends

pytestmark = pytest.mark.slow  # all of them together

every_target = pytest.mark.parametrize("name", EMBEDDING_TARGETS)


@every_target
def test_the_seeds_do_no_harm(name: str) -> None:
    run, seeds = EMBEDDING_TARGETS[name]
    found = seeds()
    assert len(found) >= 10
    for seed in found:
        assert encode(dict(decode(seed))) == seed
        with ends():
            run(seed)


@every_target
def test_nor_does_what_becomes_of_them(name: str) -> None:
    run, seeds = EMBEDDING_TARGETS[name]
    generator = random.Random(name)
    found = seeds()
    for _ in range(200):
        data = bytearray(generator.choice(found))
        for _ in range(generator.randrange(1, 6)):
            at = generator.randrange(len(data) + 1)
            if generator.random() < 0.7:  # where it stands, so that what follows is still understood
                data[at : at + 1] = generator.randbytes(1)[: len(data) - at]
            else:
                data[at : at + generator.randrange(3)] = generator.randbytes(generator.randrange(3))
        with ends():
            run(bytes(data))


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff" * 5, b"\xff" * 100, bytes(100)], ids=len)
@every_target
def test_nor_does_next_to_nothing(name: str, data: bytes) -> None:
    EMBEDDING_TARGETS[name][0](data)
