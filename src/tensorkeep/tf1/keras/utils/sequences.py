"""Data as a sequence of batches, and threads that fetch them ahead."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from tensorkeep.errors import FailedPreconditionError, UnimplementedError

_POLL: Final = 0.05  # seconds between looks at whether a thread is to end


class Sequence:
    """Data by batch: override `__getitem__`, which gives a batch by its number, and `__len__`, their number."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no method __len__")

    def on_epoch_end(self) -> None:
        """Called when all batches were fetched."""

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self[index]


class SequenceEnqueuer:
    """Threads that fetch ahead: `start`, then `get` for what they fetch, then `stop`."""

    def __init__(self, sequence: Sequence | Iterator[Any], use_multiprocessing: bool = False) -> None:
        if use_multiprocessing:
            raise UnimplementedError("use_multiprocessing: batches are fetched by threads. Leave it out")
        self.sequence: Any = sequence
        self._queue: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue()
        self._threads: list[threading.Thread] = []
        self._ends = threading.Event()

    def is_running(self) -> bool:
        return bool(self._threads) and not self._ends.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Starts threads that fetch batches ahead, at most `max_queue_size` of them."""
        if self.is_running():
            raise FailedPreconditionError("the threads that fetch ahead have been started already")
        self._queue = queue.Queue(max_queue_size)
        self._ends = threading.Event()
        self._threads = [
            threading.Thread(target=work, daemon=True, name=f"keras-data-{number}")
            for number, work in enumerate(self._work(max(1, workers), max_queue_size))
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Ends the threads, and forgets what they have fetched."""
        self._ends.set()
        for thread in self._threads:
            thread.join(timeout)
        self._threads = []

    def get(self) -> Iterator[Any]:
        """What is fetched, in order; an error of the data is raised here."""
        while self.is_running():
            try:
                item, error = self._queue.get(timeout=_POLL)
            except queue.Empty:
                if not any(thread.is_alive() for thread in self._threads) and self._queue.empty():
                    return
                continue
            if error is not None:
                self.stop()
                raise error
            yield item

    def _put(self, item: Any, error: BaseException | None = None) -> bool:
        """Hands something over; False if nobody wants it any more."""
        while not self._ends.is_set():
            try:
                self._queue.put((item, error), timeout=_POLL)
            except queue.Full:
                continue
            return True
        return False

    def _work(self, workers: int, ahead: int) -> list[Callable[[], None]]:
        """The functions of the threads, one for each: they put batches into the queue until they are told to end."""
        raise NotImplementedError


class OrderedEnqueuer(SequenceEnqueuer):
    """Fetches the batches of a `Sequence` by several threads, epoch after epoch, and gives them in order."""

    def __init__(self, sequence: Sequence, use_multiprocessing: bool = False, shuffle: bool = False) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _work(self, workers: int, ahead: int) -> list[Callable[[], None]]:
        turns: queue.Queue[tuple[int, _Place] | None] = queue.Queue()
        order: queue.Queue[_Place] = queue.Queue(max(1, ahead))

        def plan() -> None:
            """Hands out the batches of one epoch after the other; an epoch begins when all of the last are fetched."""
            while not self._ends.is_set():
                numbers = list(range(len(self.sequence)))
                if self.shuffle:
                    random.shuffle(numbers)
                places = []
                for number in numbers:
                    place = _Place()
                    places.append(place)
                    while not self._ends.is_set():
                        try:
                            order.put(place, timeout=_POLL)
                        except queue.Full:
                            continue
                        turns.put((number, place))
                        break
                for place in places:
                    while not place.done.wait(_POLL) and not self._ends.is_set():
                        pass
                if not numbers:
                    return
                if not self._ends.is_set():
                    self.sequence.on_epoch_end()

        def fetch() -> None:
            while not self._ends.is_set():
                try:
                    turn = turns.get(timeout=_POLL)
                except queue.Empty:
                    continue
                assert turn is not None
                number, place = turn
                try:
                    place.item = self.sequence[number]
                except BaseException as error:
                    place.error = error
                place.done.set()

        def deliver() -> None:
            while not self._ends.is_set():
                try:
                    place = order.get(timeout=_POLL)
                except queue.Empty:
                    continue
                while not place.done.wait(_POLL):
                    if self._ends.is_set():
                        return
                if not self._put(place.item, place.error):
                    return

        return [plan, deliver, *[fetch] * workers]


class _Place:
    """Where a batch will be."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.item: Any = None
        self.error: BaseException | None = None


class GeneratorEnqueuer(SequenceEnqueuer):
    """Fetches what a generator gives, ahead of who wants it, by one thread at a time."""

    def __init__(
        self,
        sequence: Iterator[Any],
        use_multiprocessing: bool = False,
        wait_time: float | None = None,
        random_seed: int | None = None,
    ) -> None:
        super().__init__(sequence, use_multiprocessing)
        self._lock = threading.Lock()
        self._is_over = False

    def _work(self, workers: int, ahead: int) -> list[Callable[[], None]]:
        def fetch() -> None:
            while not self._ends.is_set():
                with self._lock:  # so that items stay in order
                    if self._is_over:
                        return
                    try:
                        item = next(self.sequence)
                    except StopIteration:
                        self._is_over = True
                        return
                    except BaseException as error:
                        self._is_over = True
                        self._put(None, error)
                        return
                    if not self._put(item):
                        return
                time.sleep(0)

        return [fetch] * workers
