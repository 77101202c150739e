"""How a dataset is to be run: `tf.data.Options`. What is said is kept and written into graphs; elements stay the same.

Options = { deterministic(1) bool, autotune(7) message, distribute(2) message, optimization(3) message,
            slack(4) bool, threading(5) message, external_state_policy(6) enum, … }
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar

from tensorkeep.errors import WrongTypeError
from tensorkeep.proto.wire import encode_bytes_field, encode_varint_field


class AutoShardPolicy(IntEnum):
    """How a dataset is parted among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(IntEnum):
    """What becomes of state outside of a dataset when it is saved."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(IntEnum):
    """How TensorFlow looks for good numbers of threads and sizes of buffers."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class _Settings:
    """Named settings, None until they are said; a name that is not among them is an error."""

    NUMBERS: ClassVar[dict[str, int]] = {}
    """The field of each setting in the message that graphs hold."""

    def __init__(self) -> None:
        for name in self.NUMBERS:
            object.__setattr__(self, name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.NUMBERS and not isinstance(getattr(type(self), name, None), property):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}: it has no such option.")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, name) == getattr(other, name) for name in self.NUMBERS)

    def __hash__(self) -> int:
        return hash(type(self).__name__)

    def encoded(self) -> bytes:
        """The settings as bytes of TensorFlow's message of options."""
        parts = []
        for name, number in self.NUMBERS.items():
            value = getattr(self, name)
            if isinstance(value, _Settings):
                parts.append(encode_bytes_field(number, value.encoded()))
            elif value is not None:
                parts.append(encode_varint_field(number, int(value) & (1 << 64) - 1))
        return b"".join(parts)

    def merged(self, other: Any) -> Any:
        """A copy of these settings with those of another, which count where both say something."""
        found = type(self)()
        for name in self.NUMBERS:
            mine, theirs = getattr(self, name), getattr(other, name)
            both = isinstance(mine, _Settings) and isinstance(theirs, _Settings)
            value = mine.merged(theirs) if both else mine if theirs is None else theirs
            object.__setattr__(found, name, value)
        return found


class AutotuneOptions(_Settings):
    """How TensorFlow tunes a dataset while it runs."""

    enabled: bool | None
    NUMBERS: ClassVar[dict[str, int]] = {"enabled": 1, "cpu_budget": 2, "ram_budget": 3, "autotune_algorithm": 4}


class DistributeOptions(_Settings):
    """How a dataset is parted among workers."""

    NUMBERS: ClassVar[dict[str, int]] = {"auto_shard_policy": 1, "num_devices": 2}


class OptimizationOptions(_Settings):
    """Which rewritings TensorFlow applies to a dataset."""

    NUMBERS: ClassVar[dict[str, int]] = {
        "apply_default_optimizations": 1,
        "filter_fusion": 6,
        "map_and_batch_fusion": 9,
        "map_and_filter_fusion": 10,
        "map_fusion": 11,
        "map_parallelization": 12,
        "noop_elimination": 14,
        "parallel_batch": 15,
        "shuffle_and_repeat_fusion": 17,
        "filter_parallelization": 18,
        "inject_prefetch": 19,
        "seq_interleave_prefetch": 21,
    }


class ThreadingOptions(_Settings):
    """How many threads a dataset may have."""

    NUMBERS: ClassVar[dict[str, int]] = {"max_intra_op_parallelism": 1, "private_threadpool_size": 2}


class Options(_Settings):
    """How a dataset is to be run. Threads and buffers are found by ourselves; what is said of them is kept."""

    NUMBERS: ClassVar[dict[str, int]] = {
        "deterministic": 1,
        "distribute": 2,
        "experimental_optimization": 3,
        "experimental_slack": 4,
        "threading": 5,
        "experimental_external_state_policy": 6,
        "autotune": 7,
    }

    def __init__(self) -> None:
        super().__init__()
        self.autotune = AutotuneOptions()
        self.experimental_optimization = OptimizationOptions()
        self.threading = ThreadingOptions()
        self.distribute = DistributeOptions()

    @property
    def experimental_deterministic(self) -> bool | None:
        """The same as `deterministic`, under the name of TensorFlow 1.15."""
        return getattr(self, "deterministic", None)

    @experimental_deterministic.setter
    def experimental_deterministic(self, value: bool | None) -> None:
        self.deterministic = value

    @property
    def experimental_threading(self) -> ThreadingOptions:
        """The same as `threading`, under the name of TensorFlow 1.15."""
        return self.threading

    @property
    def experimental_distribute(self) -> DistributeOptions:
        """The same as `distribute`, under the name of TensorFlow 1.15."""
        return self.distribute

    @property
    def experimental_autotune(self) -> bool | None:
        """The same as `autotune.enabled`, under the name of TensorFlow 1.15."""
        return self.autotune.enabled

    @experimental_autotune.setter
    def experimental_autotune(self, value: bool | None) -> None:
        self.autotune.enabled = value

    def merge(self, options: Options) -> Options:
        """These options with what others say besides."""
        if not isinstance(options, Options):
            raise WrongTypeError(f"expected tf.data.Options, got {options!r}")
        found: Options = self.merged(options)
        return found
