"""The compiled functions of embedding tables: an index of keys, and work on rows that lie in chunks.

Who calls sees to it that arrays are what they are said to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.native.library import Address, address, compiled_function, functions_by_dtype

STEP_RULES: Final = ("GradientDescent", "Adagrad", "AdagradDecay", "Adam", "AdamW", "AdamAsync", "Ftrl", "FtrlV2")
"""The rules of optimizers, in the order of their numbers in embedding.cpp."""

Function = Callable[..., Any]


def place(array: npt.NDArray[Any]) -> int | Address:
    """Where the elements are in C order, for a function that only reads them, while who calls keeps the array alive."""
    flags = array.flags
    if not flags.c_contiguous:
        return address(np.array(array, order="C"))
    return address(array) if flags.writeable else array.ctypes.data


@dataclass(frozen=True, slots=True)
class Functions:
    """The compiled functions."""

    index_new: Function
    index_free: Function
    index_clear: Function
    index_count: Function
    index_row_limit: Function
    index_bytes: Function
    index_reserve: Function
    index_find: Function
    index_find_or_insert: Function
    index_remove: Function
    index_items: Function
    index_shards: Function
    index_count_shards: Function
    index_place_by_shard: Function
    index_make_room: Function
    index_fill_shards: Function
    index_filled: Function
    find_and_gather: Function
    gather: Function
    scatter: Function
    scatter_defaults: Function
    has_repeated: Function
    group: Function
    first_misplaced: Function
    is_in_order: Function
    count_buckets: Function
    place_by_bucket: Function
    sort_buckets: Function
    step: Mapping[np.dtype[Any], Function]
    sum: Mapping[np.dtype[Any], Function]


# What each takes and gives, as `compiled_function` is told it.
_SIGNATURES: Final[Mapping[str, tuple[str, str]]] = {
    "index_new": ("", "p"),
    "index_free": ("p", ""),
    "index_clear": ("p", ""),
    "index_count": ("p", "l"),
    "index_row_limit": ("p", "l"),
    "index_bytes": ("p", "l"),
    "index_reserve": ("pl", "i"),
    "index_find": ("pplp", ""),
    "index_find_or_insert": ("pplpp", "l"),
    "index_remove": ("pplp", "l"),
    "index_items": ("ppp", ""),
    "index_shards": ("", "l"),
    "index_count_shards": ("plp", ""),
    "index_place_by_shard": ("pllpp", ""),
    "index_make_room": ("pp", "i"),
    "index_fill_shards": ("pppll", "l"),
    "index_filled": ("p", ""),
    "find_and_gather": ("pplpllplp", "l"),
    "gather": ("pllplp", ""),
    "scatter": ("pllplpl", ""),
    "scatter_defaults": ("pllpplpl", ""),
    "has_repeated": ("pll", "i"),
    "group": ("plpp", "l"),
    "first_misplaced": ("pllp", "l"),
    "is_in_order": ("pl", "i"),
    "count_buckets": ("plp", ""),
    "place_by_bucket": ("pplpp", ""),
    "sort_buckets": ("ppllpp", "i"),
    "step": ("ipplpp", "i"),
    "sum": ("pllppp", ""),
}
_BY_DTYPE: Final = ("step", "sum")


@cache
def functions() -> Functions | None:
    """The compiled functions; None if the library is not there."""
    found: dict[str, Any] = {}
    for name, (takes, gives) in _SIGNATURES.items():
        bind = functions_by_dtype if name in _BY_DTYPE else compiled_function
        found[name] = bind(f"embedding_{name}", takes, gives)
    return None if None in found.values() else Functions(**found)
