"""The fuzzers' targets, run for a moment without the fuzzer: so that they work when it comes, and on what it found."""

from __future__ import annotations

import random

import pytest

from fuzz.harness import TARGETS, mutate, pack, unpack
from tests.support.effort import ends

pytestmark = pytest.mark.slow  # all of them together

every_target = pytest.mark.parametrize("name", TARGETS)


def scrambled(data: bytes, size: int, generator: random.Random) -> bytes:
    """A poor man's mutation: a few bytes replaced, put in or taken out."""
    out = bytearray(data)
    for _ in range(generator.randrange(1, 4)):
        at = generator.randrange(len(out) + 1)
        out[at : at + generator.randrange(3)] = generator.randbytes(generator.randrange(3))
    return bytes(out[:size])


@every_target
def test_the_seeds_do_no_harm(name: str) -> None:
    run, seeds = TARGETS[name]
    found = seeds()
    assert len(found) >= 10
    for seed in found:
        with ends():
            run(seed)


@every_target
def test_nor_does_what_becomes_of_them(name: str) -> None:
    run, seeds = TARGETS[name]
    generator = random.Random(name)
    found = seeds()
    for _ in range(150):
        data = generator.choice(found)
        for _ in range(generator.randrange(1, 4)):
            if name.startswith("sealed"):
                seed = generator.getrandbits(32)
                data = mutate(data, 1 << 20, seed, lambda old, size: scrambled(old, size, generator))
            else:
                data = scrambled(data, 1 << 20, generator)
        with ends():
            run(data)


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff" * 5, b"\xff" * 100, bytes(100)], ids=len)
@every_target
def test_nor_does_next_to_nothing(name: str, data: bytes) -> None:
    TARGETS[name][0](data)


def test_the_sealed_form_is_read_as_it_is_written() -> None:
    records = [(b"", b"value"), (b"key", b"")]
    assert unpack(pack(7, records, b"rest")) == (7, records, b"rest")


# What the fuzzers found, as they found it; test_hostile.py tells what it is.
HEADER = (b"", "08011a020801")
FOUND = {
    "a 2-bit integer of more bits": (2, [HEADER, (b"t", "081f12041202080228023500000000")], "0121"),
    "a scalar stored in a slice": (3, [HEADER, (b"t", "080112003a00")], "00000000"),
}


@pytest.mark.parametrize("what", FOUND)
def test_what_was_found_is_found_no_more(what: str) -> None:
    options, records, rest = FOUND[what]
    data = pack(options, [(key, bytes.fromhex(value)) for key, value in records], bytes.fromhex(rest))
    TARGETS["sealed_bundle"][0](data)
