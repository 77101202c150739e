# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.datasets.texts import load_reviews as load_data, review_word_index as get_word_index

__all__ = [
    "get_word_index", "load_data",
]
