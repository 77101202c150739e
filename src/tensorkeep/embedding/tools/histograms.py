"""How numbers are spread: counted between edges."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many numbers lie between edges: `counts[i]` from `edges[i]` up to, but without, `edges[i + 1]`.

    The last count has no upper edge; or, if there is one edge more, that one, which is counted with it.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many numbers there are."""
        return sum(self.counts)

    def trimmed(self) -> Histogram:
        """Without the empty stretches at both ends."""
        used = [at for at, count in enumerate(self.counts) if count]
        if not used:
            return Histogram((), ())
        return Histogram(
            self.edges[used[0] : len(self.edges) - len(self.counts) + used[-1] + 1], self.counts[used[0] : used[-1] + 1]
        )

    def __str__(self) -> str:
        return ", ".join(f"{edge:g}+: {count}" for edge, count in zip(self.edges, self.counts, strict=False))
