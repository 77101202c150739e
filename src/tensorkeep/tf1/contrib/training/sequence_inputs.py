"""What sequences and states are given as, checked: names, types, shapes and lengths.

What is refused, and when, is what `tf.contrib.training.SequenceQueueingStateSaver` of TensorFlow 1.15 refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tensorkeep.dtypes import INT32, STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, fill, identity
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal, floormod, less_equal, logical_and, not_equal
from tensorkeep.tf1.functions.parsing.strings import as_string, string_join

Named = Mapping[str, TensorLike]


@dataclass(frozen=True)
class Example:
    """One example: its key and length, and by name its sequences, its context and the states that it begins with."""

    key: Tensor
    length: Tensor
    padded_length: Tensor
    sequences: dict[str, Tensor]
    context: dict[str, Tensor]
    states: dict[str, Tensor]


def checked_example(
    key: TensorLike, length: TensorLike, sequences: Named, context: Named, states: Named, num_unroll: int
) -> Example:
    """An example whose sequences have one length, a multiple of `num_unroll`; each of the dictionaries by name."""
    if length is None:
        raise InvalidArgumentError("input_length is None: give it, or have it found by pad=True")
    given = {"sequence": sequences, "context": context, "state": states}
    by_name = {what: _by_name(what, items) for what, items in given.items()}
    if not sequences:
        raise InvalidArgumentError("must have at least one sequence tensor")
    if not states:
        raise InvalidArgumentError(
            "initial_states may not be empty: at least one state is needed, by which the segments of a sequence follow "
            "each other"
        )
    for what, found in by_name.items():
        for name, tensor in found.items():
            _check_known(what, name, tensor)
    _check_known_lengths(by_name["sequence"], num_unroll)
    padded = next(iter(by_name["sequence"].values()))
    padded_length = _multiple_of(identity(shape_of(padded)[0], name="padded_length"), num_unroll, "padded_length")
    return Example(
        _scalar(key, "key", STRING),
        _at_most(_scalar(length, "length", INT32), padded_length),
        padded_length,
        _of_one_length(by_name["sequence"], padded_length),
        by_name["context"],
        by_name["state"],
    )


def _by_name(what: str, given: Named) -> dict[str, Tensor]:
    """The tensors in the order of their names, which is that of their components."""
    if not isinstance(given, Mapping):
        raise WrongTypeError(f"{what}s must be given as a dict by name, got {type(given).__name__}")
    for name in given:
        if not isinstance(name, str):
            raise WrongTypeError(f"{what} key must be string: {name!r}")
        if ":" in name:
            raise InvalidArgumentError(f"{what} key may not have a colon: '{name}'")
    return {name: convert(given[name], name=f"{what}_{name}") for name in sorted(given)}


def _check_known(what: str, name: str, tensor: Tensor) -> None:
    """All sizes but the length of a sequence have to be known while the graph is built."""
    dims = tensor.static_shape.dims
    if what == "sequence" and dims == ():
        raise InvalidArgumentError(f'sequence "{name}" is a scalar; its first dimension has to be time')
    looked_at = dims if what != "sequence" or dims is None else dims[1:]
    if looked_at is None or None in looked_at:
        but = " (ignoring first dimension)" if what == "sequence" else ""
        raise InvalidArgumentError(f"Shape for {what} {name} is not fully defined{but}: {tensor.static_shape}")


def _check_known_lengths(sequences: dict[str, Tensor], num_unroll: int) -> None:
    """Refuses lengths that are known while the graph is built, and wrong. Others are looked at in each run."""
    known = {name: dims[0] for name, item in sequences.items() if (dims := item.static_shape.dims) and dims[0]}
    for name, length in known.items():
        if length % num_unroll:
            raise InvalidArgumentError(
                f"sequence {name} should be a multiple of: {num_unroll}, but saw value: {length}. Consider setting "
                f"pad=True."
            )
    if len(set(known.values())) > 1:
        raise InvalidArgumentError(f"All sequence lengths must match, but received lengths: {known}")


def _scalar(given: TensorLike, what: str, dtype: Any) -> Tensor:
    tensor = convert(given, name=what)
    if tensor.dtype != dtype:
        raise WrongTypeError(f"{what} dtype must be {dtype}, but received: {tensor.dtype}")
    if tensor.static_shape.rank not in (None, 0):
        raise InvalidArgumentError(f"{what} must be a scalar, but has shape {tensor.static_shape}")
    tensor = identity(tensor)
    tensor.set_shape(())
    return tensor


def _multiple_of(length: Tensor, multiple: int, what: str) -> Tensor:
    fits = logical_and(equal(floormod(length, multiple), 0), not_equal(length, 0))
    message = [f"{what} should be a multiple of: {multiple}, but saw value: ", as_string(length)]
    with control_dependencies([Assert(fits, [string_join([*message, ". Consider setting pad=True."])])]):
        return identity(length, name="multiple_of_checked")


def _at_most(length: Tensor, padded_length: Tensor) -> Tensor:
    said = ["Input length should be <= than length from sequences:", length, " vs. ", padded_length]
    with control_dependencies([Assert(less_equal(length, padded_length), said)]):
        return identity(length)


def _of_one_length(sequences: dict[str, Tensor], length: Tensor) -> dict[str, Tensor]:
    checked = {}
    for name, tensor in sequences.items():
        found = shape_of(tensor)[0]
        said = [f"Dimension 0 of sequence {name} should be: ", as_string(length), ", received: ", as_string(found)]
        with control_dependencies([Assert(equal(length, found), [string_join(said)])]):
            checked[name] = identity(tensor, name=f"dims_checked_{name}")
    return checked


# ---------------------------------------------------------------------------------------------------- Padding


def padded_sequences(
    sequences: Mapping[str, TensorLike | SparseTensor], num_unroll: int
) -> tuple[Tensor, dict[str, Tensor | SparseTensor]]:
    """The length that all sequences have, and the sequences filled up to a multiple of `num_unroll` with zeros.

    Strings are filled up with empty ones, sparse sequences with steps that hold nothing.
    """
    if not isinstance(num_unroll, int):
        raise InvalidArgumentError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if not isinstance(sequences, Mapping):
        raise WrongTypeError(f"Unsupported sequences expected dict, got: {type(sequences).__name__}")
    if not sequences:
        raise InvalidArgumentError("must have at least one sequence tensor")
    kept = {name: item if isinstance(item, SparseTensor) else convert(item) for name, item in sequences.items()}
    lengths = {name: _length_of(item) for name, item in kept.items()}
    length = next(iter(lengths.values()))
    same = [
        Assert(equal(length, other), ["All sequence lengths must match, but received lengths: ", length, other])
        for other in lengths.values()
    ]
    with control_dependencies(same):
        length = identity(length)
    missing = floormod(num_unroll - floormod(length, num_unroll), num_unroll)
    return length, {name: _filled_up(item, missing) for name, item in kept.items()}


def _length_of(item: Tensor | SparseTensor) -> Tensor:
    return cast(item.dense_shape[0], INT32) if isinstance(item, SparseTensor) else shape_of(item)[0]


def _filled_up(item: Tensor | SparseTensor, missing: Tensor) -> Tensor | SparseTensor:
    if isinstance(item, SparseTensor):
        longer = item.dense_shape[:1] + cast(missing, item.dense_shape.dtype)
        return SparseTensor(item.indices, item.values, concat([longer, item.dense_shape[1:]], 0))
    nothing = constant("" if item.dtype == STRING else 0, dtype=item.dtype)
    return concat([item, fill(concat([[missing], shape_of(item)[1:]], 0), nothing)], 0)
