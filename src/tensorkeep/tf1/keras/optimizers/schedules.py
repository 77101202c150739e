"""`tf.keras.optimizers.schedules`: learning rates that change with the step, as objects.

What they compute is what the functions of `tf.train` do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.keras.named_objects import deserialize_keras_object, serialize_keras_object
from tensorkeep.tf1.training.optimizers import schedules


class LearningRateSchedule:
    """A learning rate as a function of the step; override `__call__` and `get_config`."""

    def __call__(self, step: TensorLike) -> Tensor:
        """The learning rate at a step."""
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LearningRateSchedule:
        return cls(**config)


class _Decay(LearningRateSchedule):
    """A schedule by one of the functions of `tf.train`; `_arguments` are its own, in their order there."""

    _function: ClassVar[Callable[..., Tensor]]
    _arguments: ClassVar[tuple[str, ...]]

    def __call__(self, step: TensorLike) -> Tensor:
        first, *others = (getattr(self, name) for name in self._arguments)
        return type(self)._function(first, step, *others)

    def get_config(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._arguments}


class ExponentialDecay(_Decay):
    """initial_learning_rate * decay_rate ** (step / decay_steps); with `staircase`, in whole steps."""

    _function = staticmethod(schedules.exponential_decay)
    _arguments = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: TensorLike,
        decay_steps: TensorLike,
        decay_rate: TensorLike,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name


class InverseTimeDecay(ExponentialDecay):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps); with `staircase`, in whole steps."""

    _function = staticmethod(schedules.inverse_time_decay)


class PolynomialDecay(_Decay):
    """From one rate to another along a power of the part of steps that is left; with `cycle`, again and again."""

    _function = staticmethod(schedules.polynomial_decay)
    _arguments = ("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name")

    def __init__(
        self,
        initial_learning_rate: TensorLike,
        decay_steps: TensorLike,
        end_learning_rate: TensorLike = 0.0001,
        power: TensorLike = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name


class PiecewiseConstantDecay(LearningRateSchedule):
    """`values[0]` up to the first boundary, then `values[1]`, and so on."""

    def __init__(self, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> None:
        if len(boundaries) != len(values) - 1:
            raise InvalidArgumentError("The length of boundaries should be 1 less than the length of values")
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step: TensorLike) -> Tensor:
        at = convert(step)
        boundaries = [cast(convert(item), at.dtype.base_dtype) for item in self.boundaries]
        return schedules.piecewise_constant(at, boundaries, list(self.values), self.name)

    def get_config(self) -> dict[str, Any]:
        return {"boundaries": self.boundaries, "values": self.values, "name": self.name}


_SCHEDULES: Final[dict[str, Any]] = {
    kind.__name__: kind for kind in (ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay)
}


def serialize(learning_rate_schedule: LearningRateSchedule) -> dict[str, Any] | str | None:
    """A schedule as its name and its arguments."""
    told: dict[str, Any] | str | None = serialize_keras_object(learning_rate_schedule)
    return told


def deserialize(
    config: Mapping[str, Any] | str, custom_objects: Mapping[str, Any] | None = None
) -> LearningRateSchedule:
    """The schedule that a name with arguments stands for."""
    found: LearningRateSchedule = deserialize_keras_object(config, _SCHEDULES, custom_objects, "decay")
    return found
