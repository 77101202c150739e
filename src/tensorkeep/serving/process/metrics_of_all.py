"""The metrics of all workers as those of one server.

    # TYPE name counter
    name{label="value"} 12

Every number is the sum over the workers: counts, sums, and the buckets of histograms, which count too. What a worker
measures that has no sum (`_GREATEST`) is the greatest of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_GREATEST: Final = ("_max", "_ready", "_start_time_seconds", "_info")


def merged_metrics(texts: Sequence[str]) -> str:
    """One text of all; lines stand in the order in which they are first met, below the type of their metric."""
    if len(texts) == 1:
        return texts[0]
    groups: dict[str, dict[str, float | int]] = {}
    for text in texts:
        group = groups.setdefault("", {})
        for line in text.splitlines():
            if line.startswith("#") or not line:
                group = groups.setdefault(line, {})
                continue
            key, _, number = line.rpartition(" ")
            group[key] = _together(key, group.get(key), _number(number))
    parts = [f"{head}\n" + "".join(f"{key} {_text(number)}\n" for key, number in group.items())
             for head, group in groups.items() if head or group]  # fmt: skip
    return "".join(parts)


def _together(key: str, one: float | int | None, other: float | int) -> float | int:
    if one is None:
        return other
    return max(one, other) if key.partition("{")[0].endswith(_GREATEST) else one + other


def _number(text: str) -> float | int:
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _text(number: float | int) -> str:
    return str(number) if isinstance(number, int) else f"{number:.6g}"
