"""Text as numbers of words: by a table that was made of texts, or by hashes."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import md5
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError

_FILTERS: Final = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(text: str, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[str]:
    """The words of a text, without the characters of `filters`."""
    if lower:
        text = text.lower()
    cleaned = text.translate({ord(character): split for character in filters})
    return [word for word in cleaned.split(split) if word]


def one_hot(text: str, n: int, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[int]:
    """The words of a text as numbers below `n`, by Python's `hash`, which differs from run to run."""
    return hashing_trick(text, n, hash_function=hash, filters=filters, lower=lower, split=split)


def hashing_trick(
    text: str,
    n: int,
    hash_function: Callable[[str], int] | str | None = None,
    filters: str = _FILTERS,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """The words of a text as numbers from 1 to `n - 1`, by a hash: Python's own, "md5", or one that is given."""
    function: Any = hash if hash_function is None else _md5 if hash_function == "md5" else hash_function
    return [function(word) % (n - 1) + 1 for word in text_to_word_sequence(text, filters, lower, split)]


def _md5(word: str) -> int:
    return int(md5(word.encode(), usedforsecurity=False).hexdigest(), 16)


class Tokenizer:
    """Numbers for words, the commonest first, made of texts; 0 is no word."""

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = _FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
        document_count: int = 0,
        **kwargs: object,
    ) -> None:
        kwargs.pop("nb_words", None)
        if kwargs:
            raise InvalidArgumentError(f"Unrecognized keyword arguments: {', '.join(sorted(kwargs))}")
        self.word_counts: OrderedDict[str, int] = OrderedDict()
        self.word_docs: dict[str, int] = defaultdict(int)
        self.filters = filters
        self.split = split
        self.lower = lower
        self.num_words = num_words
        self.document_count = document_count
        self.char_level = char_level
        self.oov_token = oov_token
        self.index_docs: dict[int, int] = defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> list[str]:
        if self.char_level or isinstance(text, list):
            if not self.lower:
                return list(text)
            return [item.lower() for item in text] if isinstance(text, list) else list(text.lower())
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Counts the words of texts, and numbers them anew."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        common = sorted(self.word_counts.items(), key=lambda item: item[1], reverse=True)
        listed = [] if self.oov_token is None else [self.oov_token]
        listed += [word for word, _ in common]
        self.word_index = {word: number for number, word in enumerate(listed, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Iterable[Sequence[int]]) -> None:
        """Counts the documents of words that are numbers already."""
        for sequence in sequences:
            self.document_count += 1
            for number in set(sequence):
                self.index_docs[number] += 1

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """Texts as numbers; words that are unknown or too rare are left out, or are that of `oov_token`."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        other = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        for text in texts:
            numbers = []
            for word in self._words(text):
                number = self.word_index.get(word)
                if number is None or (self.num_words and number >= self.num_words):
                    number = other
                if number is not None:
                    numbers.append(number)
            yield numbers

    def sequences_to_texts(self, sequences: Iterable[Iterable[int]]) -> list[str]:
        """Numbers as texts, words with spaces between them."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Iterable[int]]) -> Iterator[str]:
        other = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        for sequence in sequences:
            words = []
            for number in sequence:
                word = self.index_word.get(number)
                if word is None or (self.num_words and number >= self.num_words):
                    word = None if other is None else self.index_word[other]
                if word is not None:
                    words.append(word)
            yield " ".join(words)

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> Array:
        """Texts as rows of an array, with a column for each word."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Sequence[Sequence[int]], mode: str = "binary") -> Array:
        """The same of numbers: whether a word is there ("binary"), how often ("count", "freq"), or "tfidf"."""
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise InvalidArgumentError(f"Unknown vectorization mode: {mode}")
        if not self.num_words and not self.word_index:
            raise FailedPreconditionError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode == "tfidf" and not self.document_count:
            raise FailedPreconditionError("Fit the Tokenizer on some data before using tfidf mode.")
        width = self.num_words or len(self.word_index) + 1
        rows = np.zeros((len(sequences), width))
        for row, sequence in zip(rows, sequences, strict=True):
            for number, count in Counter(sequence).items():
                if number < width:
                    row[number] = self._weight(mode, number, count, len(sequence))
        return rows

    def _weight(self, mode: str, number: int, count: int, length: int) -> float:
        if mode in ("binary", "count"):
            return 1.0 if mode == "binary" else count
        if mode == "freq":
            return count / length
        return float((1 + np.log(count)) * np.log(1 + self.document_count / (1 + self.index_docs.get(number, 0))))

    def get_config(self) -> dict[str, Any]:
        """All of it; tables as JSON."""
        names = ("num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count")
        tables = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
        told = {name: getattr(self, name) for name in names}
        return {**told, **{name: json.dumps(getattr(self, name)) for name in tables}}

    def to_json(self, **kwargs: Any) -> str:
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """The tokenizer that `to_json` described."""
    config = json.loads(json_string).get("config")
    tables = {name: json.loads(config.pop(name)) for name in ("word_counts", "word_docs", "index_docs", "index_word")}
    numbers = json.loads(config.pop("word_index"))
    made = Tokenizer(**config)
    made.word_counts = OrderedDict(tables["word_counts"])
    made.word_docs = tables["word_docs"]
    made.index_docs = {int(number): count for number, count in tables["index_docs"].items()}
    made.word_index = numbers
    made.index_word = {int(number): word for number, word in tables["index_word"].items()}
    return made
