"""The message that says how uniformly quantised convolutions lay out their tensors, which only these need."""

from __future__ import annotations

from tensorkeep.proto._generated.convolution_dimensions_pb2 import UniformQuantizedConvolutionDimensionNumbersAttr

__all__ = ["UniformQuantizedConvolutionDimensionNumbersAttr"]
