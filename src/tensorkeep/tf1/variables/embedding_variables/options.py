"""What an embedding variable is made with: values with DeepRec's names and rules."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from numbers import Integral, Real
from types import NoneType
from typing import Final

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.tf1.variables.options import InitializerLike

LOG: Final = logging.getLogger("tensorkeep")

_GIBIBYTE: Final = 1 << 30
_MOST_TIERS: Final = 4
_MOST_COUNTED: Final = 1 << 16


class StorageType(IntEnum):
    """Where rows are kept, in one place or in several that get slower."""

    DEFAULT = 0
    DRAM = 1
    PMEM_MEMKIND = 2
    PMEM_LIBPMEM = 3
    SSDHASH = 4
    LEVELDB = 5
    HBM = 6
    DRAM_PMEM = 11
    DRAM_SSDHASH = 12
    HBM_DRAM = 13
    DRAM_LEVELDB = 14
    DRAM_PMEM_SSDHASH = 101
    HBM_DRAM_SSDHASH = 102


class CacheStrategy(IntEnum):
    """Which rows stay in the faster place."""

    LRU = 0
    LFU = 1


_ON_DISK: Final = frozenset(
    (
        StorageType.SSDHASH,
        StorageType.LEVELDB,
        StorageType.DRAM_SSDHASH,
        StorageType.DRAM_LEVELDB,
        StorageType.DRAM_PMEM_SSDHASH,
        StorageType.HBM_DRAM_SSDHASH,
    )
)


def require_integer(what: str, value: object) -> None:
    """WrongTypeError unless a value is a whole number."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise WrongTypeError(f"{what} is {value!r}, expected a whole number")


