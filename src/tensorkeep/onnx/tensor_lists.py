"""Lists of tensors as ONNX has them: TensorFlow 2's lists, and the arrays of tensors of TensorFlow 1.

    Unset       so many elements, none of which has been set: they read as zeros
    Rows        one tensor whose first axis counts the elements, which are all of one shape
    Sequenced   an ONNX sequence, for elements whose shapes are not known
    Filling     inside a loop: a list that each round adds one element to, and that the loop has as a scan output

A list is a value: what changes it makes another. In a loop lists are first taken for `Filling`; what needs more of the
list than that raises `WholeListNeededError`, and the loop is written again with the whole list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, INT32, INT64, VARIANT, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.terms import Dims, Term, constant_term, element_type, shape_in_file
from tensorkeep.shapes import Shape

_MOST_ZEROS: Final = 1024  # elements of a constant of zeros; more are made while the model runs


class WrittenAgainError(Exception):
    """A loop's round has to be written again, in another way: whoever writes the loop sees to it."""


class UnevenElementsError(WrittenAgainError):
    """Elements that a loop fills a list with are put one after the other, and may be of different lengths."""

    def __init__(self, loop: str) -> None:
        super().__init__("elements of a list that a loop fills may be of different lengths")
        self.loop = loop


class WholeListNeededError(WrittenAgainError):
    """A list that a loop fills is used in another way than to add one element per round."""

    def __init__(self, filling: Filling) -> None:
        super().__init__("a list that a loop fills is used in another way")
        self.filling = filling


@dataclass(eq=False, slots=True)
class LoopLists:
    """What a loop's round asks of the lists that the loop fills."""

    lengths_asked: set[int] = field(default_factory=set)
    """The lists whose length is asked for, by their number."""


@dataclass(frozen=True, eq=False, slots=True)
class Unset:
    """Elements that read as zeros."""

    count: Term


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """Elements along the first axis of a tensor."""

    tensor: Term
    filled_by: str = ""
    """The loop that has them as a scan output, where it is not known whether they are all of one length."""


@dataclass(frozen=True, eq=False, slots=True)
class Sequenced:
    """Elements of an ONNX sequence."""

    sequence: Term


@dataclass(frozen=True, eq=False, slots=True)
class Filling:
    """A list that the loop `loop` carries as its variable number `slot`, and what this round has added to it."""

    loop: LoopLists
    slot: int
    start: HeldList
    item: Term | None = None
    index: Term | None = None
    """Where the element was set; None if it was added at the end."""
    grows: bool = False
    """Whether a list that is too short for the index becomes long enough."""


Form: TypeAlias = Unset | Rows | Sequenced | Filling


@dataclass(frozen=True, eq=False, slots=True)
class HeldList:
    """What a term of a list holds."""

    dtype: DType
    element: Dims | None
    """What is known of the elements' shape."""
    form: Form
    count: Term | None = None
    """How many elements there are, where the graph says so by a tensor of its own."""

    def with_form(self, form: Form) -> HeldList:
        """The list in another form, or with other elements, but as many as before."""
        return replace(self, form=form)


@dataclass(frozen=True, eq=False, slots=True)
class HeldSequence:
    """What a term holds whose value in the file is an ONNX sequence."""


A_SEQUENCE: Final = HeldSequence()


def list_term(held: HeldList, like: Term | None = None) -> Term:
    """A term that holds a list: a variant, or the flow of an array of TensorFlow 1."""
    return Term(VARIANT if like is None else like.dtype, (), held=held)


def held_list(to: OnnxGraph, term: Term) -> HeldList:
    """The list that a term holds."""
    if not isinstance(term.held, HeldList):
        to.refuse("its list of tensors is not known before the model runs")
    return term.held


# ------------------------------------------------------------------------------------------------------- shapes


def merged_dims(first: Dims | None, second: Dims | None) -> Dims | None:
    """What two statements about one shape say together; the second's where they contradict each other."""
    one, other = Shape(first), Shape(second)
    return one.merge(other).dims if one.is_compatible(other) else second


