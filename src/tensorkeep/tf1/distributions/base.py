"""What all distributions have: shapes, draws, probabilities and moments by name.

A distribution of its own says `_log_prob` or `_prob`, `_sample_n`, and of the moments those that it has; all else
follows. A value has the shape draws + batch + event: distributions of a batch are independent of each other, and an
event is what one draw of one of them is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.distributions.divergences import kl_divergence
from tensorkeep.tf1.functions.arrays.shapes import broadcast_dynamic_shape, broadcast_static_shape, concat, reshape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.elementwise import equal, exp, expm1, log, log1p, sqrt, square
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod


class ReparameterizationType:
    """Whether gradients of draws reach the parameters: one of the two values below."""

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED: Final = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED: Final = ReparameterizationType("NOT_REPARAMETERIZED")


_WAYS: Final[dict[str, tuple[tuple[str, Callable[[Any], Any] | None], ...]]] = {
    "log_prob": (("_log_prob", None), ("_prob", log)),
    "prob": (("_prob", None), ("_log_prob", exp)),
    "cdf": (("_cdf", None), ("_log_cdf", exp)),
    "log_cdf": (("_log_cdf", None), ("_cdf", log)),
    "survival_function": (
        ("_survival_function", None),
        ("_cdf", lambda found: 1.0 - found),
        ("_log_cdf", lambda found: -expm1(found)),
    ),
    "log_survival_function": (
        ("_log_survival_function", None),
        ("_survival_function", log),
        ("_cdf", lambda found: log1p(-found)),
        ("_log_cdf", lambda found: log1p(-exp(found))),
    ),
    "quantile": (("_quantile", None),),
}
"""The methods of families that answer a question of a value, and what is then done to what they give."""


class Distribution:
    """A batch of independent distributions of one family."""

    def __init__(
        self,
        dtype: DTypeLike,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: object = None,
        name: str | None = None,
    ) -> None:
        self._dtype = DType.of(dtype)
        self._reparameterization_type = reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._keep_parameters(parameters or {})
        if not hasattr(self, "_name"):  # families have opened a scope, in which their parameters are
            with name_scope(name or type(self).__name__) as self._name:
                pass

    def _keep_parameters(self, given: dict[str, Any]) -> None:
        """Remembers what the distribution was made of, which `copy` makes another of."""
        self._given = {key: value for key, value in given.items() if key not in ("self", "__class__")}

    # ------------------------------------------------------------------------------------------------- what it is

    @property
    def name(self) -> str:
        """The scope of its operations, which ends with a slash as in TensorFlow."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of draws."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What the distribution was made of, by the names of the arguments."""
        return dict(self._given)

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """A distribution of the same family, with some of its arguments changed."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    @property
    def batch_shape(self) -> TensorShape:
        """The shape in which the distributions of this batch lie, as far as it is known before a run; [] for one."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of a draw from one distribution; [] for numbers."""
        return TensorShape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape in which the distributions of this batch lie, as a tensor."""
        known = self.batch_shape
        with self._scope(name):
            return _sizes(known) if known.is_fully_defined() else self._batch_shape_tensor()

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """The shape of a draw from one distribution, as a tensor."""
        known = self.event_shape
        with self._scope(name):
            return _sizes(known) if known.is_fully_defined() else self._event_shape_tensor()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether a draw is a number, as a tensor."""
        with self._scope(name):
            return _is_of_rank_zero(self.event_shape, self.event_shape_tensor)

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether this is one distribution, as a tensor."""
        with self._scope(name):
            return _is_of_rank_zero(self.batch_shape, self.batch_shape_tensor)

    def __repr__(self) -> str:
        return (
            f"<tf.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={self.dtype.name}>"
        )

    # --------------------------------------------------------------------------------------- draws and probabilities

    def sample(self, sample_shape: ShapeLike = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Draws from each distribution, of the shape `sample_shape` + `batch_shape` + `event_shape`."""
        return self._drawn(sample_shape, seed, name, {})

    def _drawn(self, sample_shape: Any, seed: int | None, name: str, condition: dict[str, Any]) -> Tensor:
        with self._scope(name):
            sizes, known = _sample_sizes(sample_shape)
            drawn = self._drawn_values(sizes, seed, condition)
            drawn.set_shape(known.concatenate(self.batch_shape.concatenate(self.event_shape)))
            return drawn

    def _drawn_values(self, sizes: Tensor, seed: int | None, condition: dict[str, Any]) -> Tensor:
        """Draws of the shape that a vector tells."""
        known = constant_value(sizes)
        count = reduce_prod(sizes) if known is None else np.prod(known, dtype=np.int32)
        drawn = self._sample_n(count, seed, **condition)
        return reshape(drawn, concat([sizes, shape_of(drawn)[1:]], 0))

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> Tensor:
        """The logarithms of the probabilities, or densities, of values."""
        return self._answered("log_prob", value, name, {})

    def prob(self, value: TensorLike, name: str = "prob") -> Tensor:
        """The probabilities, or densities, of values."""
        return self._answered("prob", value, name, {})

    def cdf(self, value: TensorLike, name: str = "cdf") -> Tensor:
        """The probability of drawing at most a value."""
        return self._answered("cdf", value, name, {})

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> Tensor:
        """The logarithm of `cdf`."""
        return self._answered("log_cdf", value, name, {})

    def survival_function(self, value: TensorLike, name: str = "survival_function") -> Tensor:
        """The probability of drawing more than a value."""
        return self._answered("survival_function", value, name, {})

    def log_survival_function(self, value: TensorLike, name: str = "log_survival_function") -> Tensor:
        """The logarithm of `survival_function`."""
        return self._answered("log_survival_function", value, name, {})

    def quantile(self, value: TensorLike, name: str = "quantile") -> Tensor:
        """The value that a draw does not exceed with the given probability: the inverse of `cdf`."""
        return self._answered("quantile", value, name, {})

    # -------------------------------------------------------------------------------------------------------- moments

    def mean(self, name: str = "mean") -> Tensor:
        """What draws are on average."""
        return self._of_nothing(name, (("_mean", None),))

    def mode(self, name: str = "mode") -> Tensor:
        """The most probable draw."""
        return self._of_nothing(name, (("_mode", None),))

    def stddev(self, name: str = "stddev") -> Tensor:
        """The root of the variance."""
        return self._of_nothing(name, (("_stddev", None), ("_variance", sqrt)))

    def variance(self, name: str = "variance") -> Tensor:
        """The mean square of the distance from the mean."""
        return self._of_nothing(name, (("_variance", None), ("_stddev", square)))

    def covariance(self, name: str = "covariance") -> Tensor:
        """The matrix of covariances of the elements of a draw."""
        return self._of_nothing(name, (("_covariance", None),))

    def entropy(self, name: str = "entropy") -> Tensor:
        """The entropy: the mean of -log(probability) of draws, by the natural logarithm."""
        return self._of_nothing(name, (("_entropy", None),))

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """The Kullback-Leibler divergence: the mean of log(own probability / that of `other`) over draws from this."""
        with self._scope(name):
            return kl_divergence(self, other, allow_nan_stats=self._allow_nan_stats)

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """The mean of -log(probability in `other`) over draws from this distribution."""
        with self._scope(name):
            return self.entropy() + self.kl_divergence(other)

    # ----------------------------------------------------------------------------------------------- for subclasses

    def _batch_shape(self) -> Any:
        return None

    def _batch_shape_tensor(self) -> Tensor:
        raise UnimplementedError(f"batch_shape_tensor is not implemented: {type(self).__name__}")

    def _event_shape(self) -> Any:
        return []

    def _event_shape_tensor(self) -> Tensor:
        return constant([], INT32)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        raise UnimplementedError(f"sample_n is not implemented: {type(self).__name__}")

    @contextmanager
    def _scope(self, name: str) -> Iterator[None]:
        with name_scope(self._name), name_scope(name):
            yield

    def _method(self, name: str) -> Callable[..., Any] | None:
        return getattr(self, name, None)

    def _answered(self, what: str, value: Any, name: str, condition: dict[str, Any]) -> Tensor:
        """What the first of the ways to it that the family has gives for a value."""
        with self._scope(name):
            tensor = self._converted(value)
            return self._first(what, _WAYS[what], tensor, **condition)

    def _of_nothing(self, name: str, ways: Any) -> Tensor:
        with self._scope(name):
            return self._first(name, ways)

    def _first(self, name: str, ways: Any, *values: Any, **condition: Any) -> Tensor:
        """What the first of these methods gives that there is and that does not say that it is not implemented."""
        refused: NotImplementedError | None = None
        for method, then in ways:
            found = self._method(method)
            if found is not None:
                try:
                    result: Tensor = found(*values, **condition)
                except NotImplementedError as error:
                    refused = refused or error
                else:
                    return result if then is None else then(result)
        raise refused or UnimplementedError(f"{name} is not implemented: {type(self).__name__}")

    def _converted(self, value: Any) -> Tensor:
        """A value as a tensor; numbers of Python become the type of draws."""
        return value if isinstance(value, Tensor) else convert(value, preferred_dtype=self._dtype, name="value")


