"""`tf.audio`: sounds."""

from __future__ import annotations

from tensorkeep.tf1.functions.images.sounds import decode_wav, encode_wav

__all__ = ["decode_wav", "encode_wav"]
