"""A bar for work that takes longer than a moment, on the terminal that errors go to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from tensorkeep.cli.output import Output, size_text

_PATIENCE: Final = 1.0  # seconds before a bar appears
_PAUSE: Final = 0.1  # seconds between two looks of it
_WIDTH: Final = 24


class ProgressBar:
    """Told how many bytes are done, and of how many; shows it to whoever watches. Call `clear` when all is over."""

    def __init__(self, output: Output, clock: Callable[[], float] = time.monotonic) -> None:
        self._output = output
        self._clock = clock
        self._start = clock()
        self._shown = self._start + _PATIENCE - _PAUSE
        self._is_drawn = False

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        if not self._output.error_terminal.is_watched or now < self._shown + _PAUSE:
            return
        self._shown = now
        self._is_drawn = True
        self._output.err.write("\r\x1b[K" + _line(done, total, now - self._start))
        self._output.err.flush()

    def clear(self) -> None:
        """Takes the bar away."""
        if self._is_drawn:
            self._is_drawn = False
            self._output.err.write("\r\x1b[K")
            self._output.err.flush()


@contextmanager
def watching(output: Output) -> Iterator[ProgressBar]:
    """A bar, which is taken away in the end."""
    bar = ProgressBar(output)
    try:
        yield bar
    finally:
        bar.clear()


def _line(done: int, total: int, seconds: float) -> str:
    part = min(done / total, 1.0) if total else 1.0
    filled = int(part * _WIDTH)
    speed = f"{size_text(int(done / seconds))}/s" if seconds > 0 else ""
    left = f", {(total - done) * seconds / done:.0f} s left" if done else ""
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {part:4.0%} of {size_text(total)}, {speed}{left}"
