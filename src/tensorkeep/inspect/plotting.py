"""Small line plots as SVG, readable on light and on dark ground."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT = 860.0, 420.0
_LEFT, _TOP, _BOTTOM, _LEGEND = 72.0, 44.0, 46.0, 300.0
_COLOURS: Final = ("#3b6fd4", "#d1622b", "#2a8f5b", "#a34fb5", "#b8860b", "#c2385a", "#1f8fa3", "#7a6a58")
_MOST_LINES: Final = len(_COLOURS)
_MOST_LABELS: Final = 8
_MOST_LETTERS: Final = 34
_STYLE: Final = (
    "text{fill:#1c2430;font:12px system-ui,sans-serif}.soft{fill:#667}.ground{fill:#fff}.grid{stroke:#dde2ea}"
    "@media (prefers-color-scheme:dark){text{fill:#dfe5ee}.soft{fill:#9aa5b5}.ground{fill:#14181f}"
    ".grid{stroke:#2c3440}}"
)


def line_plot(title: str, labels: Sequence[str], lines: Mapping[str, Sequence[float | None]]) -> str:
    """A plot with a line for each name, over labels; where there is no number, a line is broken.

    Of many lines the highest are drawn. Numbers of very different size are drawn over a logarithmic axis.
    """
    ranked = sorted(lines, key=lambda name: -max(_numbers(lines[name]), default=0.0))
    drawn = ranked[:_MOST_LINES]
    axis = _Axis([value for name in drawn for value in _numbers(lines[name])])
    parts = [*_grid(axis), *_ticks(labels)]
    for at, name in enumerate(drawn):
        parts.append(_line(lines[name], axis, _COLOURS[at]))
        parts.append(_legend_entry(name, at))
    if len(ranked) > len(drawn):
        parts.append(_text(_WIDTH - _LEGEND + 24, _TOP + 20 * len(drawn) + 4, f"and {len(ranked) - len(drawn):,} more"))
    size = f'viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{_safe(title)}</title>'
    ground = f'<rect class="ground" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}"/>'
    heading = f'<text x="{_LEFT:.0f}" y="24" font-weight="600">{_safe(title)}</text>'
    return "\n".join((head, f"<style>{_STYLE}</style>", ground, heading, *parts, "</svg>")) + "\n"


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


class _Axis:
    """Where a number stands, and which numbers are written beside the axis."""

    def __init__(self, values: Sequence[float]) -> None:
        positive = [value for value in values if value > 0]
        low, high = min(values, default=0.0), max(values, default=1.0)
        self.is_logarithmic = bool(positive) and low >= 0 and high / min(positive) > 100
        self.low, self.high = min(low, 0.0), high if high > min(low, 0.0) else min(low, 0.0) + 1.0
        if self.is_logarithmic:
            self.low, self.high = float(math.floor(math.log10(min(positive)))), float(math.ceil(math.log10(high)))

    def place(self, value: float) -> float:
        if self.is_logarithmic:
            value = math.log10(value) if value > 0 else self.low
        # Halves: the difference of the largest numbers is none any more.
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2) if self.high / 2 > self.low / 2 else 0.0
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    def ticks(self) -> Iterator[float]:
        if self.is_logarithmic:
            step = max(1, math.ceil((self.high - self.low) / 6))
            last = min(int(self.high), sys.float_info.max_10_exp)  # the next power of ten is no number any more
            yield from (10.0**power for power in range(int(self.low), last + 1, step))
        else:
            yield from (self.low * (1 - part / 4) + self.high * (part / 4) for part in range(5))


def _across(at: int, count: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _LEGEND) * (at / (count - 1) if count > 1 else 0.5)


def _grid(axis: _Axis) -> Iterator[str]:
    for value in axis.ticks():
        y = axis.place(value)
        yield f'<path class="grid" d="M{_LEFT:.0f} {y:.1f}H{_WIDTH - _LEGEND:.0f}" fill="none"/>'
        yield _text(_LEFT - 8, y + 4, f"{value:.3g}", "end")


def _ticks(labels: Sequence[str]) -> Iterator[str]:
    step = math.ceil(len(labels) / _MOST_LABELS)
    for at in range(0, len(labels), max(step, 1)):
        yield _text(_across(at, len(labels)), _HEIGHT - _BOTTOM + 20, labels[at], "middle")


def _line(values: Sequence[float | None], axis: _Axis, colour: str) -> str:
    steps, dots, is_broken = [], [], True
    for at, value in enumerate(values):
        if value is None or not math.isfinite(value):
            is_broken = True
            continue
        x, y = _across(at, len(values)), axis.place(value)
        steps.append(f"{'M' if is_broken else 'L'}{x:.1f} {y:.1f}")
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        is_broken = False
    return f'<path d="{"".join(steps)}" fill="none" stroke="{colour}" stroke-width="2"/>' + "".join(dots)


def _legend_entry(name: str, at: int) -> str:
    x, y = _WIDTH - _LEGEND + 24, _TOP + 20 * at
    half = _MOST_LETTERS // 2
    shown = name if len(name) <= _MOST_LETTERS else f"{name[: half - 1]}…{name[-half:]}"
    mark = f'<path d="M{x:.0f} {y:.0f}h18" stroke="{_COLOURS[at]}" stroke-width="3"/>'
    return f'{mark}<text x="{x + 26:.0f}" y="{y + 4:.0f}">{_safe(shown)}<title>{_safe(name)}</title></text>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text class="soft" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_safe(text)}</text>'


def _safe(text: str) -> str:
    return escape("".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text))
