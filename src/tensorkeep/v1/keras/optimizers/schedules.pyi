# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.optimizers.schedules import (
    ExponentialDecay, InverseTimeDecay, LearningRateSchedule, PiecewiseConstantDecay, PolynomialDecay, deserialize,
    serialize,
)

__all__ = [
    "ExponentialDecay", "InverseTimeDecay", "LearningRateSchedule", "PiecewiseConstantDecay", "PolynomialDecay",
    "deserialize", "serialize",
]