def common(first: Dims | None, second: Dims | None) -> Dims | None:
    """What is known of a shape that is the first or the second: the sizes in which they agree."""
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(a if a == b else None for a, b in zip(first, second, strict=True))


def told_dims(term: Term) -> Dims | None:
    """The shape that a tensor of sizes tells, as far as it is known before the model runs."""
    if term.array is not None:
        if term.array.ndim == 0:
            return None
        return tuple(None if size < 0 else int(size) for size in term.array)
    if term.sizes is not None and term.rank == 1:
        return tuple(size if isinstance(size, int) and size >= 0 else None for size in term.sizes)
    return None if term.dims is None or len(term.dims) != 1 or term.dims[0] is None else (None,) * term.dims[0]


def known_dims(dims: Dims | None) -> tuple[int, ...] | None:
    """The sizes, if all are known."""
    if dims is None or None in dims:
        return None
    return tuple(size for size in dims if size is not None)


def of_dims(term: Term, dims: Dims | None) -> Term:
    """A value that a node gives, now that its shape is known."""
    term.dims = dims
    if term.value is not None and dims is not None and term.array is None:
        term.value.shape = shape_in_file(term)
    return term


def _zero(dtype: DType) -> Array:
    return np.array(b"", object) if dtype.is_object else np.zeros((), dtype.array_dtype)


def zeros(to: OnnxGraph, count: Term, rest: Term | tuple[int, ...], dtype: DType) -> Term:
    """So many rows of zeros, of a shape that is known or computed."""
    if isinstance(rest, tuple):
        number = None if count.array is None else int(count.array.reshape(()))
        if number is not None and number * int(np.prod(rest)) <= _MOST_ZEROS:
            return constant_term(np.broadcast_to(_zero(dtype), (number, *rest)).copy(), dtype)
        dims: Dims | None = (number, *rest)
        rest = to.constant(np.array(rest, np.int64))
    else:
        dims = None
    lead = to.reshape(to.cast(count, INT64), [1])
    sizes = lead if dims is not None and len(dims) == 1 else to.node("Concat", lead, rest, axis=0)
    return to.node("Expand", constant_term(_zero(dtype), dtype), sizes, dims=dims)


# -------------------------------------------------------------------------------------------------------- forms


def length(to: OnnxGraph, held: HeldList) -> Term:
    """How many elements a list has, an int32."""
    form = held.form
    if isinstance(form, Unset):
        return to.cast(form.count, INT32)
    if isinstance(form, Sequenced):
        return to.cast(to.node("SequenceLength", form.sequence, dtype=INT64, dims=()), INT32)
    if isinstance(form, Filling):
        form.loop.lengths_asked.add(form.slot)
        return length(to, form.start)
    known = form.tensor.size(0)
    if known is not None:
        return to.constant(known, INT32)
    found = to.cast(to.squeeze(to.shape(form.tensor, 0, 1), [0]), INT32)
    return of_dims(found, ())


def as_rows(to: OnnxGraph, held: HeldList, told: Dims | None = None) -> Term:
    """All elements as one tensor."""
    form = held.form
    if isinstance(form, Rows):
        return form.tensor
    element = merged_dims(held.element, told)
    if isinstance(form, Unset):
        sizes = known_dims(element)
        if sizes is None:
            to.refuse("it reads a list none of whose elements has been set, and whose elements' shape is not known")
        return zeros(to, form.count, sizes, held.dtype)
    if isinstance(form, Sequenced):
        dims = None if element is None else (None, *element)
        return to.node("ConcatFromSequence", form.sequence, dtype=held.dtype, dims=dims, axis=0, new_axis=1)
    raise WholeListNeededError(form)


def as_sequence(to: OnnxGraph, held: HeldList) -> Term:
    """The elements as an ONNX sequence; those that have not been set are empty."""
    to.require_opset(14, "a list of tensors of different shapes")
    form = held.form
    if isinstance(form, Sequenced):
        return form.sequence
    if isinstance(form, Filling):
        raise WholeListNeededError(form)
    if isinstance(form, Unset):
        if form.count.array is not None and not int(form.count.array):
            return as_sequence_term(to.node("SequenceEmpty", dtype=held.dtype, attrs={"dtype": _number(held.dtype)}))
        rows = zeros(to, form.count, tuple(size or 0 for size in held.element or (0,)), held.dtype)
    else:
        rows = form.tensor
    return as_sequence_term(to.node("SplitToSequence", rows, dtype=held.dtype, axis=0, keepdims=0))


