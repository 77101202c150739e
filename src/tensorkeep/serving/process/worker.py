"""One of several workers, as a process: it is told everything through a socket that it has from its parent."""

from __future__ import annotations

import asyncio
import base64
import pickle
import signal
import socket

from tensorkeep.errors import InternalError, TensorKeepError
from tensorkeep.serving.process.channel import Channel
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.process.peers import Among, Place
from tensorkeep.serving.process.server import Server, obey_signals, run_in_loop
from tensorkeep.serving.process.start import log_to_standard_error
from tensorkeep.serving.statuses import code_of

_FAILED = 255


def main(number: int) -> int:
    """Runs a worker over the socket of that number until it is told to stop; gives the status of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C comes to all processes of a terminal; the parent sees to it
    log_to_standard_error()
    return run_in_loop(_work(socket.socket(fileno=number)))


async def _work(end: socket.socket) -> int:
    channel = await Channel.over(end)
    start = await channel.receive()
    if start is None:
        return _FAILED
    options: ServerOptions = pickle.loads(base64.b64decode(start["options"]))  # of the parent, by a private socket
    config = base64.b64decode(start["config"]) if start["config"] is not None else None
    peers = Among(channel)
    server = Server(options, peers, Place(start["index"], start["counters"]), config)
    obey_signals(server, (signal.SIGTERM,))
    following = asyncio.ensure_future(peers.follow(server))
    try:
        return await server.run()
    except Exception as error:
        told = error if isinstance(error, TensorKeepError) else InternalError(f"{type(error).__name__}: {error}")
        problem = getattr(told, "problem", "")
        channel.send("failed", code=code_of(told), message=str(told), problem=problem)
        return _FAILED
    finally:
        following.cancel()
        channel.close()
