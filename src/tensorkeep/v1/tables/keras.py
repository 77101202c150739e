"""Namespaces of `tf.keras`: layers, models, and what is beside them."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table
from tensorkeep.v1.tables.keras_parts import ABOUT_KERAS_PARTS, KERAS_PARTS

KERAS: Final[dict[str, Table]] = {
    **KERAS_PARTS,
    "keras": {
        "tensorkeep.tf1.keras.engine.input_layer": "Input",
        "tensorkeep.tf1.keras.engine.model": "Model",
        "tensorkeep.tf1.keras.engine.sequential": "Sequential",
        "tensorkeep.v1.versions": "__version__=KERAS_VERSION",
    },
    "keras.estimator": {"tensorkeep.v1.learning.keras_models": "model_to_estimator"},
    "keras.experimental": {
        "tensorkeep.tf1.keras.engine.saving.directory_reading": "load_from_saved_model",
        "tensorkeep.tf1.keras.engine.saving.directory_writing": "export_saved_model",
    },
    "keras.layers": {
        "tensorkeep.tf1.keras.engine.base_layer": "Layer",
        "tensorkeep.tf1.keras.engine.input_layer": "Input InputLayer",
        "tensorkeep.tf1.keras.engine.serialization": "deserialize serialize",
        "tensorkeep.tf1.keras.layers.advanced_activations": "ELU LeakyReLU PReLU ReLU Softmax ThresholdedReLU",
        "tensorkeep.tf1.keras.layers.attention": "AdditiveAttention Attention",
        "tensorkeep.tf1.keras.layers.convolutional": """
            Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose Convolution1D=Conv1D Convolution2D=Conv2D
            Convolution2DTranspose=Conv2DTranspose Convolution3D=Conv3D Convolution3DTranspose=Conv3DTranspose
            Cropping1D Cropping2D Cropping3D DepthwiseConv2D SeparableConv1D SeparableConv2D
            SeparableConvolution1D=SeparableConv1D SeparableConvolution2D=SeparableConv2D UpSampling1D UpSampling2D
            UpSampling3D ZeroPadding1D ZeroPadding2D ZeroPadding3D
        """,
        "tensorkeep.tf1.keras.layers.convolutional_recurrent": "ConvLSTM2D",
        "tensorkeep.tf1.keras.layers.core": """
            Activation ActivityRegularization Dense Dropout Flatten Lambda Masking Permute RepeatVector Reshape
            SpatialDropout1D SpatialDropout2D SpatialDropout3D
        """,
        "tensorkeep.tf1.keras.layers.cudnn_recurrent": "CuDNNGRU CuDNNLSTM",
        "tensorkeep.tf1.keras.layers.embeddings": "Embedding",
        "tensorkeep.tf1.keras.layers.features": "DenseFeatures",
        "tensorkeep.tf1.keras.layers.locally_connected": "LocallyConnected1D LocallyConnected2D",
        "tensorkeep.tf1.keras.layers.merge": """
            Add Average Concatenate Dot Maximum Minimum Multiply Subtract add average concatenate dot
            maximum=maximum_of minimum=minimum_of multiply subtract
        """,
        "tensorkeep.tf1.keras.layers.noise": "AlphaDropout GaussianDropout GaussianNoise",
        "tensorkeep.tf1.keras.layers.normalization": "BatchNormalization LayerNormalization",
        "tensorkeep.tf1.keras.layers.pooling": """
            AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D=AveragePooling1D AvgPool2D=AveragePooling2D
            AvgPool3D=AveragePooling3D GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D
            GlobalAvgPool1D=GlobalAveragePooling1D GlobalAvgPool2D=GlobalAveragePooling2D
            GlobalAvgPool3D=GlobalAveragePooling3D GlobalMaxPool1D=GlobalMaxPooling1D
            GlobalMaxPool2D=GlobalMaxPooling2D GlobalMaxPool3D=GlobalMaxPooling3D GlobalMaxPooling1D GlobalMaxPooling2D
            GlobalMaxPooling3D MaxPool1D=MaxPooling1D MaxPool2D=MaxPooling2D MaxPool3D=MaxPooling3D MaxPooling1D
            MaxPooling2D MaxPooling3D
        """,
        "tensorkeep.tf1.keras.layers.recurrent": "GRU LSTM RNN SimpleRNN",
        "tensorkeep.tf1.keras.layers.recurrent_cells": "AbstractRNNCell GRUCell LSTMCell SimpleRNNCell StackedRNNCells",
        "tensorkeep.tf1.keras.layers.wrappers": "Bidirectional TimeDistributed Wrapper",
        "tensorkeep.tf1.layers.input_spec": "InputSpec",
    },
    "keras.models": {
        "tensorkeep.tf1.keras.engine.model": "Model",
        "tensorkeep.tf1.keras.engine.saving.cloning": "clone_model",
        "tensorkeep.tf1.keras.engine.saving.model_configs": "model_from_config model_from_json",
        "tensorkeep.tf1.keras.engine.saving.model_files": "load_model save_model",
        "tensorkeep.tf1.keras.engine.sequential": "Sequential",
    },
    "keras.wrappers": {},
    "keras.wrappers.scikit_learn": {"tensorkeep.tf1.keras.scikit_learn": "KerasClassifier KerasRegressor"},
}

ABOUT_KERAS: Final = {
    **ABOUT_KERAS_PARTS,
    "keras": "models of layers, in graph mode",
    "keras.estimator": "models of Keras as estimators",
    "keras.experimental": "models of Keras for serving",
    "keras.layers": "layers",
    "keras.models": "models of layers, and models in files",
    "keras.wrappers": "models as other libraries have them",
    "keras.wrappers.scikit_learn": "models as estimators of scikit-learn",
}
"""What the namespaces are for, for `help`."""
