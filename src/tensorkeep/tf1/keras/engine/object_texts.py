"""What layers tell of their attributes in `get_config`."""

from __future__ import annotations

from typing import Any

from tensorkeep.tf1.keras import activations, constraints, initializers, regularizers


def described_attribute(name: str, value: Any) -> Any:
    """An attribute as it is stored: functions and objects by name and arguments, sizes and flags as they are."""
    if name.endswith("_initializer"):
        return initializers.serialize(value)
    if name.endswith("_regularizer"):
        return regularizers.serialize(value)
    if name.endswith("_constraint"):
        return constraints.serialize(value)
    if name.endswith("activation"):
        return activations.serialize(value)
    return value