def as_sequence_term(term: Term) -> Term:
    """A term that a node gives as a sequence."""
    term.held, term.dims = A_SEQUENCE, None
    assert term.value is not None
    term.value.type = ir.SequenceType(ir.TensorType(element_type(term.dtype)))
    term.value.shape = None
    return term


def _number(dtype: DType) -> int:
    return int(element_type(dtype))


# ------------------------------------------------------------------------------------------------------ reading


def check_index(to: OnnxGraph, index: Term) -> None:
    """For the engine: notes indices that may be negative, which ONNX counts from the end. Loops know their counters."""
    if not to.model.is_for_engine:
        return
    if index.array is None:
        to.model.unproven_indices.append(to.value(index))
    elif (index.array < 0).any():
        to.refuse("an index into a list is negative")


def item_at(to: OnnxGraph, held: HeldList, index: Term, told: Dims | None = None) -> Term:
    """One element."""
    check_index(to, index)
    form, element = held.form, merged_dims(held.element, told)
    if isinstance(form, Filling):
        if form.item is not None and form.index is not None and form.index.value is index.value:
            return form.item
        raise WholeListNeededError(form)
    if isinstance(form, Rows):
        dims = None if form.tensor.dims is None else form.tensor.dims[1:]
        return to.node("Gather", form.tensor, index, dims=merged_dims(element, dims), axis=0)
    if isinstance(form, Sequenced):
        return to.node("SequenceAt", form.sequence, index, dtype=held.dtype, dims=element)
    sizes = known_dims(element)
    if sizes is None:
        to.refuse("it reads an element that has not been set, and whose shape is not known")
    return to.squeeze(zeros(to, to.constant(1), sizes, held.dtype), [0])


def items_at(to: OnnxGraph, held: HeldList, indices: Term, told: Dims | None = None) -> Term:
    """Several elements as one tensor. All of them, in their order, are the whole list."""
    rows = as_rows(to, held, told)
    if is_every_index(to, held, rows, indices):
        return rows
    check_index(to, indices)
    dims = None if rows.dims is None or indices.dims is None else (*indices.dims, *rows.dims[1:])
    return to.node("Gather", rows, indices, dims=dims, axis=0)


def is_every_index(to: OnnxGraph, held: HeldList, rows: Term, indices: Term) -> bool:
    """Whether indices are those of all elements, in their order: 0, 1, … as far as the list is told to be long."""
    if indices.array is not None:
        return rows.size(0) == indices.array.size and bool((indices.array == np.arange(indices.array.size)).all())
    source = None if indices.value is None else indices.value.producer()
    if source is None or source.op_type != "Range" or held.count is None:
        return False
    start, limit, step = source.inputs
    return is_number(start, 0) and is_number(step, 1) and same_value(limit, to.value(held.count))


def is_number(value: ir.Value | None, number: int) -> bool:
    """Whether a value of the file is known to be a number."""
    found = None if value is None else value.const_value
    return found is not None and found.size == 1 and bool(found.numpy().reshape(()) == number)


def same_value(first: ir.Value | None, second: ir.Value | None, depth: int = 8) -> bool:
    """Whether two values of the file are always equal: made by the same nodes of the same values."""
    if first is None or second is None or first is second:
        return first is second
    if first.const_value is not None and second.const_value is not None:
        one, other = first.const_value, second.const_value
        return one.size == other.size == 1 and bool(one.numpy().reshape(()) == other.numpy().reshape(()))
    one_node, other_node = first.producer(), second.producer()
    if one_node is None or other_node is None or not depth or one_node.op_type != other_node.op_type:
        return False
    if one_node is other_node or one_node.op_type not in COMPUTED_SIZES:
        return False
    attrs = [{name: attr.value for name, attr in node.attributes.items()} for node in (one_node, other_node)]
    return (
        first.index() == second.index()
        and attrs[0] == attrs[1]
        and len(one_node.inputs) == len(other_node.inputs)
        and all(same_value(a, b, depth - 1) for a, b in zip(one_node.inputs, other_node.inputs, strict=True))
    )


