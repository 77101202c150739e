"""Pickles, told by what they do: programs that call Python when they are loaded.

A pickle need not say that it is one. Its opcodes are gone through, none of them run, until one is found that names or
calls something of Python.
"""

from __future__ import annotations

import pickletools
from collections.abc import Iterator
from typing import Final

_NAMING: Final = frozenset(("GLOBAL", "STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4"))
_CALLING: Final = frozenset(("REDUCE", "OBJ", "INST", "NEWOBJ", "NEWOBJ_EX", "BUILD"))
_FIRST: Final = frozenset(b"\x80\x8cc(i]})N\x88\x89VUSXTBCIKMJLGFgh0")  # with which a pickle may begin
_MOST_OPCODES: Final = 20_000
_LONGEST: Final = 1 << 20
_PROTOCOLS: Final = 6


def is_pickle(start: bytes) -> bool:
    """Whether a file that begins like this is a pickle, of any protocol.

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
