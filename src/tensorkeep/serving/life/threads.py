"""Threads that load and unload."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Thread
from typing import Final

_LOGGER: Final = logging.getLogger("tensorkeep.serving")

Job = Callable[[], None]


def run_in_a_thread(job: Job) -> None:
    """Has a job done in a thread of its own; here and now if the system gives no more threads."""
    try:
        Thread(target=job, name="tensorkeep-life", daemon=True).start()
    except RuntimeError as error:  # a version that is neither loaded nor given up would be so for ever
        _LOGGER.warning("a model is loaded or unloaded without a thread of its own: %s", error)
        job()
