"""What the process that watches over workers and the workers say to each other.

message = length(4 bytes, little endian) JSON                over a pair of sockets

to a worker      start {options, config, index, counters}   before anything else
                 open                                all workers have loaded their models: listen
                 do {number, what, data}             do something and say how it went
                 answer {number, results}            how it went, in all workers, for one that asked
                 reread                              look at the configuration file now
                 stop                                finish what is running, and end
from a worker    loaded                              the models are loaded, or have failed for good
                 failed {code, message, problem}     it cannot start; a file may have a problem in a line
                 opened {lines}                      it listens; what there is to say of it
                 ask {number, what, data}            have all workers do something
                 done {number, code, message, data}  how it went here
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any, Final

from tensorkeep import errors

_LENGTH: Final = 4

Message = Mapping[str, Any]


class Channel:
    """One end of the connection between a worker and the process that watches over it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, end: socket.socket) -> Channel:
        """A channel over one of a pair of sockets."""
        return cls(*await asyncio.open_connection(sock=end))

    def send(self, kind: str, **content: object) -> None:
        """Sends a message, if the other side is still there; it does not wait for it to be read."""
        if not self._writer.is_closing():
            data = json.dumps({"kind": kind, **content}).encode()
            self._writer.write(len(data).to_bytes(_LENGTH, "little") + data)

    async def receive(self) -> Message | None:
        """The next message; None when the other side has gone."""
        try:
            length = int.from_bytes(await self._reader.readexactly(_LENGTH), "little")
            found: Message = json.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return found

    def close(self) -> None:
        """Ends the connection."""
        self._writer.close()


_ERRORS: Final = {
    kind.error_code: kind
    for kind in (
        errors.CancelledError,
        errors.UnknownError,
        errors.InvalidArgumentError,
        errors.DeadlineExceededError,
        errors.NotFoundError,
        errors.AlreadyExistsError,
        errors.PermissionDeniedError,
        errors.ResourceExhaustedError,
        errors.FailedPreconditionError,
        errors.AbortedError,
        errors.OutOfRangeError,
        errors.UnimplementedError,
        errors.InternalError,
        errors.UnavailableError,
        errors.DataLossError,
        errors.UnauthenticatedError,
    )
}


class BadFileError(errors.InvalidArgumentError):
    """A file that another process could not read; `problem` is the line that says what is wrong in it."""

    def __init__(self, message: str, problem: str) -> None:
        super().__init__(message)
        self.problem = problem


def carried_error(code: int, message: str, problem: str = "") -> errors.TensorKeepError:
    """The error that another process had, of which the code and the text have come here."""
    return BadFileError(message, problem) if problem else _ERRORS.get(code, errors.UnknownError)(message)
