"""What all bijectors have: both directions, the logarithms of how they change volumes, shapes, and a memory.

A bijector of its own says `_forward` and `_inverse`, and one of `_forward_log_det_jacobian` and
`_inverse_log_det_jacobian`; the other follows. What a tensor became is remembered, so that the density of a draw needs
no inverse: `inverse(forward(x))` is `x` itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import ones, rank
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.contexts import current_context
from tensorkeep.tf1.functions.numbers.elementwise import range as range_tensor
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum


class _Pair:
    """An input and an output of a bijector, and by how many dimensions are summed what the inverse does to volumes."""

    def __init__(self, x: Tensor | None, y: Tensor | None, condition: dict[str, Any]) -> None:
        self.x, self.y = x, y
        self.condition = condition  # held, so that the identities of its values are not given to others
        self.inverse_logs: dict[int, Tensor] = {}


class Bijector:
    """A function with an inverse and a derivative, by which distributions are made of others.

    The last `forward_min_event_ndims` dimensions of an input are transformed together, and become the last
    `inverse_min_event_ndims` of the output; 0 is a function of single numbers.
    """

    def __init__(
        self,
        graph_parents: Sequence[Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: DTypeLike | None = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ) -> None:
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise InvalidArgumentError(
                "Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`."
            )
        given = (forward_min_event_ndims, inverse_min_event_ndims)
        self._forward_min_event_ndims = _event_ndims(given[0] if given[0] is not None else given[1])
        self._inverse_min_event_ndims = _event_ndims(given[1] if given[1] is not None else given[0])
        self._graph_parents = list(graph_parents or [])
        self._is_constant_jacobian, self._validate_args = is_constant_jacobian, validate_args
        self._dtype = None if dtype is None else DType.of(dtype)
        self._name = name or _snake_case(type(self).__name__)
        self._by_input: dict[Any, _Pair] = {}
        self._by_output: dict[Any, _Pair] = {}

    # ------------------------------------------------------------------------------------------------- what it is

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType | None:
        """The type of what it transforms; None if any will do."""
        return self._dtype

    @property
    def graph_parents(self) -> list[Any]:
        return list(self._graph_parents)

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether volumes change by the same factor everywhere."""
        return self._is_constant_jacobian

    @property
    def validate_args(self) -> bool:
        return self._validate_args

    @property
    def forward_min_event_ndims(self) -> int:
        """How many of the last dimensions of an input are transformed together."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        """How many of the last dimensions of an output were transformed together."""
        return self._inverse_min_event_ndims

    @property
    def _is_injective(self) -> bool:
        """Whether an output has a single input; else inverses are tuples."""
        return True

    # ----------------------------------------------------------------------------------------------------- shapes

    def forward_event_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of one output, as far as it is known before a run."""
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def inverse_event_shape(self, output_shape: ShapeLike) -> TensorShape:
        """The shape of one input, as far as it is known before a run."""
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    def forward_event_shape_tensor(self, input_shape: ShapeLike, name: str = "forward_event_shape_tensor") -> Tensor:
        """The shape of one output as a tensor."""
        with self._scope(name):
            return convert(self._forward_event_shape_tensor(convert(input_shape, INT32, "input_shape")), INT32)

    def inverse_event_shape_tensor(self, output_shape: ShapeLike, name: str = "inverse_event_shape_tensor") -> Tensor:
        """The shape of one input as a tensor."""
        with self._scope(name):
            return convert(self._inverse_event_shape_tensor(convert(output_shape, INT32, "output_shape")), INT32)

    # ------------------------------------------------------------------------------------------------- what it does

    def forward(self, x: TensorLike, name: str = "forward") -> Tensor:
        """What the function makes of inputs."""
        return self._call_forward(x, name)

    def inverse(self, y: TensorLike, name: str = "inverse") -> Any:
        """What the function made outputs of."""
        return self._call_inverse(y, name)

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: TensorLike, name: str = "forward_log_det_jacobian"
    ) -> Any:
        """The logarithm of the factor by which the function changes volumes near inputs of `event_ndims` dimensions."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: TensorLike, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """The logarithm of the factor by which the inverse changes volumes near outputs of `event_ndims` dimensions."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    # ------------------------------------------------------------------------------------------------ for subclasses

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Any:
        return output_shape

    def _forward(self, x: Any) -> Any:
        raise UnimplementedError(f"forward is not implemented: {type(self).__name__}")

    def _inverse(self, y: Any) -> Any:
        raise UnimplementedError(f"inverse is not implemented: {type(self).__name__}")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise UnimplementedError(f"forward_log_det_jacobian is not implemented: {type(self).__name__}")

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise UnimplementedError(f"inverse_log_det_jacobian is not implemented: {type(self).__name__}")

    # ------------------------------------------------------------------------------------------------ with the memory

    def _call_forward(self, x: Any, name: str, **condition: Any) -> Tensor:
        with self._scope(name):
            given = self._converted(x, "x")
            if not self._is_injective:
                found: Tensor = self._forward(given, **condition)
                return found
            return self._output_of(self._pair(given, None, condition))

    def _call_inverse(self, y: Any, name: str, **condition: Any) -> Any:
        with self._scope(name):
            given = self._converted(y, "y")
            if not self._is_injective:
                return self._inverse(given, **condition)
            return self._input_of(self._pair(None, given, condition))

    def _call_forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str, **condition: Any) -> Any:
        if not self._is_injective:
            raise UnimplementedError(
                f"forward_log_det_jacobian cannot be implemented for non-injective transforms: {type(self).__name__}"
            )
        with self._scope(name):
            given = self._converted(x, "x")
            count = self._summed_dimensions(event_ndims, self._forward_min_event_ndims)
            return -self._inverse_log(self._pair(given, None, condition), count, is_from_input=True)

    def _call_inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str, **condition: Any) -> Any:
        with self._scope(name):
            given = self._converted(y, "y")
            count = self._summed_dimensions(event_ndims, self._inverse_min_event_ndims)
            if not self._is_injective:
                each = self._inverse_log_det_jacobian(given, **condition)
                return tuple(self._summed(one, given, count, self._inverse_min_event_ndims) for one in each)
            return self._inverse_log(self._pair(None, given, condition), count, is_from_input=False)

    def _pair(self, x: Tensor | None, y: Tensor | None, condition: dict[str, Any]) -> _Pair:
        """The pair of an input or an output under a condition: that of before, or one that is begun."""
        pairs, tensor = (self._by_input, x) if x is not None else (self._by_output, y)
        key = _key_of(tensor, condition)
        if key not in pairs:
            pairs[key] = _Pair(x, y, condition)
        return pairs[key]

    def _join(self, pair: _Pair) -> None:
        """Finds the pair from both sides from now on."""
        self._by_input[_key_of(pair.x, pair.condition)] = pair
        self._by_output[_key_of(pair.y, pair.condition)] = pair

    def _output_of(self, pair: _Pair) -> Tensor:
        if pair.y is None:
            pair.y = convert(self._forward(pair.x, **pair.condition))
            self._join(pair)
        return pair.y

    def _input_of(self, pair: _Pair) -> Tensor:
        if pair.x is None:
            pair.x = convert(self._inverse(pair.y, **pair.condition))
            self._join(pair)
        return pair.x

    def _inverse_log(self, pair: _Pair, count: int, is_from_input: bool) -> Tensor:
        """What the inverse does to volumes, computed from the side that is known, if the bijector says how."""
        if count not in pair.inverse_logs:
            ways: list[Callable[[], Tensor]] = [
                lambda: -self._log_from_input(self._input_of(pair), count, pair.condition),
                lambda: self._log_from_output(self._output_of(pair), count, pair.condition),
            ]
            first, second = ways if is_from_input else ways[::-1]
            try:
                pair.inverse_logs[count] = first()
            except NotImplementedError as without:
                try:
                    pair.inverse_logs[count] = second()
                except NotImplementedError:
                    raise without from None
        return pair.inverse_logs[count]

    def _log_from_input(self, x: Tensor, count: int, condition: dict[str, Any]) -> Tensor:
        return self._summed(self._forward_log_det_jacobian(x, **condition), x, count, self._forward_min_event_ndims)

    def _log_from_output(self, y: Tensor, count: int, condition: dict[str, Any]) -> Tensor:
        return self._summed(self._inverse_log_det_jacobian(y, **condition), y, count, self._inverse_min_event_ndims)

    def _summed(self, each: Any, like: Tensor, count: int, own_ndims: int) -> Tensor:
        """The sum over the last dimensions of a batch that an event has beside those of the bijector itself."""
        logs = convert(each, preferred_dtype=like.dtype)
        if not count:
            return logs
        known = like.get_shape().rank
        stop = known - own_ndims if known is not None else rank(like) - own_ndims
        sizes: Any = shape_of(like)
        # A factor that is the same everywhere counts once for each element.
        whole = logs * ones(sizes[stop - count : stop], logs.dtype)
        axes = (
            range(-count, 0) if whole.get_shape().rank is not None else range_tensor(rank(whole) - count, rank(whole))
        )
        return reduce_sum(whole, axis=list(axes) if isinstance(axes, range) else axes)

    def _summed_dimensions(self, event_ndims: Any, own_ndims: int) -> int:
        count = _event_ndims(event_ndims) - own_ndims
        if count < 0:
            raise InvalidArgumentError(
                f"{self.name}: event_ndims ({count + own_ndims}) must be at least {own_ndims}: so many "
                f"dimensions {type(self).__name__} transforms together"
            )
        return count

    def _converted(self, value: Any, name: str) -> Tensor:
        tensor = value if isinstance(value, Tensor) else convert(value, preferred_dtype=self._dtype, name=name)
        if self._dtype is not None and tensor.dtype.base_dtype is not self._dtype.base_dtype:
            raise WrongTypeError(
                f"{self.name}: Input had dtype {tensor.dtype.name} but expected {self._dtype.name}: cast it by tf.cast"
            )
        return tensor

    @contextmanager
    def _scope(self, name: str) -> Iterator[None]:
        with name_scope(self._name), name_scope(name):
            yield


