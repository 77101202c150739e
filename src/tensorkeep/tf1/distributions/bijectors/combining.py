"""Bijectors made of bijectors or of functions: chains, inverses, and one on the diagonal of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.distributions.bijectors.base import Bijector, ConditionalBijector
from tensorkeep.tf1.functions.arrays.shapes import zeros
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_diag_part, matrix_set_diag

Function = Callable[..., Any]


class Chain(ConditionalBijector):
    """Several bijectors one after the other, the last first: Chain([f, g]) is f of g.

    What is told by keyword is a dictionary of keywords for each bijector, by its name.
    """

    def __init__(
        self, bijectors: Sequence[Bijector] | None = None, validate_args: bool = False, name: str | None = None
    ) -> None:
        self._bijectors = tuple(bijectors or ())
        partial = [each for each in self._bijectors if not each._is_injective]
        if partial:
            raise UnimplementedError(f"Chain is not implemented for non-injective bijectors such as {partial[0].name}")
        dtypes: list[DType] = [each.dtype for each in self._bijectors if each.dtype is not None]
        if len({dtype.base_dtype for dtype in dtypes}) > 1:
            told = ", ".join(f"{each.name}: {each.dtype.name}" for each in self._bijectors if each.dtype)
            raise WrongTypeError(f"the bijectors of a chain have to be of one dtype, and are {told}")
        least_in, least_out = _chained_ndims(self._bijectors)
        super().__init__(
            graph_parents=[parent for each in self._bijectors for parent in each.graph_parents],
            is_constant_jacobian=all(each.is_constant_jacobian for each in self._bijectors),
            validate_args=validate_args,
            dtype=dtypes[0] if dtypes else None,
            forward_min_event_ndims=least_in,
            inverse_min_event_ndims=least_out,
            name=name or _chained_name(self._bijectors),
        )

    @property
    def bijectors(self) -> list[Bijector]:
        """The bijectors, of which the last is first."""
        return list(self._bijectors)

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        for each in reversed(self._bijectors):
            input_shape = each.forward_event_shape(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        for each in self._bijectors:
            output_shape = each.inverse_event_shape(output_shape)
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        for each in reversed(self._bijectors):
            input_shape = each.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        for each in self._bijectors:
            output_shape = each.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _forward(self, x: Any, **conditions: Any) -> Any:
        for each in reversed(self._bijectors):
            x = each.forward(x, **conditions.get(each.name, {}))
        return x

    def _inverse(self, y: Any, **conditions: Any) -> Any:
        for each in self._bijectors:
            y = each.inverse(y, **conditions.get(each.name, {}))
        return y

    def _forward_log_det_jacobian(self, x: Any, **conditions: Any) -> Any:
        total, ndims = zeros([], x.dtype), self.forward_min_event_ndims
        for each in reversed(self._bijectors):
            condition = conditions.get(each.name, {})
            total = total + each.forward_log_det_jacobian(x, event_ndims=ndims, **condition)
            x = each.forward(x, **condition)
            ndims += each.inverse_min_event_ndims - each.forward_min_event_ndims
        return total

    def _inverse_log_det_jacobian(self, y: Any, **conditions: Any) -> Any:
        total, ndims = zeros([], y.dtype), self.inverse_min_event_ndims
        for each in self._bijectors:
            condition = conditions.get(each.name, {})
            total = total + each.inverse_log_det_jacobian(y, event_ndims=ndims, **condition)
            y = each.inverse(y, **condition)
            ndims += each.forward_min_event_ndims - each.inverse_min_event_ndims
        return total


def _chained_name(bijectors: Sequence[Bijector]) -> str:
    names = [each.name.replace("/", "") for each in bijectors]
    return "_of_".join(["chain", *names]) if names else "identity"


def _chained_ndims(bijectors: Sequence[Bijector]) -> tuple[int, int]:
    """How many dimensions a chain takes together, and how many it gives: as few as every link can do with."""
    least, change = 0, 0
    for each in reversed(bijectors):
        least = max(least, each.forward_min_event_ndims - change)
        change += each.inverse_min_event_ndims - each.forward_min_event_ndims
    return least, least + change


class Invert(ConditionalBijector):
    """A bijector the other way round."""

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: str | None = None) -> None:
        if not bijector._is_injective:
            raise UnimplementedError(f"Invert is not implemented for non-injective bijectors such as {bijector.name}")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            name=name or f"invert_{bijector.name}",
        )

    @property
    def bijector(self) -> Bijector:
        """The bijector that is turned round."""
        return self._bijector

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return self._bijector._inverse_event_shape(input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return self._bijector._forward_event_shape(output_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x: Any, **condition: Any) -> Any:
        return self._bijector.inverse(x, **condition)

    def _inverse(self, y: Any, **condition: Any) -> Any:
        return self._bijector.forward(y, **condition)

    def _forward_log_det_jacobian(self, x: Any, **condition: Any) -> Any:
        return self._bijector.inverse_log_det_jacobian(x, self.forward_min_event_ndims, **condition)

    def _inverse_log_det_jacobian(self, y: Any, **condition: Any) -> Any:
        return self._bijector.forward_log_det_jacobian(y, self.inverse_min_event_ndims, **condition)


class Inline(ConditionalBijector):
    """A bijector made of functions; what is not given raises when it is asked for."""

    def __init__(
        self,
        forward_fn: Function | None = None,
        inverse_fn: Function | None = None,
        inverse_log_det_jacobian_fn: Function | None = None,
        forward_log_det_jacobian_fn: Function | None = None,
        forward_event_shape_fn: Function | None = None,
        forward_event_shape_tensor_fn: Function | None = None,
        inverse_event_shape_fn: Function | None = None,
        inverse_event_shape_tensor_fn: Function | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:
        super().__init__(
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            name=name,
        )
        self._functions: dict[str, Function | None] = {
            "forward": forward_fn,
            "inverse": inverse_fn,
            "inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian": forward_log_det_jacobian_fn,
        }
        self._shapes: dict[str, Function] = {
            "forward": forward_event_shape_fn or _same,
            "forward_tensor": forward_event_shape_tensor_fn or _same,
            "inverse": inverse_event_shape_fn or _same,
            "inverse_tensor": inverse_event_shape_tensor_fn or _same,
        }

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return self._shapes["forward"](input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return self._shapes["inverse"](output_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._shapes["forward_tensor"](input_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._shapes["inverse_tensor"](output_shape)

    def _called(self, what: str, value: Any, condition: dict[str, Any]) -> Any:
        function = self._functions[what]
        if function is None:
            raise UnimplementedError(f"Cannot call `{what}` of {self.name}: {what}_fn was not given to Inline")
        return function(value, **condition)

    def _forward(self, x: Any, **condition: Any) -> Any:
        return self._called("forward", x, condition)

    def _inverse(self, y: Any, **condition: Any) -> Any:
        return self._called("inverse", y, condition)

    def _forward_log_det_jacobian(self, x: Any, **condition: Any) -> Any:
        return self._called("forward_log_det_jacobian", x, condition)

    def _inverse_log_det_jacobian(self, y: Any, **condition: Any) -> Any:
        return self._called("inverse_log_det_jacobian", y, condition)


def _same(value: Any) -> Any:
    return value


class TransformDiagonal(Bijector):
    """Applies a bijector to the diagonal of matrices, and leaves all else."""

    def __init__(self, diag_bijector: Bijector, validate_args: bool = False, name: str = "transform_diagonal") -> None:
        if (diag_bijector.forward_min_event_ndims, diag_bijector.inverse_min_event_ndims) not in ((0, 0), (1, 1)):
            raise InvalidArgumentError(
                f"diag_bijector has to transform vectors or numbers, and {diag_bijector.name} not"
            )
        self._diag_bijector = diag_bijector
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    @property
    def diag_bijector(self) -> Bijector:
        """What is applied to the diagonal."""
        return self._diag_bijector

    def _forward(self, x: Any) -> Any:
        return matrix_set_diag(x, self._diag_bijector.forward(matrix_diag_part(x)))

    def _inverse(self, y: Any) -> Any:
        return matrix_set_diag(y, self._diag_bijector.inverse(matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._diag_bijector.inverse_log_det_jacobian(matrix_diag_part(y), event_ndims=1)
