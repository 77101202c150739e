"""Header lists as bytes and back, beside the package `hpack`, and what is no block of headers."""

from __future__ import annotations

import hpack
import pytest
from hpack.huffman import HuffmanEncoder
from hpack.huffman_constants import REQUEST_CODES, REQUEST_CODES_LENGTH
from hpack.huffman_table import decode_huffman
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.serving.http2 import huffman
from tensorkeep.serving.http2.frames import ConnectionFaultError, ErrorCode
from tensorkeep.serving.http2.hpack import STATIC, Fields, HeaderDecoder, HeaderEncoder, HeaderListTooLargeError
from tests.support.depth import examples

names = st.sampled_from([b":path", b":status", b"content-type", b"grpc-status", b"grpc-message", b"x", b"a-bin"])
fields = st.tuples(names | st.binary(max_size=40), st.binary(max_size=200))
lists = st.lists(fields, max_size=8).map(tuple)


@given(st.binary(max_size=300))
@examples(200)
def test_huffman_texts_are_those_of_another_library(text: bytes) -> None:
    coded = HuffmanEncoder(REQUEST_CODES, REQUEST_CODES_LENGTH).encode(text)
    assert huffman.encode_text(text) == coded
    assert huffman.encoded_size(text) == len(coded)
    assert huffman.decode_text(coded) == text


@given(st.binary(max_size=40))
@examples(300)
def test_bytes_that_are_no_huffman_text_are_refused_by_both(data: bytes) -> None:
    try:
        theirs: bytes | None = bytes(decode_huffman(data))
    except hpack.HPACKDecodingError:
        theirs = None
    assert huffman.decode_text(data) == theirs


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x00\x00\x00\x00\x00\xff", "eight ones of padding"),
        (b"\x00", "zeros of padding"),
        (b"\xff\xff\xff\xff", "the end of text in a text"),
    ],
)
def test_what_ends_a_huffman_text_wrongly_is_refused(data: bytes, why: str) -> None:
    assert huffman.decode_text(data) is None, why


@given(st.lists(st.one_of(lists, st.integers(0, 10_000)), max_size=12))
@examples(200)
def test_blocks_that_are_written_here_are_read_here_and_by_another_library(steps: list[Fields | int]) -> None:
    encoder, decoder = HeaderEncoder(), HeaderDecoder(1 << 20)
    other = hpack.Decoder(1 << 20)
    for step in steps:
        if isinstance(step, int):
            encoder.allow(step)
            other.max_allowed_table_size = min(step, 4096)
            continue
        block = encoder.encode(step)
        assert decoder.decode(block) == step
        assert tuple(other.decode(block, raw=True)) == step
        assert decoder.table.size <= 4096
        assert tuple(decoder.table.fields) == tuple(encoder.table.fields)


@given(st.lists(st.tuples(lists, st.booleans(), st.sampled_from([0, 60, 200, 4096])), max_size=8))
@examples(200)
def test_blocks_of_another_library_are_read(steps: list[tuple[Fields, bool, int]]) -> None:
    encoder, decoder = hpack.Encoder(), HeaderDecoder(1 << 20)
    for found, is_coded, size in steps:
        encoder.header_table_size = size
        assert decoder.decode(encoder.encode(found, huffman=is_coded)) == found


@given(st.lists(st.binary(max_size=60), max_size=6))
@examples(500)
def test_any_bytes_are_a_list_or_a_fault_and_as_another_library_sees_it(blocks: list[bytes]) -> None:
    decoder, other = HeaderDecoder(1 << 12), hpack.Decoder(1 << 12)
    for block in blocks:
        try:
            theirs: object = tuple(other.decode(block, raw=True))
        except (hpack.HPACKError, IndexError):
            theirs = None
        try:
            ours: object = decoder.decode(block)
        except (ConnectionFaultError, HeaderListTooLargeError):
            ours = None
        assert ours == theirs or ours is None
        assert decoder.table.size <= 4096
        if ours is None or theirs is None:
            return


