"""Arguments of datasets: the numbers that stand for something, and what ops are given for them."""

from __future__ import annotations

from typing import Final

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.random.numbers import get_seed

AUTOTUNE: Final = -1
INFINITE_CARDINALITY: Final = -1
UNKNOWN_CARDINALITY: Final = -2
SHARD_HINT: Final = -1


def int64_of(value: TensorLike, name: str) -> Tensor:
    """A number that an op wants as an integer of 64 bits."""
    return convert(value, INT64, name)


def seed_tensors(seed: int | Tensor | None) -> tuple[Tensor, Tensor]:
    """The two seeds of a dataset as tensors; both zero stands for none, and is avoided if seeds are given."""
    first, second = get_seed(seed)
    seed_tensor = _seed_tensor(0 if first is None else first, "seed")
    if second is None:
        return seed_tensor, constant(0, INT64, name="seed2")
    with name_scope("seed2") as scope:
        other = _seed_tensor(second, "Const")
        zeros = [
            emit("Equal", tensor, constant(0, INT64, name=f"Equal{at}/y"), name=f"Equal{at}")
            for at, tensor in (("", seed_tensor), ("_1", other))
        ]
        both = emit("LogicalAnd", *zeros, name="LogicalAnd")
        return seed_tensor, emit("SelectV2", both, constant(2**31 - 1, INT64), other, name=scope)


def _seed_tensor(value: int | Tensor, name: str) -> Tensor:
    return emit("Cast", value, DstT=INT64) if isinstance(value, Tensor) else constant(value, INT64, name=name)


def check_number(value: object, what: str) -> None:
    """Raises InvalidArgumentError for a bool, and for a number of shards below one."""
    if isinstance(value, bool) or (isinstance(value, int) and what == "num_shards" and value < 1):
        raise InvalidArgumentError(f"{what} must be a positive number, got {value!r}")


def deterministic_text(deterministic: bool | None) -> bytes:
    """What ops are told of whether the order must be kept."""
    return b"default" if deterministic is None else b"true" if deterministic else b"false"


def as_int64(value: TensorLike | None) -> Tensor:
    """What a function gives as a key or a size, as a tensor; InvalidArgumentError if it is not an int64."""
    found = convert(value, None if hasattr(value, "dtype") else INT64)
    if found.dtype.base_dtype is not INT64:
        raise InvalidArgumentError(f"expected a scalar of type int64, got {found!r}")
    return found


def known_size(size: Tensor, drops: Tensor) -> int | None:
    """How many rows every batch has, if that is known."""
    number, always = constant_value(size), constant_value(drops)
    return int(number) if number is not None and always is not None and bool(always) else None
