"""What a variable may be told about copies of it, and a scope about reuse."""

from __future__ import annotations

from enum import Enum
from typing import Final

from tensorkeep.errors import InvalidArgumentError


class VariableSynchronization(Enum):
    """When copies of a distributed variable are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """How copies of a distributed variable are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # an alias


class ReuseMode(Enum):
    """`tf.AUTO_REUSE`: beside True and False, a third answer to whether the variables of a scope are there already."""

    AUTO_REUSE = 1


AUTO_REUSE: Final = ReuseMode.AUTO_REUSE
"""A variable that exists is found, one that does not is made."""


def checked_modes(
    synchronization: VariableSynchronization | int | None,
    aggregation: VariableAggregation | int | None,
    trainable: bool | None,
    name: str | None,
) -> tuple[VariableSynchronization, VariableAggregation, bool]:
    """Synchronization, aggregation and trainable as values; None becomes the default of a single process."""
    try:
        how = VariableAggregation(_plain(aggregation, VariableAggregation.NONE))
    except ValueError:
        raise InvalidArgumentError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}") from None
    try:
        when = VariableSynchronization(_plain(synchronization, VariableSynchronization.AUTO))
    except ValueError:
        raise InvalidArgumentError(
            f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
        ) from None
    if trainable is None:
        trainable = when is not VariableSynchronization.ON_READ
    return when, how, trainable


def trainable_when(synchronization: VariableSynchronization, trainable: bool | None) -> bool:
    """Whether a weight of a layer is trained: as the layer was told, and by default if its copies are not brought
    together only when they are read. InvalidArgumentError if it shall be trained and they are.
    """
    is_on_read = synchronization is VariableSynchronization.ON_READ
    if is_on_read and trainable:
        raise InvalidArgumentError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable "
            "variables. You have specified trainable=True and synchronization=VariableSynchronization.ON_READ."
        )
    return not is_on_read if trainable is None else bool(trainable)


def _plain(mode: Enum | int | None, absent: Enum) -> int:
    chosen = absent if mode is None else mode
    number: int = chosen.value if isinstance(chosen, Enum) else chosen
    return number