@pytest.mark.parametrize(
    ("block", "why"),
    [
        (b"\x80", "field 0"),
        (b"\xbe", "a field of the table, which is empty"),
        (b"\xff\x80\x80\x80\x80\x80\x80\x80\x01", "a number of too many bytes"),
        (b"\xff\xff\xff\xff\xff\x0f", "a number beyond any table"),
        (b"\xff", "a number without its end"),
        (b"\x40", "a field without its name"),
        (b"\x40\x01a", "a field without its value"),
        (b"\x40\x05a", "a name without its end"),
        (b"\x00\x81\xff\x00", "a name that is no Huffman text"),
        (b"\x82\x20", "a size of the table after a field"),
        (b"\x3f\xe2\x1f", "a table larger than was offered"),
        (b"\x00\x7f\xff\xff\xff\xff\x07a", "a text beyond any block"),
    ],
)
def test_what_is_no_block_is_a_fault_of_compression(block: bytes, why: str) -> None:
    with pytest.raises(ConnectionFaultError) as caught:
        HeaderDecoder().decode(block)
    assert caught.value.code is ErrorCode.COMPRESSION_ERROR, why


def test_the_examples_of_the_rfc() -> None:
    """RFC 7541, C.4 and C.6: requests with Huffman's code, and responses with a table that evicts."""
    decoder = HeaderDecoder()
    first = decoder.decode(bytes.fromhex("828684418cf1e3c2e5f23a6ba0ab90f4ff"))
    second = decoder.decode(bytes.fromhex("828684be5886a8eb10649cbf"))
    third = decoder.decode(bytes.fromhex("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf"))
    common = ((b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/"), (b":authority", b"www.example.com"))
    assert first == common
    assert second == (*common, (b"cache-control", b"no-cache"))
    assert third == (
        (b":method", b"GET"),
        (b":scheme", b"https"),
        (b":path", b"/index.html"),
        (b":authority", b"www.example.com"),
        (b"custom-key", b"custom-value"),
    )
    assert decoder.table.size == 164
    small = HeaderDecoder()
    small.table.resize(256)
    small.decode(
        bytes.fromhex(
            "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3"
        )
    )
    assert small.decode(bytes.fromhex("4883640effc1c0bf"))[0] == (b":status", b"307")
    assert small.table.size == 222


def test_a_field_that_is_larger_than_the_table_empties_it() -> None:
    decoder = HeaderDecoder(1 << 14)
    decoder.decode(b"\x40\x01a\x01b")
    assert len(decoder.table.fields) == 1
    decoder.decode(hpack.Encoder().encode([(b"a", b"b" * 5000)], huffman=False))
    assert (len(decoder.table.fields), decoder.table.size) == (0, 0)


def test_a_list_that_is_too_large_is_read_to_its_end() -> None:
    encoder, decoder = hpack.Encoder(), HeaderDecoder(100)
    with pytest.raises(HeaderListTooLargeError, match="at most 100 are taken"):
        decoder.decode(encoder.encode([(b"large", b"x" * 200), (b"kept", b"y")]))
    assert decoder.decode(encoder.encode([(b"kept", b"y")])) == ((b"kept", b"y"),)


def test_a_small_block_cannot_become_any_number_of_fields() -> None:
    decoder = HeaderDecoder(1 << 14)
    decoder.decode(b"\x40\x01a" + b"\x7f\xa1\x1e" + b"b" * 4000)
    with pytest.raises(ConnectionFaultError) as caught:
        decoder.decode(b"\xbe" * 60_000)
    assert caught.value.code is ErrorCode.ENHANCE_YOUR_CALM


def test_the_fixed_table_is_that_of_another_library() -> None:
    assert hpack.hpack.HeaderTable.STATIC_TABLE == STATIC


def test_a_repeated_list_is_one_byte_for_each_field() -> None:
    encoder = HeaderEncoder()
    answer = ((b":status", b"200"), (b"content-type", b"application/grpc"), (b"grpc-status", b"0"))
    encoder.encode(answer)
    assert encoder.encode(answer) == encoder.encode(answer) == b"\x88\xbf\xbe"
