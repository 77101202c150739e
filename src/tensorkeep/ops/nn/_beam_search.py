"""The beam search for the most probable label sequences of connectionist temporal classification.

A beam is a sequence of labels, with the probabilities (logarithms) that the frames so far spell it and end in a blank,
or end in its last label. Each frame lets every beam stay or grow by one label; the best of all are kept.
"""

from __future__ import annotations

import heapq
from math import exp, inf, log, log1p
from typing import Any

import numpy as np
import numpy.typing as npt


class Beam:
    """A sequence of labels: one label after those of its parent."""

    __slots__ = ("blank", "children", "label", "label_probability", "old_blank", "old_total", "parent", "total")

    def __init__(self, parent: Beam | None, label: int) -> None:
        self.parent, self.label = parent, label
        self.children: dict[int, Beam] = {}
        self.old_total = self.old_blank = -inf
        self.forget()

    def forget(self) -> None:
        self.total = self.blank = self.label_probability = -inf

    def labels(self, merges_repeated: bool) -> list[int]:
        found: list[int] = []
        before, beam = -1, self
        while beam.parent is not None:
            if not merges_repeated or beam.label != before:
                found.append(beam.label)
            before, beam = beam.label, beam.parent
        return found[::-1]


class _Best:
    """The most probable beams, as many as there is room for."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._heap: list[tuple[float, int, Beam]] = []
        self._count = 0

    def has_place_for(self, total: float) -> bool:
        return total > -inf and (len(self._heap) < self._room or total > self._heap[0][0])

    def add(self, beam: Beam) -> None:
        self._count += 1
        entry = (beam.total, -self._count, beam)
        if len(self._heap) < self._room:
            heapq.heappush(self._heap, entry)
        elif beam.total > self._heap[0][0]:
            _, _, worst = heapq.heapreplace(self._heap, entry)
            worst.forget()

    def in_order(self) -> list[Beam]:
        return [beam for _, _, beam in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]


def _either(first: float, second: float) -> float:
    """The logarithm of the sum of two probabilities, given their logarithms."""
    if first == -inf or second == -inf:
        return max(first, second)
    return max(first, second) + log1p(exp(-abs(first - second)))


def best_beams(frames: npt.NDArray[Any], width: int, count: int) -> list[Beam]:
    """The `count` most probable label sequences for frames of logits, of which the last one is the blank's."""
    root = Beam(None, -1)
    root.total = root.blank = 0.0
    best = _Best(width)
    best.add(root)
    for frame in frames:
        peak = float(np.max(frame))
        offset = peak + log(float(np.sum(np.exp(frame - peak), dtype=np.float64)))
        best = _after(best.in_order(), [float(logit) - offset for logit in frame], width)
    return best.in_order()[:count]


def _after(beams: list[Beam], chances: list[float], width: int) -> _Best:
    """The beams after one more frame, given the logarithms of the probabilities of its labels."""
    best = _Best(width)
    for beam in beams:
        beam.old_total, beam.old_blank = beam.total, beam.blank
    for beam in beams:
        if beam.parent is not None:
            if beam.parent.total > -inf:
                same = beam.label == beam.parent.label
                previous = beam.parent.old_blank if same else beam.parent.old_total
                beam.label_probability = _either(beam.label_probability, previous)
            beam.label_probability += chances[beam.label]
        beam.blank = beam.old_total + chances[-1]
        beam.total = _either(beam.blank, beam.label_probability)
        best.add(beam)
    for beam in beams:
        if best.has_place_for(beam.old_total):
            _grow(beam, chances, best)
    return best


def _grow(beam: Beam, chances: list[float], best: _Best) -> None:
    for label, chance in enumerate(chances[:-1]):
        child = beam.children.get(label)
        if child is None:
            child = beam.children[label] = Beam(beam, label)
        if child.total > -inf:
            continue
        previous = beam.old_blank if label == beam.label else beam.old_total
        total = chance + previous
        if best.has_place_for(total):
            child.blank, child.label_probability, child.total = -inf, total, total
            best.add(child)
        else:
            child.forget()
            child.old_total = child.old_blank = -inf
