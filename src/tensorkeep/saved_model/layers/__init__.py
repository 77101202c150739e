"""Layers as values: arrays and a few settings, for models that are made of weights. See `saved_model.from_layers`.

A layer is frozen, has nothing to do with a graph until it is called, and may be called in any of them.

    combining  layers made of layers
    core       layers of rows: dense ones, normalizations, embeddings, activations
    images     layers of images [batch, rows, columns, channels] and of sequences [batch, steps, channels]
    sequences  layers of sequences [batch, steps, channels]: recurrent ones, and attention
    text       layers from strings to numbers and back
    weights    arrays as the weights of layers: what they must be, and the variables that they become
"""

from tensorkeep.saved_model.layers.combining import Concat, Residual
from tensorkeep.saved_model.layers.core import (
    ACTIVATIONS,
    Activation,
    ArgMax,
    BatchNorm,
    Cast,
    Dense,
    Embedding,
    Flatten,
    LayerNorm,
    Normalize,
    Reshape,
    Transpose,
)
from tensorkeep.saved_model.layers.images import (
    AveragePool2D,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    DepthwiseConv2D,
    GlobalAveragePool,
    GlobalMaxPool,
    MaxPool2D,
)
from tensorkeep.saved_model.layers.sequences import GRU, LSTM, SelfAttention
from tensorkeep.saved_model.layers.text import Labels, Lookup
from tensorkeep.saved_model.layers.weights import Layer

__all__ = [
    "ACTIVATIONS",
    "GRU",
    "LSTM",
    "Activation",
    "ArgMax",
    "AveragePool2D",
    "BatchNorm",
    "Cast",
    "Concat",
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "Dense",
    "DepthwiseConv2D",
    "Embedding",
    "Flatten",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "Labels",
    "Layer",
    "LayerNorm",
    "Lookup",
    "MaxPool2D",
    "Normalize",
    "Reshape",
    "Residual",
    "SelfAttention",
    "Transpose",
]
