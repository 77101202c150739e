# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.io.files.gfile_object import GFile, GFile as FastGFile, GFile as Open
from tensorkeep.v1.stored.files import (
    Copy, DeleteRecursively, Exists, Glob, IsDirectory, ListDirectory, MakeDirs, MkDir, Remove, Rename, Stat, Walk,
)

__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory", "ListDirectory", "MakeDirs",
    "MkDir", "Open", "Remove", "Rename", "Stat", "Walk",
]
