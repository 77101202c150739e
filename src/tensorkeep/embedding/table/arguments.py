"""What a table is given, checked and made plain: keys as vectors of int64, rows as matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.table.admission import AdmitAll, BloomFilter, CounterFilter
from tensorkeep.embedding.table.eviction import GlobalStep, KeepAll, L2Weight
from tensorkeep.embedding.table.rows import Column
from tensorkeep.embedding.table.tiers import FileTier, Memory
from tensorkeep.embedding.table.update_rules import RULES, Rule
from tensorkeep.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError, WrongTypeError

Integers: TypeAlias = npt.NDArray[np.int64]

_NUMBERS: Final = "biufV"  # V: types that NumPy has from others


def check_policies(admission: object, eviction: object, storage: object) -> None:
    """WrongTypeError for what is no policy: it would decide nothing."""
    kinds: dict[str, tuple[object, tuple[type, ...]]] = {
        "admission": (admission, (AdmitAll, CounterFilter, BloomFilter)),
        "eviction": (eviction, (KeepAll, GlobalStep, L2Weight)),
        "storage": (storage, (Memory, FileTier)),
    }
    wrong = [
        f"{name} is {value!r}, expected {' or '.join(kind.__name__ for kind in known)}"
        for name, (value, known) in kinds.items()
        if not isinstance(value, known)
    ]
    if wrong:
        raise WrongTypeError("; ".join(wrong))


_MOST_NUMBERS: Final = 1 << 31  # of a row; more is a mistake, and no array has so many


def checked_dim(dim: int) -> int:
    """How many numbers a row has."""
    if _whole("the dimension of rows", dim) < 1:
        raise InvalidArgumentError(f"a row has {dim} numbers, expected at least one")
    if dim > _MOST_NUMBERS:
        raise InvalidArgumentError(f"a row has {dim} numbers, expected no more than {_MOST_NUMBERS}")
    return int(dim)


def checked_count(what: str, count: int) -> int:
    """How many keys there may be."""
    if _whole(what, count) < 0:
        raise InvalidArgumentError(f"{what} is {count}, expected 0 or more")
    return int(count)


def checked_step(step: int | None) -> int | None:
    """The step that keys are stamped with, if they are."""
    return None if step is None else _whole("step", step)


def _whole(what: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise WrongTypeError(f"{what} is {value!r}, expected a whole number")
    return int(value)


def checked_keys(keys: npt.ArrayLike, dtype: np.dtype[Any]) -> tuple[Integers, tuple[int, ...]]:
    """Keys as a vector, and their shape."""
    array = _array("keys", keys)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)  # an empty list
    if array.dtype.kind not in "iu" or (array.dtype.kind == "u" and array.dtype.itemsize == 8):
        raise WrongTypeError(f"keys of type {array.dtype}, expected integers of at most 64 bits, with signs")
    wide = _plain(array, np.dtype(np.int64)).reshape(-1)
    if dtype.itemsize == 4 and array.dtype.itemsize > 4 and wide.size:
        limits = np.iinfo(np.int32)
        if wide.min() < limits.min or wide.max() > limits.max:
            raise InvalidArgumentError(f"keys from {wide.min()} to {wide.max()} in a table of int32 keys")
    return wide, array.shape


def checked_rows(values: npt.ArrayLike, shape: tuple[int, ...], column: Column) -> Array:
    """Rows for keys of a shape, as a matrix."""
    what = f'rows for column "{column.name}"'
    array = _array(what, values)
    if array.shape != (*shape, column.dim):
        raise InvalidArgumentError(f"{what} have the shape {list(array.shape)}, expected {[*shape, column.dim]}")
    if array.dtype.kind not in _NUMBERS:
        raise WrongTypeError(f"{what} are of type {array.dtype}, expected numbers")
    return _plain(array, column.dtype).reshape(-1, column.dim)


def checked_integers(what: str, values: npt.ArrayLike | None, shape: tuple[int, ...]) -> Integers | None:
    """One integer for each key, as a vector; a single one is that of all."""
    if values is None:
        return None
    array = _array(what, values)
    if array.dtype.kind not in "iu" and array.size:
        raise WrongTypeError(f"{what} of type {array.dtype}, expected integers")
    try:
        return _plain(np.broadcast_to(array, shape), np.dtype(np.int64)).reshape(-1)
    except ValueError:
        raise InvalidArgumentError(f"{what} have the shape {list(array.shape)}, expected {list(shape)}") from None


def checked_counts(values: npt.ArrayLike | None, shape: tuple[int, ...]) -> Integers | None:
    """How often each key occurs, as a vector."""
    counts = checked_integers("counts", values, shape)
    if counts is not None and counts.size and counts.min() < 0:
        raise InvalidArgumentError(f"a key cannot occur {counts.min()} times")
    return counts


def checked_rule(name: str, numbers: Mapping[str, Any], dtype: np.dtype[Any]) -> tuple[Rule, list[Any]]:
    """A rule, and its numbers in their order, of the weights' type unless they count something."""
    rule = RULES.get(name)
    if rule is None:
        raise InvalidArgumentError(f'no rule is called "{name}"; there are {", ".join(RULES)}')
    given = {**dict(rule.defaults), **numbers}
    missing = [word for word in rule.numbers if word not in given]
    extra = [word for word in given if word not in rule.numbers]
    if missing or extra:
        problems = [f"no {word}" for word in missing] + [f"an unknown {word}" for word in extra]
        raise InvalidArgumentError(f"{name} takes {', '.join(rule.numbers)}; got {', '.join(problems)}")
    least = dict(rule.whole)
    return rule, [
        _count_argument(name, word, given[word], least[word])
        if word in least
        else _number(name, word, given[word], dtype)
        for word in rule.numbers
    ]


