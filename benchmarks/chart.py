"""A bar chart of speeds, as an SVG picture that needs nothing to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

_ROW, _LABEL, _WIDTH, _TOP = 34, 290, 800, 56


def draw(bars: Mapping[str, float]) -> str:
    """How many times TensorFlow's speed each bar stands for; the line at 1 is TensorFlow."""
    scale = (_WIDTH - _LABEL - 80) / max((*bars.values(), 2.0))
    height = _TOP + _ROW * len(bars) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="system-ui, sans-serif" font-size="14">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="16" y="28" font-size="16" font-weight="600" fill="#1f2933">'
        "tensorkeep, in terms of TensorFlow's speed at the same work</text>",
    ]
    for at, (label, value) in enumerate(bars.items()):
        y = _TOP + at * _ROW
        parts.append(f'<text x="{_LABEL - 10}" y="{y + 16}" text-anchor="end" fill="#3e4c59">{escape(label)}</text>')
        parts.append(f'<rect x="{_LABEL}" y="{y}" width="{value * scale:.1f}" height="22" rx="3" fill="#2f7ebc"/>')
        parts.append(
            f'<text x="{_LABEL + value * scale + 8:.1f}" y="{y + 16}" font-weight="600" fill="#1f2933">'
            f"{value:.1f} x</text>"
        )
    x = _LABEL + scale
    parts.append(
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 10}" y2="{height - 8}" stroke="#d64545" stroke-width="1.5" '
        'stroke-dasharray="4 3"/>'
    )
    parts.append(f'<text x="{x + 4:.1f}" y="{_TOP - 2}" font-size="11" fill="#d64545">TensorFlow = 1</text>')
    return "\n".join((*parts, "</svg>", ""))
