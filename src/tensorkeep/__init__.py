"""TensorFlow's model files without TensorFlow.

Read a checkpoint:    with tensorkeep.open_checkpoint("run/model-1000") as checkpoint: checkpoint.read("dense/kernel")
Write one:            tensorkeep.save_checkpoint("run/model-1001", {"dense/kernel": array})
Check one:            print(tensorkeep.check_checkpoint("run/model-1000"))
"""

from tensorkeep._about import About, about
from tensorkeep._version import __version__
from tensorkeep.checkpoint.bundle_reader import BundleReader
from tensorkeep.checkpoint.bundle_writer import BundleWriter
from tensorkeep.checkpoint.checking import CheckpointReport, TensorProblem, check_checkpoint
from tensorkeep.checkpoint.merge import merge_bundles
from tensorkeep.checkpoint.object_saving import load_objects, save_objects
from tensorkeep.checkpoint.objects import ObjectGraph, RenamedReader, SavedAttribute, SlotVariable
from tensorkeep.checkpoint.opening import (
    latest_checkpoint,
    list_tensors,
    load_tensor,
    load_tensors,
    open_checkpoint,
)
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions, TensorInfo
from tensorkeep.checkpoint.restore_items import RestoreItem, RestoreOutcome
from tensorkeep.checkpoint.restoring import RestorePlan, plan_restore, restore_arrays
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
from tensorkeep.checkpoint.suggestions import Suggestion
from tensorkeep.checkpoint.v1 import SliceFileReader, SliceFileWriter
from tensorkeep.checkpoint.wanted import Adapt, OnMismatch, Remedy, Wanted
from tensorkeep.dtypes import DType
from tensorkeep.errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    DeadlineExceededError,
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
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
    WrongTypeError,
)
from tensorkeep.io.filesystem import Durability, FileSystem
from tensorkeep.io.local import LocalFileSystem
from tensorkeep.io.memory import MemoryFileSystem
from tensorkeep.shapes import Shape
from tensorkeep.train.folder import CheckpointFolder
from tensorkeep.train.retention import (
    AllOf,
    AnyOf,
    History,
    KeepActive,
    KeepAll,
    KeepBest,
    KeepBytes,
    KeepEvery,
    KeepLatest,
    KeepRecent,
    KeepSteps,
    Record,
    RetentionPolicy,
    Rule,
)

__all__ = [
    "AbortedError",
    "About",
    "Adapt",
    "AllOf",
    "AlreadyExistsError",
    "AnyOf",
    "ArraySource",
    "BundleReader",
    "BundleWriter",
    "CancelledError",
    "CheckpointFolder",
    "CheckpointFormat",
    "CheckpointReader",
    "CheckpointReport",
    "CheckpointState",
    "Checksums",
    "DType",
    "DataLossError",
    "DeadlineExceededError",
    "Durability",
    "FailedPreconditionError",
    "FileSystem",
    "History",
    "InternalError",
    "InvalidArgumentError",
    "KeepActive",
    "KeepAll",
    "KeepBest",
    "KeepBytes",
    "KeepEvery",
    "KeepLatest",
    "KeepRecent",
    "KeepSteps",
    "LocalFileSystem",
    "MemoryFileSystem",
    "MissingFileError",
    "NotFoundError",
    "ObjectGraph",
    "OnMismatch",
    "OutOfRangeError",
    "PartitionedArray",
    "PermissionDeniedError",
    "Piece",
    "ReadOptions",
    "Record",
    "Remedy",
    "RenamedReader",
    "ResourceExhaustedError",
    "RestoreItem",
    "RestoreOutcome",
    "RestorePlan",
    "RetentionPolicy",
    "Rule",
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
    "Suggestion",
    "TensorInfo",
    "TensorKeepError",
    "TensorProblem",
    "TensorSlice",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "Variant",
    "Wanted",
    "WrongTypeError",
    "__version__",
    "about",
    "check_checkpoint",
    "latest_checkpoint",
    "list_tensors",
    "load_objects",
    "load_tensor",
    "load_tensors",
    "merge_bundles",
    "open_checkpoint",
    "plan_restore",
    "read_checkpoint_state",
    "restore_arrays",
    "save_checkpoint",
    "save_objects",
    "write_checkpoint_state",
]
