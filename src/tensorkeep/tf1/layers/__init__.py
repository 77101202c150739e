"""TensorFlow 1's layers: variables and functions in a scope.

arguments      what layers are told: sizes, paddings, data formats, and functions by name
base           what all layers share: a variable scope, made on first use
cell_wrappers  cells around cells: with dropout, with a shortcut, on a device
cells          cells of recurrent networks: `tf.nn.rnn_cell`
convolutional  layers of convolutions, in one, two or three dimensions
core           dense layers, dropout, flattening
input_spec     what a layer asks of its inputs
moving         moving averages of batches, and the corrections that batch renormalization makes of them
normalization  batch normalization
pooling        layers of pools: the maxima or the means of windows, in one, two or three dimensions
recurrent      recurrent networks: a cell applied to each element of sequences, unrolled or in a loop
separable      layers of separable convolutions: of each channel by itself, and then across channels
transposed     layers of transposed convolutions
"""

from tensorkeep.tf1.layers.base import Layer
from tensorkeep.tf1.layers.convolutional import Conv1D, Conv2D, Conv3D, conv1d, conv2d, conv3d
from tensorkeep.tf1.layers.core import Dense, Dropout, Flatten, dense, dropout, flatten
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.layers.normalization import BatchNormalization, batch_normalization
from tensorkeep.tf1.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
    average_pooling1d,
    average_pooling2d,
    average_pooling3d,
    max_pooling1d,
    max_pooling2d,
    max_pooling3d,
)
from tensorkeep.tf1.layers.separable import SeparableConv1D, SeparableConv2D, separable_conv1d, separable_conv2d
from tensorkeep.tf1.layers.transposed import Conv2DTranspose, Conv3DTranspose, conv2d_transpose, conv3d_transpose

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "BatchNormalization",
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "Dense",
    "Dropout",
    "Flatten",
    "InputSpec",
    "Layer",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "SeparableConv1D",
    "SeparableConv2D",
    "average_pooling1d",
    "average_pooling2d",
    "average_pooling3d",
    "batch_normalization",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "dense",
    "dropout",
    "flatten",
    "max_pooling1d",
    "max_pooling2d",
    "max_pooling3d",
    "separable_conv1d",
    "separable_conv2d",
]
