"""The passes in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import onnx_ir as ir

from tensorkeep.onnx.passes.wrapped_indices import take_wrapped_indices

PASSES: Final[tuple[Callable[[ir.Model], object], ...]] = (take_wrapped_indices,)
