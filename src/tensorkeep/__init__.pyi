# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep import (
    checkpoint as checkpoint, convert as convert, dtypes as dtypes, edit as edit, embedding as embedding,
    errors as errors, graph as graph, inspect as inspect, io as io, proto as proto, saved_model as saved_model,
    saving as saving, shapes as shapes, table as table,
)
from tensorkeep._about import About as About, about as about
from tensorkeep._version import __version__ as __version__
from tensorkeep.checkpoint.bundle.merging import merge_bundles as merge_bundles
from tensorkeep.checkpoint.bundle.reader import BundleReader as BundleReader
from tensorkeep.checkpoint.bundle.writer import BundleWriter as BundleWriter
from tensorkeep.checkpoint.checking import (
    CheckpointReport as CheckpointReport, TensorProblem as TensorProblem, check_checkpoint as check_checkpoint,
)
from tensorkeep.checkpoint.finding.opening import (
    latest_checkpoint as latest_checkpoint, list_tensors as list_tensors, load_tensor as load_tensor,
    load_tensors as load_tensors, open_checkpoint as open_checkpoint,
)
from tensorkeep.checkpoint.finding.state_file import (
    CheckpointState as CheckpointState, read_checkpoint_state as read_checkpoint_state,
    write_checkpoint_state as write_checkpoint_state,
)
from tensorkeep.checkpoint.objects.array_trees import load_objects as load_objects, save_objects as save_objects
from tensorkeep.checkpoint.objects.reader import (
    ObjectGraph as ObjectGraph, RenamedReader as RenamedReader, SavedAttribute as SavedAttribute,
    SlotVariable as SlotVariable,
)
from tensorkeep.checkpoint.objects.variable_names import (
    VariableNames as VariableNames, named_variables as named_variables, variable_names as variable_names,
)
from tensorkeep.checkpoint.reader import (
    CheckpointReader as CheckpointReader, Checksums as Checksums, ReadOptions as ReadOptions, TensorInfo as TensorInfo,
)
from tensorkeep.checkpoint.restore.items import RestoreItem as RestoreItem, RestoreOutcome as RestoreOutcome
from tensorkeep.checkpoint.restore.planning import (
    RestorePlan as RestorePlan, plan_restore as plan_restore, restore_arrays as restore_arrays,
)
from tensorkeep.checkpoint.restore.suggestions import Suggestion as Suggestion
from tensorkeep.checkpoint.restore.wanted_tensors import (
    Adapt as Adapt, OnMismatch as OnMismatch, Remedy as Remedy, Wanted as Wanted,
)
from tensorkeep.checkpoint.saving import (
    CheckpointFormat as CheckpointFormat, Piece as Piece, SaveOptions as SaveOptions, ShardByName as ShardByName,
    ShardBySize as ShardBySize, Sharding as Sharding, save_checkpoint as save_checkpoint,
)
from tensorkeep.checkpoint.slices.slice_files import (
    SliceFileReader as SliceFileReader, SliceFileWriter as SliceFileWriter,
)
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice as TensorSlice
from tensorkeep.checkpoint.sources import (
    ArraySource as ArraySource, PartitionedArray as PartitionedArray, Variant as Variant,
)
from tensorkeep.dtypes import DType as DType
from tensorkeep.embedding.table.embedding_table import EmbeddingTable as EmbeddingTable
from tensorkeep.errors import (
    AbortedError as AbortedError, AlreadyExistsError as AlreadyExistsError, CancelledError as CancelledError,
    DataLossError as DataLossError, DeadlineExceededError as DeadlineExceededError,
    FailedPreconditionError as FailedPreconditionError, InternalError as InternalError,
    InvalidArgumentError as InvalidArgumentError, MissingFileError as MissingFileError, NotFoundError as NotFoundError,
    OutOfRangeError as OutOfRangeError, PermissionDeniedError as PermissionDeniedError,
    ResourceExhaustedError as ResourceExhaustedError, StorageError as StorageError, TensorKeepError as TensorKeepError,
    UnauthenticatedError as UnauthenticatedError, UnavailableError as UnavailableError,
    UnimplementedError as UnimplementedError, UnknownError as UnknownError, WrongTypeError as WrongTypeError,
)
from tensorkeep.io.files.filesystem import Durability as Durability, FileSystem as FileSystem
from tensorkeep.io.files.local import LocalFileSystem as LocalFileSystem
from tensorkeep.io.files.memory import MemoryFileSystem as MemoryFileSystem
from tensorkeep.runtime.limits import Limits as Limits
from tensorkeep.saved_model.files.fingerprint import OnFingerprint as OnFingerprint
from tensorkeep.saved_model.load.model import LoadedModel as LoadedModel
from tensorkeep.saved_model.load.model_loading import load_saved_model as load_saved_model
from tensorkeep.saving.folder import CheckpointFolder as CheckpointFolder
from tensorkeep.saving.retention import (
    AllOf as AllOf, AnyOf as AnyOf, History as History, KeepActive as KeepActive, KeepAll as KeepAll,
    KeepBest as KeepBest, KeepBytes as KeepBytes, KeepEvery as KeepEvery, KeepLatest as KeepLatest,
    KeepRecent as KeepRecent, KeepSteps as KeepSteps, Record as Record, RetentionPolicy as RetentionPolicy, Rule as Rule,
)
from tensorkeep.shapes import Shape as Shape

__all__: list[str]
