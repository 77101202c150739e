"""Loaded models: what a SavedModel directory can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

from tensorkeep.arrays import Array
from tensorkeep.dtypes import dtype_in_graph
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError, WrongTypeError
from tensorkeep.graph.graph import is_index
from tensorkeep.graph.messages.attrs import shape_of_proto
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.io.showing.amounts import amount_of
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.proto.messages import FingerprintDef, NodeDef, SignatureDef
from tensorkeep.runtime.partitions.engines import Split
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.saved_model.files.layout import asset_files, signature_keys
from tensorkeep.saved_model.load.graph_parts import (
    GraphPart,
    argument_names,
    named_tensors,
    result_names,
    signature_ends,
)
from tensorkeep.saved_model.load.graph_running import GraphRunner, named_tensor
from tensorkeep.saved_model.load.object_graph import SavedObjects
from tensorkeep.saved_model.load.restored_functions import ConcreteFunctions, RestoredFunction, Trace, restored_function
from tensorkeep.saved_model.load.signature import Run, RunOfTexts, Signature, SignatureSpec, signature_spec
from tensorkeep.saved_model.load.surroundings import ModelSurroundings
from tensorkeep.saved_model.load.tensor_values import TensorSpec
from tensorkeep.saved_model.show.describing import ModelDescription, describe_model

Item = TypeVar("Item")

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_LOOPS = frozenset(("While", "StatelessWhile", "For", "Enter", "RefEnter", "MapDefun"))


@dataclass(frozen=True, slots=True)
class _FunctionCall:
    """A signature that is one call: of which function, which input is each argument, which result each output."""

    function: str
    order: list[int]
    picked: list[int]


class Named(Mapping[str, Item], Generic[Item]):
    """Things by name, each made when it is first asked for."""

    def __init__(self, kind: str, names: Mapping[str, Any], make: Callable[[str], Item], keeps: bool = True) -> None:
        self._kind = kind
        self._names = names
        self._make = make
        self._made: dict[str, Item] | None = {} if keeps else None

    def __getitem__(self, name: str) -> Item:
        if self._made is not None and name in self._made:
            return self._made[name]
        if name not in self._names:
            listed = ", ".join(f'"{known}"' for known in list(self._names)[:20])
            more = f" and {len(self._names) - 20} more" if len(self._names) > 20 else ""
            raise NotFoundError(f'the model has no {self._kind} "{name}"; it has {listed or "none"}{more}')
        made = self._make(name)
        if self._made is not None:
            made = self._made.setdefault(name, made)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __repr__(self) -> str:
        return f"<{len(self)} of kind {self._kind}: {', '.join(list(self)[:20])}>"


class LoadedModel:
    """A SavedModel, ready to be used. Close it when done, best by `with`.

    Nothing of it runs before it is asked for something. May be used from several threads.
    """

    def __init__(
        self,
        surroundings: ModelSurroundings,
        tag_sets: tuple[frozenset[str], ...],
        fingerprint: FingerprintDef | None = None,
    ) -> None:
        self._around = surroundings
        self.tag_sets = tag_sets
        self.fingerprint = fingerprint
        meta_graph = surroundings.meta_graph
        self._graph = GraphRunner(surroundings)
        self._saved = SavedObjects(meta_graph.object_graph_def, f'the object graph of "{surroundings.directory}"')
        self._functions = ConcreteFunctions(self._saved, surroundings)
        self._specs = specs = {
            name: signature_spec(name, meta_graph.signature_def[name]) for name in signature_keys(meta_graph)
        }
        self.signatures: Mapping[str, Signature] = Named(
            "signature", specs, lambda name: Signature(specs[name], self._prepared_run)
        )
        written = self._saved.functions()
        self.functions: Mapping[str, RestoredFunction] = Named(
            "function", written, lambda path: restored_function(written[path], path, self._functions)
        )
        self.variables: Mapping[str, Array] = self._variables()

    def __reduce__(self) -> NoReturn:
        raise WrongTypeError(
            f'the model of "{self.directory}" cannot be pickled, as it has files and threads of this process: pass its '
            "directory on, and load it there (load_saved_model)"
        )

    @property
    def directory(self) -> str:
        return self._around.directory

    @property
    def tags(self) -> frozenset[str]:
        """The tags of the meta graph that was loaded."""
        return frozenset(self._around.meta_graph.meta_info_def.tags)

    @property
    def signature_defs(self) -> dict[str, SignatureDef]:
        """The signatures as messages, those among them that only name operations. They are not to be changed."""
        return dict(self._around.meta_graph.signature_def)

    @property
    def has_loops(self) -> bool:
        """Whether something in it is repeated, so that its work does not follow from the sizes of what it is given."""
        graph_def = self._around.meta_graph.graph_def
        bodies = (graph_def.node, *(function.node_def for function in graph_def.library.function))
        return any(node.op in _LOOPS for nodes in bodies for node in nodes)

    @property
    def assets(self) -> dict[str, str]:
        """The model's own files: names and paths."""
        return {asset.filename: self._around.asset_path(asset) for asset in asset_files(self._around.meta_graph)}

    @property
    def variable_specs(self) -> dict[str, TensorSpec]:
        """The types and shapes of variables, without reading them."""
        if not len(self._saved):
            nodes = self._graph.variables.values()
            return {node.name: TensorSpec(node.dtype, node.shape, node.name) for node in nodes}
        found = {}
        for path, number in self._saved.of_kind("variable").items():
            proto = self._saved[number].variable
            found[path] = TensorSpec(dtype_in_graph(proto.dtype), shape_of_proto(proto.shape), proto.name)
        return found

    def _variables(self) -> Mapping[str, Array]:
        if not len(self._saved):
            return Named("variable", self._graph.variables, lambda name: self._graph.value(name).copy(), keeps=False)
        numbers = self._saved.of_kind("variable")
        objects = self._functions.objects
        return Named("variable", numbers, lambda path: objects.variable(numbers[path]).read().copy(), keeps=False)

    def variable_places(self) -> dict[str, VariableResource]:
        """The places of variables, by the names that `variables` has; those that have no value are not among them."""
        if not len(self._saved):
            return self._graph.places()
        objects, numbers = self._functions.objects, self._saved.of_kind("variable")
        return {path: objects.variable(number) for path, number in numbers.items()}

    def describe(self) -> str:
        """What the model takes, gives and has, as text; with an engine besides ours, also what runs where.

        For the latter, signatures are made ready to run.
        """
        return describe_model(
            ModelDescription(
                self.directory,
                self.tags,
                self.tag_sets,
                self._around.meta_graph.meta_info_def.tensorflow_version,
                dict(self.signatures),
                dict(self.functions),
                self.variable_specs,
                tuple(self.assets),
                self._splits(),
            )
        )

    def _splits(self) -> list[tuple[str, Split]] | None:
        """For each compiled plan, which operations the other engine runs; None if our kernels run everything."""
        if self._around.engine is None:
            return None
        for signature in self.signatures.values():
            with suppress(TensorKeepError):  # it says so when it is called
                signature.prepare()
        return [item for splits in self._around.splits for item in splits.items() if any((item[1].parts, item[1].kept))]

    def apply_delta(self, path: PathLike) -> None:
        """Puts an incremental checkpoint over the variables and embedding tables of a model, as a server does.

        The model was exported with `save_incr_model=True`. Deltas hold all that changed since the last full checkpoint,
        so the newest is all that is needed; one that leaves a gap behind the model is refused. Calls that run meanwhile
        may see some tables before and some after.
        """
        self._graph.apply_delta(path)

    def prepared_tensors(self, feeds: Sequence[str], fetches: Sequence[str]) -> Run:
        """What computes some tensors of the model from others, both by their names in the graph ("x:0").

        It takes an array for each of the first, of its type, which is not checked, and of any shape: the first
        operation that cannot take it fails. A server, which leaves shapes to the operations, asks for this instead of
        signatures.
        """
        self._around.require_open()
        fed, fetched = ({name: (name,) for name in names} for names in (feeds, fetches))
        call = self._call_of(SignatureSpec("", "", {}, {}, fed, fetched))
        if call is None:
            return self._graph.prepared_tensors(feeds, fetches)
        return self._called_run(call, self._functions.prepared_for_any_shapes(call.function))

    def signature_part(self, name: str) -> GraphPart:
        """A signature as a graph, to be translated: of a model of TensorFlow 2, the function that it calls.

        What loading runs has been run: variables are restored, tables filled. Nothing else is.
        """
        self._around.require_open()
        self.signatures[name]  # an error lists those that are there
        spec = self._specs[name]
        ins, outs = signature_ends(spec)
        shapes = {key: item.shape for key, item in ins.items()}
        call = self._call_of(spec)
        if call is None:
            session = self._graph.session()
            given, found = (
                [named_tensor(session.graph, tensor) for names in ends.values() for tensor in names]
                for ends in (spec.input_tensors, spec.output_tensors)
            )
            return GraphPart(
                session, dict(zip(ins, given, strict=True)), dict(zip(outs, found, strict=True)), {}, shapes
            )
        body, captured, session = self._functions.graph_of(call.function)
        own = len(body.inputs) - len(captured)
        placed = {call.order[at]: tensor for at, tensor in enumerate(body.inputs[:own])}
        given = [placed[at] for at in range(len(ins))]
        found = [body.outputs[at] for at in call.picked]
        known = dict(zip(body.inputs[own:], captured, strict=True))
        ends = dict(zip(ins, given, strict=True)), dict(zip(outs, found, strict=True))
        return GraphPart(session, *ends, known, shapes, body.controls)

    def function_part(self, name: str) -> GraphPart:
        """A function as a graph, to be translated: by its path, if it has one trace, or by the name of a trace."""
        self._around.require_open()
        if name in self.functions:
            function = self.functions[name]
            if len(function.traces) != 1:
                listed = "; ".join(f'"{trace.name}" {trace}' for trace in function.traces)
                raise InvalidArgumentError(
                    f'function "{name}" has {len(function.traces)} traces: name one, {listed or "none is there"}'
                )
            trace, parameters = function.traces[0], function.parameters.names
        elif name in self._functions:
            trace, parameters = Trace.of(name, self._saved.concrete_functions[name]), ()
        else:
            self.functions[name]
            raise NotFoundError(f'the model has no function "{name}"')
        body, captured, session = self._functions.graph_of(trace.name)
        own = len(body.inputs) - len(captured)
        what = f'function "{name}"'
        return GraphPart(
            session,
            named_tensors(argument_names(trace.inputs, parameters), body.inputs[:own], what),
            named_tensors(result_names(trace.outputs), body.outputs, what),
            dict(zip(body.inputs[own:], captured, strict=True)),
            targets=body.controls,
        )

    def whole_part(self) -> GraphPart:
        """All of the model's graph, with no ends: those are named by whoever asks for it."""
        self._around.require_open()
        return GraphPart(self._graph.whole_session(), {}, {})

    def close(self) -> None:
        """Gives files and memory back. Signatures, functions and variables of a closed model are errors."""
        self._around.close()
        self._functions.objects.clear()

    def __enter__(self) -> LoadedModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f'<LoadedModel "{self.directory}" {sorted(self.tags)}: {", ".join(self.signatures) or "no signatures"}>'

    def _repr_html_(self) -> str:
        """What a notebook shows: what signatures take and give."""
        ends = [
            (name, end, key, spec)
            for name, signature in self.signatures.items()
            for end, specs in (("takes", signature.inputs), ("gives", signature.outputs))
            for key, spec in specs.items()
        ]
        caption = f"LoadedModel {self.directory} {sorted(self.tags)}: {amount_of(len(self.variable_specs), 'variable')}"
        return html_table(caption, ("signature", "", "name", "type and shape"), ends, len(ends))

    # ---------------------------------------------------------------------------------------------- signatures

    def _prepared_run(self, spec: SignatureSpec) -> Run | RunOfTexts:
        """What runs a signature: the function that its node calls, if it is one call; otherwise the graph."""
        self._around.require_open()
        call = self._call_of(spec)
        if call is None:
            return self._graph.prepared_signature(spec)
        inputs = spec.flat_inputs
        function = self._functions.prepared_call(call.function, [inputs[i] for i in call.order])
        joined = self._functions.joined_texts(call.function)
        return RunOfTexts(self._called_run(call, function), frozenset(call.order[number] for number in joined))

    def _called_run(self, call: _FunctionCall, function: Run) -> Run:
        order, picked, around = call.order, call.picked, self._around
        is_same = order == list(range(len(order)))
        count = len(picked) if picked == list(range(len(picked))) else None

        def run(arrays: list[Any]) -> Sequence[Any]:
            if around.is_closed:
                around.require_open()
            results = function(arrays if is_same else [arrays[i] for i in order])
            return results if len(results) == count else [results[i] for i in picked]

        return run

    def _call_of(self, spec: SignatureSpec) -> _FunctionCall | None:
        """The one call of a function that gives all outputs; None if they come from something else."""
        outputs = [name.partition(":") for names in spec.output_tensors.values() for name in names]
        wanted = {node for node, _, _ in outputs}
        nodes = {node.name: node for node in self._around.meta_graph.graph_def.node if node.name in wanted}
        if len(wanted) != 1 or len(nodes) != 1:
            return None
        (node,) = nodes.values()
        name = node.attr["f"].func.name if node.op in _CALLS else ""
        order = self._argument_order(node, spec, name) if name in self._functions else None
        if order is None:
            return None
        count = len(self._around.library.functions[name].signature.output_arg)
        picked = [int(index) for _, _, index in outputs if is_index(index) and int(index) < count]
        return _FunctionCall(name, order, picked) if len(picked) == len(outputs) else None

    def _argument_order(self, node: NodeDef, spec: SignatureSpec, name: str) -> list[int] | None:
        """For each argument of the function, which input of the signature it is; None if one is something else."""
        captured = len(self._saved.concrete_functions[name].bound_inputs)
        data = [source for source in node.input if not source.startswith("^")]
        given = [tensor for names in spec.input_tensors.values() for tensor in names]
        positions = {tensor.partition(":")[0]: i for i, tensor in enumerate(given)}
        own = [positions.get(source.partition(":")[0]) for source in data[: len(data) - captured]]
        found = [i for i in own if i is not None]
        return found if len(found) == len(own) == len(given) else None
