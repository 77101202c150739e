"""Loading a SavedModel into a graph and a session that a program has, as TensorFlow 1 does it.

Nodes are added to the graph, variables are restored, and then the operation that initializes tables runs, fed with the
paths of the files that the model brings along. In this order: one that initializes variables, too, wipes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from tensorkeep.checkpoint.finding.files import checkpoint_exists
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.collections import saveable_objects
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.rewriting.default_attrs import add_defaults_in_place
from tensorkeep.graph.scopes import prepend_name_scope
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.metagraph.importing import import_meta_graph, saver_for
from tensorkeep.proto.messages import MetaGraphDef, SavedModel, SaverDef
from tensorkeep.runtime.elements import element_of
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.assets import LOG
from tensorkeep.saved_model.files.completeness import asset_problems, report_problems, variable_problems
from tensorkeep.saved_model.files.constants import INIT_OP_SIGNATURE_KEY, TRAIN_OP_KEY, TRAIN_OP_SIGNATURE_KEY
from tensorkeep.saved_model.files.layout import (
    NoSuchTagsError,
    describe_model,
    find_meta_graph,
    get_asset_tensors,
    init_op_name,
    read_saved_model,
    tag_sets,
    variables_path,
)
from tensorkeep.saved_model.files.signature_defs import load_op_from_signature_def
from tensorkeep.saving.saver import Saver
from tensorkeep.tf1.training.savers.saver_recipe import SaverRecipe

if TYPE_CHECKING:
    from typing_extensions import Unpack  # of `typing` from Python 3.11 on


class ImportOptions(TypedDict, total=False):
    """What `import_meta_graph` may be told besides the graph and the scope."""

    clear_devices: bool
    input_map: Mapping[str, Any] | None
    unbound_inputs_col_name: str | None
    restore_collections_predicate: Callable[[str], bool]
    return_elements: Sequence[str] | None


class ModelRestorer(Protocol):
    """What restores the variables of a model: a saver of the core or of the facade."""

    def restore(self, session: Session, path: str, /) -> object: ...


def load(
    session: Session,
    tags: Iterable[str],
    directory: PathLike,
    import_scope: str | None = None,
    *,
    fs: FileSystem | None = None,
    **options: Unpack[ImportOptions],
) -> MetaGraphDef:
    """Loads the meta graph with these tags, and gives it. `options` are of `import_meta_graph`."""
    loader = SavedModelLoader(directory, fs or session.surroundings.filesystem)
    return loader.load(session, tags, import_scope, **options)


class SavedModelLoader:
    """A SavedModel that is loaded step by step: the graph, the variables, what initializes the rest."""

    def __init__(self, export_dir: PathLike, fs: FileSystem = FILES) -> None:
        self.export_dir = path_text(export_dir)
        self.variables_path = variables_path(self.export_dir)
        self.saved_model: SavedModel = read_saved_model(self.export_dir, fs)
        self._fs = fs

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> MetaGraphDef:
        """The first meta graph with these tags and no others; NoSuchTagsError says what is there."""
        wanted = tags if isinstance(tags, list | tuple | set | frozenset | str) else list(tags)
        found = find_meta_graph(self.saved_model, wanted)
        if found is None:
            raise NoSuchTagsError(
                f"MetaGraphDef associated with tags {str(wanted).strip('[]')} could not be found in SavedModel, with "
                f"available tags '{tag_sets(self.saved_model)}'. To inspect available tag-sets in the SavedModel, "
                f"please use the SavedModel CLI: `saved_model_cli`.\n{describe_model(self.saved_model)}"
            )
        return found

    def load_graph(
        self, graph: Graph, tags: Iterable[str], import_scope: str | None = None, **options: Unpack[ImportOptions]
    ) -> tuple[Saver | None, list[Tensor | Operation] | None]:
        """Adds the nodes to a graph; gives the model's saver, None without variables, and elements asked for."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        with building(graph):
            imported = import_meta_graph(meta_graph, graph, import_scope=import_scope, **options)

            def make(saver_def: SaverDef | None = None, name: str | None = None) -> Saver | None:
                return SaverRecipe(saver_def=saver_def, arguments={"name": name}).make(graph)

            saver: Saver | None = saver_for(meta_graph, import_scope, imported.variables, make)
        return saver, imported.elements

    def restore_variables(self, session: Session, saver: ModelRestorer | None, import_scope: str | None = None) -> None:
        """Restores the variables by a saver of the graph; fine without one if there are none."""
        with building(session.graph):
            saveables = saveable_objects(current_graph(), import_scope)
        if saver is not None:
            if not saveables and not checkpoint_exists(self.variables_path, fs=self._fs):
                LOG.info("The specified SavedModel has no variables; no checkpoints were restored.")
                return
            saver.restore(session, self.variables_path)
        elif saveables:
            raise InvalidArgumentError(
                "No tf.train.Saver object was passed to the function `SavedModelLoader.restore_variables`. Since there "
                "are variables in the graph, a saver is required."
            )
        else:
            LOG.info("The specified SavedModel has no variables; no checkpoints were restored.")

    def run_init_ops(self, session: Session, tags: Iterable[str], import_scope: str | None = None) -> None:
        """Runs what initializes the model, if it names such an operation."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        init_op = get_init_op(meta_graph, session.graph, import_scope)
        if init_op is not None:
            session.run([init_op], get_asset_tensors(self.export_dir, meta_graph, import_scope))

    def load(
        self, session: Session, tags: Iterable[str], import_scope: str | None = None, **options: Unpack[ImportOptions]
    ) -> MetaGraphDef:
        """Adds the graph, restores and initializes; gives the meta graph of the file, with default attributes added.

        Files that are missing are told before all else.
        """
        found = list(tags)
        meta_graph = self.get_meta_graph_def_from_tags(found)
        self._require_files(meta_graph)
        saver, _ = self.load_graph(session.graph, found, import_scope, **options)
        self.restore_variables(session, saver, import_scope)
        self.run_init_ops(session, found, import_scope)
        add_defaults_in_place(meta_graph.graph_def)  # as TensorFlow's importer does, which programs see in the result
        return meta_graph

    def _require_files(self, meta_graph: MetaGraphDef) -> None:
        """Raises if files are missing or too short; if only all values are, restoring says so in TensorFlow's words."""
        assets = asset_problems(meta_graph, self.export_dir, self._fs)
        if assets or checkpoint_exists(self.variables_path, fs=self._fs):
            report_problems([*variable_problems(meta_graph, self.export_dir, self._fs), *assets], self.export_dir)


