"""Mixtures: draws from one of several distributions, chosen by classes with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.distributions.base import NOT_REPARAMETERIZED, Distribution, derived_seed
from tensorkeep.tf1.distributions.discrete import Categorical
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    one_hot,
    stack,
    unstack,
    where_v2,
    zeros_like,
)
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_diag
from tensorkeep.tf1.functions.nn.activations import log_softmax, softmax
from tensorkeep.tf1.functions.numbers.elementwise import equal, exp, sqrt, square
from tensorkeep.tf1.functions.numbers.reductions import reduce_logsumexp, reduce_sum


class Mixture(Distribution):
    """Draws from one of several distributions, which may be of different families, chosen by a `Categorical`."""

    def __init__(
        self,
        cat: Categorical,
        components: Sequence[Distribution],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        given = dict(locals())
        _check_mixture(cat, components)
        with name_scope(name) as self._name:
            self._cat, self._components = cat, list(components)
        super().__init__(
            self._components[0].dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters=given,
            name=name,
        )

    @property
    def cat(self) -> Categorical:
        """What chooses a component."""
        return self._cat

    @property
    def components(self) -> list[Distribution]:
        """What is drawn from."""
        return list(self._components)

    @property
    def num_components(self) -> int:
        return len(self._components)

    def _batch_shape(self) -> Any:
        known = self._cat.batch_shape
        for each in self._components:
            known = known.merge_with(each.batch_shape)
        return known

    def _batch_shape_tensor(self) -> Tensor:
        return self._cat.batch_shape_tensor()

    def _event_shape(self) -> Any:
        known = TensorShape(None)
        for each in self._components:
            known = known.merge_with(each.event_shape)
        return known

    def _event_shape_tensor(self) -> Tensor:
        return self._components[0].event_shape_tensor()

    def _over_events(self, value: Any) -> Any:
        """Something of a batch, beside events."""
        if self.event_shape.rank is None:
            raise UnimplementedError(f"{self.name}: the number of dimensions of an event has to be known before a run")
        for _ in range(self.event_shape.rank):
            value = expand_dims(value, -1)
        return value

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        chosen = self._over_events(self._cat.sample([n], seed=seed))
        drawn: Any = None
        for index, each in enumerate(self._components):
            own = each.sample([n], seed=derived_seed(seed, f"mixture{index}"))
            is_chosen = equal(chosen, index)
            drawn = own if drawn is None else where_v2(is_chosen, own, drawn)
        result: Tensor = drawn
        return result

    def _log_shares(self) -> list[Any]:
        return unstack(log_softmax(self._cat.logits), num=self.num_components, axis=-1)

    def _log_prob(self, x: Any) -> Any:
        pairs = zip(self._log_shares(), self._components, strict=True)
        return reduce_logsumexp(stack([share + each.log_prob(x) for share, each in pairs]), axis=0)

    def _log_cdf(self, x: Any) -> Any:
        pairs = zip(self._log_shares(), self._components, strict=True)
        return reduce_logsumexp(stack([share + each.log_cdf(x) for share, each in pairs]), axis=0)

    def _shares(self) -> list[Any]:
        """The probabilities of the components, beside events."""
        each = unstack(softmax(self._cat.logits), num=self.num_components, axis=-1)
        return [self._over_events(share) for share in each]

    def _mean(self) -> Any:
        pairs = zip(self._shares(), self._components, strict=True)
        return sum(share * each.mean() for share, each in pairs)

    def _variance(self) -> Any:
        # The variance within components, and that of their means.
        mean = self._mean()
        pairs = list(zip(self._shares(), self._components, strict=True))
        within = sum(share * each.variance() for share, each in pairs)
        return within + sum(share * square(each.mean() - mean) for share, each in pairs)

    def _stddev(self) -> Any:
        return sqrt(self._variance())

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Tensor:
        """The mean of the components' entropies, which the entropy of the mixture is not below."""
        with self._scope(name):
            each = unstack(softmax(self._cat.logits), num=self.num_components, axis=-1)
            found: Tensor = sum(  # type: ignore[assignment]
                share * own.entropy() for share, own in zip(each, self._components, strict=True)
            )
            return found


def _check_mixture(cat: Any, components: Any) -> None:
    if not isinstance(cat, Categorical):
        raise WrongTypeError(f"cat must be a Categorical distribution, but saw: {cat!r}")
    if not isinstance(components, list | tuple) or not components:
        raise InvalidArgumentError("components must be a non-empty list or tuple")
    wrong = [each for each in components if not isinstance(each, Distribution)]
    if wrong:
        raise WrongTypeError(f"all components must be Distribution instances, and {wrong[0]!r} is not")
    first = components[0]
    classes = cat.logits.get_shape()[-1:].num_elements() if cat.logits.get_shape().rank is not None else None
    if classes is None:
        raise InvalidArgumentError("Could not infer number of classes from cat: the last size of its logits is unknown")
    if classes != len(components):
        raise InvalidArgumentError(f"cat has {classes} classes, and there are {len(components)} components")
    for each in components:
        if each.dtype is not first.dtype:
            raise WrongTypeError(f"All components must have the same dtype: {first.name} and {each.name} have not")
        if not each.event_shape.is_compatible_with(first.event_shape):
            raise InvalidArgumentError(f"components have the event shapes {first.event_shape} and {each.event_shape}")
        if not each.batch_shape.is_compatible_with(cat.batch_shape):
            raise InvalidArgumentError(f"cat has the batch shape {cat.batch_shape}, and {each.name} {each.batch_shape}")


