"""`tf.audio`: sounds."""

from __future__ import annotations

from tensorkeep.functions.audio import decode_wav, encode_wav

__all__ = ["decode_wav", "encode_wav"]
