"""The type of an array whose element type and rank are known at run time only.

A module of its own, because it imports NumPy. `dtypes` and `shapes` do not: the small commands start with them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
