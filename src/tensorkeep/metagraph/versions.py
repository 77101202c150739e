"""The TensorFlow that meta graphs say they come from: readers decide by it what a file may leave out."""

from __future__ import annotations

import re
from typing import Final

TENSORFLOW_VERSION: Final = "2.21.0"
TENSORFLOW_GIT_VERSION: Final = "v2.21.0-rc1-5-ga481b10260d"
_FIRST_WITH_TRAINABLE: Final = (1, 9)
_NUMBERS: Final = re.compile(r"\s*v?(\d{1,9})(?:\.(\d{1,9}))?")


def says_trainable(tensorflow_version: str) -> bool:
    """Whether files of that version say of each variable if it is trainable. One that says nothing does."""
    found = _NUMBERS.match(tensorflow_version)
    return found is None or (int(found[1]), int(found[2] or 0)) >= _FIRST_WITH_TRAINABLE
