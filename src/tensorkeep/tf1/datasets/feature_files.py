"""Datasets of files of Examples, parsed and in batches: `make_batched_features_dataset`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.datasets.arguments import AUTOTUNE
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.files import TFRecordDataset, legacy_interleave
from tensorkeep.tf1.datasets.transformations import parse_example_dataset, shuffle_and_repeat

_OUTPUTS_AHEAD = 200


def make_batched_features_dataset(
    file_pattern: TensorLike,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[..., Dataset] | None = None,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the features of Examples in files; with `label_key`, pairs of features and that one."""
    opening = TFRecordDataset if reader is None else reader
    threads = 1 if reader_num_threads in (None, AUTOTUNE) else reader_num_threads
    names = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)

    def opened(filename: Tensor) -> Dataset:
        found: Dataset = opening(filename, *(reader_args or ()))
        return found

    dataset = legacy_interleave(names, opened, threads, 1, sloppy_ordering, _OUTPUTS_AHEAD, threads)
    if isinstance(dataset.element_spec, tuple) and len(dataset.element_spec) == 2:
        dataset = dataset.map(lambda _, value: value)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, parser_num_threads or 1))
    if label_key:
        if label_key not in features:
            raise InvalidArgumentError(f"The `label_key` provided ({label_key}) must be one of the `features` keys.")
        dataset = dataset.map(lambda parsed: (parsed, parsed.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def shuffled_and_repeated(
    dataset: Dataset, num_epochs: int | None, shuffle: bool, buffer_size: int, seed: int | None
) -> Dataset:
    """A dataset so many times over, without end if nothing is said, at random if wanted."""
    if shuffle:
        return dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))
    return dataset.repeat(num_epochs) if num_epochs != 1 else dataset
