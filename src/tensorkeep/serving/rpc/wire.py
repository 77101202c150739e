"""How gRPC is written in HTTP/2: messages, deadlines, statuses, metadata.

body    = message*
message = compressed (1 byte)  length (4)  bytes (length)
grpc-timeout = 1 to 8 digits and a unit: H M S m u n
grpc-message = text, whose bytes other than printable ASCII, and "%", are percent-encoded
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Sequence
from struct import Struct
from typing import Final, TypeAlias

from tensorkeep.errors import InternalError, ResourceExhaustedError, UnimplementedError
from tensorkeep.serving.http2.hpack import Fields
from tensorkeep.serving.statuses import cut_text

Metadata: TypeAlias = Sequence[tuple[str, str | bytes]]

PREFIX: Final = Struct(">BI")
IDENTITY: Final = b"identity"
GZIP: Final = b"gzip"
DEFLATE: Final = b"deflate"
WINDOW_BITS: Final = {GZIP: 31, DEFLATE: 15}  # how zlib calls the formats
_CONTENT_TYPE: Final = b"application/grpc"
_ACCEPTED: Final = b"identity,deflate,gzip"
HEAD: Final[Fields] = (
    (b":status", b"200"),
    (b"content-type", _CONTENT_TYPE),
    (b"grpc-accept-encoding", _ACCEPTED),
)
"""What an answer begins with."""
TAIL: Final[Fields] = ((b"grpc-status", b"0"),)
"""What a good answer ends with."""
_TIMEOUT: Final = re.compile(rb"([0-9]{1,8})([HMSmun])")
_UNITS: Final = {b"H": 3600.0, b"M": 60.0, b"S": 1.0, b"m": 1e-3, b"u": 1e-6, b"n": 1e-9}
_UNSAFE: Final = re.compile(rb"[^ -$&-~]|^ | $")
_OF_PROTOCOL: Final = frozenset((b"content-type", b"te", b"content-length"))


def heads_of(encoding: bytes) -> Fields:
    """What an answer begins with whose messages are compressed."""
    return HEAD if encoding == IDENTITY else (*HEAD, (b"grpc-encoding", encoding))


def tail_of(code: int, text: str) -> Fields:
    """What an answer ends with that went wrong, after it has begun."""
    status = (b"grpc-status", b"%d" % code)
    return (status, (b"grpc-message", percent_encoded(cut_text(text)))) if text else (status,)


def refusal_of(code: int, text: str) -> Fields:
    """The whole answer to a call that went wrong."""
    return (*HEAD, *tail_of(code, text))


def percent_encoded(text: str) -> bytes:
    """A text as a header may have it."""
    return _UNSAFE.sub(lambda found: b"%%%02X" % found[0][0], text.encode("utf-8", "replace"))


def is_grpc(content_type: bytes) -> bool:
    """Whether a body is gRPC's, as its type says: application/grpc, or with what the messages are written in."""
    kind = content_type.partition(b";")[0].strip().lower()
    return kind == _CONTENT_TYPE or kind.startswith(_CONTENT_TYPE + b"+")


def timeout_of(text: bytes) -> float:
    """The seconds of a grpc-timeout."""
    found = _TIMEOUT.fullmatch(text)
    if found is None:
        raise InternalError(f"grpc-timeout is {text!r}, expected up to 8 digits and one of H, M, S, m, u, n")
    return int(found[1]) * _UNITS[found[2]]


def metadata_of(fields: Fields) -> Metadata:
    """What a client sent beside its request: texts, and bytes for names that end with "-bin"."""
    found: list[tuple[str, str | bytes]] = []
    for name, value in fields:
        if name in _OF_PROTOCOL or name.startswith(b"grpc-"):
            continue
        if not name.endswith(b"-bin"):
            found.append((name.decode("latin-1"), value.decode("latin-1")))
            continue
        try:
            items = [base64.b64decode(item + b"=" * (-len(item) % 4), validate=True) for item in value.split(b",")]
        except (binascii.Error, ValueError) as error:
            raise InternalError(f"the metadata {name!r} is not base64") from error
        found += [(name.decode("latin-1"), item) for item in items]
    return found


def pack_message(data: bytes, encoding: bytes) -> bytes:
    """A message, compressed quickly rather than well."""
    packing = zlib.compressobj(1, wbits=WINDOW_BITS[encoding])
    return packing.compress(data) + packing.flush()


def unpack_message(data: bytes, encoding: bytes, most: int) -> bytes:
    """A message that came compressed. Raises what is wrong with it; it may have `most` bytes."""
    bits = WINDOW_BITS.get(encoding)
    if bits is None:
        raise InternalError(f"a message is compressed, and its encoding is {encoding.decode('latin-1')}")
    unpacking = zlib.decompressobj(bits)
    try:
        plain = unpacking.decompress(data, most + 1)
    except zlib.error as error:
        raise InternalError(f"a message cannot be unpacked: {error}") from error
    if len(plain) > most:
        raise ResourceExhaustedError(f"Received message larger than max ({len(plain)} or more vs. {most})")
    if not unpacking.eof or unpacking.unused_data:
        raise InternalError("a message cannot be unpacked: it does not end where it should")
    return plain


def check_encoding(encoding: bytes) -> None:
    """UnimplementedError for a compression that is not known."""
    if encoding != IDENTITY and encoding not in WINDOW_BITS:
        raise UnimplementedError(
            f'Compression algorithm "{encoding.decode("latin-1")}" is not supported; {_ACCEPTED.decode()} are'
        )
