# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.rnn.attention_cells import AttentionCellWrapper
from tensorkeep.tf1.contrib.rnn.block_cells import (
    FusedRNNCell, FusedRNNCellAdaptor, GRUBlockCell, GRUBlockCellV2, LSTMBlockCell, LSTMBlockFusedCell,
    LSTMBlockWrapper, TimeReversedFusedRNN,
)
from tensorkeep.tf1.contrib.rnn.convolution_cells import Conv1DLSTMCell, Conv2DLSTMCell, Conv3DLSTMCell, ConvLSTMCell
from tensorkeep.tf1.contrib.rnn.gated_cells import (
    GLSTMCell, IntersectionRNNCell, MinimalRNNCell, PhasedLSTMCell, UGRNNCell,
)
from tensorkeep.tf1.contrib.rnn.grid_cells import BidirectionalGridLSTMCell, GridLSTMCell, TimeFreqLSTMCell
from tensorkeep.tf1.contrib.rnn.independent_cells import IndRNNCell, IndyGRUCell, IndyLSTMCell, SRUCell
from tensorkeep.tf1.contrib.rnn.lstm_cells import (
    CoupledInputForgetGateLSTMCell, LayerNormBasicLSTMCell, LayerNormLSTMCell, NASCell, WeightNormLSTMCell,
)
from tensorkeep.tf1.contrib.rnn.memory_cells import NTMCell
from tensorkeep.tf1.contrib.rnn.networks import stack_bidirectional_dynamic_rnn, stack_bidirectional_rnn
from tensorkeep.tf1.contrib.rnn.wrappers import (
    CompiledWrapper, EmbeddingWrapper, HighwayWrapper, InputProjectionWrapper, OutputProjectionWrapper,
)
from tensorkeep.tf1.layers.cell_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper
from tensorkeep.tf1.layers.cells import (
    BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, LSTMStateTuple, LayerRNNCell, MultiRNNCell, RNNCell,
)
from tensorkeep.tf1.layers.recurrent import (
    batch_size_of as best_effort_input_batch_size, static_bidirectional_rnn, static_rnn, static_state_saving_rnn,
    with_batch_and_time_exchanged as transpose_batch_time,
)

__all__ = [
    "AttentionCellWrapper", "BasicLSTMCell", "BasicRNNCell", "BidirectionalGridLSTMCell", "CompiledWrapper",
    "Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell", "ConvLSTMCell", "CoupledInputForgetGateLSTMCell",
    "DeviceWrapper", "DropoutWrapper", "EmbeddingWrapper", "FusedRNNCell", "FusedRNNCellAdaptor", "GLSTMCell",
    "GRUBlockCell", "GRUBlockCellV2", "GRUCell", "GridLSTMCell", "HighwayWrapper", "IndRNNCell", "IndyGRUCell",
    "IndyLSTMCell", "InputProjectionWrapper", "IntersectionRNNCell", "LSTMBlockCell", "LSTMBlockFusedCell",
    "LSTMBlockWrapper", "LSTMCell", "LSTMStateTuple", "LayerNormBasicLSTMCell", "LayerNormLSTMCell", "LayerRNNCell",
    "MinimalRNNCell", "MultiRNNCell", "NASCell", "NTMCell", "OutputProjectionWrapper", "PhasedLSTMCell", "RNNCell",
    "ResidualWrapper", "SRUCell", "TimeFreqLSTMCell", "TimeReversedFusedRNN", "UGRNNCell", "WeightNormLSTMCell",
    "best_effort_input_batch_size", "stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn",
    "static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn", "transpose_batch_time",
]