COMPUTED_SIZES: Final = frozenset(  # operators that graphs compute sizes with
    ("Shape", "Size", "Cast", "Gather", "Slice", "Squeeze", "Unsqueeze", "Reshape", "Identity", "Transpose", "Add",
     "Sub", "Mul", "Max", "Min", "ReduceMax", "ReduceMin", "Concat")
)  # fmt: skip


def joined_elements(to: OnnxGraph, held: HeldList, told: Dims | None) -> tuple[Term, Term]:
    """All elements one after the other along their first axis, and how long each is."""
    form = held.form
    if isinstance(form, Sequenced):
        element = merged_dims(held.element, told)
        dims = None if element is None else (None, *element[1:])
        whole = to.node("ConcatFromSequence", form.sequence, dtype=held.dtype, dims=dims, axis=0)
        return whole, _lengths(to, form.sequence)
    if isinstance(form, Rows) and form.filled_by:
        if to.model.is_for_engine:
            to.refuse("it is not known whether all elements of a list that a loop fills are of one length")
        raise UnevenElementsError(form.filled_by)
    rows = as_rows(to, held, told)
    rank = to.known_rank(rows)
    if rank < 2:
        to.refuse("elements without axes cannot be put one after the other")
    assert rows.dims is not None
    sizes = rows.dims[2:]
    if known_dims(sizes) is not None and rows.size(1) is not None:
        whole = to.reshape(rows, [-1, *(size for size in sizes if size is not None)])
    else:
        rest = to.shape(rows, 2)
        whole = to.reshape(rows, to.node("Concat", to.constant([-1]), rest, axis=0) if rank > 2 else to.constant([-1]))
        of_dims(whole, (None, *sizes))
    if rows.dims[0] is not None and rows.dims[1] is not None:
        return whole, to.constant(np.full(rows.dims[0], rows.dims[1], np.int64))
    return whole, to.node("Expand", to.shape(rows, 1, 2), to.shape(rows, 0, 1), dims=(rows.dims[0],))


def _lengths(to: OnnxGraph, sequence: Term) -> Term:
    """The first size of each element of a sequence: a loop over them."""
    inner = to.inner()
    number, going = inner.input(INT64, (), to.own_name("number")), inner.input(BOOL, (), to.own_name("going"))
    item = inner.node("SequenceAt", sequence, number, dtype=sequence.dtype)
    size = inner.squeeze(inner.slice(inner.node("Shape", item, dtype=INT64), [0], [1], [0]), [0])
    body = inner.finished([number, going], [going, size], "lengths")
    count = to.node("SequenceLength", sequence, dtype=INT64, dims=())
    return to.node("Loop", count, to.constant(np.bool_(True)), dtype=INT64, dims=(None,), body=body)


# ----------------------------------------------------------------------------------------------------- changing


def with_item(to: OnnxGraph, held: HeldList, index: Term, item: Term, *, grows: bool = False) -> HeldList:
    """The list with one element set. `grows`: a list that is too short becomes long enough."""
    form = held.form
    element = merged_dims(held.element, item.dims)
    if isinstance(form, Filling):
        if form.item is not None:
            raise WholeListNeededError(form)
        return replace(held, element=element, form=replace(form, item=item, index=index, grows=grows))
    check_index(to, index)
    if isinstance(form, Unset) and _is_only(form.count, index):
        return replace(held, element=element, form=Rows(to.unsqueeze(item, [0])))
    if isinstance(form, Sequenced):
        if grows:
            to.refuse("a list of tensors of unknown shapes is set beyond its end")
        shorter = as_sequence_term(to.node("SequenceErase", form.sequence, index, dtype=held.dtype))
        return held.with_form(Sequenced(as_sequence_term(to.node("SequenceInsert", shorter, item, index))))
    rows = _rows_for(to, replace(held, element=element), item)
    if grows:
        rows = _grown_rows(to, rows, to.node("Add", to.cast(index, INT64), to.constant(1)))
    place = to.reshape(to.cast(index, INT64), [1, 1])
    dims = None if rows.dims is None else (None if grows else rows.dims[0], *rows.dims[1:])
    made = Rows(to.node("ScatterND", rows, place, to.unsqueeze(item, [0]), dims=dims))
    return replace(held, element=element, form=made, count=None if grows else held.count)


