# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.keras.engine.input_layer import Input, InputLayer
from tensorkeep.tf1.keras.engine.serialization import deserialize, serialize
from tensorkeep.tf1.keras.layers.advanced_activations import ELU, LeakyReLU, PReLU, ReLU, Softmax, ThresholdedReLU
from tensorkeep.tf1.keras.layers.attention import AdditiveAttention, Attention
from tensorkeep.tf1.keras.layers.convolutional import (
    Conv1D, Conv1D as Convolution1D, Conv2D, Conv2D as Convolution2D, Conv2DTranspose,
    Conv2DTranspose as Convolution2DTranspose, Conv3D, Conv3D as Convolution3D, Conv3DTranspose,
    Conv3DTranspose as Convolution3DTranspose, Cropping1D, Cropping2D, Cropping3D, DepthwiseConv2D, SeparableConv1D,
    SeparableConv1D as SeparableConvolution1D, SeparableConv2D, SeparableConv2D as SeparableConvolution2D,
    UpSampling1D, UpSampling2D, UpSampling3D, ZeroPadding1D, ZeroPadding2D, ZeroPadding3D,
)
from tensorkeep.tf1.keras.layers.convolutional_recurrent import ConvLSTM2D
from tensorkeep.tf1.keras.layers.core import (
    Activation, ActivityRegularization, Dense, Dropout, Flatten, Lambda, Masking, Permute, RepeatVector, Reshape,
    SpatialDropout1D, SpatialDropout2D, SpatialDropout3D,
)
from tensorkeep.tf1.keras.layers.cudnn_recurrent import CuDNNGRU, CuDNNLSTM
from tensorkeep.tf1.keras.layers.embeddings import Embedding
from tensorkeep.tf1.keras.layers.features import DenseFeatures
from tensorkeep.tf1.keras.layers.locally_connected import LocallyConnected1D, LocallyConnected2D
from tensorkeep.tf1.keras.layers.merge import (
    Add, Average, Concatenate, Dot, Maximum, Minimum, Multiply, Subtract, add, average, concatenate, dot,
    maximum_of as maximum, minimum_of as minimum, multiply, subtract,
)
from tensorkeep.tf1.keras.layers.noise import AlphaDropout, GaussianDropout, GaussianNoise
from tensorkeep.tf1.keras.layers.normalization import BatchNormalization, LayerNormalization
from tensorkeep.tf1.keras.layers.pooling import (
    AveragePooling1D, AveragePooling1D as AvgPool1D, AveragePooling2D, AveragePooling2D as AvgPool2D, AveragePooling3D,
    AveragePooling3D as AvgPool3D, GlobalAveragePooling1D, GlobalAveragePooling1D as GlobalAvgPool1D,
    GlobalAveragePooling2D, GlobalAveragePooling2D as GlobalAvgPool2D, GlobalAveragePooling3D,
    GlobalAveragePooling3D as GlobalAvgPool3D, GlobalMaxPooling1D, GlobalMaxPooling1D as GlobalMaxPool1D,
    GlobalMaxPooling2D, GlobalMaxPooling2D as GlobalMaxPool2D, GlobalMaxPooling3D,
    GlobalMaxPooling3D as GlobalMaxPool3D, MaxPooling1D, MaxPooling1D as MaxPool1D, MaxPooling2D,
    MaxPooling2D as MaxPool2D, MaxPooling3D, MaxPooling3D as MaxPool3D,
)
from tensorkeep.tf1.keras.layers.recurrent import GRU, LSTM, RNN, SimpleRNN
from tensorkeep.tf1.keras.layers.recurrent_cells import (
    AbstractRNNCell, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells,
)
from tensorkeep.tf1.keras.layers.wrappers import Bidirectional, TimeDistributed, Wrapper
from tensorkeep.tf1.layers.input_spec import InputSpec

__all__ = [
    "AbstractRNNCell", "Activation", "ActivityRegularization", "Add", "AdditiveAttention", "AlphaDropout", "Attention",
    "Average", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "AvgPool1D", "AvgPool2D", "AvgPool3D",
    "BatchNormalization", "Bidirectional", "Concatenate", "Conv1D", "Conv2D", "Conv2DTranspose", "Conv3D",
    "Conv3DTranspose", "ConvLSTM2D", "Convolution1D", "Convolution2D", "Convolution2DTranspose", "Convolution3D",
    "Convolution3DTranspose", "Cropping1D", "Cropping2D", "Cropping3D", "CuDNNGRU", "CuDNNLSTM", "Dense",
    "DenseFeatures", "DepthwiseConv2D", "Dot", "Dropout", "ELU", "Embedding", "Flatten", "GRU", "GRUCell",
    "GaussianDropout", "GaussianNoise", "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D",
    "GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalAvgPool3D", "GlobalMaxPool1D", "GlobalMaxPool2D", "GlobalMaxPool3D",
    "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D", "Input", "InputLayer", "InputSpec", "LSTM",
    "LSTMCell", "Lambda", "Layer", "LayerNormalization", "LeakyReLU", "LocallyConnected1D", "LocallyConnected2D",
    "Masking", "MaxPool1D", "MaxPool2D", "MaxPool3D", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "Maximum",
    "Minimum", "Multiply", "PReLU", "Permute", "RNN", "ReLU", "RepeatVector", "Reshape", "SeparableConv1D",
    "SeparableConv2D", "SeparableConvolution1D", "SeparableConvolution2D", "SimpleRNN", "SimpleRNNCell", "Softmax",
    "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "StackedRNNCells", "Subtract", "ThresholdedReLU",
    "TimeDistributed", "UpSampling1D", "UpSampling2D", "UpSampling3D", "Wrapper", "ZeroPadding1D", "ZeroPadding2D",
    "ZeroPadding3D", "add", "average", "concatenate", "deserialize", "dot", "maximum", "minimum", "multiply",
    "serialize", "subtract",
]
