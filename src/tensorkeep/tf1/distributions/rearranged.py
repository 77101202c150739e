"""Distributions whose batches are parts of events, or of another shape: Independent, BatchReshape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.distributions.base import Distribution
from tensorkeep.tf1.distributions.divergences import RegisterKL, kl_divergence
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, where_v2
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.numbers.elementwise import equal
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod, reduce_sum


class Independent(Distribution):
    """A distribution whose last batch dimensions count as parts of events: of vectors, say, in the place of numbers.

    Without a number of them, these are all but the first.
    """

    def __init__(
        self,
        distribution: Distribution,
        reinterpreted_batch_ndims: TensorLike | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        given = dict(locals())
        own_name = name or f"Independent{distribution.name.rstrip('/').rpartition('/')[2]}"
        with name_scope(own_name) as self._name:
            self._distribution = distribution
            self._count = _batch_ndims(distribution, reinterpreted_batch_ndims)
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            parameters=given,
            name=own_name,
        )

    @property
    def distribution(self) -> Distribution:
        """The distribution whose batch is taken apart."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> int:
        """How many of its batch dimensions are parts of events."""
        return self._count

    def _batch_shape(self) -> Any:
        known = self._distribution.batch_shape
        return known if known.rank is None else known[: known.rank - self._count]

    def _batch_shape_tensor(self) -> Any:
        sizes: Any = self._distribution.batch_shape_tensor()
        return sizes[: shape_of(sizes)[0] - self._count]

    def _event_shape(self) -> Any:
        known = self._distribution.batch_shape
        part = TensorShape(None) if known.rank is None else known[known.rank - self._count :]
        return part.concatenate(self._distribution.event_shape)

    def _event_shape_tensor(self) -> Any:
        sizes: Any = self._distribution.batch_shape_tensor()
        return concat([sizes[shape_of(sizes)[0] - self._count :], self._distribution.event_shape_tensor()], 0)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return self._distribution.sample([n], seed=seed)

    def _summed(self, value: Any) -> Any:
        return reduce_sum(value, axis=list(range(-self._count, 0))) if self._count else value

    def _log_prob(self, x: Any) -> Any:
        return self._summed(self._distribution.log_prob(x))

    def _entropy(self) -> Any:
        return self._summed(self._distribution.entropy())

    def _mean(self) -> Any:
        return self._distribution.mean()

    def _variance(self) -> Any:
        return self._distribution.variance()

    def _stddev(self) -> Any:
        return self._distribution.stddev()

    def _mode(self) -> Any:
        return self._distribution.mode()


def _batch_ndims(distribution: Distribution, told: Any) -> int:
    rank = distribution.batch_shape.rank
    if told is None:
        if rank is None:
            raise InvalidArgumentError(
                "reinterpreted_batch_ndims has to be told where the rank of the batch is not known before a run"
            )
        return max(0, rank - 1)
    known = constant_value(convert(told, INT32, name="reinterpreted_batch_ndims"))
    if known is None:
        raise UnimplementedError("reinterpreted_batch_ndims has to be known before a run")
    count = int(known)
    if rank is not None and not 0 <= count <= rank:
        raise InvalidArgumentError(f"reinterpreted_batch_ndims({count}) cannot exceed distribution.batch_ndims({rank})")
    return count


@RegisterKL(Independent, Independent)
def _between_independents(a: Independent, b: Independent, name: str | None = None) -> Any:
    if a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims:
        raise UnimplementedError(
            "KL between Independents needs as many reinterpreted dimensions of both, which are "
            f"{a.reinterpreted_batch_ndims} and {b.reinterpreted_batch_ndims}"
        )
    return a._summed(kl_divergence(a.distribution, b.distribution))


