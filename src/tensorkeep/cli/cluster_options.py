"""`--cluster`: commands whose work a Ray cluster does; `--resume`: those that go on where a run of them died."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from tensorkeep.cli.command import Parser
from tensorkeep.cluster.executors import SERIAL, Executor, RayExecutor
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.showing.amounts import size_of


def add_cluster(parser: Parser, *, writes: bool = True) -> None:
    """Adds the options of commands that a cluster can do."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="have a Ray cluster do it: HOST:PORT, auto, or local for one of this machine",
        values=("auto", "local"),
    )
    parser.add_argument("--workers", metavar="N", type=int, help="--cluster: parts done at a time; all processors")
    parser.add_argument("--worker-memory", metavar="SIZE", help="--cluster: what each part may take: 500MB, 2GiB")
    if writes:
        parser.add_argument(
            "--resume",
            action="store_true",
            help="write in parts, and take those that the same command left when it died; --cluster always does",
        )


@contextmanager
def cluster_of(given: Namespace) -> Iterator[Executor | None]:
    """The executor of the cluster that the arguments name; None if this process is to do all of the work itself."""
    if given.cluster is None:
        if given.workers is not None or given.worker_memory is not None:
            raise InvalidArgumentError("--workers and --worker-memory go with --cluster, which is not given")
        yield SERIAL if getattr(given, "resume", False) else None
        return
    memory = size_of(given.worker_memory) if given.worker_memory else None
    with RayExecutor(given.cluster, workers=given.workers, memory=memory) as executor:
        yield executor
