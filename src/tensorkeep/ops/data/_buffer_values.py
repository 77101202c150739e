"""Buffers of records that some threads put in ahead of those who take them, as values of their names."""

from __future__ import annotations

import logging
from collections import deque
from threading import Condition
from typing import Any, Final

from tensorkeep.errors import CancelledError, FailedPreconditionError, OutOfRangeError
from tensorkeep.runtime.limits import current_meter

LOG: Final = logging.getLogger("tensorkeep")

_PATIENCE: Final = 10.0
"""Seconds that a taker waits for anybody to begin to fill the buffer."""

Record = tuple[Any, ...]


class TensorBuffer:
    """Records in the order in which they were put in. Who finds it full or empty waits.

    Once it is closed what is there can still be taken, and then comes the end; once it has failed, what went wrong.
    """

    def __init__(self, name: str, capacity: int) -> None:
        self._name = name
        self._capacity = capacity
        self._records: deque[Record] = deque()
        self._changed = Condition()
        self._is_filled = False  # whether somebody has begun to fill it
        self._is_over = False
        self._ending: Exception | None = None

    def __len__(self) -> int:
        return len(self._records)

    def put(self, record: Record, seconds: float) -> None:
        """Adds a record as soon as there is room. Nothing is dropped: it tells each time that it has waited so long."""
        with self._changed:
            self._is_filled = True
            while len(self._records) >= self._capacity and not self._is_over:
                if not self._wait(seconds):
                    LOG.warning(
                        'a record has waited %g seconds for room in "%s", of which nobody takes any; it waits on',
                        seconds,
                        self._name,
                    )
            if self._is_over:
                raise CancelledError("Session was closed.")
            self._records.append(record)
            self._changed.notify_all()

    def take(self) -> Record:
        """Removes the next record as soon as there is one."""
        with self._changed:
            while not self._records and not self._is_over:
                if not self._wait(None if self._is_filled else _PATIENCE) and not self._is_filled:
                    raise FailedPreconditionError(
                        f'nothing is put into "{self._name}": give the session that runs what tf.staged made the hook '
                        "tf.make_prefetch_hook()"
                    )
            if not self._records:
                raise CancelledError("Session was closed.") if self._ending is None else self._ending
            record = self._records.popleft()
            self._changed.notify_all()
            return record

    def _wait(self, seconds: float | None) -> bool:
        """Waits for a change; says whether there was one. A run of limited time ends when that is over."""
        meter = current_meter()
        left = None if meter is None else meter.seconds_left
        if meter is None or left is None or (seconds is not None and seconds < left):
            return self._changed.wait(seconds)
        if self._changed.wait(left + 0.001):
            return True
        meter.step()
        return False

    def resume(self) -> None:
        """Begins, or begins again after it was over."""
        with self._changed:
            self._is_filled, self._is_over, self._ending = True, False, None
            self._changed.notify_all()

    def cancel(self) -> None:
        """Lets nothing more in, and makes all that wait fail: the session that they belong to has been closed."""
        self._end(None)

    def close(self) -> None:
        """Lets nothing more in. After the last record comes the end of the input."""
        self._end(OutOfRangeError("EOF reached."))

    def fail(self, error: Exception) -> None:
        """Lets nothing more in. After the last record comes an error."""
        self._end(error)

    def _end(self, ending: Exception | None) -> None:
        with self._changed:
            self._is_over = True
            self._ending = self._ending or ending
            self._changed.notify_all()
