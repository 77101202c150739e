"""Which tensors go in and come out: by signature, by name, anywhere in the graph.

A name is looked up in the signature first, then among the operations of the graph, then among those of the functions
that it calls: `dense/MatMul`, `dense/MatMul:0`, or the end of a name that no other has. All that is wrong with names,
shapes and axes is said in one error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Final

from tensorkeep.convert.hub import refuse
from tensorkeep.convert.onnx.options import AxisNames, Ends, OnnxOptions, axis_names, named_ends
from tensorkeep.dtypes import RESOURCE, VARIANT
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.flattening import GraphCopy, copied_graph
from tensorkeep.graph.graph import PLACEHOLDERS, Graph, HandleShape, Operation, Tensor
from tensorkeep.io.showing.amounts import amount_of, some_of
from tensorkeep.runtime.plans.plan import make_plan
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.load.graph_parts import GraphPart, flat_part
from tensorkeep.saved_model.load.tensor_values import shape_text
from tensorkeep.shapes import Shape

_NEAR: Final = 3
_LISTED: Final = 5
_LARGEST: Final = (1 << 63) - 1  # that the size of an axis can be stated as
_RANKS_OF_IMAGES: Final = (3, 4, 5)


@dataclass(frozen=True)
class Chosen:
    """What is exported: input and output tensors by the names they get in the file, and the session of their graph."""

    session: Session
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    captured: Mapping[Tensor, object]
    axes: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    said: Mapping[str, Shape] = field(default_factory=dict)
    """What a signature says of the shapes of inputs."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Outputs that are called as an input is, and what they are called in the file."""

    def within(self, copy: GraphCopy) -> Chosen:
        """The same ends in a copy of their graph, with a session of the copy that shares what this session keeps."""
        return replace(
            self,
            session=self.session.beside(copy.graph),
            inputs={name: copy.tensor(tensor) for name, tensor in self.inputs.items()},
            outputs={name: copy.tensor(tensor) for name, tensor in self.outputs.items()},
            captured={copy.tensor(tensor): item for tensor, item in self.captured.items()},
        )


def chosen_ends(
    part: GraphPart,
    wider: Callable[[], GraphPart] | None,
    options: OnnxOptions,
    where: str,
    also: Sequence[str] = (),
) -> Chosen:
    """What is exported of a part of a graph; one error with all that stands against it, and what `also` does.

    `wider` gives a part with all of the graph, for names that are not in this one.
    """
    inputs, outputs = named_ends(options.inputs), named_ends(options.outputs)
    tried = [part]
    found, problems = _looked_up(part, inputs, outputs)
    if problems:
        tried.append(flat_part(part))
        found, problems = _looked_up(tried[-1], inputs, outputs)
    if problems and wider is not None:
        widest = flat_part(wider())
        other, more = _looked_up(_with_ends(widest, part), inputs, outputs)
        found, problems = (other, more) if len(more) < len(problems) else (found, problems)
    if problems:
        if inputs is None and part.inputs:
            usual = replace(found, inputs=dict(part.inputs))
            _problems_of_inputs(usual, options, problems)
        raise InvalidArgumentError(f"{where}: {'; '.join([*problems, *also])}")
    problems += _twice_problems(found)
    problems += _needed_problems(found)
    shapes, axes = _problems_of_inputs(found, options, problems)
    refuse(f"{where} cannot be exported", [*problems, *also])
    return replace(_with_shapes(found, shapes, where), axes=axes)


def _problems_of_inputs(
    found: Chosen, options: OnnxOptions, problems: list[str]
) -> tuple[dict[str, Shape], dict[str, Sequence[str | None]]]:
    """The shapes of inputs and the names of their axes; adds what contradicts the graph."""
    shapes = _told_shapes(found, options, problems)
    axes = _named_axes(found.inputs, shapes, options.axes, problems)
    problems += _image_problems(found.inputs, shapes, options.channels_first)
    return shapes, axes


# ------------------------------------------------------------------------------------------------------------- names


def _looked_up(
    part: GraphPart, inputs: Mapping[str, str | Tensor] | None, outputs: Mapping[str, str | Tensor] | None
) -> tuple[Chosen, list[str]]:
    """The tensors that are asked for, as far as a part has them, and what is wrong."""
    problems: list[str] = []
    graph = part.session.graph
    given = _found_tensors(inputs, part.inputs, part, "input", problems) if inputs is not None else None
    wanted = dict(part.outputs)
    if outputs is not None:
        wanted = _found_tensors(outputs, {**part.inputs, **part.outputs}, part, "output", problems)
    elif not wanted:
        candidates = _ends_of(graph)
        problems.append(
            f"it is not said what comes out: name outputs, by outputs= (--outputs), such as {candidates}"
            if candidates
            else "it is a graph of which nothing comes out"
        )
    if given is None:
        given = _usual_inputs(part, wanted, is_cut=outputs is not None)
    renamed = {name: _free(f"{name}_output", {**given, **wanted}) for name in wanted if name in given}
    named = {renamed.get(name, name): tensor for name, tensor in wanted.items()}
    said = {name: part.shapes[name] for name, tensor in given.items()
            if name in part.shapes and part.inputs.get(name) is tensor}  # fmt: skip
    return Chosen(part.session, given, named, part.captured, said=said, renamed=renamed), problems


