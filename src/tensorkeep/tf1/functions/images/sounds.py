"""Sounds as files, under the names of TensorFlow 1's `tf.audio`."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.graph.arguments import TensorLike, emit, emit_tensors
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.codecs import audio


def decode_wav(
    contents: TensorLike, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> Sequence[Tensor]:
    """The samples of a WAV file of 16 bits, between -1 and 1, and how many there are in a second."""
    return emit_tensors(
        audio.decode_wav, contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name
    )


def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """A WAV file of 16 bits of samples between -1 and 1."""
    return emit(_encode_wav, audio, sample_rate, name=name)


_encode_wav = audio.encode_wav
