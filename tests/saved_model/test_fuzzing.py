"""The fuzzers' targets for graphs and models, run for a moment without the fuzzer."""

from __future__ import annotations

import random

import pytest

from fuzz.models import MODEL_TARGETS, mutate_message
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, serialize
from tensorkeep.saved_model.scan.model_scan import scan_meta_graph
from tests.support.effort import ends

every_target = pytest.mark.parametrize("name", MODEL_TARGETS)


def scrambled(data: bytes, size: int, generator: random.Random) -> bytes:
    out = bytearray(data or b"\0")
    for _ in range(generator.randrange(1, 4)):
        out[generator.randrange(len(out))] = generator.randrange(256)
    return bytes(out[:size])


@every_target
def test_the_seeds_do_no_harm(name: str) -> None:
    run, seeds = MODEL_TARGETS[name]
    found = seeds()
    assert len(found) >= 5
    for seed in found:
        with ends():
            run(seed)


@every_target
def test_nor_does_what_becomes_of_them(name: str) -> None:
    run, seeds = MODEL_TARGETS[name]
    generator = random.Random(name)
    found = seeds()
    for _ in range(150):
        data = generator.choice(found)
        for _ in range(generator.randrange(1, 6)):
            seed = generator.getrandbits(32)
            data = mutate_message(data, 1 << 20, seed, lambda old, size: scrambled(old, size, generator))
        with ends():
            run(data)


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff" * 5, b"\x0a" * 200, bytes(100)], ids=len)
@every_target
def test_nor_does_next_to_nothing(name: str, data: bytes) -> None:
    MODEL_TARGETS[name][0](data)


def test_choices_of_an_attribute_need_not_be_a_list() -> None:
    """Found by the fuzzer: the signature of a function may say anything."""
    graph_def = GraphDef()
    function = graph_def.library.function.add()
    function.signature.name = "f"
    attribute = function.signature.attr.add(name="a", type="int")
    attribute.allowed_values.i = 3
    graph_def.node.add(op="f", name="call")
    MODEL_TARGETS["graph"][0](serialize(graph_def))


def test_an_asset_that_is_no_message_is_a_finding() -> None:
    """Found by the fuzzer: an Any may hold anything."""
    meta_graph = MetaGraphDef()
    item = meta_graph.collection_def["saved_model_assets"].any_list.value.add()
    item.type_url = "type.googleapis.com/tensorflow.AssetFileDef"
    item.value = b"\xff\xff"
    assert scan_meta_graph(meta_graph).counts == {"not-scanned": 1}
