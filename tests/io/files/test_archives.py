"""Archives are read with limits."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest

from tensorkeep.errors import DataLossError
from tensorkeep.io.files.archives import archive_members


def made(**files: bytes) -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr("folder/", b"")
    return target.getvalue()


def test_members_come_in_their_order_without_folders_and_are_read_as_far_as_wanted() -> None:
    members = list(archive_members(made(b=b"12345", a=b""), "x", most=10))
    assert [(item.name, item.size) for item in members] == [("b", 5), ("a", 0)]
    data = made(big=bytes(10_000))
    (found,) = (item.read(100) for item in archive_members(data, "x", most=10))
    assert found == bytes(100)


def test_too_many_members_are_refused() -> None:
    with pytest.raises(DataLossError, match="more than 2"):
        list(archive_members(made(a=b"", b=b"", c=b""), "x", most=2))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"words", made(a=b"1")[:-10]])
def test_what_is_no_archive_is_an_error(data: bytes) -> None:
    with pytest.raises(DataLossError, match='"x" is no zip archive'):
        list(archive_members(data, "x", most=10))


def test_an_encrypted_member_is_an_error() -> None:
    data = bytearray(made(a=b"some text that is long enough to be packed" * 10))
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1  # says that it is encrypted
    (found,) = archive_members(bytes(data), "x", most=10)
    with pytest.raises(DataLossError, match=r'"a": RuntimeError: .*encrypted'):
        found.read(10)


def test_a_member_without_a_name_is_a_file_like_others() -> None:
    data = bytearray(made(a=b"1"))
    at = data.index(b"PK\x01\x02")
    data[at + 28 : at + 32] = b"\0\0\x01\0"  # no name, and the letter counts as something else
    assert [item.name for item in archive_members(bytes(data), "x", most=10)] == [""]
