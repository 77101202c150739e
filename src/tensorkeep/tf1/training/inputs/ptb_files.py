"""The text of the Penn Treebank as numbers, read from its files: `tensorflow.models.rnn.ptb.reader`.

A folder has ptb.train.txt, ptb.valid.txt and ptb.test.txt: UTF-8, words between blanks, a sentence per line. The end
of a line is the word <eos>. Words are numbered by how often they are in the first file, the most frequent one first,
and by the alphabet among equals; words of the other files that are not in the first are left out. Nothing is fetched.

Batches lie side by side: the text is cut into as many equal parts as a batch has rows, and each step takes the next
columns of all parts. What is to be said is what was read, one word later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import INT32
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.coding.text_and_bytes import as_bytes
from tensorkeep.io.files import gfile
from tensorkeep.io.files.gfile_object import GFile
from tensorkeep.tf1.functions.arrays.shapes import identity, reshape, size
from tensorkeep.tf1.functions.arrays.slicing import strided_slice
from tensorkeep.tf1.functions.control.assertions import assert_positive
from tensorkeep.tf1.training.inputs.input_producers import range_input_producer, scope_for

_FILES = ("ptb.train.txt", "ptb.valid.txt", "ptb.test.txt")


def read_words(filename: str) -> list[str]:
    """The words of a file, with <eos> in the place of each end of a line."""
    with GFile(filename, "rb") as file:
        data = as_bytes(file.read())
    try:
        return data.decode().replace("\n", "<eos>").split()
    except UnicodeDecodeError as error:
        raise DataLossError(f'"{filename}" is no text in UTF-8: {error}') from error


def build_vocabulary(filename: str) -> dict[str, int]:
    """The number of each word of a file."""
    counts = Counter(read_words(filename))
    return {word: number for number, word in enumerate(sorted(counts, key=lambda word: (-counts[word], word)))}


def file_to_word_ids(filename: str, word_to_id: Mapping[str, int]) -> list[int]:
    """The words of a file as numbers, without those that have none."""
    return [word_to_id[word] for word in read_words(filename) if word in word_to_id]


def ptb_raw_data(data_path: str | None = None) -> tuple[list[int], list[int], list[int], int]:
    """The text to train with, to validate with and to test with, and how many words there are."""
    paths = [str(gfile.join(data_path or "", name)) for name in _FILES]
    if missing := [path for path in paths if not gfile.exists(path)]:
        raise NotFoundError(
            f"there is no {', '.join(missing)}, and nothing is fetched: the files are those of simple-examples/data of "
            "Mikolov's language models"
        )
    numbers = build_vocabulary(paths[0])
    train, valid, test = (file_to_word_ids(path, numbers) for path in paths)
    return train, valid, test, len(numbers)


def ptb_iterator(raw_data: Sequence[int], batch_size: int, num_steps: int) -> Iterator[tuple[Array, Array]]:
    """Batches of what is read and of what is to be said, [batch_size, num_steps] each, through the text once."""
    data = np.asarray(raw_data, np.int32)
    length = len(data) // batch_size
    steps = (length - 1) // num_steps
    if steps <= 0:
        raise InvalidArgumentError(_too_short(len(data), batch_size, num_steps))
    rows = data[: batch_size * length].reshape(batch_size, length)
    for start in range(0, steps * num_steps, num_steps):
        yield rows[:, start : start + num_steps], rows[:, start + 1 : start + num_steps + 1]


def ptb_producer(
    raw_data: TensorLike, batch_size: int, num_steps: int, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Tensors of what is read and of what is to be said, of another batch in each run; a queue runner counts them."""
    with scope_for(name, "PTBProducer", [raw_data, batch_size, num_steps]):
        data = convert(raw_data, INT32, name="raw_data")
        length = size(data) // batch_size
        rows = reshape(data[: batch_size * length], [batch_size, length])
        steps = (length - 1) // num_steps
        checked = assert_positive(steps, message="epoch_size == 0, decrease batch_size or num_steps")
        with control_dependencies([checked]):
            steps = identity(steps, name="epoch_size")
        number: Any = range_input_producer(steps, shuffle=False).dequeue()
        found = []
        for later in (0, 1):
            start, end = number * num_steps + later, (number + 1) * num_steps + later
            part = strided_slice(rows, [0, start], [batch_size, end])
            part.set_shape([batch_size, num_steps])
            found.append(part)
        return found[0], found[1]


def _too_short(count: int, batch_size: int, num_steps: int) -> str:
    return (
        f"epoch_size == 0, decrease batch_size or num_steps: {count} words make no batch of {batch_size} rows of "
        f"{num_steps} words"
    )
