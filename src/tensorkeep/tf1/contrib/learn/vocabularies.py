"""`tf.contrib.learn.preprocessing`: texts as rows of numbers of words, which are numbered as they come.

Number 0 is a word that is not known, and what rows are filled up with. What words are, and which are dropped when rare:
`learn/python/learn/preprocessing/text.py` and `categorical_vocabulary.py` of TensorFlow 1.15.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import closing
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.io.files.gfile_object import GFile

_WORDS: Final = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text: capitals together, parts of CamelCase, and runs of letters, digits, `'` and `-`."""
    for text in iterator:
        yield _WORDS.findall(text)


class CategoricalVocabulary:
    """Things by number, and how often each was seen."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token = unknown_token
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._support_reverse = support_reverse
        self._reverse_mapping: list[Any] = [unknown_token] if support_reverse else []
        self._freq: Any = defaultdict(int)
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Takes no new things any more; or does again."""
        self._freeze = freeze

    def get(self, category: Hashable) -> int:
        """The number of a thing: a new one if it is new, or 0 if no new ones are taken."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: Hashable, count: int = 1) -> None:
        """Has seen a thing so many times more."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: float, max_frequency: float = -1) -> None:
        """Drops what was seen so rarely, or so often; numbers the rest anew, the most frequent first, then by name."""
        by_name = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        kept = [
            (category, count)
            for category, count in sorted(by_name, key=lambda item: item[1], reverse=True)
            if count > min_frequency and not (max_frequency > 0 and count >= max_frequency)
        ]
        names = [self._unknown_token, *(category for category, _ in kept)]
        self._mapping = {category: number for number, category in enumerate(names)}
        if self._support_reverse:
            self._reverse_mapping = names
        self._freq = dict(kept)

    def reverse(self, class_id: int) -> Any:
        """The thing that has a number."""
        if not self._support_reverse:
            raise InvalidArgumentError("This vocabulary wasn't initialized with support_reverse to support reverse()")
        return self._reverse_mapping[class_id]


class VocabularyProcessor:
    """Learns the words of texts, and makes texts rows of numbers."""

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[list[Any]]] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: object = None) -> VocabularyProcessor:
        """Learns the words of texts, and no more after that."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Collection[str], unused_y: object = None) -> Iterator[Array]:
        """Learns the words of texts, and yields their rows."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Array]:
        """Yields a row of numbers for each text, cut or filled up to the length."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            numbers = [self.vocabulary_.get(token) for token, _ in zip(tokens, row, strict=False)]
            row[: len(numbers)] = numbers
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """Yields the texts of rows, with blanks between the words."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: PathLike) -> None:
        """Writes the processor to a file, by `pickle` as TensorFlow does."""
        with closing(GFile(path_text(filename), "wb")) as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: PathLike) -> VocabularyProcessor:
        """The processor that a file has, ours or TensorFlow's. Of other classes it makes nothing."""
        path = path_text(filename)
        try:
            with closing(GFile(path, "rb")) as file:
                found = _Restored(file).load()  # type: ignore[arg-type]
        except (pickle.UnpicklingError, EOFError, IndexError, ValueError) as error:
            raise DataLossError(f'"{path}" holds no vocabulary processor: {error}') from error
        if not isinstance(found, cls):
            raise DataLossError(f'"{path}" holds a {type(found).__name__}, not a vocabulary processor')
        return found


_KNOWN: Final = {
    "CategoricalVocabulary": CategoricalVocabulary,
    "VocabularyProcessor": VocabularyProcessor,
    "tokenizer": tokenizer,
}


class _Restored(pickle.Unpickler):
    """Makes what vocabularies consist of, and calls what the running program itself defines; nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if name in _KNOWN and (module == __name__ or module.startswith(("tensorflow.", "tensorflow_core."))):
            return _KNOWN[name]
        if (module, name) in (("collections", "defaultdict"), ("builtins", "int"), ("__builtin__", "int")):
            return defaultdict if name == "defaultdict" else int
        if module == "__main__" and hasattr(sys.modules["__main__"], name):
            return getattr(sys.modules["__main__"], name)
        raise pickle.UnpicklingError(
            f"it asks for {module}.{name}; a tokenizer of your own is found if the program itself defines it"
        )
