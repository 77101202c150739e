"""Text for whoever runs a program: `tf.keras` shows there how far a training is."""

from __future__ import annotations

import sys

from tensorkeep.io.showing.terminal import or_nowhere, terminal_of


def write_text(text: str) -> None:
    """Writes text as it is, at once."""
    stream = or_nowhere(sys.stdout)
    stream.write(text)
    stream.flush()


def is_watched() -> bool:
    """Whether a person looks at a terminal, where a line can be written over."""
    return terminal_of(or_nowhere(sys.stdout)).is_watched
