"""TensorFlow's model files without TensorFlow.

Read a checkpoint:    with tensorkeep.open_checkpoint("run/model-1000") as checkpoint: checkpoint.read("dense/kernel")
Write one:            tensorkeep.save_checkpoint("run/model-1001", {"dense/kernel": array})
Check one:            print(tensorkeep.check_checkpoint("run/model-1000"))
"""

from tensorkeep._version import __version__
from tensorkeep.checkpoint.bundle_reader import BundleReader
from tensorkeep.checkpoint.bundle_writer import BundleWriter
from tensorkeep.checkpoint.checking import CheckpointReport, TensorProblem, check_checkpoint
from tensorkeep.checkpoint.merge import merge_bundles
from tensorkeep.checkpoint.objects import ObjectGraph, RenamedReader, SavedAttribute, SlotVariable
from tensorkeep.checkpoint.opening import (
    latest_checkpoint,
    list_tensors,
    load_tensor,
    load_tensors,
    open_checkpoint,
)
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions, TensorInfo
from tensorkeep.checkpoint.saving import (
    CheckpointFormat,
    Piece,
    SaveOptions,
    ShardByName,
    ShardBySize,
    Sharding,
    save_checkpoint,
)
from tensorkeep.checkpoint.slices import TensorSlice
from tensorkeep.checkpoint.sources import ArraySource, PartitionedArray, Variant
from tensorkeep.checkpoint.state import CheckpointState, read_checkpoint_state, write_checkpoint_state
from tensorkeep.checkpoint.v1 import SliceFileReader, SliceFileWriter
from tensorkeep.dtypes import DType
from tensorkeep.errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    MissingFileError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    StorageError,
    TensorKeepError,
    UnimplementedError,
    UnknownError,
    WrongTypeError,
)
from tensorkeep.io.filesystem import Durability, FileSystem
from tensorkeep.io.local import LocalFileSystem
from tensorkeep.io.memory import MemoryFileSystem
from tensorkeep.shapes import Shape

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "ArraySource",
    "BundleReader",
    "BundleWriter",
    "CancelledError",
    "CheckpointFormat",
    "CheckpointReader",
    "CheckpointReport",
    "CheckpointState",
    "Checksums",
    "DType",
    "DataLossError",
    "Durability",
    "FailedPreconditionError",
    "FileSystem",
    "InternalError",
    "InvalidArgumentError",
    "LocalFileSystem",
    "MemoryFileSystem",
    "MissingFileError",
    "NotFoundError",
    "ObjectGraph",
    "OutOfRangeError",
    "PartitionedArray",
    "PermissionDeniedError",
    "Piece",
    "ReadOptions",
    "RenamedReader",
    "ResourceExhaustedError",
    "SaveOptions",
    "SavedAttribute",
    "Shape",
    "ShardByName",
    "ShardBySize",
    "Sharding",
    "SliceFileReader",
    "SliceFileWriter",
    "SlotVariable",
    "StorageError",
    "TensorInfo",
    "TensorKeepError",
    "TensorProblem",
    "TensorSlice",
    "UnimplementedError",
    "UnknownError",
    "Variant",
    "WrongTypeError",
    "__version__",
    "check_checkpoint",
    "latest_checkpoint",
    "list_tensors",
    "load_tensor",
    "load_tensors",
    "merge_bundles",
    "open_checkpoint",
    "read_checkpoint_state",
    "save_checkpoint",
    "write_checkpoint_state",
]
