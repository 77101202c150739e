"""`tf.raw_ops`: every op as a function of its inputs and attributes, all by keyword."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.opspec import OpSpec, find_op


class RawOp:
    """An op as a function."""

    def __init__(self, spec: OpSpec) -> None:
        self._spec = spec
        self.__name__ = spec.name
        self.__doc__ = str(spec.schema)

    @property
    def __signature__(self) -> Signature:
        schema = self._spec.schema
        attrs = [attr for attr in schema.attrs if attr.name not in schema.inferred_attrs]
        attrs.sort(key=lambda attr: attr.has_default)
        parameters = [Parameter(arg.name, Parameter.POSITIONAL_OR_KEYWORD) for arg in schema.inputs]
        for attr in attrs:
            default = _shown(attr.default) if attr.has_default else Parameter.empty
            parameters.append(Parameter(attr.name, Parameter.POSITIONAL_OR_KEYWORD, default=default))
        return Signature([*parameters, Parameter("name", Parameter.POSITIONAL_OR_KEYWORD, default=None)])

    def __call__(self, *positional: Any, name: str | None = None, **arguments: Any) -> Any:
        if positional:
            raise WrongTypeError(f"{self.__name__} only takes keyword args: {self.__doc__}")
        return self._spec(name=name, **arguments)


def _shown(default: Any) -> Any:
    """The default of an attribute as a program writes it."""
    if isinstance(default, bytes):
        return default.decode("latin-1")
    return list(default) if isinstance(default, tuple) else default


def __getattr__(name: str) -> RawOp:
    spec = None if name.startswith("_") else find_op(name)
    if spec is None:
        raise AttributeError(f"module 'tensorkeep.v1.raw_ops' has no attribute {name!r}: TensorFlow has no such op")
    return RawOp(spec)
