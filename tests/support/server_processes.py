"""Servers as processes: ports that are free, and what a process and those below it take of the machine."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    """What processes take: bytes of memory, shared ones counted once (PSS), threads, open files."""

    memory: int
    threads: int
    files: int


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [item.getsockname()[1] for item in sockets]
    for item in sockets:
        item.close()
    return ports


def measured(root: int) -> Measured:
    """What a process and all below it take."""
    memory = threads = files = 0
    for number in process_tree(root):
        folder = Path("/proc") / str(number)
        try:
            status = (folder / "status").read_text().splitlines()
            pages = (folder / "smaps_rollup").read_text().splitlines()
            files += len(list((folder / "fd").iterdir()))
        except OSError:  # it ended meanwhile
            continue
        threads += next(int(line.split()[1]) for line in status if line.startswith("Threads:"))
        memory += next((int(line.split()[1]) << 10 for line in pages if line.startswith("Pss:")), 0)
    return Measured(memory, threads, files)


def process_tree(root: int) -> list[int]:
    """The numbers of a process and of all below it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [root]
    for number in found:
        found += [child for child, parent in parents.items() if parent == number]
    return found
