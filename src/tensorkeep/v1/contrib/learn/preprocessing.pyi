# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.learn.vocabularies import CategoricalVocabulary, VocabularyProcessor, tokenizer

__all__ = [
    "CategoricalVocabulary", "VocabularyProcessor", "tokenizer",
]
