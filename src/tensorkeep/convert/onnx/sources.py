"""What can be exported, opened: directories, files, messages, models, sessions.

Nothing runs but what loading a model runs: variables are restored and tables filled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, TypeAlias

from tensorkeep.convert.onnx.options import OnnxOptions
from tensorkeep.errors import InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.io.files.filesystem import FileSystem, PathLike, is_path, path_text
from tensorkeep.io.showing.amounts import some_of
from tensorkeep.proto.messages import Message, MetaGraphDef
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tensorkeep.saved_model.files.layout import contains_saved_model, signature_keys
from tensorkeep.saved_model.load.graph_parts import GraphPart, signature_ends
from tensorkeep.saved_model.load.graph_running import named_tensor
from tensorkeep.saved_model.load.model import LoadedModel
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.saved_model.load.opened_graph import OpenedGraph, open_graph
from tensorkeep.saved_model.load.signature import signature_spec

ExportSource: TypeAlias = "PathLike | LoadedModel | OpenedGraph | Session | SessionLike | Graph | Message"

_LISTED: Final = 20
_TABLES: Final = "table_initializer"


@dataclass(frozen=True)
class Source:
    """Something to export, opened."""

    where: str
    """For messages."""
    path: str
    """Where it came from, as it is written into the file; empty if it came from no file."""
    part: GraphPart
    signature: str = ""
    wider: Callable[[], GraphPart] | None = None
    """Gives all of the graph, if the part is not all."""
    holder: LoadedModel | OpenedGraph | None = None
    """The model or graph that it is of; None of a session."""


def opened_source(source: ExportSource, options: OnnxOptions, stack: ExitStack, fs: FileSystem) -> Source:
    """What is to be exported, with variables that have their values; what was opened for it closes with the stack."""
    if isinstance(source, LoadedModel):
        return _of_model(source, options)
    if isinstance(source, OpenedGraph):
        return _of_graph(source, options, "")
    session = _session_in(source)
    if session is not None:
        _refuse_options(options, "a session", "signature", "function", "tags", "checkpoint")
        return Source("the graph of the session", "", GraphPart(session, {}, {}))
    if isinstance(source, Graph | Message):
        return _of_graph(stack.enter_context(open_graph(source, allow=options.allow, fs=fs)), options, "")
    if not is_path(source):
        raise WrongTypeError(
            "a path, a loaded model, an opened graph, a graph, a message or a session can be exported; "
            f"got {type(source).__name__}"
        )
    path = path_text(source)
    if fs.is_directory(path) and contains_saved_model(path, fs):
        model = load_saved_model(path, options.tags, allow=options.allow, mapped=True, fs=fs)
        return _of_model(stack.enter_context(model), options)
    opened = stack.enter_context(open_graph(path, options.tags, allow=options.allow, fs=fs))
    return _of_graph(opened, options, path)


def _refuse_options(options: OnnxOptions, of_what: str, *names: str) -> None:
    """InvalidArgumentError if something is asked for that a source does not have."""
    asked = [f"{name}=" for name in names if getattr(options, name) is not None]
    if asked:
        raise InvalidArgumentError(f"{of_what} has values and tensors of its own: {', '.join(asked)} cannot be used")


def _session_in(source: object) -> Session | None:
    """The session that a source is or wraps (one with TensorFlow 1's names, a monitored one); None if it is none."""
    inner = getattr(source, "_tf_sess", None)
    found = inner() if callable(inner) else source
    found = getattr(found, "core", found)
    return found if isinstance(found, Session) else None


# ---------------------------------------------------------------------------------------------------- loaded models


def _of_model(model: LoadedModel, options: OnnxOptions) -> Source:
    where = f'"{model.directory}"'
    if options.checkpoint is not None:
        raise InvalidArgumentError(
            f"{where} has the values of its variables: a checkpoint (checkpoint=, --checkpoint) is for graphs, in "
            ".meta and .pb files"
        )
    if options.function is not None:
        if options.signature is not None:
            raise InvalidArgumentError(f"{where}: a signature or a function is exported; both are given")
        part = model.function_part(options.function)
        what = f'{where}, function "{options.function}"'
        return Source(what, model.directory, part, options.function, holder=model)
    if not model.signatures and options.signature is None and options.outputs is not None:
        return Source(where, model.directory, model.whole_part(), holder=model)
    name = _chosen_signature(list(model.signatures), options.signature, where, list(model.functions))
    part = model.signature_part(name)
    return Source(f'{where}, signature "{name}"', model.directory, part, name, model.whole_part, model)


def _chosen_signature(there: Sequence[str], wanted: str | None, where: str, functions: Sequence[str] = ()) -> str:
    """The name of the signature that is exported."""
    if wanted is None and DEFAULT_SERVING_SIGNATURE_DEF_KEY in there:
        return DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if wanted is None and len(there) == 1:
        return there[0]
    if wanted in there:
        assert wanted is not None
        return wanted
    listed = some_of(there, _LISTED) or "none"
    others = (
        f". It has functions {some_of(functions, _LISTED)}: name one, by function= (--function)" if functions else ""
    )
    if wanted is None:
        raise InvalidArgumentError(
            f"{where} has the signatures {listed}: say which, by signature= (--signature)"
            + (others if not there else "")
        )
    near = get_close_matches(wanted, there, 1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    raise NotFoundError(f'{where} has no signature "{wanted}"; it has {listed}{meant}{others if not there else ""}')


# ------------------------------------------------------------------------------------------------------ opened graphs


def _of_graph(opened: OpenedGraph, options: OnnxOptions, path: str) -> Source:
    _fill(opened, options)
    meta_graph = opened.meta_graph
    part, signature = GraphPart(opened.session, {}, {}), ""
    keys = signature_keys(meta_graph)
    if options.function is not None:
        raise InvalidArgumentError(f"{opened.where} is a graph: functions of SavedModels can be exported by name")
    if options.signature is not None or (keys and options.outputs is None):
        signature = _chosen_signature(keys, options.signature, opened.where)
        part = _signature_part(opened.session, meta_graph, signature)
    what = f'{opened.where}, signature "{signature}"' if signature else opened.where
    return Source(what, path, part, signature, holder=opened)


def _fill(opened: OpenedGraph, options: OnnxOptions) -> None:
    """Gives variables the values of a checkpoint, and tables theirs."""
    if options.checkpoint is not None and not opened.uninitialized:
        raise InvalidArgumentError(
            f"{opened.where} has no variables without a value: the checkpoint (checkpoint=, --checkpoint) would be of "
            "no use"
        )
    prefix = options.checkpoint if options.checkpoint is not None else opened.checkpoint
    if prefix is not None and opened.uninitialized:
        opened.restore(prefix)
    if _TABLES in opened.meta_graph.collection_def:
        opened.initialize()


def _signature_part(session: Session, meta_graph: MetaGraphDef, name: str) -> GraphPart:
    spec = signature_spec(name, meta_graph.signature_def[name])
    ins, outs = signature_ends(spec)

    def tensors(ends: Mapping[str, tuple[str, ...]]) -> list[Tensor]:
        return [named_tensor(session.graph, tensor) for names in ends.values() for tensor in names]

    return GraphPart(
        session,
        dict(zip(ins, tensors(spec.input_tensors), strict=True)),
        dict(zip(outs, tensors(spec.output_tensors), strict=True)),
        {},
        {key: item.shape for key, item in ins.items()},
    )
