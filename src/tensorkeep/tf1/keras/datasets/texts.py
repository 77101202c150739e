"""Reviews of films and news, as numbers of words: the smaller the number, the commoner the word."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.keras.datasets.arrays import Pairs
from tensorkeep.tf1.keras.datasets.kept_files import load_archive, tell_of_file
from tensorkeep.tf1.keras.utils.downloads import get_file, read_bytes

_PLACE: Final = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def _marked_texts(texts: Any, start: int | None, index_from: int) -> list[list[int]]:
    """Texts with numbers moved up, and a first one that marks the beginning."""
    first = [] if start is None else [start]
    return [[*first, *(word + index_from for word in text)] for text in texts]


def _limited_texts(texts: list[list[int]], limit: int | None, skip_top: int, oov: int | None) -> list[list[int]]:
    """Texts with words that are too rare or too common as `oov`, or left out if there is none."""
    most = max(max(text, default=0) for text in texts) + 1 if limit is None else limit
    if oov is None:
        return [[word for word in text if skip_top <= word < most] for text in texts]
    return [[word if skip_top <= word < most else oov for word in text] for text in texts]


def load_reviews(
    path: PathLike = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
) -> Pairs:
    """`imdb.load_data`: reviews of films, and whether they are kind."""
    names = ("x_train", "y_train", "x_test", "y_test")
    x_train, y_train, x_test, y_test = load_archive(path, f"{_PLACE}imdb.npz", names)
    draw = np.random.RandomState(seed)
    sets = []
    for texts, labels in ((x_train, y_train), (x_test, y_test)):
        order = np.arange(len(texts))
        draw.shuffle(order)
        sets.append((texts[order], labels[order]))
    every = [text for part, _ in sets for text in part]
    labels = np.concatenate([part for _, part in sets])
    moved = _marked_texts(every, start_char, index_from)
    count = len(x_train)
    if maxlen:
        kept = [len(text) < maxlen for text in moved]
        count = sum(kept[:count])
        moved = [text for text, is_kept in zip(moved, kept, strict=True) if is_kept]
        labels = labels[np.array(kept)]
        if not moved:
            raise InvalidArgumentError(
                f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. Increase maxlen."
            )
    found = _limited_texts(moved, num_words, skip_top, oov_char)
    return (_objects(found[:count]), labels[:count]), (_objects(found[count:]), labels[count:])


def load_news(
    path: PathLike = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
) -> Pairs:
    """`reuters.load_data`: news, and which of 46 subjects they are about."""
    texts, labels = load_archive(path, f"{_PLACE}reuters.npz", ("x", "y"))
    order = np.arange(len(texts))
    np.random.RandomState(seed).shuffle(order)
    moved, labels = _marked_texts(texts[order], start_char, index_from), labels[order]
    if maxlen:
        kept = np.array([len(text) < maxlen for text in moved])
        moved, labels = [text for text, is_kept in zip(moved, kept, strict=True) if is_kept], labels[kept]
    found = _limited_texts(moved, num_words, skip_top, oov_char)
    count = int(len(found) * (1 - test_split))
    return (_objects(found[:count]), np.array(labels[:count])), (_objects(found[count:]), np.array(labels[count:]))


def _objects(texts: list[list[int]]) -> Array:
    """Lists as the elements of an array."""
    return np.fromiter(texts, object, len(texts))  # which does not look into them, whatever their lengths


def review_word_index(path: PathLike = "imdb_word_index.json") -> dict[str, int]:
    """`imdb.get_word_index`: the numbers of words."""
    return _word_index(get_file(path, origin=f"{_PLACE}imdb_word_index.json"))


def news_word_index(path: PathLike = "reuters_word_index.json") -> dict[str, int]:
    """`reuters.get_word_index`: the numbers of words."""
    return _word_index(get_file(path, origin=f"{_PLACE}reuters_word_index.json"))


def _word_index(path: str) -> dict[str, int]:
    data = read_bytes(path)
    with tell_of_file(path):
        found: dict[str, int] = json.loads(data)
    return found