def get_init_op(meta_graph: MetaGraphDef, graph: Graph, import_scope: str | None = None) -> Tensor | Operation | None:
    """The operation of a graph that initializes a model loaded into it; None if the model names none."""
    if INIT_OP_SIGNATURE_KEY in meta_graph.signature_def:
        signature = meta_graph.signature_def[INIT_OP_SIGNATURE_KEY]
        found: Tensor | Operation = load_op_from_signature_def(signature, INIT_OP_SIGNATURE_KEY, graph, import_scope)
        return found
    name = init_op_name(meta_graph)
    return _element(graph, name, import_scope) if name else None


def get_train_op(meta_graph: MetaGraphDef, graph: Graph, import_scope: str | None = None) -> Tensor | Operation | None:
    """The operation that trains a model loaded into a graph; None if the model names none."""
    if TRAIN_OP_SIGNATURE_KEY in meta_graph.signature_def:
        signature = meta_graph.signature_def[TRAIN_OP_SIGNATURE_KEY]
        found: Tensor | Operation = load_op_from_signature_def(signature, TRAIN_OP_SIGNATURE_KEY, graph, import_scope)
        return found
    names = meta_graph.collection_def[TRAIN_OP_KEY].node_list.value if TRAIN_OP_KEY in meta_graph.collection_def else ()
    return _element(graph, names[0], import_scope) if names else None


def _element(graph: Graph, name: str, import_scope: str | None) -> Tensor | Operation:
    element: Tensor | Operation = element_of(graph, prepend_name_scope(name, import_scope))
    return element
