"""Readers that have all of a checkpoint, whatever becomes of its name.

One who saves under a name again and again replaces the checkpoint at any time. A reader opens data files when it needs
them, and then finds out that they are not its own any more. One that holds them from the beginning is not concerned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.errors import FailedPreconditionError

_ATTEMPTS: Final = 100


def held(open_reader: Callable[[], CheckpointReader]) -> CheckpointReader:
    """Opens a checkpoint together with its data files; if it is replaced just then, opens the one that replaced it."""
    for _ in range(_ATTEMPTS):
        reader = open_reader()
        try:
            reader.hold()
        except FailedPreconditionError:
            reader.close()
        except BaseException:
            reader.close()
            raise
        else:
            return reader
    return open_reader()
