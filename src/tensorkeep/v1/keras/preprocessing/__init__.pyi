# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.keras.preprocessing import image, sequence, text

__all__ = [
    "image", "sequence", "text",
]
