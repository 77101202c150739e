# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.io.files.gfile_object import GFile
from tensorkeep.v1.stored.files import (
    copy, exists, get_registered_schemes, glob, isdir, join, listdir, makedirs, mkdir, remove, rename, rmtree, stat,
    walk,
)

__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir", "makedirs", "mkdir",
    "remove", "rename", "rmtree", "stat", "walk",
]
