"""Files that lie beside a graph, and what is in them that Python or the system would run.

    .keras        zip: config.json, metadata.json, model.weights.h5    Lambda layers, names of Python objects
    .h5           HDF5: attribute model_config, JSON                   the same
    .npz, .pt     zip: arrays, pickles                                 pickles
    .npy          header, with '|O' for a pickle behind it             pickles
    others        by their first bytes                                 pickles, programs, Python

Files are told by their content. What is packed is unpacked into memory only, and not more of it than the limits here.
"""

from __future__ import annotations

import pickletools
from collections.abc import Iterator
from typing import Final

from tensorkeep.errors import DataLossError
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.io.files.archives import ArchiveMember, archive_members
from tensorkeep.proto.identification import FileKind, identify_proto
from tensorkeep.saved_model.scan.hdf5_texts import attribute_texts
from tensorkeep.saved_model.scan.keras_code import python_in_json
from tensorkeep.saved_model.scan.report import NOT_SCANNED, Finding, Findings

_NATIVE: Final = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_OBJECTS: Final = (b"'|O'", b'"|O"', b"'O'", b'"O"')
_NUMPY: Final = b"\x93NUMPY"
_LOOKED_AT: Final = 1 << 20  # bytes of a file in an archive, to tell what it is
_MOST_OF_A_MEMBER: Final = 1 << 28
_MOST_MEMBERS: Final = 10_000
_UNPACKED: Final = 1 << 30  # bytes that are looked at of a small archive and those in it
_DEEPEST: Final = 3  # archives in archives
_WEIGHTS: Final = ".weights.h5"  # Keras reads no configuration of such a file in an archive


def scan_keras(text: str, file: str, where: str, found: Findings) -> None:
    """Scans a configuration of Keras."""
    rule = Capability.CALLS_PYTHON.identifier
    try:
        for code in python_in_json(text, "its metadata"):
            found.add(Finding(rule, code.subject[:200], file, where, code.message[:500]))
    except DataLossError as error:
        found.add(Finding(NOT_SCANNED, "metadata", file, where, str(error)[:500]))


def scan_container(data: bytes, name: str, kind: FileKind, found: Findings) -> None:
    """Scans a zip archive or an HDF5 file."""
    if kind is FileKind.HDF5:
        _scan_hdf5(data, name, "", found)
    else:
        try:
            _scan_archive(data, name, "", found, 0, _Budget(_UNPACKED + 4 * len(data)))
        except _TooMuchError as error:
            found.add(Finding(NOT_SCANNED, "archive", name, "", str(error)))


class _TooMuchError(DataLossError):
    """An archive, with the archives in it, unpacks to more than the scan is willing to read."""


class _Budget:
    """How much may still be unpacked. Members may share their bytes, so a small archive can hold a great deal."""

    def __init__(self, size: int) -> None:
        self._members = 2 * _MOST_MEMBERS
        self._size = size

    def spend(self, size: int) -> None:
        self._members -= 1
        self._size -= size
        if self._members < 0 or self._size < 0:
            raise _TooMuchError("an archive that holds, with the archives in it, more than can be looked at")


def scan_other(name: str, start: bytes, found: Findings, where: str = "") -> None:
    """Scans a file that is neither a graph nor a checkpoint for what Python or the system would run."""
    inner = where or name
    if name.startswith("variables/") and not where:
        return
    if inner.endswith((".py", ".pyc")):
        found.add(Finding(Capability.CALLS_PYTHON.identifier, "Python code", name, where, "a file of Python code"))
    elif is_pickle(start):
        message = "a pickle, which runs Python code when it is loaded"
        found.add(Finding(Capability.CALLS_PYTHON.identifier, "pickle", name, where, message))
    elif start.startswith(_NUMPY) and any(word in start[: _header_end(start)] for word in _OBJECTS):
        message = "an array of objects, which is a pickle and runs Python code when it is loaded"
        found.add(Finding(Capability.CALLS_PYTHON.identifier, "pickle", name, where, message))
    elif start.startswith(_NATIVE) and b"\0" in start:
        message = "a compiled program or library"
        found.add(Finding(Capability.RUNS_UNKNOWN_CODE.identifier, "native code", name, where, message))


def _header_end(start: bytes) -> int:
    """Where the header of an array ends, which says of what type it is."""
    if len(start) < 12:
        return len(start)
    return 10 + int.from_bytes(start[8:10], "little") if start[6] == 1 else 12 + int.from_bytes(start[8:12], "little")


