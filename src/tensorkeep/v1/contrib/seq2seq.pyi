# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.seq2seq.attention import AttentionMechanism, monotonic_attention, safe_cumprod
from tensorkeep.tf1.contrib.seq2seq.attention_wrapper import AttentionWrapper, AttentionWrapperState
from tensorkeep.tf1.contrib.seq2seq.beam_choices import BeamSearchDecoderOutput, BeamSearchDecoderState
from tensorkeep.tf1.contrib.seq2seq.beam_search import BeamSearchDecoder, FinalBeamSearchDecoderOutput
from tensorkeep.tf1.contrib.seq2seq.decoders import BasicDecoder, BasicDecoderOutput, Decoder, dynamic_decode
from tensorkeep.tf1.contrib.seq2seq.helpers import (
    CustomHelper, GreedyEmbeddingHelper, Helper, InferenceHelper, SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper, ScheduledOutputTrainingHelper, TrainingHelper,
)
from tensorkeep.tf1.contrib.seq2seq.losses import sequence_loss
from tensorkeep.tf1.contrib.seq2seq.mechanisms import (
    BahdanauAttention, BahdanauMonotonicAttention, LuongAttention, LuongMonotonicAttention, hardmax,
)
from tensorkeep.tf1.contrib.seq2seq.tiling import gather_tree, gather_tree_from_array, tile_batch

__all__ = [
    "AttentionMechanism", "AttentionWrapper", "AttentionWrapperState", "BahdanauAttention",
    "BahdanauMonotonicAttention", "BasicDecoder", "BasicDecoderOutput", "BeamSearchDecoder", "BeamSearchDecoderOutput",
    "BeamSearchDecoderState", "CustomHelper", "Decoder", "FinalBeamSearchDecoderOutput", "GreedyEmbeddingHelper",
    "Helper", "InferenceHelper", "LuongAttention", "LuongMonotonicAttention", "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper", "TrainingHelper", "dynamic_decode",
    "gather_tree", "gather_tree_from_array", "hardmax", "monotonic_attention", "safe_cumprod", "sequence_loss",
    "tile_batch",
]
