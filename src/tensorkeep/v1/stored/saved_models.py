"""`tf.saved_model`: models made of the graph and the session in force, and loaded into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.messages import MetaGraphDef, SignatureDef, TensorInfo
from tensorkeep.saved_model.edit.directory_edits import write_model_file
from tensorkeep.saved_model.edit.message_edits import replace_method_name
from tensorkeep.saved_model.files import tensor_info as tensor_infos
from tensorkeep.saved_model.files.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING
from tensorkeep.saved_model.files.layout import contains_saved_model, read_saved_model
from tensorkeep.saved_model.files.signature_defs import predict_signature_def
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tensorkeep.tf1.saved_model import builder, session_loading
from tensorkeep.tf1.saved_model.object_exporting import SaveOptions, save_objects_as_model
from tensorkeep.tf1.saved_model.object_exporting import Signatures as ObjectSignatures
from tensorkeep.tf1.saved_model.object_loading import RestoredObject, load_objects
from tensorkeep.tf1.training.objects.trackable import AutoTrackable
from tensorkeep.v1.defaults import get_default_graph, get_default_session
from tensorkeep.v1.sessions import core_session

Signatures = Mapping[str, SignatureDef] | None


class SavedModelBuilder:
    """Builds a SavedModel of graphs with tags and signatures, variables and assets.

    The directory appears when `save` is called, whole or not at all. With DeepRec's `save_incr_model` the model can
    take incremental checkpoints when it has been loaded: `LoadedModel.apply_delta`, or the operation that
    `incr_saver_def` of the meta graph names.
    """

    def __init__(self, export_dir: PathLike, save_incr_model: bool = False) -> None:
        self._core = builder.SavedModelBuilder(export_dir, save_incr_model=save_incr_model)

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Signatures = None,
        assets_collection: Iterable[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: builder.ModelSaver | None = None,
    ) -> None:
        """Adds the default graph, which shares the variables that were saved before."""
        options = _options(assets_collection, legacy_init_op, clear_devices, main_op, strip_default_attrs, saver)
        self._core.add_meta_graph(tags, signature_def_map, options)

    def add_meta_graph_and_variables(
        self,
        sess: SessionLike,
        tags: Iterable[str],
        signature_def_map: Signatures = None,
        assets_collection: Iterable[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: builder.ModelSaver | None = None,
    ) -> None:
        """Adds the default graph, and saves its variables. Once, and first."""
        options = _options(assets_collection, legacy_init_op, clear_devices, main_op, strip_default_attrs, saver)
        self._core.add_meta_graph_and_variables(core_session(sess), tags, signature_def_map, options)

    def save(
        self,
        as_text: bool = False,
        experimental_image_format: bool = False,
        experimental_image_writer_options: object = None,
    ) -> bytes:
        """Writes the model, and gives the path of its file."""
        if experimental_image_format:
            raise FailedPreconditionError("No proto_splitter is provided, cannot use experimental_image_format.")
        return self._core.save(as_text=as_text).encode()


def _options(
    assets_collection: Iterable[Tensor] | None,
    legacy_init_op: Operation | None,
    clear_devices: bool,
    main_op: Operation | None,
    strip_default_attrs: bool,
    saver: builder.ModelSaver | None,
) -> builder.GraphOptions:
    return builder.GraphOptions(
        assets=assets_collection,
        main_op=main_op if main_op is not None else legacy_init_op,
        clear_devices=clear_devices,
        strip_default_attrs=strip_default_attrs,
        saver=saver,
    )


def simple_save(
    session: SessionLike,
    export_dir: PathLike,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Operation | None = None,
    save_incr_model: bool = False,
) -> None:
    """Saves the default graph as a model for serving, with one signature."""
    signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)}
    made = SavedModelBuilder(export_dir, save_incr_model)
    made.add_meta_graph_and_variables(
        session,
        tags=[SERVING],
        signature_def_map=signatures,
        assets_collection=get_collection(current_graph(), GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    made.save()


def load(
    sess: SessionLike,
    tags: Iterable[str],
    export_dir: PathLike,
    import_scope: str | None = None,
    **saver_kwargs: object,
) -> MetaGraphDef:
    """Loads the meta graph with these tags into a session and its graph, and gives it.

    It is that of the file, with attributes of its nodes that were left out because they are so by default.
    """
    options: dict[str, Any] = saver_kwargs
    return session_loading.load(core_session(sess), tags, export_dir, import_scope, **options)


def maybe_saved_model_directory(export_dir: PathLike) -> bool:
    """Whether a directory has the file of a SavedModel."""
    return contains_saved_model(export_dir)


def save(
    obj: AutoTrackable, export_dir: PathLike, signatures: ObjectSignatures = None, options: SaveOptions | None = None
) -> None:
    """Saves an object with its variables and functions; variables have the values of the session in force."""
    session = core_session(get_default_session())
    save_objects_as_model(obj, export_dir, signatures, session=session, options=options or SaveOptions())


def load_v2(export_dir: PathLike, tags: Iterable[str] | str | None = None, options: object = None) -> RestoredObject:
    """The objects of a model of TensorFlow 2, in the default graph."""
    return load_objects(export_dir, tags)


def get_tensor_from_tensor_info(
    tensor_info: TensorInfo, graph: Graph | None = None, import_scope: str | None = None
) -> Tensor | SparseTensor | IndexedSlices | RaggedTensor:
    """The tensor or composite of a graph that a TensorInfo describes."""
    tensor: Tensor | SparseTensor | IndexedSlices | RaggedTensor = tensor_infos.get_tensor_from_tensor_info(
        tensor_info, graph or get_default_graph(), import_scope
    )
    return tensor


class MethodNameUpdater:
    """Changes the method names of the signatures of a SavedModel in a directory."""

    def __init__(self, export_dir: PathLike) -> None:
        self._export_dir = export_dir
        self._saved_model = read_saved_model(export_dir)

    def replace_method_name(
        self, signature_key: str, method_name: str, tags: str | Sequence[str] | None = None
    ) -> None:
        """Changes it in the meta graph with these tags, or in all."""
        self._saved_model = replace_method_name(self._saved_model, signature_key, method_name, tags)

    def save(self, new_export_dir: PathLike | None = None) -> None:
        """Writes the model file: over the old one, or into another directory, which gets no variables."""
        write_model_file(self._saved_model, self._export_dir, new_export_dir or self._export_dir)
