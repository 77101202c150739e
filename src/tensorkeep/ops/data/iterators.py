"""Iterators: where a session stands in a dataset, from run to run; and elements that may be missing.

string handle = "tensorkeep iterator" NUL container NUL name
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

import numpy as np

from tensorkeep.checkpoint.sources import Variant
from tensorkeep.dtypes import DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, OutOfRangeError
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.data._dataset_ops import KINDS, told_shapes
from tensorkeep.ops.data._iterator_values import IteratorResource, OptionalValue
from tensorkeep.ops.data.passes.basics import dataset_of
from tensorkeep.ops.data.passes.states import decoded_state, encoded_state
from tensorkeep.ops.shared.kernel_types import Array, Handle, string_array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import LOG, KernelContext
from tensorkeep.shapes import Shape

_HANDLE: Final = b"tensorkeep iterator"
_WARN, _FAIL = 0, 2  # what is done about state that cannot be saved, as TensorFlow counts; 1 is nothing
_OPTIONAL: Final = "OPTIONAL[FOR_EACH[PRODUCT, TENSOR[${0}], ${0}]]"


def _iterator_of(value: Any) -> IteratorResource:
    if not isinstance(value, IteratorResource):
        raise InvalidArgumentError(f"expected an iterator, got a {type(value).__name__}")
    return value


# -------------------------------------------------------------------------------------------------------------- Making


def _maker(name: str) -> OpSpec:
    made = op(f"{name}() -> handle: resource", "shared_name: string", "container: string", *KINDS, "stateful")
    made.shape(lambda: SCALAR)

    @made.stateful_kernel
    def iterator_kernel(
        ctx: KernelContext,
        *,
        shared_name: bytes,
        container: bytes,
        output_types: Sequence[DType],
        output_shapes: Sequence[Shape],
    ) -> IteratorResource:
        return _shared_iterator(ctx, shared_name, container, output_types, output_shapes)

    return made


def _shared_iterator(
    ctx: KernelContext, shared_name: bytes, container: bytes, dtypes: Sequence[DType], shapes: Sequence[Shape]
) -> IteratorResource:
    place = container.decode()
    return ctx.shared(
        container, shared_name, IteratorResource, lambda name: IteratorResource(place, name, dtypes, shapes)
    )


iterator = _maker("Iterator")
iterator_v2 = _maker("IteratorV2")

one_shot_iterator = op(
    "OneShotIterator() -> handle: resource",
    "dataset_factory: func",
    *KINDS,
    "container: string = ''",
    "shared_name: string = ''",
    "stateful",
)
one_shot_iterator.shape(lambda: SCALAR)


@one_shot_iterator.stateful_kernel
def one_shot_iterator_kernel(
    ctx: KernelContext,
    *,
    dataset_factory: FunctionRef,
    shared_name: bytes,
    container: bytes,
    output_types: Sequence[DType],
    output_shapes: Sequence[Shape],
) -> IteratorResource:
    found = _shared_iterator(ctx, shared_name, container, output_types, output_shapes)
    with ctx.keep("lock", Lock):
        if not found.is_initialized:
            found.initialize(dataset_of(ctx.function(dataset_factory)()[0]))
    return found


def _anonymous(name: str, outputs: str, has_deleter: bool) -> OpSpec:
    made = op(f"{name}() -> {outputs}", *KINDS, "stateful")
    made.shape(lambda: (SCALAR, SCALAR) if has_deleter else SCALAR)

    @made.kernel
    def anonymous_iterator_kernel(*, output_types: Sequence[DType], output_shapes: Sequence[Shape]) -> Any:
        found = IteratorResource("", "anonymous", output_types, output_shapes)
        return (found, OptionalValue(None)) if has_deleter else found

    return made


anonymous_iterator = _anonymous("AnonymousIterator", "handle: resource", False)
anonymous_iterator_v2 = _anonymous("AnonymousIteratorV2", "handle: resource, deleter: variant", True)
anonymous_iterator_v3 = _anonymous("AnonymousIteratorV3", "handle: resource", False)

delete_iterator = op("DeleteIterator(handle: resource, deleter: variant)", "stateful")
delete_iterator.shape(lambda *_: ())


@delete_iterator.kernel
def delete_iterator_kernel(handle: Handle, deleter: Handle) -> tuple[()]:
    _iterator_of(handle).cancel()
    return ()


make_iterator = op("MakeIterator(dataset: variant, iterator: resource)", "stateful")
make_iterator.shape(lambda *_: ())


@make_iterator.kernel
def make_iterator_kernel(dataset: Handle, iterator: Handle) -> tuple[()]:
    _iterator_of(iterator).initialize(dataset_of(dataset))
    return ()


# ------------------------------------------------------------------------------------------------------------- Elements


def _next(name: str) -> OpSpec:
    made = op(f"{name}(iterator: resource) -> components: output_types", *KINDS, "stateful")
    made.shape(told_shapes)

    @made.kernel
    def iterator_get_next_kernel(iterator: Handle) -> list[Any]:
        return list(_iterator_of(iterator).next())

    return made


iterator_get_next = _next("IteratorGetNext")
iterator_get_next_sync = _next("IteratorGetNextSync")

iterator_get_next_as_optional = op(
    f"IteratorGetNextAsOptional(iterator: resource) -> optional: variant :: {_OPTIONAL.format('output_types')}",
    *KINDS,
    "stateful",
)
iterator_get_next_as_optional.shape(lambda _: SCALAR)


@iterator_get_next_as_optional.kernel
def iterator_get_next_as_optional_kernel(iterator: Handle) -> OptionalValue:
    try:
        return OptionalValue(_iterator_of(iterator).next())
    except OutOfRangeError:
        return OptionalValue(None)


optional_from_value = op(
    f"OptionalFromValue(components: Toutput_types) -> optional: variant :: {_OPTIONAL.format('Toutput_types')}",
    "Toutput_types: list(type) >= 1",
)
optional_from_value.shape(lambda _: SCALAR)


@optional_from_value.kernel
def optional_from_value_kernel(components: list[Array]) -> OptionalValue:
    return OptionalValue(components)


optional_none = op("OptionalNone() -> optional: variant")
optional_none.shape(lambda: SCALAR)


@optional_none.kernel
def optional_none_kernel() -> OptionalValue:
    return OptionalValue(None)


optional_has_value = op("OptionalHasValue(optional: variant) -> has_value: bool")
optional_has_value.shape(lambda _: SCALAR)


@optional_has_value.kernel
def optional_has_value_kernel(optional: Handle) -> Array:
    return np.array(_optional_of(optional).components is not None)


optional_get_value = op("OptionalGetValue(optional: variant) -> components: output_types", *KINDS)
optional_get_value.shape(told_shapes)


@optional_get_value.kernel
def optional_get_value_kernel(optional: Handle) -> list[Any]:
    components = _optional_of(optional).components
    if components is None:
        raise InvalidArgumentError("The given optional does not have a value.")
    return list(components)


def _optional_of(value: Any) -> OptionalValue:
    found = value.item() if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1 else value
    if not isinstance(found, OptionalValue):
        raise InvalidArgumentError(f"expected an optional, got a {type(found).__name__}")
    return found


# -------------------------------------------------------------------------------------------------------------- Handles

iterator_to_string_handle = op("IteratorToStringHandle(resource_handle: resource) -> string_handle: string", "stateful")
iterator_to_string_handle.shape(lambda _: SCALAR)


@iterator_to_string_handle.kernel
def iterator_to_string_handle_kernel(resource_handle: Handle) -> Array:
    found = _iterator_of(resource_handle)
    return string_array([b"\0".join((_HANDLE, found.container.encode(), found.name.encode()))], ())


def _from_string_handle(name: str) -> OpSpec:
    made = op(
        f"{name}(string_handle: string) -> resource_handle: resource",
        "output_types: list(type) >= 0 = []",
        "output_shapes: list(shape) >= 0 = []",
        "stateful",
    )
    made.shape(lambda _: SCALAR)
    made.stateful_kernel(iterator_from_string_handle_kernel)
    return made


def iterator_from_string_handle_kernel(
    ctx: KernelContext, string_handle: Array, *, output_types: Sequence[DType], output_shapes: Sequence[Shape]
) -> IteratorResource:
    if np.ndim(string_handle):
        raise InvalidArgumentError("string_handle must be a scalar")
    parts = bytes(np.asarray(string_handle).item()).split(b"\0")
    if len(parts) != 3 or parts[0] != _HANDLE:
        raise InvalidArgumentError(
            "Could not parse string_handle as a valid ResourceHandle: it must be what the string_handle() of an "
            "iterator gave in this session"
        )
    found = ctx.resources.find(parts[1].decode(), parts[2].decode())
    if not isinstance(found, IteratorResource):
        raise NotFoundError(f'there is no iterator "{parts[2].decode()}" in this session')
    _check_kinds(found, output_types, output_shapes)
    return found


def _check_kinds(found: IteratorResource, dtypes: Sequence[DType], shapes: Sequence[Shape]) -> None:
    if dtypes and tuple(dtypes) != found.dtypes:
        raise InvalidArgumentError(
            f"Data type mismatch: expected {', '.join(map(str, dtypes))} but got {', '.join(map(str, found.dtypes))}."
        )
    for wanted, own in zip(shapes, found.shapes, strict=False):
        if not wanted.is_compatible(own):
            raise InvalidArgumentError(f"Incompatible shapes: expected {wanted} but got {own}.")


iterator_from_string_handle = _from_string_handle("IteratorFromStringHandle")
iterator_from_string_handle_v2 = _from_string_handle("IteratorFromStringHandleV2")


# --------------------------------------------------------------------------------------------------------------- States

serialize_iterator = op(
    "SerializeIterator(resource_handle: resource) -> serialized: variant", "external_state_policy: int = 0", "stateful"
)
serialize_iterator.shape(lambda _: SCALAR)


@serialize_iterator.kernel
def serialize_iterator_kernel(resource_handle: Handle, *, external_state_policy: int) -> Array:
    found = _iterator_of(resource_handle)
    state = np.empty((), object)
    state[()] = Variant(encoded_state(found.state()))
    random = found.random_ops()
    if random and external_state_policy == _FAIL:
        raise FailedPreconditionError(
            f'{", ".join(random)} is stateful: how far functions of the dataset of iterator "{found.name}" have come '
            "in their random numbers cannot be saved. Draw them by stateless ops, of seeds that the elements hold, or "
            'let them begin anew: make_saveable_from_iterator(iterator, external_state_policy="ignore")'
        )
    if random and external_state_policy == _WARN:
        LOG.warning("%s is stateful: restored, the random numbers begin anew", ", ".join(random))
    return state


deserialize_iterator = op("DeserializeIterator(resource_handle: resource, serialized: variant)", "stateful")
deserialize_iterator.shape(lambda *_: ())


@deserialize_iterator.kernel
def deserialize_iterator_kernel(resource_handle: Handle, serialized: Handle) -> tuple[()]:
    data = serialized.item() if isinstance(serialized, np.ndarray) else serialized
    if not isinstance(data, bytes):
        raise InvalidArgumentError(f"expected the state of an iterator, got a {type(data).__name__}")
    _iterator_of(resource_handle).restore(decoded_state(data))
    return ()


not_differentiable(iterator_get_next, iterator_get_next_sync, make_iterator)
