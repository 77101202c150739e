"""Loading SavedModels, those of TensorFlow 1 and of TensorFlow 2."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Final

import tensorkeep.ops.every  # noqa: F401 - a model may use any op
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.proto.messages import MetaGraphDef, SavedModel
from tensorkeep.runtime.limits import NO_LIMITS, Limits
from tensorkeep.saved_model.files.completeness import open_complete
from tensorkeep.saved_model.files.constants import SERVING
from tensorkeep.saved_model.files.fingerprint import OnFingerprint, checked_fingerprint
from tensorkeep.saved_model.files.layout import meta_graph_with_tags, read_saved_model
from tensorkeep.saved_model.load.engines import EngineName, engine_of
from tensorkeep.saved_model.load.function_library import FunctionLibrary
from tensorkeep.saved_model.load.model import LoadedModel
from tensorkeep.saved_model.load.permissions import Permissions
from tensorkeep.saved_model.load.surroundings import ModelSurroundings

_SERVING: Final = frozenset((SERVING,))


def load_saved_model(
    directory: PathLike,
    tags: Iterable[str] | str | None = None,
    *,
    allow: Iterable[Capability | str] = (),
    limits: Limits = NO_LIMITS,
    mapped: bool | None = None,
    engine: EngineName = "numpy",
    on_fingerprint: OnFingerprint = OnFingerprint.WARN,
    fs: FileSystem = FILES,
) -> LoadedModel:
    """The model in a directory that TensorFlow 1 or 2, Keras or this package exported.

    `tags` say which of several meta graphs; by default the only one, or the one for serving. Nothing of the model runs
    until it is asked for something. It may then read the files in its directory, and do nothing else but compute,
    unless `allow` names it: a class ("reads files", "writes files", "prints", "calls Python functions") or a type of
    operation ("PrintV2"). Each call, and what runs before the first, keeps within `limits` of time, memory and steps.

    If `mapped`, values of variables are not copied into memory but are views of the file that they lie in, so that
    several processes share one copy of them. What the model assigns to gets memory of its own at that moment; the file
    is never written to. It must not be overwritten in place while the model is in use: put a new one in its place by
    renaming it, or in another directory. By default values are mapped where ONNX Runtime, which has its own copy of
    them, runs the model, and copied where our kernels do.

    `engine` says what runs it: "numpy", our kernels; "onnxruntime", ONNX Runtime for all parts of it that translate to
    ONNX; "auto", ONNX Runtime if it is installed, for those parts that it runs faster; `OnnxRuntime(...)`, with
    threads, providers and options; "jax" or `JaxDevice(...)`, JAX on one of its devices. `describe` tells
    which operations run where.

    A directory that lacks files of the model, or has some that are too short, is an error that lists them all.
    """
    permissions = Permissions.of(allow)
    runs_by = engine_of(engine)
    model = read_saved_model(directory, fs)
    meta_graph = chosen_meta_graph(model, tags, path_text(directory))
    variables = open_complete(meta_graph, path_text(directory), fs)
    with ExitStack() as failing:
        if variables is not None:
            failing.callback(variables.close)
        fingerprint = checked_fingerprint(directory, model, variables, on_fingerprint, fs)
        surroundings = ModelSurroundings(
            meta_graph,
            path_text(directory),
            fs,
            permissions,
            FunctionLibrary(meta_graph.graph_def),
            variables,
            limits,
            runs_by is not None if mapped is None else mapped,
            runs_by,
        )
        tag_sets = tuple(frozenset(item.meta_info_def.tags) for item in model.meta_graphs)
        loaded = LoadedModel(surroundings, tag_sets, fingerprint)
        failing.pop_all()
    return loaded


def chosen_meta_graph(model: SavedModel, tags: Iterable[str] | str | None, directory: str) -> MetaGraphDef:
    """The meta graph with these tags; without tags the only one, or the one for serving."""
    if tags is not None:
        return meta_graph_with_tags(model, [tags] if isinstance(tags, str) else tags)
    if not model.meta_graphs:
        raise NotFoundError(f'the SavedModel in "{directory}" has no meta graphs')
    if len(model.meta_graphs) == 1:
        return model.meta_graphs[0]
    for meta_graph in model.meta_graphs:
        if frozenset(meta_graph.meta_info_def.tags) == _SERVING:
            return meta_graph
    sets = ", ".join(str(sorted(item.meta_info_def.tags)) for item in model.meta_graphs)
    raise InvalidArgumentError(f'the SavedModel in "{directory}" has several meta graphs: say which by tags, of {sets}')
