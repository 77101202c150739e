# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.constraints import (
    Constraint, MaxNorm, MinMaxNorm, NonNeg, RadialConstraint, UnitNorm, deserialize, get, max_norm, min_max_norm,
    non_neg, radial_constraint, serialize, unit_norm,
)

__all__ = [
    "Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "RadialConstraint", "UnitNorm", "deserialize", "get", "max_norm",
    "min_max_norm", "non_neg", "radial_constraint", "serialize", "unit_norm",
]
