# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.layers.base import Layer
from tensorkeep.tf1.layers.convolutional import Conv1D, Conv2D, Conv3D, conv1d, conv2d, conv3d
from tensorkeep.tf1.layers.core import Dense, Dropout, Flatten, dense, dropout, flatten
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.layers.normalization import BatchNormalization, batch_normalization
from tensorkeep.tf1.layers.pooling import (
    AveragePooling1D, AveragePooling2D, AveragePooling3D, MaxPooling1D, MaxPooling2D, MaxPooling3D, average_pooling1d,
    average_pooling2d, average_pooling3d, max_pooling1d, max_pooling2d, max_pooling3d,
)
from tensorkeep.tf1.layers.separable import SeparableConv1D, SeparableConv2D, separable_conv1d, separable_conv2d
from tensorkeep.tf1.layers.transposed import Conv2DTranspose, Conv3DTranspose, conv2d_transpose, conv3d_transpose

__all__ = [
    "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "BatchNormalization", "Conv1D", "Conv2D",
    "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "Dropout", "Flatten", "InputSpec", "Layer",
    "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "SeparableConv1D", "SeparableConv2D", "average_pooling1d",
    "average_pooling2d", "average_pooling3d", "batch_normalization", "conv1d", "conv2d", "conv2d_transpose", "conv3d",
    "conv3d_transpose", "dense", "dropout", "flatten", "max_pooling1d", "max_pooling2d", "max_pooling3d",
    "separable_conv1d", "separable_conv2d",
]
