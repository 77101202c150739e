# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.structures import (
    assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as,
)

__all__ = [
    "assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as",
]
