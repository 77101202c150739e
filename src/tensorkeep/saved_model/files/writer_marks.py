"""The mark by which a model that we wrote is known: in the number of the export that its fingerprint has.

TensorFlow takes a random UUID (version 4) for that number, so that no two exports have the same bytes there anyhow. We
take one of version 8, which RFC 9562 leaves to whoever makes it:

    uuid = "tkeep" (40 bits) major (8) | version 8 (4 bits) minor (6) patch (6) | variant (2 bits) random (62)

All other bytes of a model stay those that TensorFlow would write.
"""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID, uuid4

from tensorkeep._version import __version__
from tensorkeep.proto.messages import FingerprintDef

_NAME: Final = int.from_bytes(b"tkeep", "big")
_RANDOM: Final = (1 << 62) - 1


def marked_uuid(version: str = __version__) -> UUID:
    """A number for an export that says which version of tensorkeep made it, and is like no other."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    assert found is not None, version
    major, minor, patch = (min(int(number), most) for number, most in zip(found.groups(), (255, 63, 63), strict=True))
    high = _NAME << 24 | major << 16 | 8 << 12 | minor << 6 | patch
    return UUID(int=high << 64 | 0b10 << 62 | uuid4().int & _RANDOM)


def writer_of(fingerprint: FingerprintDef | None) -> str:
    """What wrote a model, by its fingerprint: "tensorkeep 0.2.0"; nothing if that does not say it."""
    if fingerprint is None or not fingerprint.uuid.isdecimal() or int(fingerprint.uuid) >> 128:
        return ""
    high = int(fingerprint.uuid) >> 64
    if high >> 24 != _NAME or high >> 12 & 0xF != 8:
        return ""
    return f"tensorkeep {high >> 16 & 0xFF}.{high >> 6 & 0x3F}.{high & 0x3F}"
