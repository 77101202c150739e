"""The fuzzer's targets for bodies by HTTP, run for a moment without the fuzzer."""

from __future__ import annotations

import random

import pytest

from fuzz.serving import SERVING_TARGETS
from tests.support.effort import ends

PIECES = (
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b":",
    b'"',
    b"1",
    b"1.5",
    b"NaN",
    b"null",
    b'"b64":',
    b"\\u",
    b"-",
    b"\xff",
    b"\0",
)

every_target = pytest.mark.parametrize("name", SERVING_TARGETS)


@every_target
def test_neither_the_seeds_nor_what_becomes_of_them_does_harm(name: str) -> None:
    run, seeds = SERVING_TARGETS[name]
    found = seeds()
    generator = random.Random(name)
    for seed in found:
        with ends():
            run(seed)
    for _ in range(300):
        data = bytearray(generator.choice(found))
        for _ in range(generator.randrange(1, 6)):
            at = generator.randrange(len(data) + 1)
            data[at : at + generator.randrange(3)] = generator.choice((*PIECES, generator.randbytes(1), b""))
        with ends():
            run(bytes(data))


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff" * 5, b"[" * 1000, b'\0{"inputs":' + b"[" * 1000], ids=len)
@every_target
def test_nor_does_next_to_nothing(name: str, data: bytes) -> None:
    SERVING_TARGETS[name][0](data)
