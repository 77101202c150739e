# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.images.files import decode_wav, encode_wav

__all__ = [
    "decode_wav", "encode_wav",
]
