# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.rnn.wrappers import EmbeddingWrapper, InputProjectionWrapper, OutputProjectionWrapper
from tensorkeep.tf1.layers.cell_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper
from tensorkeep.tf1.layers.cells import (
    BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, LSTMStateTuple, MultiRNNCell, RNNCell,
)

__all__ = [
    "BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "EmbeddingWrapper", "GRUCell",
    "InputProjectionWrapper", "LSTMCell", "LSTMStateTuple", "MultiRNNCell", "OutputProjectionWrapper", "RNNCell",
    "ResidualWrapper",
]