def _require_number(what: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise WrongTypeError(f"{what} is {value!r}, expected a number")


@dataclass(frozen=True)
class InitializerOption:
    """What a key begins as: a row of a matrix of `default_value_dim` rows that the initializer makes once."""

    initializer: InitializerLike = None
    default_value_dim: int = 4096
    default_value_no_permission: float = 0.0
    """What fills the row of a key that a filter has not let in."""

    def __post_init__(self) -> None:
        require_integer("default_value_dim", self.default_value_dim)
        _require_number("default_value_no_permission", self.default_value_no_permission)
        if self.default_value_dim <= 0:
            raise InvalidArgumentError(
                f"default_value_dim is {self.default_value_dim}, expected at least one default row"
            )


@dataclass(frozen=True)
class CounterFilter:
    """Keys are let in when they have occurred `filter_freq` times; 0 lets all in."""

    filter_freq: int = 0

    def __post_init__(self) -> None:
        require_integer("filter_freq", self.filter_freq)
        if self.filter_freq >= _MOST_COUNTED:
            raise InvalidArgumentError(f"filter_freq is {self.filter_freq}, expected less than {_MOST_COUNTED}")


@dataclass(frozen=True)
class CBFFilter:
    """A filter that lets keys in after so many occurrences, counted in a counting Bloom filter for `max_element_size`
    keys.

    With neither a size nor a probability, keys are counted one by one.
    """

    filter_freq: int = 0
    max_element_size: int = 0
    false_positive_probability: float = -1.0
    counter_type: DTypeLike = field(default_factory=lambda: DType.of("uint64"))

    def __post_init__(self) -> None:
        probability, size = self.false_positive_probability, self.max_element_size
        require_integer("filter_freq", self.filter_freq)
        require_integer("max_element_size", size)
        _require_number("false_positive_probability", probability)
        if probability != -1.0:
            if probability <= 0.0:
                raise InvalidArgumentError("false_positive_probability must larger than 0")
            if probability >= 1.0:
                raise InvalidArgumentError(f"false_positive_probability is {probability}, expected less than 1")
            if size <= 0:
                raise InvalidArgumentError("max_element_size must larger than 0 when false_positive_probability is set")
        elif size != 0:
            raise InvalidArgumentError(
                f"max_element_size is {size} but false_positive_probability is not set; a Bloom filter needs both"
            )
        # DeepRec takes what is none of the four as uint64; its programs say int64.
        if DType.of(self.counter_type).name not in ("uint8", "uint16", "uint32", "uint64", "int64"):
            raise WrongTypeError(
                f"counter_type is {self.counter_type}, expected uint8, uint16, uint32 or uint64, or int64 for the last"
            )


@dataclass(frozen=True)
class GlobalStepEvict:
    """A save drops keys that have not been updated for more than `steps_to_live` steps."""

    steps_to_live: int | None = None

    def __post_init__(self) -> None:
        if self.steps_to_live is None:
            return
        require_integer("steps_to_live", self.steps_to_live)
        if self.steps_to_live < 0:
            raise InvalidArgumentError(f"steps_to_live is {self.steps_to_live}, expected 0, which drops none, or more")


@dataclass(frozen=True)
class L2WeightEvict:
    """A save drops keys of which half the sum of squares is below a threshold."""

    l2_weight_threshold: float = -1.0

    def __post_init__(self) -> None:
        _require_number("l2_weight_threshold", self.l2_weight_threshold)
        if self.l2_weight_threshold <= 0 and self.l2_weight_threshold != -1.0:
            LOG.warning("l2_weight_threshold is %s: rows are not dropped by weight", self.l2_weight_threshold)


def EvictOption(  # noqa: N802 - DeepRec's name
    steps_to_live: int | None = None,
    l2_weight_threshold: float = -1.0,
    steps_to_live_l2reg: float | None = None,
    l2reg_theta: float | None = None,
    l2reg_lambda: float | None = None,
) -> GlobalStepEvict | L2WeightEvict | None:
    """Which keys a save drops, in the words of DeepRec's first release: by steps or by weight; None for none.

    Its three last arguments are refused: nothing here drops rows by them.
    """
    unknown = {
        "steps_to_live_l2reg": steps_to_live_l2reg, "l2reg_theta": l2reg_theta, "l2reg_lambda": l2reg_lambda
    }  # fmt: skip
    given = [name for name, value in unknown.items() if value is not None]
    if given:
        raise InvalidArgumentError(
            f"{', '.join(given)}: rows are dropped by steps_to_live or l2_weight_threshold alone"
        )
    by_weight = L2WeightEvict(l2_weight_threshold)
    if steps_to_live and l2_weight_threshold > 0:
        raise InvalidArgumentError("steps_to_live and l2_weight_threshold can't be enabled at same time.")
    if steps_to_live is not None:
        return GlobalStepEvict(steps_to_live)
    return by_weight if l2_weight_threshold > 0 else None


@dataclass(frozen=True)
class CheckpointOption:
    """Where a variable would be loaded from. It says so, and nothing looks at it, as in DeepRec."""

    ckpt_to_load_from: str | None = None
    tensor_name_in_ckpt: str | None = None
    always_load_from_specific_ckpt: bool = False
    init_data_source: object = None


@dataclass(frozen=True)
class StorageOption:
    """Where rows are kept. `storage_size` are bytes, one number for each place."""

    storage_type: int | None = None
    storage_path: str | None = None
    storage_size: Sequence[int] = (_GIBIBYTE,)
    cache_strategy: int = CacheStrategy.LFU
    layout: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.storage_size, list | tuple):
            raise WrongTypeError(f"storage_size should be list type, got {type(self.storage_size).__name__}")
        for size in self.storage_size:
            require_integer("storage_size", size)
        sizes = tuple(self.storage_size) + (_GIBIBYTE,) * (_MOST_TIERS - len(self.storage_size))
        object.__setattr__(self, "storage_size", sizes)
        if self.storage_type is not None:
            object.__setattr__(self, "storage_type", StorageType(self.storage_type))
        if self.storage_type in _ON_DISK and self.storage_path is None:
            raise InvalidArgumentError("storage_path must be given for a storage_type that keeps rows on disk")
        object.__setattr__(self, "cache_strategy", CacheStrategy(self.cache_strategy))


@dataclass(frozen=True)
class EmbeddingVariableOption:
    """All options of an embedding variable."""

    ht_type: str = ""
    ht_partition_num: int = 1000
    evict_option: GlobalStepEvict | L2WeightEvict | None = None
    ckpt: CheckpointOption | None = None
    filter_option: CounterFilter | CBFFilter | None = None
    storage_option: StorageOption = field(default_factory=StorageOption)
    init_option: InitializerOption = field(default_factory=InitializerOption)
    inserts_on_lookup: bool = True
    """Whether a lookup inserts keys; if not, only updates do, as in DeepRec from release 2306 on."""

    def __post_init__(self) -> None:
        kinds: dict[str, tuple[type, ...]] = {
            "evict_option": (GlobalStepEvict, L2WeightEvict, NoneType),
            "ckpt": (CheckpointOption, NoneType),
            "filter_option": (CounterFilter, CBFFilter, NoneType),
            "storage_option": (StorageOption,),
            "init_option": (InitializerOption,),
        }
        wrong = [
            f"{name} is {value!r}, expected {' or '.join(kind.__name__ for kind in known if kind is not NoneType)}"
            for name, known in kinds.items()
            if not isinstance(value := getattr(self, name), known)
        ]
        if wrong:
            raise WrongTypeError("; ".join(wrong))

    @property
    def evict(self) -> GlobalStepEvict | L2WeightEvict | None:
        return self.evict_option

    @property
    def filter_strategy(self) -> CounterFilter | CBFFilter | None:
        return self.filter_option

    @property
    def init(self) -> InitializerOption:
        return self.init_option
