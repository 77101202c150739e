"""Where values die: after which item of which block a name is not used any more. Pure.

A value that is used in a block inside the one where it is made, such as a loop, dies after that inner block: in the
block that holds its definition and all its uses. Places in a block are numbered so that
the i-th item is at 2 i + 1, and what comes before it at 2 i.
"""

from __future__ import annotations

from tensorkeep.runtime.plans.blocks import Block


class Lifetimes:
    """Collects where names are defined and used."""

    def __init__(self) -> None:
        self._ends: dict[str, tuple[Block, int]] = {}
        self._homes: dict[str, Block] = {}
        self._kept: set[str] = set()
        self.uses: dict[str, int] = {}

    def define(self, name: str, block: Block, at: int) -> None:
        self._homes.setdefault(name, block)
        self._extend(name, block, at)

    def use(self, name: str, block: Block, at: int) -> None:
        self.uses[name] = self.uses.get(name, 0) + 1
        self._extend(name, block, at)

    def _extend(self, name: str, block: Block, at: int) -> None:
        known = self._ends.get(name)
        if known is None:
            self._ends[name] = (block, at)
            return
        other, end = known
        while block is not other:
            if block.depth >= other.depth:
                assert block.parent is not None
                block, at = block.parent, 2 * block.position + 1
            else:
                assert other.parent is not None
                other, end = other.parent, 2 * other.position + 1
        self._ends[name] = (block, max(at, end))

    def extend(self, name: str, block: Block, at: int) -> None:
        """Notes that a name is used until some place too, by what uses it already."""
        self._extend(name, block, at)

    def keep(self, name: str) -> None:
        """Notes that a name is used until the function ends."""
        self._kept.add(name)
        self.uses[name] = self.uses.get(name, 0) + 1

    def home(self, name: str) -> Block | None:
        """The block in which a name is first defined."""
        return self._homes.get(name)

    def is_wanted_after(self, name: str, home: Block, block: Block, at: int) -> bool:
        """Whether a name that `home` makes is used after some place of that block, or of one inside it.

        Behind an inner block is also what is in it: it may be a loop, or have more items.
        """
        is_inner = block is not home
        while block is not home:
            if block.parent is None:
                return False
            block, at = block.parent, 2 * block.position + 1
        found, end = self._ends[name]
        return name in self._kept or found is not block or end > at or (is_inner and end == at)

    def ends(self) -> dict[tuple[Block, int], list[str]]:
        """The names that end after each item."""
        found: dict[tuple[Block, int], list[str]] = {}
        for name, place in self._ends.items():
            if name not in self._kept:
                found.setdefault(place, []).append(name)
        return found
