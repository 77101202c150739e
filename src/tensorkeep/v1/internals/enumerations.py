"""The values of enumerations by their names, as modules of messages have them: `types_pb2.DT_FLOAT`."""

from __future__ import annotations

from typing import Any, Final

from tensorkeep.proto.messages import Code, DataType, VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.embedding_variables.options import CacheStrategy, StorageType

_ENUMERATIONS: Final[tuple[Any, ...]] = (DataType, Code, VariableAggregation, VariableSynchronization)


def __getattr__(name: str) -> int:
    for enumeration in _ENUMERATIONS:
        if name in enumeration.keys():  # noqa: SIM118 - it is no mapping
            number: int = enumeration.Value(name)
            return number
    for ours in (StorageType, CacheStrategy):
        if name in ours.__members__:
            return ours[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