def _is_only(count: Term, index: Term) -> bool:
    """Whether an index is that of a list's only element."""
    return bool(count.array is not None and index.array is not None and int(count.array) == 1 and not int(index.array))


def _rows_for(to: OnnxGraph, held: HeldList, item: Term) -> Term:
    """All elements as one tensor, where an element's shape can be had of an item that is one."""
    if isinstance(held.form, Unset) and known_dims(held.element) is None:
        return zeros(to, held.form.count, to.shape(item), held.dtype)
    return as_rows(to, held)


def _grown_rows(to: OnnxGraph, rows: Term, count: Term) -> Term:
    """Rows of zeros added, up to a number of them."""
    missing = to.node("Max", to.node("Sub", count, to.squeeze(to.shape(rows, 0, 1), [0])), to.constant(0), dims=())
    more = zeros(to, missing, to.shape(rows, 1), rows.dtype)
    dims = None if rows.dims is None else (None, *rows.dims[1:])
    return to.node("Concat", rows, more, dims=dims, axis=0)


def with_more(to: OnnxGraph, held: HeldList, item: Term) -> HeldList:
    """The list with one element more, at its end."""
    form = held.form
    element = merged_dims(held.element, item.dims)
    if isinstance(form, Filling):
        if form.item is not None:
            raise WholeListNeededError(form)
        return replace(held, element=element, form=replace(form, item=item, grows=True))
    if isinstance(form, Sequenced):
        longer = as_sequence_term(to.node("SequenceInsert", form.sequence, item))
        return replace(held, form=Sequenced(longer), count=None)
    row = to.unsqueeze(item, [0])
    if not (isinstance(form, Unset) and form.count.array is not None and not int(form.count.array)):
        rows = _rows_for(to, replace(held, element=element), item)
        known = rows.size(0)
        dims = None if element is None else (None if known is None else known + 1, *element)
        row = to.node("Concat", rows, row, dims=dims, axis=0)
    return replace(held, element=element, form=Rows(row), count=None)


def without_last(to: OnnxGraph, held: HeldList, told: Dims | None) -> tuple[HeldList, Term]:
    """The list without its last element, and that."""
    form = held.form
    if isinstance(form, Sequenced):
        last = to.node(
            "SequenceAt", form.sequence, to.constant(-1), dtype=held.dtype, dims=merged_dims(held.element, told)
        )
        shorter = as_sequence_term(to.node("SequenceErase", form.sequence, to.constant(-1), dtype=held.dtype))
        return replace(held, form=Sequenced(shorter), count=None), last
    if to.model.is_for_engine:
        to.refuse("whether the list has an element to take is not known")
    rows = as_rows(to, held, told)
    known = rows.size(0)
    dims = None if rows.dims is None else rows.dims[1:]
    last = to.node("Gather", rows, to.constant(-1), dims=dims, axis=0)
    rest = to.slice(rows, [0], [-1], [0])
    of_dims(rest, None if dims is None else (None if known is None else known - 1, *dims))
    return replace(held, form=Rows(rest), count=None), last


def resized_list(to: OnnxGraph, held: HeldList, size: Term) -> HeldList:
    """The list with so many elements: cut off, or longer by elements that have not been set."""
    form = held.form
    if isinstance(form, Unset):
        return replace(held, form=Unset(size), count=size)
    if isinstance(form, Sequenced):
        to.refuse("a list of tensors of unknown shapes is made longer or shorter")
    rows = as_rows(to, held)
    end = to.cast(size, INT64)
    made = to.slice(_grown_rows(to, rows, end), [0], to.reshape(end, [1]), [0])
    of_dims(made, None if rows.dims is None else (None, *rows.dims[1:]))
    return replace(held, form=Rows(made), count=size)


