"""Whole blocks (see block.py), taken apart by the native library where there is one."""

from __future__ import annotations

from tensorkeep.native import blocks
from tensorkeep.table.block import MOST_EXPANSION, Block


def load_block(block: Block) -> tuple[list[bytes], list[bytes]]:
    """All keys and all values of a block."""
    data, end = block.contents
    found = blocks.load(data, end, MOST_EXPANSION * len(data))
    return block.load() if found is None else found
