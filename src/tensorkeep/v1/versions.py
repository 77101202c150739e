"""The TensorFlow whose Python this is, the last of TensorFlow 1. Graphs say themselves which version they are of."""

from __future__ import annotations

from typing import Final

VERSION: Final = "1.15.5"
GIT_VERSION: Final = "v1.15.5"
