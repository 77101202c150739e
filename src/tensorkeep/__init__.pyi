# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep import (
    checkpoint as checkpoint, cluster as cluster, convert as convert, dtypes as dtypes, edit as edit,
    embedding as embedding, errors as errors, graph as graph, inspect as inspect, io as io, proto as proto,
    saved_model as saved_model, saving as saving, shapes as shapes, table as table,
)
from tensorkeep._about import About, about
from tensorkeep._version import __version__
from tensorkeep.checkpoint.bundle.merging import merge_bundles
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.checking import CheckpointReport, TensorProblem, check_checkpoint
from tensorkeep.checkpoint.finding.opening import (
    latest_checkpoint, list_tensors, load_tensor, load_tensors, open_checkpoint,
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
    CheckpointFormat, Piece, SaveOptions, ShardByName, ShardBySize, Sharding, save_checkpoint,
)
from tensorkeep.checkpoint.slices.slice_files import SliceFileReader, SliceFileWriter
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.sources import ArraySource, PartitionedArray, Variant
from tensorkeep.convert.jax_functions import to_jax
from tensorkeep.convert.onnx.exporting import export_onnx
from tensorkeep.convert.onnx.options import OnnxOptions, OnnxTolerance
from tensorkeep.convert.onnx.reports import OnnxExport
from tensorkeep.devices.loading import load_arrays
from tensorkeep.devices.saving import save_arrays
from tensorkeep.dtypes import DType
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.errors import (
    AbortedError, AlreadyExistsError, CancelledError, DataLossError, DeadlineExceededError, FailedPreconditionError,
    InternalError, InvalidArgumentError, MissingFileError, NotFoundError, OutOfRangeError, PermissionDeniedError,
    ResourceExhaustedError, StorageError, TensorKeepError, UnauthenticatedError, UnavailableError, UnimplementedError,
    UnknownError, WrongTypeError,
)
from tensorkeep.graph.messages.files import read_graph
from tensorkeep.graph.rewriting.freezing import Selection
from tensorkeep.graph.rewriting.pruning import extract_sub_graph, remove_training_nodes
from tensorkeep.io.files.filesystem import Durability, FileSystem
from tensorkeep.io.files.local import LocalFileSystem
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.stores.settings import Storage, storage
from tensorkeep.jax.engine.options import JaxDevice
from tensorkeep.metagraph.files import read_meta_graph_file
from tensorkeep.onnx.engine.options import OnnxRuntime
from tensorkeep.proto.identification import identify_proto
from tensorkeep.runtime.limits import Limits
from tensorkeep.saved_model.files.fingerprint import OnFingerprint
from tensorkeep.saved_model.load.model import LoadedModel
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.saved_model.load.opened_graph import OpenedGraph, open_graph
from tensorkeep.saving.folder import CheckpointFolder
from tensorkeep.saving.freezing import FreezeOptions, freeze, freeze_meta_graph
from tensorkeep.saving.retention import (
    AllOf, AnyOf, History, KeepActive, KeepAll, KeepBest, KeepBytes, KeepEvery, KeepLatest, KeepRecent, KeepSteps,
    Record, RetentionPolicy, Rule,
)
from tensorkeep.shapes import Shape
from tensorkeep.viewer.notebook import View, view

__all__ = [
    "AbortedError", "About", "Adapt", "AllOf", "AlreadyExistsError", "AnyOf", "ArraySource", "BundleReader",
    "BundleWriter", "CancelledError", "CheckpointFolder", "CheckpointFormat", "CheckpointReader", "CheckpointReport",
    "CheckpointState", "Checksums", "DType", "DataLossError", "DeadlineExceededError", "Durability", "EmbeddingTable",
    "FailedPreconditionError", "FileSystem", "FreezeOptions", "History", "InternalError", "InvalidArgumentError",
    "JaxDevice", "KeepActive", "KeepAll", "KeepBest", "KeepBytes", "KeepEvery", "KeepLatest", "KeepRecent",
    "KeepSteps", "Limits", "LoadedModel", "LocalFileSystem", "MemoryFileSystem", "MissingFileError", "NotFoundError",
    "ObjectGraph", "OnFingerprint", "OnMismatch", "OnnxExport", "OnnxOptions", "OnnxRuntime", "OnnxTolerance",
    "OpenedGraph", "OutOfRangeError", "PartitionedArray", "PermissionDeniedError", "Piece", "ReadOptions", "Record",
    "Remedy", "RenamedReader", "ResourceExhaustedError", "RestoreItem", "RestoreOutcome", "RestorePlan",
    "RetentionPolicy", "Rule", "SaveOptions", "SavedAttribute", "Selection", "Shape", "ShardByName", "ShardBySize",
    "Sharding", "SliceFileReader", "SliceFileWriter", "SlotVariable", "Storage", "StorageError", "Suggestion",
    "TensorInfo", "TensorKeepError", "TensorProblem", "TensorSlice", "UnauthenticatedError", "UnavailableError",
    "UnimplementedError", "UnknownError", "VariableNames", "Variant", "View", "Wanted", "WrongTypeError",
    "__version__", "about", "check_checkpoint", "export_onnx", "extract_sub_graph", "freeze", "freeze_meta_graph",
    "identify_proto", "latest_checkpoint", "list_tensors", "load_arrays", "load_objects", "load_saved_model",
    "load_tensor", "load_tensors", "merge_bundles", "named_variables", "open_checkpoint", "open_graph", "plan_restore",
    "read_checkpoint_state", "read_graph", "read_meta_graph_file", "remove_training_nodes", "restore_arrays",
    "save_arrays", "save_checkpoint", "save_objects", "storage", "to_jax", "variable_names", "view",
    "write_checkpoint_state",
]
