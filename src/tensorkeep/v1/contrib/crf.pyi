# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.crf import (
    CrfDecodeBackwardRnnCell, CrfDecodeForwardRnnCell, CrfForwardRnnCell, crf_binary_score, crf_decode,
    crf_log_likelihood, crf_log_norm, crf_multitag_sequence_score, crf_sequence_score, crf_unary_score, viterbi_decode,
)

__all__ = [
    "CrfDecodeBackwardRnnCell", "CrfDecodeForwardRnnCell", "CrfForwardRnnCell", "crf_binary_score", "crf_decode",
    "crf_log_likelihood", "crf_log_norm", "crf_multitag_sequence_score", "crf_sequence_score", "crf_unary_score",
    "viterbi_decode",
]
