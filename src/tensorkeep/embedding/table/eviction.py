"""Which rows a table drops when it is told to: decided from versions or from the rows themselves.

A version is the step of the last update; -1 says that there has been none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError

NEVER: int = -1
"""The version of a key that has not been updated yet."""


@dataclass(frozen=True, slots=True)
class KeepAll:
    """Nothing is dropped."""


@dataclass(frozen=True, slots=True)
class GlobalStep:
    """A key is dropped when it has not been updated for more than so many steps, one that is filtered too.

    A key without a version is kept, and given the current step as its version.
    """

    steps_to_live: int

    def __post_init__(self) -> None:
        if self.steps_to_live < 0:
            raise InvalidArgumentError(f"steps_to_live is {self.steps_to_live}, expected 0 or more")

    def expired(self, versions: Array, step: int) -> npt.NDArray[np.bool_]:
        """For each version whether the key is dropped at `step`."""
        old: npt.NDArray[np.bool_] = (versions != NEVER) & (np.int64(step) - versions > self.steps_to_live)
        return old


@dataclass(frozen=True, slots=True)
class L2Weight:
    """A key is dropped when half the sum of its row's squares is below a threshold."""

    threshold: float

    def __post_init__(self) -> None:
        if not self.threshold > 0:
            raise InvalidArgumentError(f"the threshold of row weights is {self.threshold}, expected more than 0")

    def expired(self, rows: Array) -> npt.NDArray[np.bool_]:
        """For each row whether its key is dropped."""
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.promote_types(rows.dtype, np.float32))
        below: npt.NDArray[np.bool_] = squares / 2 < self.threshold
        return below


Eviction: TypeAlias = KeepAll | GlobalStep | L2Weight


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """The keys that dropping rows changed."""

    removed: npt.NDArray[np.int64]
    """Those that had rows and are gone, in order."""
    beside: npt.NDArray[np.int64]
    """Those that were given a version, and those that had no row and are counted no more."""
