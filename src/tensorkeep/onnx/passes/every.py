"""The passes in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import onnx_ir as ir
from onnx_ir.passes import common as tidying

from tensorkeep.onnx.passes.directions import join_directions

PASSES: Final[tuple[Callable[[ir.Model], object], ...]] = (
    tidying.RemoveUnusedNodesPass(),
    tidying.CommonSubexpressionEliminationPass(),
    join_directions,
)
