"""The ONNX graph that rules write to: nodes, constants, and steps that many rules share.

A node takes terms, arrays, which become constants of the file, and None for an input that is left out. What can be done
to a constant at once (`cast`, `transpose`, `reshape`, …) is, and adds no node. Where versions of ONNX differ in how
something is said, it is said here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import numpy as np
import onnx
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, INT64, STRING, DType, dtype_of_array
from tensorkeep.errors import UnimplementedError
from tensorkeep.onnx.limits import Limits, TooLargeError, repeated_bytes
from tensorkeep.onnx.terms import Dims, Term, axis_size, constant_term, element_type, shape_in_file

if TYPE_CHECKING:
    from tensorkeep.graph.graph import Operation
    from tensorkeep.onnx.translation import Problem, Translator

OLDEST_OPSET: Final = 13
_SMALL: Final = 64  # elements; equal constants of up to so many are one in the file
_DEEPEST: Final = 30  # graphs in each other: messages that are deeper than 100 are not read, and each takes three
_MOST_LISTED: Final = 1 << 24  # numbers that follow from sizes, which may be in the file

Input: TypeAlias = Term | Array | None
AttrValue: TypeAlias = int | float | str | bytes | Sequence[int] | Sequence[float] | Sequence[str] | Array | ir.Graph


class CannotTranslateError(UnimplementedError):
    """An operation that has no equal in ONNX, with the reason."""

    problems: Sequence[Problem] = ()
    """Of a whole graph: every operation that could not be translated."""
    newest_opset: int | None = None
    """If an older version of ONNX has it, the last one that does."""


@dataclass
class OnnxModel:
    """What all graphs of one ONNX model share: its version, its constants, and the names in use."""

    opset: int
    is_for_engine: bool = False
    """Whether it is run in the place of our kernels, so that it must fail where they fail."""
    constants: dict[str, ir.Value] = field(default_factory=dict)
    domains: set[str] = field(default_factory=set)
    unproven_indices: list[ir.Value] = field(default_factory=list)
    """For the engine: indices into lists that may be negative, unless a loop counts with them."""
    uneven_loops: frozenset[str] = frozenset()
    """Loops that fill lists with elements of different lengths, by name: their lists are sequences."""
    assigned: dict[int, Term | None] = field(default_factory=dict)
    """Of variables that operations have changed, by identity: what they are now, or None if that is not known."""
    changing: frozenset[int] = frozenset()
    """Variables that the model is known to change, by identity: nothing is computed now of what they are now."""
    has_drawn: bool = False
    """Whether random numbers were computed now, of a state that is known."""
    read_in_loops: set[int] = field(default_factory=set)
    """The variables that loops read, by identity."""
    kept: dict[Any, Any] = field(default_factory=dict)
    """What rules keep from one operation for the next: arrays made of a table, so that they are in the file once."""
    limits: Limits = field(default_factory=Limits)
    first_nodes: list[ir.Node] = field(default_factory=list)
    """Nodes before all others of the model's own graph, whose values every graph may use."""
    _names: dict[str, int] = field(default_factory=dict)
    _small: dict[tuple[Any, ...], ir.Value] = field(default_factory=dict)
    _large: dict[tuple[Any, ...], tuple[Array, ir.Value]] = field(default_factory=dict)

    def new_name(self, wanted: str) -> str:
        """The wanted name, or if it is in use, one with a number at its end."""
        self.limits.count_name(wanted)
        count = self._names.get(wanted)
        self._names[wanted] = 0 if count is None else count
        if count is None:
            return wanted
        while True:
            count += 1
            name = f"{wanted}__{count}"
            if name not in self._names:
                self._names[wanted] = count
                self._names[name] = 0
                return name

    def constant(self, array: Array, dtype: DType, wanted: str) -> ir.Value:
        """A constant in the file; the same one for the same memory, and for small arrays that are equal."""
        kind = element_type(dtype)
        if array.size <= _SMALL:
            content = tuple(array.reshape(-1).tolist()) if array.dtype == object else array.tobytes()
            key: tuple[Any, ...] = (kind, array.shape, content)
            if key not in self._small:
                self._small[key] = self._stored_value(array, dtype, kind, wanted)
            return self._small[key]
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str, kind)
        if key not in self._large:  # which holds the array, so that its memory is no other's
            self._large[key] = (array, self._stored_value(array, dtype, kind, wanted))
        return self._large[key][1]

    def take_constants(self) -> dict[str, ir.Value]:
        """The constants, which from now on are the caller's: what it drops of them is gone."""
        taken = dict(self.constants)
        for held in (self.constants, self.kept, self._small, self._large):
            held.clear()
        return taken

    def _stored_value(self, array: Array, dtype: DType, kind: ir.DataType, wanted: str) -> ir.Value:
        repeated = repeated_bytes(array)
        if repeated and not self.limits.may_spread(repeated):
            raise TooLargeError(
                f'the constant "{wanted}" has few elements in many places: {repeated:,} bytes of the file would only '
                "repeat others. Cut the graph behind it (inputs=; --inputs)"
            )
        name = self.new_name(wanted)
        if dtype is STRING:
            tensor: ir.TensorProtocol = ir.StringTensor(
                [bytes(item) for item in array.reshape(-1).tolist()], shape=ir.Shape(array.shape), name=name
            )
        else:
            plain = array
            if dtype.is_complex:
                plain = np.ascontiguousarray(array).view(_pair_of(array.dtype)).reshape(*array.shape, 2)
            tensor = ir.Tensor(np.ascontiguousarray(plain).reshape(plain.shape), kind, name=name)
        value = ir.Value(name=name, shape=ir.Shape(tensor.shape.numpy()), type=ir.TensorType(kind), const_value=tensor)
        self.constants[name] = value
        return value


