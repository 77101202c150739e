"""Steps of optimizers in one pass over a variable, its slots and the gradient.

The arithmetic is that of the rules in `rules.py` and `ops/training/optimizer_steps.py`, which do the same with NumPy,
to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.native.library import address, functions_by_dtype, readable

# Of TensorFlow's ops (`Apply…`): the function, how many arrays it takes with the gradient, and how many numbers.
FUSED: Final[Mapping[str, tuple[str, int, int]]] = MappingProxyType(
    {
        "Adadelta": ("adadelta", 4, 3),
        "Adagrad": ("adagrad", 3, 2),
        "AdagradV2": ("adagrad_v2", 3, 3),
        "Adam": ("adam", 4, 7),
        "CenteredRMSProp": ("centered_rms_prop", 5, 4),
        "Ftrl": ("ftrl", 4, 5),
        "FtrlV2": ("ftrl_v2", 4, 6),
        "FtrlOfWhole": ("whole_ftrl", 4, 5),
        "FtrlV2OfWhole": ("whole_ftrl_v2", 4, 6),
        "GradientDescent": ("gradient_descent", 2, 1),
        "KerasMomentum": ("keras_momentum", 3, 3),
        "Momentum": ("momentum", 3, 3),
        "RMSProp": ("rms_prop", 4, 4),
    }
)


@cache
def functions(name: str) -> Mapping[np.dtype[Any], Callable[..., int]]:
    """The compiled functions for an op, by dtype: none if it has none, or if the library is not there."""
    if name not in FUSED:
        return {}
    function, arrays, numbers = FUSED[name]
    return functions_by_dtype(function, "p" * arrays + "l" + "d" * numbers, "i")


def fused_update(name: str, arrays: Sequence[Array], gradient: Array, numbers: Iterable[Any]) -> bool:
    """Takes the step of an op, in place, and tells whether it did; if not, nothing has been touched.

    `arrays` are the variable and its slots, in C order, each of the gradient's shape; `numbers` what else the op is
    given, in its order, attributes last. Not taken are steps of other dtypes than float32 and float64, on arrays that
    are not aligned, and with numbers that the rule has no loop for.
    """
    dtype = gradient.dtype
    function = functions(name).get(dtype)
    if function is None:
        return False
    for array in arrays:
        if array.dtype != dtype:
            return False
    return function(*map(address, arrays), readable(gradient), gradient.size, *numbers) != 0
