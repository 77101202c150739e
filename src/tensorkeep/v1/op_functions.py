"""An op as TensorFlow's Python spells it: a function of its inputs and attributes, all by keyword."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from inspect import Parameter, Signature
from typing import Any, Final

import numpy as np

from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.graph.registry.schema import AttrSchema
from tensorkeep.shapes import Shape

_REDUCTIONS: Final = ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")

# Where TensorFlow's Python calls an argument otherwise than the signature of the op does.
RENAMED: Final[Mapping[str, Mapping[str, str]]] = {
    **{name: {"axis": "reduction_indices"} for name in _REDUCTIONS},
    "ExpandDims": {"axis": "dim"},
    "Select": {"x": "t", "y": "e"},
    "Split": {"axis": "split_dim"},
    "SplitV": {"axis": "split_dim"},
    "Squeeze": {"axis": "squeeze_dims"},
    "Where": {"condition": "input"},
}

# Where TensorFlow's Python has another default than the op.
DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "SdcaOptimizer": {"adaptative": True},
    "SdcaOptimizerV2": {"adaptive": True},
}


class RawOp:
    """An op as a function."""

    def __init__(self, spec: OpSpec) -> None:
        self._spec = spec
        self._names = RENAMED.get(spec.name, {})
        self._defaults = DEFAULTS.get(spec.name, {})
        self.__name__ = spec.name
        self.__doc__ = str(spec.schema)

    @cached_property
    def __signature__(self) -> Signature:
        schema = self._spec.schema
        attrs = [attr for attr in schema.attrs if attr.name not in schema.inferred_attrs]
        attrs.sort(key=lambda attr: attr.has_default)
        return Signature(
            [
                *(self._parameter(arg.name, Parameter.empty) for arg in schema.inputs),
                *(self._parameter(attr.name, self._default(attr)) for attr in attrs),
                self._parameter("name", None),
            ]
        )

    def _parameter(self, name: str, default: Any) -> Parameter:
        shown = next((ours for ours, signed in self._names.items() if signed == name), name)
        return Parameter(shown, Parameter.POSITIONAL_OR_KEYWORD, default=default)

    def _default(self, attr: AttrSchema) -> Any:
        if attr.name in self._defaults:
            return self._defaults[attr.name]
        return _shown_default(attr.default) if attr.has_default else Parameter.empty

    def __call__(self, *positional: Any, name: str | None = None, **arguments: Any) -> Any:
        possible = list(self.__signature__.parameters)
        if positional:
            raise WrongTypeError(
                f"{self.__name__} only takes keyword args (possible keys: {possible}). Please pass these args as "
                "kwargs instead."
            )
        if unexpected := [given for given in arguments if given not in possible]:
            raise WrongTypeError(f"{self.__name__} has no argument {unexpected}: it takes {possible}")
        given = {self._names.get(shown, shown): value for shown, value in arguments.items()}
        return self._spec(name=name, **{**self._defaults, **given})


def _shown_default(default: Any) -> Any:
    """The default of an attribute as a program writes it."""
    if isinstance(default, bytes):
        return default.decode("latin-1")
    if isinstance(default, float):
        return float(str(np.float32(default)))
    if isinstance(default, Shape):
        return None if default.dims is None else list(default.dims)
    return list(map(_shown_default, default)) if isinstance(default, tuple) else default


@cache
def function_of(spec: OpSpec) -> RawOp:
    """The function of an op, always the same one."""
    return RawOp(spec)
