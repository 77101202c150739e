"""TensorFlow's model files without TensorFlow.

Read a checkpoint:    with tensorkeep.open_checkpoint("run/model-1000") as checkpoint: checkpoint.read("dense/kernel")
Write one:            tensorkeep.save_checkpoint("run/model-1001", {"dense/kernel": array})
Check one:            print(tensorkeep.check_checkpoint("run/model-1000"))
Run a graph:          with tensorkeep.open_graph("run/model-1000.meta") as graph: graph.restore(); graph.run("loss")
Use a SavedModel:     with tensorkeep.load_saved_model("export/1") as model: model.signatures["predict"](x=array)

Every name is imported when it is first asked for, so that what is not used costs nothing. `dir(tensorkeep)` lists them,
and `help(tensorkeep.open_checkpoint)` tells what one is.
"""

from sys import _getframe

from tensorkeep._lazy import on_first_use as _on_first_use
from tensorkeep._lazy import provide as _provide

_NAMES = {
    "tensorkeep._about": "About about",
    "tensorkeep._version": "__version__",
    "tensorkeep.checkpoint.bundle.merging": "merge_bundles",
    "tensorkeep.checkpoint.bundle.reader": "BundleReader",
    "tensorkeep.checkpoint.bundle.writer": "BundleWriter",
    "tensorkeep.checkpoint.checking": "CheckpointReport TensorProblem check_checkpoint",
    "tensorkeep.checkpoint.finding.opening": "latest_checkpoint list_tensors load_tensor load_tensors open_checkpoint",
    "tensorkeep.checkpoint.finding.state_file": "CheckpointState read_checkpoint_state write_checkpoint_state",
    "tensorkeep.checkpoint.objects.array_trees": "load_objects save_objects",
    "tensorkeep.checkpoint.objects.reader": "ObjectGraph RenamedReader SavedAttribute SlotVariable",
    "tensorkeep.checkpoint.objects.variable_names": "VariableNames named_variables variable_names",
    "tensorkeep.checkpoint.reader": "CheckpointReader Checksums ReadOptions TensorInfo",
    "tensorkeep.checkpoint.restore.items": "RestoreItem RestoreOutcome",
    "tensorkeep.checkpoint.restore.planning": "RestorePlan plan_restore restore_arrays",
    "tensorkeep.checkpoint.restore.suggestions": "Suggestion",
    "tensorkeep.checkpoint.restore.wanted_tensors": "Adapt OnMismatch Remedy Wanted",
    "tensorkeep.checkpoint.saving": """
        CheckpointFormat Piece SaveOptions ShardByName ShardBySize Sharding save_checkpoint
    """,
    "tensorkeep.checkpoint.slices.slice_files": "SliceFileReader SliceFileWriter",
    "tensorkeep.checkpoint.slices.tensor_slice": "TensorSlice",
    "tensorkeep.checkpoint.sources": "ArraySource PartitionedArray Variant",
    "tensorkeep.convert.jax_functions": "to_jax",
    "tensorkeep.convert.onnx.exporting": "export_onnx",
    "tensorkeep.convert.onnx.options": "OnnxOptions OnnxTolerance",
    "tensorkeep.convert.onnx.reports": "OnnxExport",
    "tensorkeep.devices.loading": "load_arrays",
    "tensorkeep.devices.saving": "save_arrays",
    "tensorkeep.dtypes": "DType",
    "tensorkeep.embedding.table.embedding_table": "EmbeddingTable",
    "tensorkeep.errors": """
        AbortedError AlreadyExistsError CancelledError DataLossError DeadlineExceededError
        FailedPreconditionError InternalError InvalidArgumentError MissingFileError NotFoundError
        OutOfRangeError PermissionDeniedError ResourceExhaustedError StorageError TensorKeepError
        UnauthenticatedError UnavailableError UnimplementedError UnknownError WrongTypeError
    """,
    "tensorkeep.io.files.filesystem": "Durability FileSystem",
    "tensorkeep.io.files.local": "LocalFileSystem",
    "tensorkeep.io.files.memory": "MemoryFileSystem",
    "tensorkeep.io.stores.settings": "Storage storage",
    "tensorkeep.jax.engine.options": "JaxDevice",
    "tensorkeep.onnx.engine.options": "OnnxRuntime",
    "tensorkeep.runtime.limits": "Limits",
    "tensorkeep.saved_model.files.fingerprint": "OnFingerprint",
    "tensorkeep.saved_model.load.model": "LoadedModel",
    "tensorkeep.saved_model.load.model_loading": "load_saved_model",
    "tensorkeep.saving.freezing": "FreezeOptions freeze freeze_meta_graph",
    "tensorkeep.graph.rewriting.freezing": "Selection",
    "tensorkeep.graph.rewriting.pruning": "extract_sub_graph remove_training_nodes",
    "tensorkeep.graph.messages.files": "read_graph",
    "tensorkeep.metagraph.files": "read_meta_graph_file",
    "tensorkeep.proto.identification": "identify_proto",
    "tensorkeep.saved_model.load.opened_graph": "OpenedGraph open_graph",
    "tensorkeep.saving.folder": "CheckpointFolder",
    "tensorkeep.saving.retention": """
        AllOf AnyOf History KeepActive KeepAll KeepBest KeepBytes KeepEvery KeepLatest KeepRecent KeepSteps
        Record RetentionPolicy Rule
    """,
    "tensorkeep.shapes": "Shape",
    "tensorkeep.viewer.notebook": "View view",
}
# Reached as attributes, too, and not in `__all__`.
_MODULES = """
    checkpoint cluster convert dtypes edit embedding errors graph inspect io proto saved_model saving shapes table
"""


def _listed_names(name: str) -> list[str]:
    """`__all__`, unless pydoc asks for it.

    `help(tensorkeep)` would print every class that is listed in full: thousands of lines. Without a list pydoc tells
    what the package is, and what it consists of. Nothing plainer does: pydoc goes by `__all__` and `dir` alone; without
    the one a star would take no name, as none is imported yet, and without names in the other nobody would be offered
    them.
    """
    if name == "__all__" and _getframe(2).f_globals.get("__name__") != "pydoc":
        return _EXPORTED
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


_provide("arrays on devices", "tensorkeep.devices.loading")  # for readers of checkpoints, which are below

__getattr__, __dir__, _EXPORTED = _on_first_use(globals(), _NAMES, _MODULES.split(), _listed_names)
