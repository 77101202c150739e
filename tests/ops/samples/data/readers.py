"""Readers keep a state, and are shown with the queues that they read from."""

from __future__ import annotations

_READERS = ("FixedLengthRecordReader", "IdentityReader", "TFRecordReader", "TextLineReader", "WholeFileReader")
_USES = (
    "ReaderNumRecordsProduced",
    "ReaderNumWorkUnitsCompleted",
    "ReaderRead",
    "ReaderReadUpTo",
    "ReaderReset",
    "ReaderRestoreState",
    "ReaderSerializeState",
)

ELSEWHERE = {
    "FakeQueue": "tests/interop/test_readers.py",
    **{f"{name}{suffix}": "tests/interop/test_readers.py" for name in (*_READERS, *_USES) for suffix in ("", "V2")},
}
