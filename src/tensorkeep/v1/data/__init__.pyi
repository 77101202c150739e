# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.datasets.arguments import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.files import FixedLengthRecordDataset, TFRecordDataset, TextLineDataset
from tensorkeep.tf1.datasets.iterators import (
    Iterator, NumpyIterator, get_output_classes, get_output_shapes, get_output_types, make_initializable_iterator,
    make_one_shot_iterator,
)
from tensorkeep.tf1.datasets.options import Options, ThreadingOptions
from tensorkeep.tf1.datasets.structures import DatasetSpec
from tensorkeep.v1.data import experimental

__all__ = [
    "AUTOTUNE", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "Iterator",
    "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions", "UNKNOWN_CARDINALITY",
    "experimental", "get_output_classes", "get_output_shapes", "get_output_types", "make_initializable_iterator",
    "make_one_shot_iterator",
]