def _usual_inputs(part: GraphPart, outputs: Mapping[str, Tensor], is_cut: bool) -> dict[str, Tensor]:
    """What goes in if it is not said: what the signature says, or the placeholders that the outputs need."""
    if part.inputs and not is_cut:
        return dict(part.inputs)
    plan = make_plan(tuple(outputs.values()), (), (*part.inputs.values(), *part.captured))
    fed = {tensor for op in plan.ops for tensor in op.inputs} | set(outputs.values())
    if part.inputs:
        return {name: tensor for name, tensor in part.inputs.items() if tensor in fed}
    return {op.name: op.outputs[0] for op in plan.ops if op.type in PLACEHOLDERS}


def _free(wanted: str, taken: Mapping[str, object]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted


def _found_tensors(
    ends: Mapping[str, str | Tensor], named: Mapping[str, Tensor], part: GraphPart, kind: str, problems: list[str]
) -> dict[str, Tensor]:
    graph = part.session.graph
    found: dict[str, Tensor] = {}
    for name, reference in ends.items():
        if isinstance(reference, Tensor):
            tensor, problem = (reference, "") if reference.graph is graph else _of_name(graph, reference.name)
        elif reference in named:
            tensor, problem = named[reference], ""
        else:
            tensor, problem = _of_name(graph, reference)
            if tensor is None:
                problem = _unknown(reference, kind, problem, part)
        if tensor is None:
            problems.append(problem)
        elif tensor.dtype in (RESOURCE, VARIANT):
            problems.append(f'the {kind} "{name}" is a {tensor.dtype}, and only tensors go in and out of a file')
        else:
            found[name] = tensor
    return found


def _unknown(name: str, kind: str, why: str, part: GraphPart) -> str:
    """That there is no such tensor, with those that may be meant."""
    ends = list(part.outputs if kind == "output" else part.inputs)
    near = get_close_matches(name, [*ends, *(op.name for op in part.session.graph.operations)], _NEAR)
    what = f'there is no {kind} "{name}"' + (f": {why}" if why else "")
    if near:
        return f"{what}; did you mean {' or '.join(map(repr, dict.fromkeys(near)))}?"
    return f"{what}; the signature has {some_of(ends, _LISTED)}" if ends else what


def _of_name(graph: Graph, name: str) -> tuple[Tensor | None, str]:
    """The tensor that a name means, or why it means none."""
    wanted, _, number = name.partition(":")
    ops = (
        [graph.operation(wanted)]
        if wanted in graph
        else [op for op in graph.operations if op.name.endswith(f"/{wanted}")]
    )
    if len(ops) > 1:
        return None, f"several operations are called so: {some_of([op.name for op in ops], _NEAR)}"
    if not ops:
        return None, ""
    outputs = ops[0].outputs
    if not number and len(outputs) > 1:
        return None, f"it has {len(outputs)} outputs: say which, {some_of([tensor.name for tensor in outputs], _NEAR)}"
    if not (number or "0").isdecimal() or int(number or 0) >= len(outputs):
        return None, f"{ops[0].type} has {amount_of(len(outputs), 'output')}"
    return outputs[int(number or 0)], ""


def _ends_of(graph: Graph) -> str:
    """The last operations that nothing takes anything from, as candidates for outputs."""
    last = [op for op in graph.operations if op.outputs and not any(tensor.consumers() for tensor in op.outputs)]
    return some_of([op.name for op in reversed(last) if op.type not in PLACEHOLDERS], _LISTED)


# -------------------------------------------------------------------------------------------------------------- parts


def _with_ends(whole: GraphPart, part: GraphPart) -> GraphPart:
    """The part that is all of a graph, with those inputs and outputs of another part that are in that graph."""
    graph = whole.session.graph

    def there(ends: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: graph.tensor(tensor.name) for name, tensor in ends.items() if tensor.op.name in graph}

    return GraphPart(whole.session, there(part.inputs), there(part.outputs), shapes=part.shapes)


def _with_shapes(found: Chosen, shapes: Mapping[str, Shape], where: str) -> Chosen:
    """What is exported, in a copy of its graph in which inputs have the given shapes and all that follows from them."""
    wanted = {found.inputs[name]: shape for name, shape in shapes.items()}
    told = {tensor: shape for tensor, shape in wanted.items() if tensor.static_shape != shape}
    if not told:
        return found
    try:
        copy = copied_graph(found.session.graph, told)
    except InvalidArgumentError as error:
        listed = ", ".join(f'"{name}" {shape_text(shape)}' for name, shape in shapes.items())
        raise InvalidArgumentError(f"{where}: the shapes {listed} contradict the graph: {error}") from None
    return found.within(copy)


# ----------------------------------------------------------------------------------------------------- shapes, axes


def _twice_problems(found: Chosen) -> list[str]:
    """Tensors that would go in under two names."""
    names: dict[Tensor, str] = {}
    return [
        f'the inputs "{names[tensor]}" and "{name}" are one tensor, "{tensor.name}": name it once (inputs=; --inputs)'
        for name, tensor in found.inputs.items()
        if names.setdefault(tensor, name) != name
    ]


def _needed_problems(found: Chosen) -> list[str]:
    """What outputs need that nothing gives."""
    plan = make_plan(tuple(found.outputs.values()), (), (*found.inputs.values(), *found.captured))
    missing = [op.name for op in plan.ops if op.type in PLACEHOLDERS and not _is_handle(op)]
    if not missing:
        return []
    return [f"the outputs also need {some_of(missing, _LISTED)}: name them among the inputs, or cut behind them"]


def _is_handle(op: Operation) -> bool:
    return isinstance(op.outputs[0].static_shape, HandleShape)


def _told_shapes(found: Chosen, options: OnnxOptions, problems: list[str]) -> dict[str, Shape]:
    """The shape of each input with what is told of it; adds what contradicts."""
    shapes: dict[str, Shape] = {name: tensor.static_shape for name, tensor in found.inputs.items()}
    for name, said in found.said.items():
        shapes[name] = shapes[name].merge(said) if shapes[name].is_compatible(said) else shapes[name]
    for name, sizes in options.shapes.items():
        if name not in shapes:
            problems.append(f'a shape is given for "{name}", which is no input{_meant_input(name, found.inputs)}')
            continue
        try:
            told = Shape.of(tuple(sizes))
        except (InvalidArgumentError, TypeError, ValueError) as error:
            problems.append(f'the shape of "{name}": {error}')
            continue
        if any(size is not None and size > _LARGEST for size in told.dims or ()):
            problems.append(f'the shape {shape_text(told)} of "{name}": no axis is larger than {_LARGEST:,}')
        elif not shapes[name].is_compatible(told):
            problems.append(
                f'the shape {shape_text(told)} of "{name}" contradicts the graph, where it is '
                f"{shape_text(shapes[name])}"
            )
        else:
            shapes[name] = shapes[name].merge(told)
    return shapes


def _named_axes(
    inputs: Mapping[str, Tensor], shapes: Mapping[str, Shape], given: Mapping[str, AxisNames], problems: list[str]
) -> dict[str, Sequence[str | None]]:
    found: dict[str, Sequence[str | None]] = {}
    for name, wanted in given.items():
        if name not in inputs:
            problems.append(f'axes are named of "{name}", which is no input{_meant_input(name, inputs)}')
            continue
        dims = shapes[name].dims
        if dims is None:
            problems.append(f'axes are named of "{name}", and how many it has is not known: tell its shape (--shape)')
            continue
        names, missing = axis_names(wanted, len(dims))
        if missing:
            problems.append(f'"{name}" has {len(dims)} axes, and no axis {missing[0]}')
        for axis, label in enumerate(names):
            if label is not None and (not isinstance(label, str) or label.isdecimal()):
                problems.append(
                    f'axis {axis} of "{name}" cannot be called {label!r}: a name is a word, and sizes are told by '
                    "shapes= (--shape)"
                )
        fixed = [axis for axis, label in enumerate(names) if label is not None and dims[axis] is not None]
        if fixed:
            problems.append(f'axis {fixed[0]} of "{name}" is {dims[fixed[0]]} always, and needs no name')
        found[name] = names
    return found


def _image_problems(inputs: Mapping[str, Tensor], shapes: Mapping[str, Shape], wanted: Sequence[str]) -> list[str]:
    problems = []
    for name in dict.fromkeys(wanted):
        if name not in inputs:
            problems.append(f'"{name}" shall have its channels first, and is no input{_meant_input(name, inputs)}')
        elif shapes[name].rank not in _RANKS_OF_IMAGES:
            problems.append(f'"{name}" is {shape_text(shapes[name])}, no image whose channels may come first')
    return problems


def _meant_input(name: str, inputs: Mapping[str, object]) -> str:
    near = get_close_matches(name, list(inputs), 1)
    return f"; did you mean {near[0]!r}?" if near else f"; the inputs are {some_of(list(inputs), _LISTED) or 'none'}"


__all__ = ["Chosen", "Ends", "chosen_ends"]
