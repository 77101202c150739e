"""Reading ahead: while one chunk is written, another thread reads and checks the next."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, Final, TypeAlias

import numpy.typing as npt

from tensorkeep.convert.hub import VALID

Array: TypeAlias = npt.NDArray[Any]

_CHUNKS: Final = VALID - 3  # that wait to be written, beside the one being read and the one being written
_PATIENCE: Final = 0.1  # seconds after which a thread looks whether anybody still wants what it has


class _End:
    """What comes after the last chunk, with the error that was in the way if there was one."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def read_ahead(chunks: Iterator[Array]) -> Generator[Array, None, None]:
    """The same chunks, read by another thread, so that at most four are in use at a time: fewer than stay valid.

    An error of theirs is raised here, when their turn comes. Whoever stops early, closes the iterator: then the thread
    has ended when `close` returns.
    """
    waiting: Queue[Array | _End] = Queue(_CHUNKS)
    stopped = Event()
    thread = Thread(target=_read, args=(chunks, waiting, stopped), daemon=True)
    thread.start()
    try:
        while not isinstance(item := waiting.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        _drain(waiting)
        thread.join()


def _read(chunks: Iterator[Array], waiting: Queue[Array | _End], stopped: Event) -> None:
    end = _End()
    try:
        for chunk in chunks:
            if not _put(chunk, waiting, stopped):
                return
    except BaseException as error:
        end = _End(error)
    _put(end, waiting, stopped)


def _put(item: Array | _End, waiting: Queue[Array | _End], stopped: Event) -> bool:
    while not stopped.is_set():
        try:
            waiting.put(item, timeout=_PATIENCE)
        except Full:
            continue
        return True
    return False


def _drain(waiting: Queue[Array | _End]) -> None:
    while True:
        try:
            waiting.get_nowait()
        except Empty:
            return


__all__ = ["read_ahead"]
