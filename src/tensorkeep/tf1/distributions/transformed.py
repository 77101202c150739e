"""Distributions of what a bijector makes of draws, and those that are told something at each call."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.distributions.base import Distribution
from tensorkeep.tf1.distributions.bijectors.base import Bijector
from tensorkeep.tf1.distributions.bijectors.elementwise import Identity
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, reshape, stack, transpose, zeros
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.reductions import reduce_logsumexp, reduce_prod, reduce_sum


class ConditionalDistribution(Distribution):
    """A distribution whose draws and probabilities take further arguments by keyword."""

    def sample(
        self, sample_shape: ShapeLike = (), seed: int | None = None, name: str = "sample", **condition_kwargs: Any
    ) -> Tensor:
        """Draws from each distribution."""
        return self._drawn(sample_shape, seed, name, condition_kwargs)

    def log_prob(self, value: TensorLike, name: str = "log_prob", **condition_kwargs: Any) -> Tensor:
        """The logarithms of the probabilities, or densities, of values."""
        return self._answered("log_prob", value, name, condition_kwargs)

    def prob(self, value: TensorLike, name: str = "prob", **condition_kwargs: Any) -> Tensor:
        """The probabilities, or densities, of values."""
        return self._answered("prob", value, name, condition_kwargs)

    def cdf(self, value: TensorLike, name: str = "cdf", **condition_kwargs: Any) -> Tensor:
        """The probability of drawing at most a value."""
        return self._answered("cdf", value, name, condition_kwargs)

    def log_cdf(self, value: TensorLike, name: str = "log_cdf", **condition_kwargs: Any) -> Tensor:
        """The logarithm of `cdf`."""
        return self._answered("log_cdf", value, name, condition_kwargs)

    def survival_function(self, value: TensorLike, name: str = "survival_function", **condition_kwargs: Any) -> Tensor:
        """The probability of drawing more than a value."""
        return self._answered("survival_function", value, name, condition_kwargs)

    def log_survival_function(
        self, value: TensorLike, name: str = "log_survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """The logarithm of `survival_function`."""
        return self._answered("log_survival_function", value, name, condition_kwargs)


class TransformedDistribution(Distribution):
    """What a bijector makes of draws from a distribution.

    A distribution of single numbers can be given another `batch_shape` and an `event_shape`: then as many are drawn,
    and the bijector makes vectors or matrices of them.
    """

    def __init__(
        self,
        distribution: Distribution,
        bijector: Bijector | None = None,
        batch_shape: ShapeLike = None,
        event_shape: ShapeLike = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        given = dict(locals())
        own_name = name or _default_name(distribution, bijector)
        with name_scope(own_name) as self._name:
            self._distribution = distribution
            self._bijector = Identity(validate_args=validate_args) if bijector is None else bijector
            self._told_batch = _told_shape(batch_shape, "batch_shape")
            self._told_event = _told_shape(event_shape, "event_shape")
            self._check_told(batch_shape, event_shape)
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            parameters=given,
            name=own_name,
        )

    def _check_told(self, batch_shape: Any, event_shape: Any) -> None:
        """Shapes can be told where the distribution has none of its own."""
        for told, own, name in (
            (batch_shape, self._distribution.batch_shape, "batch_shape"),
            (event_shape, self._distribution.event_shape, "event_shape"),
        ):
            if told is not None and own.rank is not None and own.rank > 0:
                raise InvalidArgumentError(
                    f"Argument `{name}` is told, and the distribution has one of its own, {own}: it has to be scalar"
                )

    @property
    def distribution(self) -> Distribution:
        """What is drawn from."""
        return self._distribution

    @property
    def bijector(self) -> Bijector:
        """What changes draws."""
        return self._bijector

    # ----------------------------------------------------------------------------------------------------- shapes

    def _base_event_shape(self) -> TensorShape:
        told = self._told_event
        return self._distribution.event_shape if told is None else told[0]

    def _base_event_shape_tensor(self) -> Tensor:
        told = self._told_event
        return self._distribution.event_shape_tensor() if told is None else told[1]

    def _event_shape(self) -> Any:
        return self._bijector.forward_event_shape(self._base_event_shape())

    def _event_shape_tensor(self) -> Tensor:
        return self._bijector.forward_event_shape_tensor(self._base_event_shape_tensor())

    def _batch_shape(self) -> Any:
        told = self._told_batch
        return self._distribution.batch_shape if told is None else told[0]

    def _batch_shape_tensor(self) -> Tensor:
        told = self._told_batch
        return self._distribution.batch_shape_tensor() if told is None else told[1]

    def _event_ndims(self, shape: TensorShape) -> int:
        if shape.rank is None:
            raise UnimplementedError(f"{self.name}: the number of dimensions of an event has to be known before a run")
        return shape.rank

    # --------------------------------------------------------------------------------------- draws and probabilities

    def _drawn_values(self, sizes: Tensor, seed: int | None, condition: dict[str, Any]) -> Tensor:
        """Draws in the form in which the bijector gave them, so that it knows of what it made them."""
        wanted: list[Any] = [sizes]
        if self._told_batch is not None:
            wanted.append(self._batch_shape_tensor())
        if self._told_event is not None:
            wanted.append(self._base_event_shape_tensor())
        others = condition.get("distribution_kwargs") or {}
        drawn = self._distribution.sample(concat(wanted, 0), seed=seed, **others)
        if self._told_event is not None and self._told_batch is None and self._distribution.batch_shape.rank != 0:
            drawn = _event_last(drawn, sizes, self._base_event_shape())
        return self._bijector.forward(drawn, **(condition.get("bijector_kwargs") or {}))

    def _log_prob(
        self,
        y: Any,
        bijector_kwargs: dict[str, Any] | None = None,
        distribution_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        told, others = bijector_kwargs or {}, distribution_kwargs or {}
        event_ndims = self._event_ndims(self.event_shape)
        x = self._bijector.inverse(y, **told)
        logs = self._bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims, **told)
        if self._bijector._is_injective:
            return self._base_log_prob(x, others) + logs
        each = [self._base_log_prob(one, others) + volume for one, volume in zip(x, logs, strict=True)]
        return reduce_logsumexp(stack(each), axis=0)

    def _base_log_prob(self, x: Any, distribution_kwargs: dict[str, Any]) -> Any:
        ndims = 0 if self._told_event is None else self._event_ndims(self._told_event[0])
        is_between = ndims and self._told_batch is None and self._distribution.batch_shape.rank != 0
        if is_between:  # the distribution's own batch is broadcast from behind, so that events go to the front
            rank = x.get_shape().rank
            if rank is None:
                raise UnimplementedError(f"{self.name}: the rank of values has to be known before a run")
            x = transpose(x, [*range(rank - ndims, rank), *range(rank - ndims)])
        found: Any = self._distribution.log_prob(x, **distribution_kwargs)
        axes = list(range(ndims)) if is_between else list(range(-ndims, 0))
        return reduce_sum(found, axis=axes) if ndims else found

    def _cdf(
        self,
        y: Any,
        bijector_kwargs: dict[str, Any] | None = None,
        distribution_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return self._distribution.cdf(self._input(y, "cdf", bijector_kwargs), **(distribution_kwargs or {}))

    def _log_cdf(
        self,
        y: Any,
        bijector_kwargs: dict[str, Any] | None = None,
        distribution_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return self._distribution.log_cdf(self._input(y, "log_cdf", bijector_kwargs), **(distribution_kwargs or {}))

    def _survival_function(
        self,
        y: Any,
        bijector_kwargs: dict[str, Any] | None = None,
        distribution_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        x = self._input(y, "survival_function", bijector_kwargs)
        return self._distribution.survival_function(x, **(distribution_kwargs or {}))

    def _log_survival_function(
        self,
        y: Any,
        bijector_kwargs: dict[str, Any] | None = None,
        distribution_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        x = self._input(y, "log_survival_function", bijector_kwargs)
        return self._distribution.log_survival_function(x, **(distribution_kwargs or {}))

    def _quantile(self, value: Any) -> Any:
        self._check_monotone("quantile")
        return self._bijector.forward(self._distribution.quantile(value))

    def _input(self, y: Any, what: str, bijector_kwargs: dict[str, Any] | None) -> Any:
        self._check_monotone(what)
        return self._bijector.inverse(y, **(bijector_kwargs or {}))

    def _check_monotone(self, what: str) -> None:
        """As in TensorFlow, functions are taken to rise: those of numbers that have an inverse rise or fall."""
        if self._told_event is not None:
            raise UnimplementedError(f"{what} is not implemented when overriding event_shape")
        if not self._bijector._is_injective:
            raise UnimplementedError(f"{what} is not implemented when bijector is not injective")

    # -------------------------------------------------------------------------------------------------------- moments

    def _mean(self) -> Any:
        if not self._bijector.is_constant_jacobian:
            raise UnimplementedError(f"mean is not implemented for non-affine bijectors such as {self._bijector.name}")
        return self._bijector.forward(self._spread(self._distribution.mean()))

    def _spread(self, moment: Any) -> Any:
        """A moment of the distribution for each element of the told shapes."""
        if self._told_event is not None:
            for _ in range(self._event_ndims(self._told_event[0])):
                moment = expand_dims(moment, -1)
        if self._told_batch is None and self._told_event is None:
            return moment
        sizes = concat([self._batch_shape_tensor(), self._base_event_shape_tensor()], 0)
        found = moment + zeros(sizes, self.dtype)
        found.set_shape(self.batch_shape.concatenate(self._base_event_shape()))
        return found

    def _entropy(self) -> Any:
        bijector = self._bijector
        if not bijector.is_constant_jacobian or not bijector._is_injective:
            raise UnimplementedError(f"entropy is not implemented for bijectors such as {bijector.name}")
        entropy: Any = self._distribution.entropy()
        if self._told_event is not None:
            entropy = entropy * cast(reduce_prod(self._base_event_shape_tensor()), self.dtype)
        sizes = concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        some = zeros(sizes, self.dtype)
        some.set_shape(self.batch_shape.concatenate(self.event_shape))
        logs = bijector.inverse_log_det_jacobian(some, event_ndims=self._event_ndims(self.event_shape))
        return entropy - logs + zeros(self.batch_shape_tensor(), self.dtype)


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution that passes `bijector_kwargs` and `distribution_kwargs` on at each call."""


def _default_name(distribution: Distribution, bijector: Bijector | None) -> str:
    return ("" if bijector is None else bijector.name) + distribution.name.rstrip("/").rpartition("/")[2]


def _told_shape(shape: Any, name: str) -> tuple[TensorShape, Tensor] | None:
    """A shape that is told, as far as it is known, and as a tensor."""
    if shape is None:
        return None
    sizes = reshape(convert(shape, INT32, name=name), [-1])
    known = constant_value(sizes)
    length = sizes.get_shape().element_count()
    unknown = TensorShape(None if length is None else [None] * length)
    return (unknown if known is None else TensorShape(known.tolist())), sizes


def _event_last(drawn: Tensor, sizes: Tensor, event: TensorShape) -> Tensor:
    """Draws of the shape sizes + event + batch as sizes + batch + event."""
    rank, before = drawn.get_shape().rank, sizes.get_shape().element_count()
    if rank is None or before is None or event.rank is None:
        raise UnimplementedError("event_shape can be told where the number of dimensions is known before a run")
    stop = before + event.rank
    return transpose(drawn, [*range(before), *range(stop, rank), *range(before, stop)])
