"""Messages in the attributes and states of a few ops, which only these ops need: ensembles of decision trees, and how
uniformly quantised convolutions lay out their tensors.
"""

from __future__ import annotations

from tensorkeep.proto._generated.boosted_trees_pb2 import DebugOutput, Node, Tree, TreeEnsemble
from tensorkeep.proto._generated.convolution_dimensions_pb2 import UniformQuantizedConvolutionDimensionNumbersAttr

__all__ = ["DebugOutput", "Node", "Tree", "TreeEnsemble", "UniformQuantizedConvolutionDimensionNumbersAttr"]
