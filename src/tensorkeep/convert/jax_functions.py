"""Models as functions of JAX: the source is opened, and one of its signatures becomes a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tensorkeep._lazy import later
from tensorkeep.arrays import Array
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.convert.hub import refuse
from tensorkeep.convert.onnx.ends import chosen_ends
from tensorkeep.convert.onnx.options import Ends, OnnxOptions, option_problems
from tensorkeep.convert.onnx.sources import ExportSource, Source, opened_source
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.saved_model.edit.directory_edits import change_variables
from tensorkeep.saved_model.load.graph_parts import GraphPart, flat_part
from tensorkeep.saved_model.load.model import LoadedModel
from tensorkeep.saved_model.load.opened_graph import OpenedGraph

if TYPE_CHECKING:
    from tensorkeep.jax import functions
else:  # what needs the extra `jax`
    functions = later("tensorkeep.jax.functions")


def to_jax(
    source: ExportSource,
    *,
    signature: str | None = None,
    function: str | None = None,
    inputs: Ends | None = None,
    outputs: Ends | None = None,
    tags: Iterable[str] | str | None = None,
    checkpoint: PathLike | None = None,
    allow: Iterable[Capability | str] = (),
    precision: str | None = None,
    fs: FileSystem = FILES,
) -> functions.JaxFunction:
    """A model as a pure function of JAX, with its variables as parameters: `fn(fn.params, x=array)`.

    `source` is a SavedModel directory, a frozen graph (.pb, .pbtxt), a .meta file or the prefix of a checkpoint with
    one, a loaded model, an opened graph, a graph, a message, or a session with its graph. `signature` or `function`
    says which of its functions; `inputs` and `outputs` name other ends, anywhere in the graph; `checkpoint` has the
    values of a graph's variables. `precision` is that of products of matrices, as `jax.lax.Precision` names them:
    "highest" unless another is said. What cannot be traced is an error that names operations and reasons.
    """
    require_jax()
    chosen = OnnxOptions(
        signature=signature, function=function, tags=tags, checkpoint=checkpoint, inputs=inputs, outputs=outputs,
        allow=allow,
    )  # fmt: skip
    refuse("a function of JAX cannot be made as it is asked for", option_problems(chosen))
    stack = ExitStack()
    try:
        opened = opened_source(source, chosen, stack, fs)
        part = _part(opened, chosen)
        names = _names(opened.holder)
        return functions.JaxFunction(
            _ends(opened.where, part, names),
            flatten=lambda: _ends(opened.where, flat_part(part), names),
            save=_saving(opened, fs),
            close=stack.close,
            precision=precision,
        )
    except BaseException:
        stack.close()
        raise


def require_jax() -> None:
    """UnimplementedError, which names the extra, if JAX is not installed."""
    if find_spec("jax") is None:
        raise UnimplementedError('JAX is not installed: pip install "tensorkeep[jax]"')


def _part(opened: Source, options: OnnxOptions) -> GraphPart:
    """The part of the source's graph that becomes a function."""
    if opened.part.outputs and options.inputs is None and options.outputs is None:
        return opened.part
    chosen = chosen_ends(opened.part, opened.wider, options, opened.where)
    return GraphPart(chosen.session, chosen.inputs, chosen.outputs, chosen.captured, chosen.said)


def _ends(where: str, part: GraphPart, names: Mapping[VariableResource, str]) -> Any:
    return functions.Ends(
        where, part.session, part.inputs, part.outputs, part.captured, part.shapes, part.targets, names
    )


def _names(holder: object) -> dict[VariableResource, str]:
    """What the variables of a loaded model are called."""
    return {item: name for name, item in holder.variable_places().items()} if isinstance(holder, LoadedModel) else {}


# ------------------------------------------------------------------------------------------------------------- saving


def _saving(opened: Source, fs: FileSystem) -> Callable[[dict[str, Array], PathLike], None]:
    """How the function's parameters are written back."""
    holder = opened.holder
    if isinstance(holder, LoadedModel):
        return lambda values, target: change_variables(holder.directory, target, values, fs=fs)
    if isinstance(holder, OpenedGraph):
        return lambda values, target: _save_graph(holder, values, target)
    return lambda values, target: _save_variables(opened, values, target, fs)


def _save_graph(opened: OpenedGraph, values: Mapping[str, Array], target: PathLike) -> None:
    """Saves an opened graph with other values for variables, which has its own again afterwards."""
    places = {item.name: item for _, item in opened.session.resources.items() if isinstance(item, VariableResource)}
    before = {name: places[name].read() for name in values}
    try:
        for name, value in values.items():
            places[name].assign(value)
        opened.save(target)
    finally:
        for name, value in before.items():
            places[name].assign(value)


def _save_variables(opened: Source, values: Mapping[str, Array], target: PathLike, fs: FileSystem) -> None:
    """Saves all variables of a session as a checkpoint, some with other values."""
    resources = opened.part.session.resources.items()
    there = {item.name: item.read() for _, item in resources
             if isinstance(item, VariableResource) and item.is_initialized}  # fmt: skip
    save_checkpoint(path_text(target), {**there, **values}, fs=fs)
