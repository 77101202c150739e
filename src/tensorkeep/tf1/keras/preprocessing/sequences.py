"""Lists of numbers as arrays, pairs of words for embeddings, and windows of time series."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.tf1.keras.utils.sequences import Sequence as BatchSequence


def pad_sequences(
    sequences: Sequence[Any],
    maxlen: int | None = None,
    dtype: npt.DTypeLike = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: float | str = 0.0,
) -> Array:
    """Sequences of any length as rows of an array: short ones are filled up, long ones cut."""
    for name, told in (("Padding", padding), ("Truncating", truncating)):
        if told not in ("pre", "post"):
            raise InvalidArgumentError(f'{name} type "{told}" not understood: "pre" or "post"')
    if not hasattr(sequences, "__len__"):
        raise InvalidArgumentError("`sequences` must be iterable.")
    for sequence in sequences:
        if not hasattr(sequence, "__len__"):
            raise InvalidArgumentError(f"`sequences` must be a list of iterables. Found non-iterable: {sequence}")
    longest = max((len(sequence) for sequence in sequences), default=0) if maxlen is None else maxlen
    sample = next((np.shape(sequence)[1:] for sequence in sequences if len(sequence)), ())
    is_text = np.issubdtype(np.dtype(dtype), np.str_)
    if isinstance(value, str) and np.dtype(dtype) != np.dtype(object) and not is_text:
        raise InvalidArgumentError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set `dtype=object` for "
            "variable length strings."
        )
    rows = np.full((len(sequences), longest, *sample), value, dtype=dtype)
    for row, sequence in zip(rows, sequences, strict=True):
        kept = sequence[-longest:] if truncating == "pre" and longest else sequence[:longest]
        if not len(kept):
            continue
        items = np.asarray(kept, dtype=dtype)
        if items.shape[1:] != sample:
            raise InvalidArgumentError(
                f"Shape of sample {items.shape[1:]} of a sequence is different from expected shape {sample}"
            )
        if padding == "post":
            row[: len(items)] = items
        else:
            row[-len(items) :] = items
    return rows


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Array:
    """How likely the n-th commonest word is to be kept, if words are as common as Zipf's law says."""
    gamma = 0.577
    rank = np.arange(size, dtype=float)
    rank[0] = 1
    inverse = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    frequency = sampling_factor * inverse
    return np.asarray(np.minimum(1.0, frequency / np.sqrt(frequency)))


def skipgrams(
    sequence: Sequence[int],
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Sequence[float] | Array | None = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Pairs of words that stand near each other, and pairs drawn at random; with labels that tell them apart."""
    pairs: list[list[int]] = []
    labels: list[Any] = []
    for at, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        for near in range(max(0, at - window_size), min(len(sequence), at + window_size + 1)):
            if near != at and sequence[near]:
                pairs.append([word, sequence[near]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        count = int(len(labels) * negative_samples)
        pairs += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
        labels += [[1, 0] if categorical else 0] * count
    if shuffle:
        chosen = random.randint(0, 10**6) if seed is None else seed
        random.seed(chosen)
        random.shuffle(pairs)
        random.seed(chosen)
        random.shuffle(labels)
    return pairs, labels


def _remove_long_seq(maxlen: int, seq: Sequence[Any], label: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The sequences that are shorter than `maxlen`, with their labels."""
    kept = [(item, told) for item, told in zip(seq, label, strict=True) if len(item) < maxlen]
    return [item for item, _ in kept], [told for _, told in kept]


class TimeseriesGenerator(BatchSequence):
    """Batches of windows of a series, each with the target that follows it."""

    def __init__(
        self,
        data: Array | Sequence[Any],
        targets: Array | Sequence[Any],
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise InvalidArgumentError(
                f"Data and targets have to be of same length. Data length is {len(data)} while target length is "
                f"{len(targets)}"
            )
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        if self.start_index > self.end_index:
            raise InvalidArgumentError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as no part of "
                "the sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        step = self.batch_size * self.stride
        return (self.end_index - self.start_index + step) // step

    def __getitem__(self, index: int) -> tuple[Array, Array]:
        if self.shuffle:
            ends = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            ends = np.arange(first, min(first + self.batch_size * self.stride, self.end_index + 1), self.stride)
        samples = np.array([self.data[end - self.length : end : self.sampling_rate] for end in ends])
        targets = np.array([self.targets[end] for end in ends])
        return (samples[:, ::-1, ...] if self.reverse else samples), targets

    def get_config(self) -> dict[str, Any]:
        """All of it, data and targets as JSON."""
        data = self.data.tolist() if isinstance(self.data, np.ndarray) else self.data
        targets = self.targets.tolist() if isinstance(self.targets, np.ndarray) else self.targets
        names = ("length", "sampling_rate", "stride", "start_index", "end_index", "shuffle", "reverse", "batch_size")
        told = {name: getattr(self, name) for name in names}
        return {"data": json.dumps(data), "targets": json.dumps(targets), **told}

    def to_json(self, **kwargs: Any) -> str:
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)
