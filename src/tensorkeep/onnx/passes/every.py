"""The passes in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import onnx_ir as ir
from onnx_ir.passes import common as tidying

from tensorkeep.onnx.passes.apart import convolve_apart
from tensorkeep.onnx.passes.detours import take_short_ways
from tensorkeep.onnx.passes.directions import join_directions
from tensorkeep.onnx.passes.early_picks import pick_early
from tensorkeep.onnx.passes.formulas import recognise_formulas
from tensorkeep.onnx.passes.fusing import fuse_neighbours
from tensorkeep.onnx.passes.joined_tables import join_tables
from tensorkeep.onnx.passes.layout import order_axes
from tensorkeep.onnx.passes.row_images import make_row_images
from tensorkeep.onnx.passes.single_rows import take_single_rows
from tensorkeep.onnx.passes.whole_pools import pool_whole_images
from tensorkeep.onnx.passes.wrapped_indices import check_indices_once, take_wrapped_indices

PASSES: Final[tuple[Callable[[ir.Model], object], ...]] = (
    tidying.RemoveUnusedNodesPass(),
    tidying.CommonSubexpressionEliminationPass(),
    take_wrapped_indices,
    check_indices_once,
    join_directions,
    recognise_formulas,
    take_short_ways,
    tidying.RemoveUnusedNodesPass(),
    take_single_rows,
    order_axes,
    fuse_neighbours,
    tidying.TopologicalSortPass(),
    pick_early,
    make_row_images,
    pool_whole_images,
)

PROCESSOR_PASSES: Final[tuple[Callable[[ir.Model], object], ...]] = (convolve_apart, join_tables)
"""Those that come after them for what ONNX Runtime runs on a processor, and are of no use elsewhere."""
