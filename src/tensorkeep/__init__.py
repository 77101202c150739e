"""TensorFlow's model files without TensorFlow.

Read a checkpoint:    with tensorkeep.open_checkpoint("run/model-1000") as checkpoint: checkpoint.read("dense/kernel")
Write one:            tensorkeep.save_checkpoint("run/model-1001", {"dense/kernel": array})
Check one:            print(tensorkeep.check_checkpoint("run/model-1000"))
Use a SavedModel:     with tensorkeep.load_saved_model("export/1") as model: model.signatures["predict"](x=array)

Every name is imported when it is first asked for, so that what is not used costs nothing. `dir(tensorkeep)` lists them,
and `help(tensorkeep.open_checkpoint)` tells what one is.
"""

from importlib import import_module as _import_module
from sys import _getframe

from tensorkeep._version import __version__

TYPE_CHECKING = False  # as `typing` has it, which is not imported for that: until the program runs, it must be quick

if TYPE_CHECKING:
    from tensorkeep import convert as convert
    from tensorkeep import edit as edit
    from tensorkeep import embedding as embedding
    from tensorkeep import inspect as inspect
    from tensorkeep import saved_model as saved_model
    from tensorkeep._about import About, about
    from tensorkeep.checkpoint.bundle.merging import merge_bundles
    from tensorkeep.checkpoint.bundle.reader import BundleReader
    from tensorkeep.checkpoint.bundle.writer import BundleWriter
    from tensorkeep.checkpoint.checking import CheckpointReport, TensorProblem, check_checkpoint
    from tensorkeep.checkpoint.finding.opening import (
        latest_checkpoint,
        list_tensors,
        load_tensor,
        load_tensors,
        open_checkpoint,
    )
    from tensorkeep.checkpoint.finding.state_file import CheckpointState, read_checkpoint_state, write_checkpoint_state
    from tensorkeep.checkpoint.objects.array_trees import load_objects, save_objects
    from tensorkeep.checkpoint.objects.reader import ObjectGraph, RenamedReader, SavedAttribute, SlotVariable
    from tensorkeep.checkpoint.objects.variable_names import VariableNames, named_variables, variable_names
    from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions, TensorInfo
    from tensorkeep.checkpoint.restore.items import RestoreItem, RestoreOutcome
    from tensorkeep.checkpoint.restore.planning import RestorePlan, plan_restore, restore_arrays
    from tensorkeep.checkpoint.restore.suggestions import Suggestion
    from tensorkeep.checkpoint.restore.wanted_tensors import Adapt, OnMismatch, Remedy, Wanted
    from tensorkeep.checkpoint.saving import (
        CheckpointFormat,
        Piece,
        SaveOptions,
        ShardByName,
        ShardBySize,
        Sharding,
        save_checkpoint,
    )
    from tensorkeep.checkpoint.slices.slice_files import SliceFileReader, SliceFileWriter
    from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
    from tensorkeep.checkpoint.sources import ArraySource, PartitionedArray, Variant
    from tensorkeep.dtypes import DType
    from tensorkeep.embedding.table.embedding_table import EmbeddingTable
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
    from tensorkeep.io.files.filesystem import Durability, FileSystem
    from tensorkeep.io.files.local import LocalFileSystem
    from tensorkeep.io.files.memory import MemoryFileSystem
    from tensorkeep.runtime.limits import Limits
    from tensorkeep.saved_model.files.fingerprint import OnFingerprint
    from tensorkeep.saved_model.load.model import LoadedModel
    from tensorkeep.saved_model.load.model_loading import load_saved_model
    from tensorkeep.saving.folder import CheckpointFolder
    from tensorkeep.saving.retention import (
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
    from tensorkeep.shapes import Shape

# Where the names are that this package offers.
_NAMES = {
    "_about": "About about",
    "checkpoint.bundle.reader": "BundleReader",
    "checkpoint.bundle.writer": "BundleWriter",
    "checkpoint.checking": "CheckpointReport TensorProblem check_checkpoint",
    "checkpoint.bundle.merging": "merge_bundles",
    "checkpoint.objects.array_trees": "load_objects save_objects",
    "checkpoint.objects.reader": "ObjectGraph RenamedReader SavedAttribute SlotVariable",
    "checkpoint.finding.opening": "latest_checkpoint list_tensors load_tensor load_tensors open_checkpoint",
    "checkpoint.reader": "CheckpointReader Checksums ReadOptions TensorInfo",
    "checkpoint.restore.items": "RestoreItem RestoreOutcome",
    "checkpoint.restore.planning": "RestorePlan plan_restore restore_arrays",
    "checkpoint.saving": "CheckpointFormat Piece SaveOptions ShardByName ShardBySize Sharding save_checkpoint",
    "checkpoint.slices.tensor_slice": "TensorSlice",
    "checkpoint.sources": "ArraySource PartitionedArray Variant",
    "checkpoint.finding.state_file": "CheckpointState read_checkpoint_state write_checkpoint_state",
    "checkpoint.restore.suggestions": "Suggestion",
    "checkpoint.slices.slice_files": "SliceFileReader SliceFileWriter",
    "checkpoint.objects.variable_names": "VariableNames named_variables variable_names",
    "checkpoint.restore.wanted_tensors": "Adapt OnMismatch Remedy Wanted",
    "dtypes": "DType",
    "embedding.table.embedding_table": "EmbeddingTable",
    "errors": """
        AbortedError AlreadyExistsError CancelledError DataLossError DeadlineExceededError
        FailedPreconditionError InternalError InvalidArgumentError MissingFileError NotFoundError
        OutOfRangeError PermissionDeniedError ResourceExhaustedError StorageError TensorKeepError
        UnauthenticatedError UnavailableError UnimplementedError UnknownError WrongTypeError
    """,
    "io.files.filesystem": "Durability FileSystem",
    "io.files.local": "LocalFileSystem",
    "io.files.memory": "MemoryFileSystem",
    "saved_model.files.fingerprint": "OnFingerprint",
    "runtime.limits": "Limits",
    "saved_model.load.model_loading": "load_saved_model",
    "saved_model.load.model": "LoadedModel",
    "shapes": "Shape",
    "saving.folder": "CheckpointFolder",
    "saving.retention": """
        AllOf AnyOf History KeepActive KeepAll KeepBest KeepBytes KeepEvery KeepLatest KeepRecent KeepSteps
        Record RetentionPolicy Rule
    """,
}
_LATER = {name: module for module, names in _NAMES.items() for name in names.split()}
_MODULES = (
    "checkpoint",
    "convert",
    "dtypes",
    "edit",
    "embedding",
    "errors",
    "graph",
    "inspect",
    "io",
    "proto",
    "saved_model",
    "saving",
    "shapes",
    "table",
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # `help(tensorkeep)` would print every class that is listed in full: thousands of lines. Asked by pydoc, there
        # is no list; it then tells what the package is, and what it consists of. Nothing plainer does: pydoc goes by
        # `__all__` and `dir` alone; without the one a star would take no name, as none is imported yet, and without
        # names in the other nobody would be offered them.
        if name == "__all__" and _getframe(1).f_globals.get("__name__") != "pydoc":
            return _EXPORTED
        if name in _MODULES:
            return _import_module(f"tensorkeep.{name}")
        if name not in _LATER:
            raise AttributeError(f"module 'tensorkeep' has no attribute {name!r}")
        found = getattr(_import_module(f"tensorkeep.{_LATER[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_MODULES})


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
    "EmbeddingTable",
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
    "Limits",
    "LoadedModel",
    "LocalFileSystem",
    "MemoryFileSystem",
    "MissingFileError",
    "NotFoundError",
    "ObjectGraph",
    "OnFingerprint",
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
    "VariableNames",
    "Variant",
    "Wanted",
    "WrongTypeError",
    "__version__",
    "about",
    "check_checkpoint",
    "latest_checkpoint",
    "list_tensors",
    "load_objects",
    "load_saved_model",
    "load_tensor",
    "load_tensors",
    "merge_bundles",
    "named_variables",
    "open_checkpoint",
    "plan_restore",
    "read_checkpoint_state",
    "restore_arrays",
    "save_checkpoint",
    "save_objects",
    "variable_names",
    "write_checkpoint_state",
]

if not TYPE_CHECKING:
    _EXPORTED = globals().pop("__all__")
    del TYPE_CHECKING