def _scan_archive(data: bytes, name: str, where: str, found: Findings, depth: int, left: _Budget) -> None:
    try:
        for member in archive_members(data, name, most=_MOST_MEMBERS):
            inner = f"{where}/{member.name[:200]}" if where else member.name[:200]
            try:
                _scan_member(member, name, inner, found, depth, left)
            except _TooMuchError:
                raise
            except DataLossError as error:
                found.add(Finding(NOT_SCANNED, "file", name, inner, str(error)[:500]))
    except _TooMuchError:
        raise
    except DataLossError as error:
        found.add(Finding(NOT_SCANNED, "archive", name, where, str(error)[:500]))


def _scan_member(member: ArchiveMember, name: str, where: str, found: Findings, depth: int, left: _Budget) -> None:
    start = member.read(_LOOKED_AT)
    left.spend(len(start))
    kind = identify_proto(start).kind
    if member.name.endswith(".json"):
        scan_keras(_all_of(member, start, left).decode("utf-8", "replace"), name, where, found)
    elif kind is FileKind.ZIP:
        if depth >= _DEEPEST:
            raise DataLossError("an archive in an archive, and so on, too deep to look at")
        _scan_archive(_all_of(member, start, left), name, where, found, depth + 1, left)
    elif kind is FileKind.HDF5:
        if not member.name.endswith(_WEIGHTS):
            _scan_hdf5(_all_of(member, start, left), name, where, found)
    else:
        scan_other(name, start, found, where)


def _all_of(member: ArchiveMember, start: bytes, left: _Budget) -> bytes:
    if len(start) < _LOOKED_AT:
        return start
    data = member.read(_MOST_OF_A_MEMBER + 1)
    left.spend(len(data))
    if len(data) > _MOST_OF_A_MEMBER:
        raise DataLossError(f"more than {_MOST_OF_A_MEMBER} bytes when unpacked")
    return data


def _scan_hdf5(data: bytes, name: str, where: str, found: Findings) -> None:
    place = f"{where}: model_config" if where else "model_config"
    try:
        for text in attribute_texts(data, "model_config", name):
            scan_keras(text, name, place, found)
    except DataLossError as error:
        found.add(Finding(NOT_SCANNED, "model_config", name, place, str(error)[:500]))


_NAMING: Final = frozenset(("GLOBAL", "STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4"))
_CALLING: Final = frozenset(("REDUCE", "OBJ", "INST", "NEWOBJ", "NEWOBJ_EX", "BUILD"))
_FIRST: Final = frozenset(b"\x80\x8cc(i]})N\x88\x89VUSXTBCIKMJLGFgh0")  # with which a pickle may begin
_MOST_OPCODES: Final = 20_000
_LONGEST: Final = 1 << 20
_PROTOCOLS: Final = 6


def is_pickle(start: bytes) -> bool:
    """Whether a file that begins like this is a pickle, of any protocol.

    A pickle is a program that calls Python when it is loaded, and need not say that it is one. Its opcodes are gone
    through, none of them run, until one is found that names or calls something of Python.

    One that says its protocol is one if it goes on as such; one that does not, if it comes to call something of Python.
    Text, too, has letters that are opcodes: those that find too little on the stack end it.
    """
    if not start or start[0] not in _FIRST:
        return False
    says_so = start[0] == 0x80 and len(start) > 1 and start[1] < _PROTOCOLS
    count = 0
    has_name = False
    for name in _opcodes(start[:_LONGEST]):
        count += 1
        has_name = has_name or name in _NAMING
        if has_name and (says_so or name in _CALLING):
            return True
    return says_so and count > 1


def _opcodes(data: bytes) -> Iterator[str]:
    """The names of the opcodes, up to where they make no sense any more."""
    depth = 0
    marks: list[int] = []
    try:
        for number, (opcode, _, _) in enumerate(pickletools.genops(data)):
            before = opcode.stack_before
            if pickletools.markobject in before:
                depth = marks.pop() - before.index(pickletools.markobject)
            else:
                depth -= len(before)
            if number > _MOST_OPCODES or depth < (marks[-1] if marks else 0):
                return
            if opcode.name == "MARK":
                marks.append(depth)
            else:
                depth += len(opcode.stack_after)
            yield opcode.name
    except (ValueError, IndexError, UnicodeDecodeError, OverflowError, MemoryError):
        return
