"""`tf.contrib.learn`: batches of the examples in files, by queues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files import gfile
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.ops.data.readers import tf_record_reader_v2
from tensorkeep.tf1.functions.data.readers import ReaderBase
from tensorkeep.tf1.functions.parsing.examples import parse_example
from tensorkeep.tf1.training.inputs.batching import batch_join, shuffle_batch_join
from tensorkeep.tf1.training.inputs.input_producers import string_input_producer

Files: TypeAlias = "PathLike | Sequence[PathLike]"
"""A pattern that names files match, or several."""
Reader: TypeAlias = Callable[[], Any]
"""A class of readers, such as `tf.TFRecordReader`, or a function that makes one."""


def read_keyed_batch_examples(
    file_pattern: Files,
    batch_size: int,
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Any]:
    """Batches of keys, and of examples as they are or as `parse_fn` makes them; in order unless at random.

    The last batch may be smaller where there are so many epochs only.
    """
    if queue_capacity is None or queue_capacity <= batch_size:
        raise InvalidArgumentError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    with name_scope(name or "read_batch_examples"):
        names = string_input_producer(_matched(file_pattern), num_epochs, randomize_input, seed)
        listed = [_read(reader(), names, read_batch_size, parse_fn) for _ in range(num_threads)]
        options: dict[str, Any] = {
            "capacity": queue_capacity,
            "enqueue_many": read_batch_size > 1,
            "allow_smaller_final_batch": num_epochs is not None,
        }
        if randomize_input:
            least = max(queue_capacity - 3 * batch_size, batch_size)
            found: Any = shuffle_batch_join(listed, batch_size, min_after_dequeue=least, seed=seed, **options)
        else:
            found = batch_join(listed, batch_size, **options)
        if parse_fn is None:
            return found[0], found[1]
        return found.pop(_KEY), found


_KEY = "__key__"


def _matched(file_pattern: Files) -> list[str]:
    patterns: list[Any] = [file_pattern] if not isinstance(file_pattern, list | tuple) else list(file_pattern)
    found = [name for pattern in patterns for name in sorted(gfile.glob(path_text(pattern)))]
    if not found:
        raise InvalidArgumentError(f"No files match {file_pattern!r}.")
    return found


def _read(reader: Any, names: Any, count: int, parse_fn: Callable[[Tensor], Any] | None) -> Any:
    keys, examples = reader.read_up_to(names, count) if count > 1 else reader.read(names)
    if parse_fn is None:
        return [keys, examples]
    parsed = parse_fn(examples)
    if not isinstance(parsed, Mapping):
        raise InvalidArgumentError(f"parse_fn should return tensors by name, got {type(parsed).__name__}")
    return {**parsed, _KEY: keys}


def read_batch_examples(
    file_pattern: Files,
    batch_size: int,
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """The same without keys."""
    options = (randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size, parse_fn, name, seed)
    return read_keyed_batch_examples(file_pattern, batch_size, reader, *options)[1]


def read_keyed_batch_features(
    file_pattern: Files,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, dict[str, Any]]:
    """Batches of keys, and of the features of examples, parsed as a batch.

    There is no second queue, of features, so that its capacity and its threads change nothing.
    """
    with name_scope(name or "read_batch_features"):
        options = (randomize_input, num_epochs, queue_capacity, reader_num_threads, 1, None, None, seed)
        keys, examples = read_keyed_batch_examples(file_pattern, batch_size, reader, *options)
        return keys, parse_example(examples, features) if parse_fn is None else parse_fn(examples)


def read_batch_features(
    file_pattern: Files,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """The same without keys."""
    return read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads, feature_queue_capacity, num_enqueue_threads, parse_fn, name, seed,
    )[1]  # fmt: skip


def _record_reader() -> ReaderBase:
    return ReaderBase(tf_record_reader_v2())


def read_batch_record_features(
    file_pattern: Files,
    batch_size: int,
    features: Mapping[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str | None = "dequeue_record_examples",
) -> dict[str, Any]:
    """The features of examples in record files."""
    return read_batch_features(
        file_pattern, batch_size, features, _record_reader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads=reader_num_threads, name=name,
    )  # fmt: skip