def with_rows(to: OnnxGraph, held: HeldList, indices: Term, rows: Term, *, grows: bool) -> HeldList:
    """The list with the rows of a tensor as the elements at some places."""
    element = merged_dims(held.element, None if rows.dims is None else rows.dims[1:])
    form = held.form
    if isinstance(form, Filling):
        raise WholeListNeededError(form)
    if isinstance(form, Unset) and fills_all(to, held, indices, rows, grows=grows):
        return replace(held, element=element, form=Rows(rows))
    if isinstance(form, Sequenced):
        to.refuse("rows of a tensor become elements of a list of tensors of unknown shapes")
    check_index(to, indices)
    if isinstance(form, Unset) and known_dims(element) is None:
        old = zeros(to, form.count, to.shape(rows, 1), held.dtype)
    else:
        old = as_rows(to, replace(held, element=element))
    if grows:
        last = to.reduce("ReduceMax", to.cast(indices, INT64), None)
        of_dims(last, ())
        old = _grown_rows(to, old, to.node("Add", last, to.constant(1)))
    places = to.unsqueeze(to.cast(indices, INT64), [1])
    dims = None if old.dims is None else (None if grows else old.dims[0], *old.dims[1:])
    made = Rows(to.node("ScatterND", old, places, rows, dims=dims))
    return replace(held, element=element, form=made, count=None if grows else held.count)


def fills_all(to: OnnxGraph, held: HeldList, indices: Term, rows: Term, *, grows: bool) -> bool:
    """Whether rows become all elements of a list, in their order: each step of a sequence, for a loop to read."""
    assert isinstance(held.form, Unset)
    count = held.form.count
    if indices.array is not None:
        in_order = bool((indices.array == np.arange(indices.array.size)).all())
        known = None if count.array is None else int(count.array)
        return in_order and (
            known == indices.array.size or (known is not None and grows and known <= indices.array.size)
        )
    source = None if indices.value is None else indices.value.producer()
    if source is None or source.op_type != "Range":
        return False
    start, limit, step = source.inputs
    if not (is_number(start, 0) and is_number(step, 1)):
        return False
    return same_value(limit, to.value(count)) or (grows and count.array is not None and not int(count.array))


def list_of_parts(to: OnnxGraph, tensor: Term, lengths: Term, held: HeldList) -> HeldList:
    """A tensor cut along its first axis into elements of some lengths."""
    rest = None if tensor.dims is None else tensor.dims[1:]
    sizes = None if lengths.array is None else [int(size) for size in lengths.array]
    if sizes and len(set(sizes)) == 1 and known_dims(rest) is not None:
        rows = to.reshape(tensor, [len(sizes), sizes[0], *(size for size in rest or () if size is not None)])
        return replace(held, element=(sizes[0], *(rest or ())), form=Rows(rows), count=None)
    to.require_opset(14, "a list of tensors of different shapes")
    parts = as_sequence_term(to.node("SplitToSequence", tensor, to.cast(lengths, INT64), axis=0))
    element = None if rest is None else (None, *rest)
    return replace(held, element=merged_dims(held.element, element), form=Sequenced(parts), count=None)


def chained_lists(to: OnnxGraph, first: HeldList, second: HeldList) -> HeldList:
    """The elements of one list, then those of another."""
    element = merged_dims(first.element, second.element)
    rows = [as_rows(to, replace(held, element=element)) for held in (first, second)]
    dims = None if element is None else (None, *element)
    return HeldList(first.dtype, element, Rows(to.node("Concat", *rows, dims=dims, axis=0)))


def told_list(dtype: DType, element: Dims | None, rows: Term) -> HeldList:
    """The list of the rows of a tensor."""
    return HeldList(dtype, merged_dims(element, None if rows.dims is None else rows.dims[1:]), Rows(rows))


def common_form(held: Sequence[HeldList]) -> type[Rows] | type[Sequenced]:
    """The form in which lists can be one value of the file: rows if their elements are known to be of one shape."""
    if any(isinstance(item.form, Sequenced) for item in held):
        return Sequenced
    if any(isinstance(item.form, Unset) and known_dims(item.element) is None for item in held):
        return Sequenced
    return Rows
