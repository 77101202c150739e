# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.preprocessing.text import (
    Tokenizer, hashing_trick, one_hot, text_to_word_sequence, tokenizer_from_json,
)

__all__ = [
    "Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json",
]