def _count_argument(rule: str, word: str, value: Any, least: int) -> int:
    """A number that counts steps: in the type of weights it would be rounded."""
    array = _array(f"{word} of {rule}", value)
    if array.ndim or array.dtype.kind not in "iuf" or int(array) != array:
        raise WrongTypeError(f"{word} of {rule} is {value!r}, expected a whole number")
    if int(array) < least:
        raise InvalidArgumentError(f"{word} of {rule} is {value!r}, expected {least} or more")
    return int(array)


def _number(rule: str, word: str, value: Any, dtype: np.dtype[Any]) -> Any:
    array = _array(f"{word} of {rule}", value)
    if array.ndim or array.dtype.kind not in _NUMBERS:
        raise WrongTypeError(f"{word} of {rule} is {value!r}, expected a number")
    return array.astype(dtype)[()]


def checked_column(name: str, columns: Mapping[str, Column]) -> Column:
    """The column of a name."""
    column = columns.get(name)
    if column is None:
        known = ", ".join(f'"{name}"' for name in columns)
        raise InvalidArgumentError(f'the table has no column "{name}"; it has {known}')
    return column


def checked_new(name: str, columns: Mapping[str, Column]) -> None:
    """Raises if a column cannot have that name, or there is one."""
    if not isinstance(name, str):
        raise WrongTypeError(f"the name of a column is {name!r}, expected text")
    if name in columns:
        raise AlreadyExistsError(f'the table has a column "{name}" already')


def checked_same(column: Column, columns: Mapping[str, Column]) -> None:
    """FailedPreconditionError if a column that was found before is gone meanwhile."""
    if columns.get(column.name) is not column:
        raise FailedPreconditionError(f'the column "{column.name}" was dropped while rows were brought to it')


def checked_slots(rule: Rule, slots: Sequence[str] | None, columns: Mapping[str, Column]) -> list[Column]:
    """The columns that a rule changes besides the weights; those that were added first, if none are named."""
    added = [name for name in columns if name]
    names = added[: rule.slots] if slots is None else list(slots)
    if len(names) != rule.slots or len({"", *names}) <= len(names):
        have = ", ".join(f'"{name}"' for name in names) or "none"
        raise InvalidArgumentError(
            f"{rule.name} has {rule.slots} slots, columns of their own, and was given {have}; add or name them"
        )
    found = [checked_column(name, columns) for name in names]
    weights = columns[""]
    wrong = [
        column
        for number, column in enumerate(found)
        if column.dtype != weights.dtype
        or (column.dim != weights.dim and not (number == rule.narrow_slot and column.dim == 1))
    ]
    if wrong:
        kinds = ", ".join(f'"{column.name}" of {column.dtype} [{column.dim}]' for column in wrong)
        raise InvalidArgumentError(f"slots like the weights, {weights.dtype} [{weights.dim}], expected; got {kinds}")
    return found


def _array(what: str, value: npt.ArrayLike) -> Array:
    try:
        return np.asarray(value)
    except ValueError:
        raise InvalidArgumentError(f"{what} have parts of different lengths, which make no array") from None


def _plain(array: Array, dtype: np.dtype[Any]) -> Array:
    """An array of a type, in C order and aligned, as compiled code wants it."""
    flags = array.flags
    if array.dtype == dtype and flags.c_contiguous and flags.aligned:
        return array
    return np.array(array, dtype, order="C")