class ConditionalBijector(Bijector):
    """A bijector whose function is also told something by keyword, which its four methods pass on."""

    def forward(self, x: TensorLike, name: str = "forward", **condition_kwargs: Any) -> Tensor:
        """What the function makes of inputs."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: TensorLike, name: str = "inverse", **condition_kwargs: Any) -> Any:
        """What the function made outputs of."""
        return self._call_inverse(y, name, **condition_kwargs)

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: TensorLike, name: str = "forward_log_det_jacobian", **condition_kwargs: Any
    ) -> Any:
        """The logarithm of the factor by which the function changes volumes near inputs."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)

    def inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: TensorLike, name: str = "inverse_log_det_jacobian", **condition_kwargs: Any
    ) -> Any:
        """The logarithm of the factor by which the inverse changes volumes near outputs."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def _forward(self, x: Any, **condition: Any) -> Any:
        return super()._forward(x)

    def _inverse(self, y: Any, **condition: Any) -> Any:
        return super()._inverse(y)

    def _forward_log_det_jacobian(self, x: Any, **condition: Any) -> Any:
        return super()._forward_log_det_jacobian(x)

    def _inverse_log_det_jacobian(self, y: Any, **condition: Any) -> Any:
        return super()._inverse_log_det_jacobian(y)


def _key_of(tensor: Tensor | None, condition: dict[str, Any]) -> tuple[Any, ...]:
    """What a pair is found by. What was computed in a branch or a loop is not for outside of it."""
    assert tensor is not None  # a pair is begun with one side
    here = current_context(tensor.graph)
    return (tensor, here, *((name, _identity_of(condition[name])) for name in sorted(condition)))


def _identity_of(value: Any) -> Any:
    """What two conditions have in common that are the same: numbers by value, tensors and arrays by themselves."""
    if isinstance(value, dict):
        return tuple((name, _identity_of(value[name])) for name in sorted(value))
    if isinstance(value, list | tuple):
        return tuple(_identity_of(each) for each in value)
    return value if value is None or isinstance(value, int | float | str) else id(value)


def _event_ndims(value: Any) -> int:
    """A number of dimensions that is known before a run."""
    known = value
    if isinstance(value, Tensor):
        known = constant_value(value)
        if known is None:
            raise UnimplementedError(f"event_ndims has to be known before a run, and is computed by {value.op.name}")
    try:
        count = int(known.__index__() if hasattr(known, "__index__") else known)
    except TypeError:
        raise WrongTypeError(f"event_ndims has to be a whole number, and is {value!r}") from None
    if count < 0:
        raise InvalidArgumentError(f"event_ndims has to be at least 0, and is {count}")
    return count


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower().lstrip("_")