def _sample_sizes(sample_shape: Any) -> tuple[Tensor, TensorShape]:
    """The shape in which is drawn: as a vector, and as far as it is known."""
    wanted = convert(sample_shape, INT32, name="sample_shape")
    if (wanted.static_shape.rank or 0) > 1:
        raise InvalidArgumentError("Input is neither scalar nor vector.")
    value = constant_value(wanted)
    if value is not None:
        sizes = np.reshape(value, [-1])
        return constant(sizes, INT32), TensorShape(sizes.tolist())
    length = wanted.get_shape().element_count()
    return reshape(wanted, [-1]), TensorShape(None if length is None else [None] * length)


def _is_of_rank_zero(known: TensorShape, sizes: Callable[[], Tensor]) -> Tensor:
    if known.rank is not None:
        return convert(known.rank == 0, name="is_scalar")
    return equal(shape_of(sizes())[0], 0)


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    """What `Distribution` is told of the arguments that a family was made of, by their names."""
    options = {name: given[name] for name in ("validate_args", "allow_nan_stats", "name")}
    return {**options, "parameters": given}


class Broadcast(Distribution):
    """A distribution of numbers whose parameters are broadcast against each other."""

    def _set(self, *tensors: Tensor) -> None:
        dtypes = {tensor.dtype for tensor in tensors}
        if len(dtypes) != 1 or not tensors[0].dtype.is_floating:
            found = ", ".join(tensor.dtype.name for tensor in tensors)
            raise WrongTypeError(
                f"the parameters of {type(self).__name__} are {found}: they have to be of one floating type"
            )
        self._tensors = tensors

    def _batch_shape(self) -> Any:
        known: Any = TensorShape([])
        for tensor in self._tensors:
            known = broadcast_static_shape(known, tensor.get_shape())
        return known

    def _batch_shape_tensor(self) -> Tensor:
        found = shape_of(self._tensors[0])
        for tensor in self._tensors[1:]:
            found = broadcast_dynamic_shape(found, shape_of(tensor))
        return found

    def _drawn_shape(self, n: Any) -> Tensor:
        return concat([[n], self.batch_shape_tensor()], 0)


def derived_seed(seed: int | None, salt: str) -> int | None:
    """A second seed made of one and a text: what TensorFlow draws a second stream by."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF


def _sizes(shape: TensorShape) -> Tensor:
    return constant(np.array(shape.as_list(), np.int32), INT32)
