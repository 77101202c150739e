"""SavedModels made from SavedModels: pure functions of messages. See `directory_edits` for models in directories.

A function gets a model and gives another; the one it got is not changed. `tags` say which meta graph is meant: a tag,
some tags, or None for all that the change applies to. Where a model has objects (TensorFlow 2), signatures are changed
there too, so that both loaders see the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.rewriting.default_attrs import strip_defaults_in_place
from tensorkeep.graph.rewriting.pruning import source_of
from tensorkeep.proto.messages import MetaGraphDef, SavedModel, SignatureDef, TensorInfo
from tensorkeep.saved_model.edit.object_signatures import (
    forget_objects,
    imported_graph,
    object_signatures,
    refresh_object_signature,
)
from tensorkeep.saved_model.files.constants import ASSETS_KEY, PREDICT_METHOD_NAME
from tensorkeep.saved_model.files.layout import (
    NoSuchTagsError,
    asset_files,
    describe_model,
    describe_signature,
    signature_with_key,
)
from tensorkeep.saved_model.files.signature_defs import build_signature_def, check_signatures
from tensorkeep.saved_model.files.tensor_info import build_tensor_info, tensor_names

Tags = str | Iterable[str] | None
TensorNames = Mapping[str, str]


def edited_model(model: SavedModel, tags: Tags, change: Callable[[MetaGraphDef], None]) -> SavedModel:
    """A copy of a model in which some meta graphs are changed; NoSuchTagsError if none has the tags."""
    copy = SavedModel()
    copy.CopyFrom(model)
    for meta_graph in _chosen_meta_graphs(copy, tags):
        change(meta_graph)
    return copy


def _chosen_meta_graphs(model: SavedModel, tags: Tags) -> Sequence[MetaGraphDef]:
    if tags is None:
        return model.meta_graphs
    wanted = _tag_set(tags)
    found = [meta_graph for meta_graph in model.meta_graphs if set(meta_graph.meta_info_def.tags) == wanted]
    if not found:
        raise NoSuchTagsError(f"no meta graph has the tags {sorted(wanted)}; there are\n{describe_model(model)}")
    return found


def _tag_set(tags: str | Iterable[str]) -> set[str]:
    return {tags} if isinstance(tags, str) else set(tags)


# ---------------------------------------------------------------------------------------------------------- signatures


def set_signature(
    model: SavedModel, key: str, signature: SignatureDef, tags: Tags = None, *, replace: bool = False
) -> SavedModel:
    """The model with a signature; AlreadyExistsError if there is one of that name, unless it is to be replaced."""
    check_signatures({key: signature})

    def change(meta_graph: MetaGraphDef) -> None:
        _check_free(meta_graph, key, replace)
        meta_graph.signature_def[key].CopyFrom(signature)
        refresh_object_signature(meta_graph, key)

    return edited_model(model, tags, change)


def add_signature(
    model: SavedModel,
    key: str,
    inputs: TensorNames,
    outputs: TensorNames,
    tags: Tags = None,
    *,
    method_name: str = PREDICT_METHOD_NAME,
    replace: bool = False,
) -> SavedModel:
    """The model with a signature whose inputs and outputs are tensors of the graph, by their names ("x:0").

    Their dtypes and shapes are the graph's.
    """

    def change(meta_graph: MetaGraphDef) -> None:
        _check_free(meta_graph, key, replace)
        graph = imported_graph(meta_graph)
        input_infos, output_infos = _infos(graph, inputs, outputs)
        signature = build_signature_def(input_infos, output_infos, method_name)
        check_signatures({key: signature})
        meta_graph.signature_def[key].CopyFrom(signature)
        refresh_object_signature(meta_graph, key)

    return edited_model(model, tags, change)


def _check_free(meta_graph: MetaGraphDef, key: str, replace: bool) -> None:
    if key in meta_graph.signature_def and not replace:
        raise AlreadyExistsError(
            f'there is a signature "{key}" already: {describe_signature(meta_graph.signature_def[key])}. Say '
            "replace=True, or choose another name"
        )


def _infos(graph: Graph, *sides: TensorNames) -> list[dict[str, TensorInfo]]:
    """What the graph knows of tensors; NotFoundError says which of all it does not have."""
    problems: list[str] = []
    found: list[dict[str, TensorInfo]] = []
    for names in sides:
        found.append({})
        for key, name in names.items():
            try:
                found[-1][key] = build_tensor_info(graph.tensor(name))
            except (NotFoundError, InvalidArgumentError) as error:
                problems.append(f"{key}: {error}")
    if problems:
        raise NotFoundError("; ".join(problems))
    return found


def rename_signature(model: SavedModel, old: str, new: str, tags: Tags = None) -> SavedModel:
    """The model with another name for a signature, in all meta graphs that have it if no tags are given."""

    def change(meta_graph: MetaGraphDef) -> None:
        _check_free(meta_graph, new, False)
        check_signatures({new: SignatureDef()})
        meta_graph.signature_def[new].CopyFrom(meta_graph.signature_def[old])
        del meta_graph.signature_def[old]
        for child in object_signatures(meta_graph):
            if child.local_name == old:
                child.local_name = new

    return _where_signature(model, old, tags, change)


def drop_signature(model: SavedModel, key: str, tags: Tags = None) -> SavedModel:
    """The model without a signature, in all meta graphs that have it if no tags are given.

    The graph keeps its nodes and functions, those that only the signature used too; `prune_to_signatures` leaves out
    what those that are left do not need.
    """

    def change(meta_graph: MetaGraphDef) -> None:
        del meta_graph.signature_def[key]
        children = object_signatures(meta_graph)
        for index in reversed([index for index, child in enumerate(children) if child.local_name == key]):
            del children[index]

    return _where_signature(model, key, tags, change)


def _where_signature(model: SavedModel, key: str, tags: Tags, change: Callable[[MetaGraphDef], None]) -> SavedModel:
    """Changes the meta graphs with these tags, each of which must have the signature; or all that have it."""
    if tags is None and not any(key in meta_graph.signature_def for meta_graph in model.meta_graphs):
        raise NotFoundError(f'no meta graph has a signature "{key}"; there are\n{describe_model(model)}')

    def checked(meta_graph: MetaGraphDef) -> None:
        if tags is not None:
            signature_with_key(meta_graph, key)
        if key in meta_graph.signature_def:
            change(meta_graph)

    return edited_model(model, tags, checked)


def replace_method_name(model: SavedModel, signature_key: str, method_name: str, tags: Tags = None) -> SavedModel:
    """The model with another method name for a signature of the meta graph with these tags, or of all meta graphs."""
    if not signature_key:
        raise InvalidArgumentError("`signature_key` must be defined.")
    if not method_name:
        raise InvalidArgumentError("`method_name` must be defined.")
    listed = tags if tags is None or isinstance(tags, list) else [tags] if isinstance(tags, str) else list(tags)

    def change(meta_graph: MetaGraphDef) -> None:
        if signature_key not in meta_graph.signature_def:
            raise InvalidArgumentError(
                f"MetaGraphDef associated with tags {listed} does not have a signature_def with key: "
                f"'{signature_key}'. This means either you specified the wrong signature key or forgot to put the "
                f"signature_def with the corresponding key in your SavedModel.\n{describe_model(model)}"
            )
        meta_graph.signature_def[signature_key].method_name = method_name

    try:
        return edited_model(model, listed, change)
    except NoSuchTagsError as error:
        raise InvalidArgumentError(
            f"MetaGraphDef associated with tags {listed} could not be found in SavedModel. This means either you "
            "specified invalid tags or your SavedModel does not have a MetaGraphDef with the specified tags."
            f"\n{describe_model(model)}"
        ) from error


# ------------------------------------------------------------------------------------------------- inputs and outputs


def add_input(model: SavedModel, key: str, name: str, tensor: str, tags: Tags = None) -> SavedModel:
    """The model with another input of a signature: a tensor of the graph."""
    return _where_signature(model, key, tags, partial(_add_tensor, key, "inputs", name, tensor))


def add_output(model: SavedModel, key: str, name: str, tensor: str, tags: Tags = None) -> SavedModel:
    """The model with another output of a signature: a tensor of the graph."""
    return _where_signature(model, key, tags, partial(_add_tensor, key, "outputs", name, tensor))


def rename_input(model: SavedModel, key: str, old: str, new: str, tags: Tags = None) -> SavedModel:
    """The model with another name for an input of a signature."""
    return _where_signature(model, key, tags, partial(_rename_tensor, key, "inputs", old, new))


def rename_output(model: SavedModel, key: str, old: str, new: str, tags: Tags = None) -> SavedModel:
    """The model with another name for an output of a signature."""
    return _where_signature(model, key, tags, partial(_rename_tensor, key, "outputs", old, new))


def drop_input(model: SavedModel, key: str, name: str, tags: Tags = None) -> SavedModel:
    """The model without an input of a signature. The graph must have a value for it, or no output may need it."""
    return _where_signature(model, key, tags, partial(_drop_tensor, key, "inputs", name))


def drop_output(model: SavedModel, key: str, name: str, tags: Tags = None) -> SavedModel:
    """The model without an output of a signature."""
    return _where_signature(model, key, tags, partial(_drop_tensor, key, "outputs", name))


def _add_tensor(key: str, side: str, name: str, tensor: str, meta_graph: MetaGraphDef) -> None:
    infos = getattr(meta_graph.signature_def[key], side)
    _check_name_is_free(infos, side, name)
    infos[name].CopyFrom(_infos(imported_graph(meta_graph), {name: tensor})[0][name])
    refresh_object_signature(meta_graph, key)


def _rename_tensor(key: str, side: str, old: str, new: str, meta_graph: MetaGraphDef) -> None:
    signature = meta_graph.signature_def[key]
    infos = getattr(signature, side)
    _check_has(signature, infos, side, old)
    _check_name_is_free(infos, side, new)
    infos[new].CopyFrom(infos[old])
    del infos[old]
    if side == "inputs" and old in signature.defaults:
        signature.defaults[new].CopyFrom(signature.defaults[old])
        del signature.defaults[old]
    refresh_object_signature(meta_graph, key)


def _drop_tensor(key: str, side: str, name: str, meta_graph: MetaGraphDef) -> None:
    signature = meta_graph.signature_def[key]
    infos = getattr(signature, side)
    _check_has(signature, infos, side, name)
    if side == "outputs" and len(infos) == 1:
        raise InvalidArgumentError(f'"{name}" is the only output of "{key}"; drop the signature instead')
    del infos[name]
    if side == "inputs":
        signature.defaults.pop(name, None)
    if side == "inputs" and (unfed := unfed_placeholders(meta_graph, signature)):
        raise InvalidArgumentError(
            f'"{key}" needs "{name}": its outputs depend on {", ".join(unfed)}, which has no value of its own'
        )
    refresh_object_signature(meta_graph, key)


def _check_has(signature: SignatureDef, infos: Mapping[str, TensorInfo], side: str, name: str) -> None:
    if name not in infos:
        raise NotFoundError(f'"{name}" is not among the {side}: {describe_signature(signature)}')


def _check_name_is_free(infos: Mapping[str, TensorInfo], side: str, name: str) -> None:
    if name in infos:
        raise AlreadyExistsError(f'"{name}" is among the {side} already')


def unfed_placeholders(meta_graph: MetaGraphDef, signature: SignatureDef) -> list[str]:
    """The placeholders that the outputs of a signature need and that its inputs do not feed, in order of name."""
    nodes = {node.name: node for node in meta_graph.graph_def.node}
    fed = {source_of(name) for info in signature.inputs.values() for name in tensor_names(info)}
    waiting = [source_of(name) for info in signature.outputs.values() for name in tensor_names(info)]
    seen = set(fed)
    found = set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in nodes:
            continue
        seen.add(name)
        waiting.extend(map(source_of, nodes[name].input))
        if nodes[name].op in ("Placeholder", "PlaceholderV2"):
            found.add(name)
    return sorted(found)


def drop_objects(model: SavedModel, tags: Tags = None) -> SavedModel:
    """The model without objects: what is left is a model as TensorFlow 1 has it, with its signatures."""
    return edited_model(model, tags, forget_objects)


# ---------------------------------------------------------------------------------------------------------------- tags


def replace_tags(model: SavedModel, old: str | Iterable[str], new: str | Iterable[str]) -> SavedModel:
    """The model with other tags for the meta graph that has these."""
    wanted = [new] if isinstance(new, str) else list(dict.fromkeys(new))
    if _tag_set(old) != set(wanted) and any(set(item.meta_info_def.tags) == set(wanted) for item in model.meta_graphs):
        raise AlreadyExistsError(f"there is a meta graph with the tags {wanted} already")

    def change(meta_graph: MetaGraphDef) -> None:
        del meta_graph.meta_info_def.tags[:]
        meta_graph.meta_info_def.tags.extend(wanted)

    return edited_model(model, old, change)


def drop_meta_graph(model: SavedModel, tags: str | Iterable[str]) -> SavedModel:
    """The model without the meta graphs that have these tags. One must be left."""
    copy = SavedModel()
    copy.CopyFrom(model)
    doomed = [set(meta_graph.meta_info_def.tags) == _tag_set(tags) for meta_graph in copy.meta_graphs]
    if not any(doomed):
        raise NoSuchTagsError(
            f"no meta graph has the tags {sorted(_tag_set(tags))}; there are\n{describe_model(model)}"
        )
    if all(doomed):
        raise InvalidArgumentError("no meta graph would be left")
    for index in reversed([index for index, is_doomed in enumerate(doomed) if is_doomed]):
        del copy.meta_graphs[index]
    return copy


# --------------------------------------------------------------------------------------------------------------- nodes


def strip_devices(model: SavedModel, tags: Tags = None) -> SavedModel:
    """The model with no node on a device of its own, in functions neither."""

    def change(meta_graph: MetaGraphDef) -> None:
        for node in meta_graph.graph_def.node:
            node.ClearField("device")
        for function in meta_graph.graph_def.library.function:
            for node in function.node_def:
                node.ClearField("device")

    return edited_model(model, tags, change)


def strip_default_attrs(model: SavedModel, tags: Tags = None) -> SavedModel:
    """The model without attributes that say what is so by default, so that older versions read it."""

    def change(meta_graph: MetaGraphDef) -> None:
        strip_defaults_in_place(meta_graph.graph_def)
        meta_graph.meta_info_def.stripped_default_attrs = True

    return edited_model(model, tags, change)


# -------------------------------------------------------------------------------------------------------------- assets


def rename_asset(model: SavedModel, old: str, new: str) -> SavedModel:
    """The model with another name for an asset, in all meta graphs. `rewrite_model` renames the file too."""
    if not any(asset.filename == old for meta_graph in model.meta_graphs for asset in asset_files(meta_graph)):
        raise NotFoundError(f'"{old}" is no asset; there are {", ".join(asset_names(model)) or "none"}')
    if new in asset_names(model):
        raise AlreadyExistsError(f'there is an asset "{new}" already')

    def change(meta_graph: MetaGraphDef) -> None:
        for asset in meta_graph.asset_file_def:
            asset.filename = new if asset.filename == old else asset.filename
        if ASSETS_KEY not in meta_graph.collection_def:
            return
        packed = meta_graph.collection_def[ASSETS_KEY].any_list.value
        listed = asset_files(MetaGraphDef(collection_def={ASSETS_KEY: meta_graph.collection_def[ASSETS_KEY]}))
        for item, asset in zip(packed, listed, strict=True):
            if asset.filename == old:
                asset.filename = new
                item.Pack(asset)

    return edited_model(model, None, change)


def asset_names(model: SavedModel) -> list[str]:
    """The names of all files that the graphs of a model read, sorted."""
    return sorted({asset.filename for meta_graph in model.meta_graphs for asset in asset_files(meta_graph)})