class MixtureSameFamily(Distribution):
    """Draws from one of the distributions along the last dimension of a batch, chosen by a `Categorical`."""

    def __init__(
        self,
        mixture_distribution: Categorical,
        components_distribution: Distribution,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._mixture, self._components = mixture_distribution, components_distribution
            _check_family(mixture_distribution, components_distribution)
        super().__init__(
            components_distribution.dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters=given,
            name=name,
        )

    @property
    def mixture_distribution(self) -> Categorical:
        """What chooses a component."""
        return self._mixture

    @property
    def components_distribution(self) -> Distribution:
        """What is drawn from."""
        return self._components

    def _batch_shape(self) -> Any:
        known = self._components.batch_shape
        return known[:-1] if known.rank is not None else known

    def _batch_shape_tensor(self) -> Tensor:
        found: Tensor = self._components.batch_shape_tensor()[:-1]
        return found

    def _event_shape(self) -> Any:
        return self._components.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._components.event_shape_tensor()

    def _event_rank(self) -> int:
        rank = self.event_shape.rank
        if rank is None:
            raise UnimplementedError(f"{self.name}: the number of dimensions of an event has to be known before a run")
        return rank

    def _chosen(self, n: Any, seed: int | None) -> Tensor:
        """The number of a component for each draw and each distribution of the batch."""
        if self._mixture.batch_shape.rank == 0:
            return self._mixture.sample(concat([[n], self._batch_shape_tensor()], 0), seed=seed)
        return self._mixture.sample([n], seed=seed)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = self._components.sample([n], seed=seed)
        chosen = self._chosen(n, derived_seed(seed, "mixture"))
        depth: Any = self._components.batch_shape_tensor()[-1]
        mask: Any = one_hot(chosen, depth, on_value=True, off_value=False, dtype=bool)
        mask = self._over_events(mask)
        return reduce_sum(where_v2(mask, drawn, zeros_like(drawn)), axis=-1 - self._event_rank())

    def _over_events(self, value: Any) -> Any:
        for _ in range(self._event_rank()):
            value = expand_dims(value, -1)
        return value

    def _log_sum(self, of_value: Any, x: Any) -> Any:
        each = of_value(expand_dims(x, -1 - self._event_rank()))
        return reduce_logsumexp(each + log_softmax(self._mixture.logits), axis=-1)

    def _log_prob(self, x: Any) -> Any:
        return self._log_sum(self._components.log_prob, x)

    def _log_cdf(self, x: Any) -> Any:
        return self._log_sum(self._components.log_cdf, x)

    def _cdf(self, x: Any) -> Any:
        return exp(self._log_cdf(x))

    def _shares(self) -> Any:
        return self._over_events(softmax(self._mixture.logits))

    def _mean(self) -> Any:
        return reduce_sum(self._shares() * self._components.mean(), axis=-1 - self._event_rank())

    def _variance(self) -> Any:
        axis, shares = -1 - self._event_rank(), self._shares()
        means = self._components.mean()
        away = means - expand_dims(self._mean(), axis)
        return reduce_sum(shares * (self._components.variance() + square(away)), axis=axis)

    def _covariance(self) -> Any:
        if self._event_rank() != 1:
            raise UnimplementedError(f"{self.name}: covariance is implemented for vectors, not for {self.event_shape}")
        shares = expand_dims(self._shares(), -1)
        away = self._components.mean() - expand_dims(self._mean(), -2)
        between = expand_dims(away, -1) * expand_dims(away, -2)
        try:
            within = self._components.covariance()
        except NotImplementedError:
            within = matrix_diag(self._components.variance())
        return reduce_sum(shares * (within + between), axis=-3)


def _check_family(mixture: Any, components: Any) -> None:
    if not isinstance(mixture, Categorical):
        raise WrongTypeError(f"mixture_distribution must be a Categorical distribution, but saw: {mixture!r}")
    if not isinstance(components, Distribution):
        raise WrongTypeError(f"components_distribution must be a Distribution, but saw: {components!r}")
    known = components.batch_shape
    if known.rank == 0:
        raise InvalidArgumentError("`components_distribution` must have a batch dimension, of the components")
    if known.rank is None:
        return
    own = mixture.batch_shape
    if own.rank not in (None, 0) and not own.is_compatible_with(known[:-1]):
        raise InvalidArgumentError(
            f"`mixture_distribution.batch_shape` ({own}) is not compatible with "
            f"`components_distribution.batch_shape` ({known[:-1]} without its last dimension)"
        )
    count = mixture.logits.get_shape()[-1:].num_elements() if mixture.logits.get_shape().rank is not None else None
    if None is not count != known.as_list()[-1] is not None:
        raise InvalidArgumentError(
            f"`mixture_distribution` has {count} classes, and the components' batch {known} ends otherwise"
        )
