"""`tf.saved_model.builder`, and `simple_save`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.saved_model.files.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING
from tensorkeep.saved_model.files.signature_defs import predict_signature_def
from tensorkeep.tf1.saved_model import builder
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
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph, which shares the variables that were saved before."""
        options = _options(assets_collection, legacy_init_op, clear_devices, main_op, strip_default_attrs, saver)
        self._core.add_meta_graph(tags, signature_def_map, options)

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Iterable[str],
        signature_def_map: Signatures = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph, and saves its variables. Once, and first."""
        options = _options(assets_collection, legacy_init_op, clear_devices, main_op, strip_default_attrs, saver)
        self._core.add_meta_graph_and_variables(core_session(sess), tags, signature_def_map, options)

    def save(
        self,
        as_text: bool = False,
        experimental_image_format: bool = False,
        experimental_image_writer_options: Any = None,
    ) -> bytes:
        """Writes the model, and gives the path of its file."""
        if experimental_image_format:
            raise FailedPreconditionError("No proto_splitter is provided, cannot use experimental_image_format.")
        return self._core.save(as_text=as_text).encode()


def _options(
    assets_collection: Any,
    legacy_init_op: Any,
    clear_devices: bool,
    main_op: Any,
    strip_default_attrs: bool,
    saver: Any,
) -> builder.GraphOptions:
    return builder.GraphOptions(
        assets=assets_collection,
        main_op=main_op if main_op is not None else legacy_init_op,
        clear_devices=clear_devices,
        strip_default_attrs=strip_default_attrs,
        saver=saver,
    )


def simple_save(
    session: Any,
    export_dir: PathLike,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
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


__all__ = ["SavedModelBuilder", "simple_save"]