def _pair_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32 if dtype == np.complex64 else np.float64)


class OnnxGraph:
    """A graph that is being written: the model's own, or one that a node has for a branch or a loop's body."""

    def __init__(self, model: OnnxModel, translator: Translator) -> None:
        self.model = model
        self.translator = translator
        self.nodes: list[ir.Node] = []
        self.operation: Operation | None = None
        """The operation that is being translated."""
        self.is_inner = False
        """Whether it is a branch's or a loop's body, which may not be run, or run often."""
        self.scope = ""
        """What the names of the operation's values begin with: the calls of functions that it is in."""
        self.depth = 0
        """How many other graphs it is in."""

    def inner(self) -> OnnxGraph:
        """A new graph for a node to have, which may use all values of this one."""
        if self.depth >= _DEEPEST:
            self.refuse(f"branches and loops are more than {_DEEPEST} deep in each other, which no program would read")
        made = OnnxGraph(self.model, self.translator)
        made.operation, made.scope = self.operation, self.scope
        made.is_inner, made.depth = True, self.depth + 1
        return made

    @property
    def opset(self) -> int:
        return self.model.opset

    def refuse(self, reason: str) -> NoReturn:
        """Says that the operation cannot be translated, and why."""
        raise CannotTranslateError(reason)

    def require_opset(self, wanted: int, what: str) -> None:
        """Refuses unless the file's version of ONNX has something."""
        if self.opset < wanted:
            self.refuse(f"{what} needs opset {wanted}, and {self.opset} is asked for")

    def require_listed(self, count: int) -> None:
        """Refuses the operation if a rule would write that many computed numbers (places, waves, weights) into the
        file.
        """
        if count > _MOST_LISTED:
            self.refuse(f"its sizes are such that {count:,} numbers would have to be in the file")

    def require_at_most_opset(self, newest: int, what: str) -> None:
        """Refuses unless the file's version of ONNX still has something that ONNX Runtime runs."""
        if self.opset > newest:
            error = CannotTranslateError(f"{what} by opsets after {newest}; ask for opset {newest}")
            error.newest_opset = newest
            raise error

    # ---------------------------------------------------------------------------------------------------- nodes

    def node(
        self,
        op_type: str,
        *inputs: Input,
        dtype: DType | None = None,
        dims: Dims | None = None,
        domain: str = "",
        attrs: Mapping[str, AttrValue | None] | None = None,
        **more: AttrValue | None,
    ) -> Term:
        """Adds a node with one output, and gives that. Its type is the first input's unless `dtype` says another.

        Attributes are keywords; those that are None are left out, and those called as a parameter go into `attrs`.
        """
        found = self.node_with_outputs(op_type, inputs, 1, [dtype], [dims], domain, {**(attrs or {}), **more})
        return found[0]

    def node_with_outputs(
        self,
        op_type: str,
        inputs: Sequence[Input],
        count: int,
        dtypes: Sequence[DType | None] = (),
        dims: Sequence[Dims | None] = (),
        domain: str = "",
        attrs: Mapping[str, AttrValue | None] | None = None,
    ) -> tuple[Term, ...]:
        """Adds a node with several outputs, and gives them. Types that are not said are the first input's."""
        self.model.limits.count_operation()
        terms = [item if item is None or isinstance(item, Term) else self.constant(item) for item in inputs]
        usual = next((term.dtype for term in terms if term is not None), None)
        base = self.own_name(op_type)
        self._check_types(op_type, domain, terms)
        made: list[Term] = []
        for number in range(count):
            dtype = (dtypes[number] if number < len(dtypes) else None) or usual
            assert dtype is not None, f"{op_type} has no input to take its type from"
            term = Term(dtype.base_dtype, dims[number] if number < len(dims) else None)
            term.value = ir.Value(name=self.model.new_name(base), type=_type_of(term), shape=shape_in_file(term))
            made.append(term)
        node = ir.Node(
            domain,
            op_type,
            [None if term is None else self.value(term) for term in terms],
            [_attr(name, value) for name, value in (attrs or {}).items() if value is not None],
            outputs=[term.value for term in made if term.value is not None],
            name=self.model.new_name(f"{base}/node"),
        )
        self.model.domains.add(domain)
        self.nodes.append(node)
        return tuple(made)

    def _check_types(self, op_type: str, domain: str, terms: Sequence[Term | None]) -> None:
        """Refuses inputs of types that the file's version of the operator does not take."""
        if domain:
            return
        taken = _types_of_inputs(op_type, self.opset)
        if not taken:
            self.refuse(f"{op_type} is not in opset {self.opset} of ONNX")
        for number, term in enumerate(terms):
            types = taken[min(number, len(taken) - 1)]
            if term is not None and term.held is None and (kind := _type_name(term.dtype)) not in types:
                self.refuse(f"{op_type} of ONNX takes no {kind[7:-1]} in opset {self.opset}")

    def takes(self, op_type: str, dtype: DType, position: int = 0) -> bool:
        """Whether an operator takes values of a type in the file's version of ONNX."""
        taken = _types_of_inputs(op_type, self.opset)
        return bool(taken) and _type_name(dtype) in taken[min(position, len(taken) - 1)]

    def own_name(self, what: str) -> str:
        """A name for something that the present operation becomes."""
        return f"{self.scope}{self.operation.name}/{what}" if self.operation is not None else f"{self.scope}{what}"

    def value(self, term: Term) -> ir.Value:
        """The value in the file that a term stands for; a constant becomes one now."""
        if term.value is None:
            if term.array is None:
                self.refuse("it takes something that is no tensor: a resource or a list of tensors")
            term.value = self.model.constant(term.array, term.dtype, term.name or self.own_name("constant"))
        return term.value

    def constant(self, value: object, dtype: DType | None = None) -> Term:
        """A known value: an array, a number or a list. Integers are int64 unless it is said otherwise."""
        if dtype is None and not isinstance(value, np.ndarray | np.generic):
            array = np.asarray(value)
            dtype = INT64 if array.dtype.kind in "iu" or not array.size else BOOL if array.dtype.kind == "b" else None
        if dtype is None:
            array = np.asarray(value)
            return constant_term(array, dtype_of_array(array.dtype))
        return constant_term(np.asarray(value, dtype.array_dtype), dtype)

    def repeated(self, array: Array, dtype: DType) -> Term:
        """An array of equal elements, as a node at the start of the graph that repeats one: the file holds only that
        one.
        """
        if dtype.is_complex or dtype.is_object or _type_name(dtype) not in _types_filled(self.opset):
            self.refuse(f"its {array.size:,} equal elements of {dtype.name} would have to be in the file one by one")
        made = OnnxGraph(self.model, self.translator)
        made.operation, made.scope = self.operation, self.scope
        sizes, element = np.array(array.shape, np.int64), array[(0,) * array.ndim].reshape(1)
        found = made.node("ConstantOfShape", sizes, dtype=dtype, dims=array.shape, value=element)
        self.model.first_nodes += made.nodes
        return found

    def like(self, term: Term, value: float) -> Term:
        """A number as a scalar of the type of another value."""
        return self.constant(value, term.dtype)

    def input(self, dtype: DType, dims: Dims | None, wanted: str) -> Term:
        """A value that the graph is given: an input of the model, or of a loop's body."""
        term = Term(dtype.base_dtype, dims)
        term.value = ir.Value(name=self.model.new_name(wanted), type=_type_of(term), shape=shape_in_file(term))
        return term

    def finished(self, inputs: Sequence[Term], outputs: Sequence[Term], name: str) -> ir.Graph:
        """The finished graph. An output that is no node's own, or is there twice, is passed through an Identity."""
        values: list[ir.Value] = []
        own = {id(value) for node in self.nodes for value in node.outputs}
        for term in outputs:
            value = self.value(term)
            if id(value) not in own or any(value is other for other in values):
                value = self.value(self.node("Identity", term, dims=term.dims))
            values.append(value)
        return ir.Graph(
            [self.value(term) for term in inputs], values, nodes=self.nodes, name=name or "graph",
        )  # fmt: skip

    # ------------------------------------------------------------------------------------- what many rules share

    def cast(self, term: Term, dtype: DType) -> Term:
        """The value as another type, cut off or wrapped as ONNX does it."""
        if term.dtype is dtype:
            return term
        if term.array is not None and not (term.dtype.is_object or dtype.is_object):
            with np.errstate(all="ignore"):
                return constant_term(term.array.astype(dtype.array_dtype), dtype, term.name)
        found = self.node("Cast", term, dtype=dtype, dims=term.dims, to=int(element_type(dtype)))
        found.sizes = term.sizes if dtype.is_integer else None
        return found

    def transpose(self, term: Term, order: Sequence[int]) -> Term:
        """The value with its axes in another order: axis i of the result is axis `order[i]`."""
        if list(order) == list(range(len(order))):
            return term
        if term.array is not None:
            return constant_term(term.array.transpose(order), term.dtype, term.name)
        dims = None if term.dims is None else tuple(term.dims[axis] for axis in order)
        pair = [len(order)] if term.is_complex else []
        return self.node("Transpose", term, dims=dims, perm=[*order, *pair])

    def reshape(self, term: Term, dims: Sequence[int] | Term) -> Term:
        """The value with other axes: known sizes (-1 for one that follows, 0 for one that stays), or computed ones."""
        pair = [2] if term.is_complex else []
        if isinstance(dims, Term):
            sizes = self.cast(dims, INT64)
            return self.node("Reshape", term, self.concat([sizes, self.constant(pair)], 0) if pair else sizes)
        if term.array is not None and 0 not in dims:
            return constant_term(term.array.reshape(tuple(dims)), term.dtype, term.name)
        known = tuple(None if size < 1 else size for size in dims)
        return self.node("Reshape", term, self.constant(np.array([*dims, *pair], np.int64)), dims=known)

    def squeeze(self, term: Term, axes: Sequence[int]) -> Term:
        """The value without some axes, which are of size 1."""
        if not axes:
            return term
        if term.array is not None:
            return constant_term(term.array.squeeze(tuple(axes)), term.dtype, term.name)
        dims: Dims | None = None
        if term.dims is not None:
            gone = {axis % len(term.dims) for axis in axes}
            axes = sorted(gone)
            dims = tuple(size for axis, size in enumerate(term.dims) if axis not in gone)
        return self.node("Squeeze", term, self.constant(list(axes)), dims=dims)

    def unsqueeze(self, term: Term, axes: Sequence[int]) -> Term:
        """The value with new axes of size 1, which are those `axes` of the result."""
        if not axes:
            return term
        if term.array is not None:
            return constant_term(np.expand_dims(term.array, tuple(axes)), term.dtype, term.name)
        dims: Dims | None = None
        if term.dims is not None:
            rank = len(term.dims) + len(axes)
            new, old = {axis % rank for axis in axes}, iter(term.dims)
            axes = sorted(new)
            dims = tuple(1 if axis in new else next(old) for axis in range(rank))
        return self.node("Unsqueeze", term, self.constant(list(axes)), dims=dims)

    def shape(self, term: Term, start: int | None = None, end: int | None = None) -> Term:
        """The sizes of a value's axes as a vector of int64, or those of some of them."""
        if term.dims is not None and None not in term.dims[start:end]:
            return self.constant(np.array(term.dims[start:end], np.int64))
        rank = None if term.dims is None else len(term.dims[start:end])
        if term.is_complex:  # the axis of the pairs is none
            start, end, _ = slice(start, end).indices(self.known_rank(term))
        if self.opset >= 15 or (start is None and end is None):
            bounds = {"start": start, "end": end} if self.opset >= 15 else {}
            found = self.node("Shape", term, dtype=INT64, dims=(rank,), attrs=bounds)
        else:
            whole = self.node("Shape", term, dtype=INT64)
            found = self.slice(whole, [start or 0], [np.iinfo(np.int64).max if end is None else end], [0])
        if term.dims is not None:
            axes = range(len(term.dims))[start:end]
            found.sizes = tuple(axis_size(term, axis) for axis in axes)
        return found

    def slice(
        self, term: Term, starts: Input | Sequence[int], ends: Input | Sequence[int],
        axes: Sequence[int], steps: Sequence[int] | None = None,
    ) -> Term:  # fmt: skip
        """Part of a value along some axes."""
        bounds = [item if isinstance(item, Term | np.ndarray) else self.constant(list(item or ()))
                  for item in (starts, ends)]  # fmt: skip
        step = None if steps is None else self.constant(list(steps))
        return self.node("Slice", term, *bounds, self.constant(list(axes)), step)

    def concat(self, terms: Sequence[Term], axis: int) -> Term:
        """Values one after the other along an axis."""
        return terms[0] if len(terms) == 1 else self.node("Concat", *terms, axis=axis)

    def reduce(self, op_type: str, term: Term, axes: Sequence[int] | Term | None, keepdims: bool = False) -> Term:
        """ReduceSum, ReduceMean and the like over some axes; over all if `axes` is None, over none if it is empty.

        Axes are counted from the front where that is known: ONNX Runtime 1.31 keeps one that is counted from the end,
        with its size, where there is nothing in a tensor.
        """
        kept = int(keepdims)
        as_input = op_type == "ReduceSum" or self.opset >= 18
        if axes is None:
            return self.node(op_type, term, dims=reduced_dims(term.dims, None, keepdims), keepdims=kept)
        if isinstance(axes, Term) and axes.array is not None:
            axes = [int(axis) for axis in axes.array.reshape(-1)]
        if isinstance(axes, Term):
            if not as_input:
                self.refuse(f"axes of {op_type} that are computed need opset 18, and {self.opset} is asked for")
            chosen = self.cast(axes if axes.rank == 1 else self.reshape(axes, [-1]), INT64)
            count = 1 if axes.rank == 0 else axes.size(0)
            dims: Dims | None
            if term.dims is None or not (keepdims or count is not None):
                dims = None
            else:
                dims = (None,) * (len(term.dims) - (0 if keepdims else count or 0))
            return self.node(op_type, term, chosen, dims=dims, keepdims=kept, noop_with_empty_axes=1)
        if not axes:  # none at all: ONNX would take all
            return term
        if term.dims is not None:
            axes = [axis % len(term.dims) for axis in axes]
        dims = reduced_dims(term.dims, axes, keepdims)
        if not as_input:
            return self.node(op_type, term, dims=dims, keepdims=kept, axes=list(axes))
        return self.node(op_type, term, self.constant(list(axes)), dims=dims, keepdims=kept)

    def split(self, term: Term, sizes: Sequence[int], axis: int) -> tuple[Term, ...]:
        """A value cut along an axis into parts of known sizes."""
        if len(sizes) == 1:
            return (term,)
        dims: list[Dims | None] = [None] * len(sizes)
        if term.dims is not None:
            at = axis % len(term.dims)
            dims = [(*term.dims[:at], size, *term.dims[at + 1 :]) for size in sizes]
        given = [term, self.constant(list(sizes))]
        return self.node_with_outputs("Split", given, len(sizes), dims=dims, attrs={"axis": axis})

    def channels_first(self, term: Term) -> Term:
        """A value whose channels are its last axis, with them as the second one, as ONNX wants images."""
        rank = self.known_rank(term)
        return self.transpose(term, [0, rank - 1, *range(1, rank - 1)])

    def channels_last(self, term: Term, rank: int) -> Term:
        """A value whose channels are its second axis, with them as the last one, as TensorFlow has images."""
        return self.transpose(term, [0, *range(2, rank), 1])

    def known_rank(self, term: Term) -> int:
        """How many axes a value has; refuses if that is not known."""
        if term.dims is None:
            self.refuse("it is not known how many axes its input has; tell its shape, by --shape")
        return len(term.dims)

    def known_array(self, term: Term, what: str) -> Array:
        """The value of a term that must be known before the model runs; refuses if it is not."""
        if term.array is None:
            self.refuse(f"{what} is computed while the model runs, and ONNX wants it in the file")
        return term.array


