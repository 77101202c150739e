"""`tf.raw_ops`: every op as a function of its inputs and attributes, all by keyword."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.opspec import OpSpec, find_op


class RawOp:
    """An op as a function."""

    def __init__(self, spec: OpSpec) -> None:
        self._spec = spec
        self.__name__ = spec.name
        self.__doc__ = str(spec.schema)

    def __call__(self, *positional: Any, name: str | None = None, **arguments: Any) -> Any:
        if positional:
            raise WrongTypeError(f"{self.__name__} only takes keyword args: {self.__doc__}")
        return self._spec(name=name, **arguments)


def __getattr__(name: str) -> RawOp:
    spec = None if name.startswith("_") else find_op(name)
    if spec is None:
        raise AttributeError(f"module 'tensorkeep.v1.raw_ops' has no attribute {name!r}: TensorFlow has no such op")
    return RawOp(spec)