class BatchReshape(Distribution):
    """A distribution whose batch has another shape of as many; -1 stands for one size that follows from the others."""

    def __init__(
        self,
        distribution: Distribution,
        batch_shape: ShapeLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        given = dict(locals())
        own_name = name or f"BatchReshape{distribution.name.rstrip('/').rpartition('/')[2]}"
        with name_scope(own_name) as self._name:
            self._distribution = distribution
            self._sizes, self._known = _reshaped_batch(distribution, batch_shape)
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            allow_nan_stats,
            parameters=given,
            name=own_name,
        )

    @property
    def distribution(self) -> Distribution:
        """The distribution with the batch as it was."""
        return self._distribution

    def _batch_shape(self) -> Any:
        return self._known

    def _batch_shape_tensor(self) -> Tensor:
        return self._sizes

    def _event_shape(self) -> Any:
        return self._distribution.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._distribution.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = self._distribution.sample([n], seed=seed)
        return reshape(drawn, concat([[n], self._sizes, self.event_shape_tensor()], 0))

    def _ranks(self) -> tuple[int, int]:
        batch, event = self._known.rank, self.event_shape.rank
        if batch is None or event is None:
            raise UnimplementedError(f"{self.name}: dimensions of batches and events have to be known before a run")
        return batch, event

    def _of_values(self, of_value: Callable[[Any], Any], x: Any) -> Any:
        """What the distribution says of values, whose batch is as it was for that long."""
        batch, event = self._ranks()
        rank = x.get_shape().rank
        if rank is None or rank < batch + event:
            raise InvalidArgumentError(
                f"{self.name}: a value has to have at least the {batch} dimensions of the batch and the {event} of an "
                f"event, and is of the shape {x.get_shape()}"
            )
        before = shape_of(x)[: rank - batch - event]
        inner = reshape(x, concat([before, self._distribution.batch_shape_tensor(), self.event_shape_tensor()], 0))
        found = of_value(inner)
        result = reshape(found, concat([before, self._sizes], 0))
        result.set_shape(x.get_shape()[: rank - batch - event].concatenate(self._known))
        return result

    def _log_prob(self, x: Any) -> Any:
        return self._of_values(self._distribution.log_prob, x)

    def _prob(self, x: Any) -> Any:
        return self._of_values(self._distribution.prob, x)

    def _log_cdf(self, x: Any) -> Any:
        return self._of_values(self._distribution.log_cdf, x)

    def _cdf(self, x: Any) -> Any:
        return self._of_values(self._distribution.cdf, x)

    def _survival_function(self, x: Any) -> Any:
        return self._of_values(self._distribution.survival_function, x)

    def _log_survival_function(self, x: Any) -> Any:
        return self._of_values(self._distribution.log_survival_function, x)

    def _of_batch(self, moment: Any, event: Any) -> Any:
        return reshape(moment, concat([self._sizes, event], 0))

    def _entropy(self) -> Any:
        return reshape(self._distribution.entropy(), self._sizes)

    def _mean(self) -> Any:
        return self._of_batch(self._distribution.mean(), self.event_shape_tensor())

    def _mode(self) -> Any:
        return self._of_batch(self._distribution.mode(), self.event_shape_tensor())

    def _stddev(self) -> Any:
        return self._of_batch(self._distribution.stddev(), self.event_shape_tensor())

    def _variance(self) -> Any:
        return self._of_batch(self._distribution.variance(), self.event_shape_tensor())

    def _covariance(self) -> Any:
        event = self.event_shape_tensor()
        return self._of_batch(self._distribution.covariance(), concat([event, event], 0))


def _reshaped_batch(distribution: Distribution, batch_shape: Any) -> tuple[Tensor, TensorShape]:
    """The sizes of the batch with the one that follows, as a tensor, and as far as they are known."""
    told = convert(batch_shape, INT32, name="batch_shape")
    known, own = constant_value(told), distribution.batch_shape
    if known is not None:
        if known.ndim != 1 or (known < -1).any() or (known == -1).sum() > 1:
            raise InvalidArgumentError(f"batch_shape has to be a vector with at most one -1, and is {known.tolist()}")
        count = own.num_elements() if own.is_fully_defined() else None
        if count is not None:
            fixed = int(np.prod(known[known >= 0], dtype=np.int64))
            if (count % fixed if fixed else count) if (known == -1).any() else count != fixed:
                raise InvalidArgumentError(f"a batch of {count} ({own}) does not fit the shape {known.tolist()}")
            sizes = [count // max(fixed, 1) if size < 0 else size for size in known.tolist()]
            return convert(sizes, INT32), TensorShape(sizes)
        if (known >= 0).all():
            return told, TensorShape(known.tolist())
    rest = reduce_prod(distribution.batch_shape_tensor()) // reduce_prod(where_v2(equal(told, -1), 1 + 0 * told, told))
    sizes_now = where_v2(equal(told, -1), rest + 0 * told, told)
    length = told.get_shape().element_count()
    if known is not None:
        return sizes_now, TensorShape([None if size < 0 else size for size in known.tolist()])
    return sizes_now, TensorShape(None if length is None else [None] * length)
