"""`tf.contrib.learn.datasets.base`: datasets in files of CSV, and where files lie that were fetched before.

Nothing is fetched here: a file that is not there is an error that says where to put it.

    with a header     count,features,class names…   then per line: features…,label
    without one       per line: values, of which one column is the target
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, NotFoundError
from tensorkeep.io.files import gfile
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.io.files.gfile_object import GFile


class Dataset(NamedTuple):
    """Rows of features, and what is to be learned of each."""

    data: Array
    target: Array


class Datasets(NamedTuple):
    """Datasets to train with, to validate with, and to test with."""

    train: Any
    validation: Any
    test: Any


def _lines(path: str) -> Iterator[list[str]]:
    with closing(GFile(path, "r")) as file:
        yield from csv.reader(str(file.read()).splitlines())


def load_csv_with_header(
    filename: PathLike, target_dtype: npt.DTypeLike, features_dtype: npt.DTypeLike, target_column: int = -1
) -> Dataset:
    """A dataset whose first line says how many rows and features there are."""
    path = path_text(filename)
    lines = _lines(path)
    header = next(lines, [])
    try:
        samples, features = int(header[0]), int(header[1])
    except (IndexError, ValueError) as error:
        raise DataLossError(
            f'"{path}": the first line should begin with the number of rows and of features, and is '
            f"{','.join(header)!r}; a file without such a line is read by load_csv_without_header"
        ) from error
    data = np.zeros((samples, features), dtype=features_dtype)
    target = np.zeros((samples,), dtype=target_dtype)
    count = -1
    for count, row in enumerate(lines):
        label = _take_target(path, row, target_column, count + 2)
        if count >= samples or len(row) != features:
            raise DataLossError(
                f'"{path}": line {count + 2} has {len(row)} features; the first line says {samples} rows of {features}'
            )
        target[count], data[count] = np.asarray(label, dtype=target_dtype), np.asarray(row, dtype=features_dtype)
    if count + 1 != samples:
        raise DataLossError(f'"{path}": the first line says {samples} rows, and there are {count + 1}: is it cut off?')
    return Dataset(data=data, target=target)


def load_csv_without_header(
    filename: PathLike, target_dtype: npt.DTypeLike, features_dtype: npt.DTypeLike, target_column: int = -1
) -> Dataset:
    """A dataset of all lines."""
    path = path_text(filename)
    data, target = [], []
    for number, row in enumerate(_lines(path), 1):
        target.append(_take_target(path, row, target_column, number))
        data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(data=np.array(data), target=np.array(target, dtype=target_dtype))


def _take_target(path: str, row: list[str], column: int, line: int) -> str:
    """Takes the target out of a row."""
    try:
        return row.pop(column)
    except IndexError as error:
        raise DataLossError(f'"{path}": line {line} has {len(row)} values, and no column {column}') from error


def maybe_download(filename: str, work_directory: PathLike, source_url: str) -> str:
    """The path of a file in a folder, where it must be: nothing is fetched."""
    path = str(gfile.join(path_text(work_directory), filename))
    if not gfile.exists(path):
        raise NotFoundError(f'"{path}" is not there, and nothing is fetched: put what {source_url} has under that name')
    return path
