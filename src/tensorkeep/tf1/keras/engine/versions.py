"""The version of Keras that this follows: that of TensorFlow 1.15."""

from __future__ import annotations

from typing import Final

__version__: Final = "2.2.4-tf"
