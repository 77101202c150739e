"""What layers are told: sizes, paddings, data formats, and functions by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, Final, TypeAlias, TypeVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, IntegersLike, ShapeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.nn.activations import elu, relu, relu6, selu, softmax, softplus, softsign, swish
from tensorkeep.tf1.functions.numbers.elementwise import exp, sigmoid, tanh
from tensorkeep.tf1.variables.initializers import (
    GlorotNormal,
    GlorotUniform,
    Identity,
    Initializer,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scope import VariableScope

Function = Callable[..., Any]
Class = TypeVar("Class", bound=type)
ActivationLike: TypeAlias = "Callable[..., Tensor] | str | None"
"""A function of a layer's outputs, or its name."""
Training: TypeAlias = "Tensor | bool | int | None"
"""Whether a layer is trained; None: as the layer that calls it, or as the learning phase says."""
LayerOption: TypeAlias = "bool | str | VariableScope | DTypeLike | Function | None"
"""What any layer may be told besides its own arguments: `trainable`, `name`, `dtype`, `activity_regularizer`."""

_ACTIVATIONS: Final[dict[str, Function]] = {
    "elu": elu,
    "exponential": exp,
    "linear": lambda x: x,
    "relu": relu,
    "relu6": relu6,
    "selu": selu,
    "sigmoid": sigmoid,
    "softmax": softmax,
    "softplus": softplus,
    "softsign": softsign,
    "swish": swish,
    "tanh": tanh,
}
_INITIALIZERS: Final[dict[str, Callable[[], Initializer]]] = {
    "glorot_normal": GlorotNormal,
    "glorot_uniform": GlorotUniform,
    "he_normal": he_normal,
    "he_uniform": he_uniform,
    "identity": Identity,
    "lecun_normal": lecun_normal,
    "lecun_uniform": lecun_uniform,
    "normal": lambda: RandomNormal(stddev=0.05),
    "ones": Ones,
    "orthogonal": Orthogonal,
    "random_normal": lambda: RandomNormal(stddev=0.05),
    "random_uniform": lambda: RandomUniform(-0.05, 0.05),
    "truncated_normal": lambda: TruncatedNormal(stddev=0.05),
    "uniform": lambda: RandomUniform(-0.05, 0.05),
    "variance_scaling": VarianceScaling,
    "zeros": Zeros,
}


@dataclass(frozen=True)
class WeightOptions:
    """The initializer, regularizer and constraint of one kind of weight of a layer."""

    initializer: InitializerLike
    regularizer: Function | None
    constraint: Function | None


@dataclass(frozen=True)
class Windows:
    """The windows of a convolution, as given by the program: a number for all dimensions, or one for each."""

    size: IntegersLike
    strides: IntegersLike
    padding: str
    data_format: str | None
    dilation_rate: IntegersLike = 1


def activation_of(value: ActivationLike) -> Function | None:
    """An activation function, given as one or by its name."""
    found: Function | None = _find_by_name(value, _ACTIVATIONS, "activation function")
    return found


def initializer_of(value: InitializerLike | type) -> InitializerLike:
    """An initializer, given as one, as its class, or by its name."""
    if isinstance(value, str):
        named: Initializer = _find_by_name(value, _INITIALIZERS, "initializer")()
        return named
    return value() if isinstance(value, type) else value


def _find_by_name(value: Any, known: dict[str, Any], what: str) -> Any:
    if not isinstance(value, str):
        return value
    if value not in known:
        raise InvalidArgumentError(f"Unknown {what}: '{value}'. Known: {', '.join(sorted(known))}")
    return known[value]


def numbers(value: IntegersLike, count: int, name: str, allows_zero: bool = False) -> tuple[int, ...]:
    """`count` whole numbers, given as one for all or as a sequence."""
    problem = f"The `{name}` argument must be a tuple of {count} integers. Received: {value}"
    given: Any = value
    try:
        found = (value,) * count if isinstance(value, int) else tuple(int(item) for item in given)
    except (TypeError, ValueError):
        raise InvalidArgumentError(problem) from None
    least = 0 if allows_zero else 1
    if len(found) != count:
        raise InvalidArgumentError(problem)
    if min(found) < least:
        raise InvalidArgumentError(f"{problem}, which does not satisfy the requirement `>= {least}`.")
    return found


def padding_of(value: str) -> str:
    """How the borders are treated: "valid", "same" or "causal", however it is written."""
    padding = value.lower()
    if padding not in ("valid", "same", "causal"):
        raise InvalidArgumentError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D). '
            f"Received: {padding}"
        )
    return padding


def data_format_of(value: str | None) -> str:
    """Where the channels are: "channels_last" unless told otherwise."""
    data_format = "channels_last" if value is None else value.lower()
    if data_format not in ("channels_first", "channels_last"):
        raise InvalidArgumentError(
            f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {value}'
        )
    return data_format


def tensor_format(data_format: str, rank: int) -> str:
    """The letters that operations call a data format by."""
    spatial = {3: "W", 4: "HW", 5: "DHW"}[rank]
    return f"NC{spatial}" if data_format == "channels_first" else f"N{spatial}C"


def output_length(length: int | None, window: int, padding: str, stride: int, dilation: int = 1) -> int | None:
    """How many windows there are along an axis of that length."""
    if length is None:
        return None
    span = window + (window - 1) * (dilation - 1)
    covered = length - span + 1 if padding == "valid" else length
    return (covered + stride - 1) // stride


def known_dimension(shape: ShapeLike, axis: int, what: str) -> int:
    """The size of a dimension that a layer's variables depend on."""
    found = TensorShape(shape)
    size = found[axis].value if found.rank is not None else None
    if size is None:
        raise InvalidArgumentError(f"{what} should be defined. Found None. Full input shape received: {shape}")
    return size


# ---------------------------------------------------------------------------------------------------- Signatures


def with_defaults(**defaults: IntegersLike) -> Callable[[Class], Class]:
    """Shows a class with TensorFlow's defaults, where its base class has others that mean the same."""

    def decorate(layer: Class) -> Class:
        known = signature(layer)
        parameters = [
            parameter.replace(default=defaults[name]) if name in defaults else parameter
            for name, parameter in known.parameters.items()
        ]
        layer.__signature__ = known.replace(parameters=parameters)  # type: ignore[attr-defined]
        return layer

    return decorate


def function_of_layer(layer: type, name: str, *, takes_reuse: bool = True) -> Function:
    """The function that makes a layer and calls it at once: `inputs`, the layer's parameters, and perhaps `reuse`."""
    positional = Parameter.POSITIONAL_OR_KEYWORD
    own = [item for item in signature(layer).parameters.values() if item.kind is positional]
    reuse = [Parameter("reuse", positional, default=None)] if takes_reuse else []
    shown = signature(layer).replace(parameters=[Parameter("inputs", positional), *own, *reuse])

    def function(*args: Any, **keywords: Any) -> Any:
        told = shown.bind(*args, **keywords).arguments
        inputs = told.pop("inputs")
        if takes_reuse:
            told.update(_reuse=told.pop("reuse", None), _scope=told.get("name"))
        return layer(**told)(inputs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = layer.__doc__
    function.__signature__ = shown  # type: ignore[attr-defined]
    return function
