"""Building a SavedModel: graphs with tags and signatures, one set of variables, and the files that graphs read.

All is written under a temporary name beside the directory, which appears when `save` is called, whole or not at all.
If a program has put files of its own into the directory by then, what was written joins them, and the model itself
comes last. Saving again replaces the model in one step.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import control_dependencies, current_graph
from tensorkeep.graph.collections import add_to_collection, get_collection
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.io.files.directories import StagedDirectory, is_empty_directory
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text
from tensorkeep.metagraph.exporting import export_meta_graph
from tensorkeep.proto.messages import MetaGraphDef, SavedModel, SignatureDef, serialize
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.assets import LOG, add_assets, copy_assets
from tensorkeep.saved_model.files.constants import (
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION,
    SERVING,
    TRAIN_OP_KEY,
    TRAINING,
    VARIABLES_DIRECTORY,
)
from tensorkeep.saved_model.files.layout import readable_bytes, variables_path
from tensorkeep.saved_model.files.signature_defs import check_signatures
from tensorkeep.saving.saver import GraphFile, Saver
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.data.lookup_tables import tables_initializer
from tensorkeep.tf1.training.savers.incremental import restoring_in_model
from tensorkeep.tf1.training.savers.saver_graph import V2, BulkSaverBuilder
from tensorkeep.tf1.training.savers.saver_recipe import SaverRecipe
from tensorkeep.tf1.variables.listing import global_variables_initializer, local_variables_initializer


class BuilderStateError(FailedPreconditionError, AssertionError):
    """A builder is told something at the wrong time, or where something is already. TensorFlow asserts it is not."""


class ModelSaver(Protocol):
    """What saves the variables of a model: `tensorkeep.v1.train.Saver` does."""

    def save(self, sess: Session, save_path: str, *, write_meta_graph: bool, write_state: bool) -> object: ...

    def export_meta_graph(self, *, clear_devices: bool, strip_default_attrs: bool) -> MetaGraphDef: ...


class DefaultSaver:
    """Saves all that the graph being built has to save, by device; nothing if that is nothing."""

    def __init__(self, graph: Graph) -> None:
        recipe = SaverRecipe(builder=BulkSaverBuilder(V2), arguments={"sharded": True}, allow_empty=True)
        self._graph = graph
        self._saver: Saver | None = recipe.make(graph)

    def save(self, sess: Session, save_path: str, *, write_meta_graph: bool, write_state: bool) -> None:
        if self._saver is not None:
            self._saver.save(sess, save_path, state_file=None, graph_file=GraphFile(is_written=write_meta_graph))

    def export_meta_graph(self, *, clear_devices: bool, strip_default_attrs: bool) -> MetaGraphDef:
        return export_meta_graph(
            self._graph,
            saver_def=None if self._saver is None else self._saver.saver_def,
            clear_devices=clear_devices,
            strip_default_attrs=strip_default_attrs,
        )


@dataclass(frozen=True)
class GraphOptions:
    """What is saved of a graph besides its nodes, and how."""

    assets: Iterable[Tensor] | None = None
    """Constants that hold the paths of files."""
    main_op: Operation | None = None
    """Is run by loaders when variables are restored."""
    train_op: Operation | Tensor | None = None
    clear_devices: bool = False
    strip_default_attrs: bool = False
    saver: ModelSaver | None = None
    """None: a saver of all variables, which is added to the graph."""


class SavedModelBuilder:
    """Collects meta graphs of the graph being built, and writes the model on `save`."""

    def __init__(
        self,
        export_dir: PathLike,
        *,
        save_incr_model: bool = False,
        fs: FileSystem = FILES,
        durability: Durability = Durability.DISK,
    ) -> None:
        """`save_incr_model`: the model can take incremental checkpoints when it has been loaded, as in DeepRec."""
        self._directory = path_text(export_dir)
        self._takes_deltas = save_incr_model
        self._fs = fs
        self._durability = durability
        if fs.exists(self._directory) and not is_empty_directory(fs, self._directory):
            raise BuilderStateError(
                f"Export directory {self._directory} already exists, and isn't empty. Please choose a different export "
                "directory, or delete all the contents of the specified directory."
            )
        self._model = SavedModel(saved_model_schema_version=SAVED_MODEL_SCHEMA_VERSION)
        self._staged: StagedDirectory | None = StagedDirectory(fs, self._directory, durability)
        self._has_variables = False
        self._copied: set[str] = set()

    @property
    def _place(self) -> str:
        """Where files are written to now."""
        return self._directory.rstrip("/") if self._staged is None else self._staged.path

    def add_meta_graph_and_variables(
        self,
        session: Session,
        tags: Iterable[str],
        signatures: Mapping[str, SignatureDef] | None = None,
        options: GraphOptions = GraphOptions(),
    ) -> None:
        """Adds the graph being built, and saves the variables that it has in a session. Once, and first."""
        if self._has_variables:
            raise BuilderStateError(
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` "
                "instead."
            )
        graph = current_graph()
        self._prepare(graph, signatures, options)
        self._fs.make_directory(posixpath.join(self._place, VARIABLES_DIRECTORY))
        saver = options.saver or DefaultSaver(graph)
        saver.save(session, variables_path(self._place), write_meta_graph=False, write_state=False)
        self._add(graph, saver, tags, signatures, options)
        self._has_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signatures: Mapping[str, SignatureDef] | None = None,
        options: GraphOptions = GraphOptions(),
    ) -> None:
        """Adds the graph being built, which shares the variables that were saved."""
        if not self._has_variables:
            raise BuilderStateError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        graph = current_graph()
        self._prepare(graph, signatures, options)
        self._add(graph, options.saver or DefaultSaver(graph), tags, signatures, options)

    def _prepare(self, graph: Graph, signatures: Mapping[str, SignatureDef] | None, options: GraphOptions) -> None:
        check_signatures(signatures or {})
        files = {} if options.assets is None else add_assets(graph, options.assets, self._fs)
        if files:
            copy_assets(self._fs, files, self._place, self._copied, self._durability)
        _add_main_op(graph, options.main_op)
        if options.train_op is not None:
            if not isinstance(options.train_op, Operation | Tensor):
                raise WrongTypeError(f"`train_op` {options.train_op} needs to be a Tensor or Op.")
            add_to_collection(graph, TRAIN_OP_KEY, options.train_op)

    def _add(
        self,
        graph: Graph,
        saver: ModelSaver,
        tags: Iterable[str],
        signatures: Mapping[str, SignatureDef] | None,
        options: GraphOptions,
    ) -> None:
        increments = restoring_in_model(graph, getattr(saver, "saver_def", None)) if self._takes_deltas else None
        meta_graph = saver.export_meta_graph(
            clear_devices=options.clear_devices, strip_default_attrs=options.strip_default_attrs
        )
        if increments is not None:
            meta_graph.incr_saver_def.CopyFrom(increments)
        if options.clear_devices:
            meta_graph.graph_def.library.SetInParent()  # as TensorFlow does where it goes through the nodes
        meta_graph.meta_info_def.tags.extend(tags)
        only_read_when_served(meta_graph)
        for key, signature in (signatures or {}).items():
            meta_graph.signature_def[key].CopyFrom(signature)
        self._model.meta_graphs.append(meta_graph)

    def save(self, *, as_text: bool = False) -> str:
        """Writes the model, and gives the path of its file. The directory is there when this returns."""
        data = _encoded_model(self._model, as_text)
        name = SAVED_MODEL_FILENAME_PBTXT if as_text else SAVED_MODEL_FILENAME_PB
        if self._staged is None:
            self._fs.make_directory(self._place)
        atomic_write(self._fs, posixpath.join(self._place, name), data, self._durability)
        if self._staged is not None:
            self._staged.publish(last=name)
            self._staged = None
        path = posixpath.join(self._directory, name)
        LOG.info("SavedModel written to: %s", path)
        return path

    def discard(self) -> None:
        """Removes what was written so far, if it has not been saved."""
        if self._staged is not None:
            self._staged.discard()
            self._staged = None


def _encoded_model(model: SavedModel, as_text: bool) -> bytes:
    # The text is that of the message itself: there packed messages stay packed, as TensorFlow writes them.
    return str(model).encode() if as_text else readable_bytes(serialize(model))


def _add_main_op(graph: Graph, main_op: Operation | None) -> None:
    if main_op is None:
        return
    if not isinstance(main_op, Operation):
        raise WrongTypeError(f"Expected {main_op} to be an Operation but got type {type(main_op)} instead.")
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if get_collection(graph, key):
            raise InvalidArgumentError(f"Graph already contains one or more main ops under the collection {key}.")
    add_to_collection(graph, MAIN_OP_KEY, main_op)


_LOOKUPS: Final = frozenset(("KvResourceGather", "KvResourceGatherV1"))


def only_read_when_served(meta_graph: MetaGraphDef) -> None:
    """Marks the lookups of a graph for inference, if its tags say that it is to be served and not trained."""
    tags = set(meta_graph.meta_info_def.tags)
    if SERVING not in tags or TRAINING in tags:
        return
    bodies = [meta_graph.graph_def.node, *(body.node_def for body in meta_graph.graph_def.library.function)]
    for body in bodies:
        for node in body:
            if node.op in _LOOKUPS:
                node.attr["is_inference"].b = True


def main_op() -> Operation:
    """An operation that initializes variables, local variables and tables of the graph being built."""
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: str | Operation) -> Operation:
    """An operation that does that, and then what is named."""
    found = current_graph().operation(restore_op_name) if isinstance(restore_op_name, str) else restore_op_name
    with control_dependencies([main_op()]):
        return group(found)
