"""How requests are joined, as the file of the original (BatchingParameters) says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.parallel import processors
from tensorkeep.proto.serving import BatchingParameters


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """How rows of several requests become one run. Settings that make no sense raise TensorFlow Serving's error."""

    max_batch_size: int = 1000
    """The most rows of a run, and of a request."""
    batch_timeout_micros: int = 0
    """How long the first request of a batch that is not full waits for others; 0: until a thread is free."""
    max_enqueued_batches: int = 10
    """How many batches may wait, the one that is being filled included."""
    num_batch_threads: int = field(default_factory=processors)
    thread_pool_name: str = "batch_threads"
    allowed_batch_sizes: tuple[int, ...] = ()
    """Sizes of runs: a smaller batch is filled up to the next one with rows that nobody gets to see."""
    pad_variable_length_inputs: bool = False
    enable_large_batch_splitting: bool = False
    """Whether a request may be cut in pieces; `max_batch_size` is then the limit of the request alone."""
    max_execution_batch_size: int = 0
    """The most rows of a run where requests may be cut; 0 for `max_batch_size`."""
    learns_sizes: bool = True
    """Whether runs have fewer rows than they might where that has been seen to be quicker; not the original's."""

    def __post_init__(self) -> None:
        if self.max_enqueued_batches == 0 and not self.enable_large_batch_splitting:
            object.__setattr__(self, "max_enqueued_batches", 1)  # so the original, for configurations that lived on it
        _require_positive("num_batch_threads", self.num_batch_threads)
        _require_positive("input_batch_size_limit", self.max_batch_size)
        if self.batch_timeout_micros < 0:
            raise InvalidArgumentError(f"batch_timeout_micros must be non-negative; was {self.batch_timeout_micros}")
        _require_positive("max_enqueued_batches", self.max_enqueued_batches)
        if self.enable_large_batch_splitting and self.max_batch_size < self.rows_of_run:
            raise InvalidArgumentError(
                "When enable_large_batch_splitting is true, input_batch_size_limit must be greater than or equal to "
                f"max_execution_batch_size. They are {self.max_batch_size} and {self.rows_of_run}"
            )
        if self.allowed_batch_sizes:
            _require_allowed(self)

    @property
    def rows_of_run(self) -> int:
        """The most rows of a run."""
        if not self.enable_large_batch_splitting:
            return self.max_batch_size
        return self.max_execution_batch_size or self.max_batch_size

    @property
    def timeout_seconds(self) -> float:
        return self.batch_timeout_micros * 1e-6

    @classmethod
    def of(cls, message: BatchingParameters) -> BatchSettings:
        """What the message says; the original's defaults where it says nothing."""
        wrapped = (
            "max_batch_size",
            "batch_timeout_micros",
            "max_enqueued_batches",
            "num_batch_threads",
            "thread_pool_name",
            "enable_large_batch_splitting",
            "max_execution_batch_size",
        )
        return cls(
            **{name: getattr(message, name).value for name in wrapped if message.HasField(name)},
            allowed_batch_sizes=tuple(message.allowed_batch_sizes),
            pad_variable_length_inputs=message.pad_variable_length_inputs,
        )


def _require_positive(name: str, value: int) -> None:
    if value <= 0:
        raise InvalidArgumentError(f"{name} must be positive; was {value}")


def _require_allowed(settings: BatchSettings) -> None:
    """Checks the allowed sizes as TensorFlow Serving does, which wants rising sizes only where requests may be cut."""
    sizes, most = settings.allowed_batch_sizes, settings.max_batch_size
    if not settings.enable_large_batch_splitting:
        _require_last(sizes[-1], "match max_batch_size", most, sizes[-1] == most)
        return
    if any(after <= before for before, after in pairwise(sizes)):
        raise InvalidArgumentError("allowed_batch_sizes entries must be monotonically increasing")
    _require_last(sizes[-1], "be less than or equal to max_batch_size", most, sizes[-1] <= most)
    run = settings.rows_of_run
    _require_last(sizes[-1], "be equal to max_execution_batch_size", run, sizes[-1] == run)


def _require_last(last: int, what: str, expected: int, holds: bool) -> None:
    if not holds:
        raise InvalidArgumentError(
            f"Last entry in allowed_batch_sizes must {what}; last entry was {last}; expected {expected}"
        )
