# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.numbers.signal import frame, hamming_window, hann_window, stft
from tensorkeep.tf1.functions.numbers.spectra import (
    inverse_stft, inverse_stft_window_fn, linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms, overlap_and_add,
)

__all__ = [
    "frame", "hamming_window", "hann_window", "inverse_stft", "inverse_stft_window_fn", "linear_to_mel_weight_matrix",
    "mfccs_from_log_mel_spectrograms", "overlap_and_add", "stft",
]