def reduced_dims(dims: Dims | None, axes: Sequence[int] | None, keepdims: bool) -> Dims | None:
    """The sizes that are left of a value that is reduced over some axes, or over all."""
    if dims is None:
        return None if keepdims or axes is not None else ()
    gone = range(len(dims)) if axes is None else {axis % len(dims) for axis in axes}
    if keepdims:
        return tuple(1 if axis in gone else size for axis, size in enumerate(dims))
    return tuple(size for axis, size in enumerate(dims) if axis not in gone)


@cache
def _types_of_inputs(op_type: str, opset: int) -> tuple[frozenset[str], ...]:
    """The types that each input of an operator may have, by ONNX's words; nothing if there is no such operator."""
    if not onnx.defs.has(op_type) or onnx.defs.get_schema(op_type).since_version == 0:
        return ()
    try:
        schema = onnx.defs.get_schema(op_type, opset)
    except onnx.defs.SchemaError:
        return ()
    constraints = {item.type_param_str: item.allowed_type_strs for item in schema.type_constraints}
    taken = tuple(frozenset(constraints.get(item.type_str, (item.type_str,))) for item in schema.inputs)
    return taken or (frozenset(),)


@cache
def _types_filled(opset: int) -> frozenset[str]:
    """The types of arrays that ONNX fills with one element, by its words."""
    schema = onnx.defs.get_schema("ConstantOfShape", opset)
    return frozenset(schema.type_constraints[1].allowed_type_strs)


@cache
def _type_name(dtype: DType) -> str:
    return f"tensor({element_type(dtype).name.lower()})"


def _type_of(term: Term) -> ir.TensorType:
    return ir.TensorType(element_type(term.dtype))


def _attr(name: str, value: AttrValue) -> ir.Attr:
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, ir.Graph):
        return ir.AttrGraph(name, value)
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, np.ndarray):
        return ir.AttrTensor(name, ir.Tensor(value))
    if isinstance(value, Iterable) and not isinstance(value, str) and not list(value):
        return ir.AttrInt64s(name, [])
    if type(value) is int:  # the most frequent ones, which need not be asked what they are
        return ir.AttrInt64(name, value)
    if type(value) is list and all(type(item) is int for item in value):
        return ir.AttrInt64s(name, value)
    return ir.convenience.convert_attribute(name, value)
