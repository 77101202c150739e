"""Ops beside TensorFlow on inputs drawn by chance.

    python -m tests.interop.random_inputs --count 20 --seed 1 [OP ...]

prints each difference that `known_differences` has no reason for, and how many of each kind there are; the exit code
is 1 if there are any. What is drawn depends on the seed alone. The comparison runs in a child process, for some inputs
make TensorFlow end the process that it runs in; then another child goes on with the next input.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tensorkeep.graph.registry.opspec import get_op
from tests.interop.known_differences import KNOWN
from tests.interop.side_by_side import Report, compare
from tests.ops.sample import all_samples
from tests.ops.variations import Variation, variations
from tests.ops.walking import NOT_IN_TENSORFLOW, import_all_ops

MOST_MEMORY = 12 << 30  # of addresses, most of which TensorFlow sets aside and never touches
MOST_SECONDS = 60.0

Item = tuple[str, Variation]


def comparable_ops() -> list[str]:
    """The ops that have samples which both sides can run, and that touch nothing but their inputs."""
    import_all_ops()
    return [
        name
        for name, samples in sorted(all_samples().items())
        if name not in NOT_IN_TENSORFLOW
        and not get_op(name).capabilities
        and not any(item is None for sample in samples for item in sample.inputs)
    ]


def reports(items: Sequence[Item]) -> Iterator[Report]:
    """Of each variation what came of it, in order."""
    context = multiprocessing.get_context("fork")
    at = 0
    while at < len(items):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(items[at:], sender))
        child.start()
        sender.close()
        for report in _received(receiver, items[at:]):
            at += 1
            yield report
        child.kill()
        child.join()


def _received(receiver: Connection, items: Sequence[Item]) -> Iterator[Report]:
    """The reports of a child, the last of them that it died where it did.

    Memory that TensorFlow has overwritten may also end the child later: then the call is left to the next child.
    """
    side = ""
    for at, (name, variation) in enumerate(items):
        while True:
            try:
                message = receiver.recv() if receiver.poll(MOST_SECONDS) else None
            except EOFError:
                message = None
            if message is None:
                if at and side != "TensorFlow":
                    return
                yield Report(name, variation.number, variation.label, f"died in {side}", "")
                return
            if isinstance(message, Report):
                yield message
                break
            side = message


def _work(items: Sequence[Item], sender: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # TensorFlow's last words
    for name, variation in items:
        difference = compare(name, variation, sender.send)
        kind, text = (difference.kind, difference.text) if difference else ("", "")
        sender.send(Report(name, variation.number, variation.label, kind, text))
    sender.close()
    os._exit(0)


def drawn(names: Sequence[str], count: int, seed: int) -> list[Item]:
    """So many variations of each op."""
    samples = all_samples()
    return [(name, variation) for name in names for variation in variations(name, samples[name], count, seed)]


def unexplained(report: Report) -> bool:
    """Whether the two sides differ in a way that nobody has given a reason for."""
    return report.kind not in ("", "died in TensorFlow") and not any(known.explains(report) for known in KNOWN)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=20, help="variations of each op")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print what came of each variation, known or not")
    parser.add_argument("ops", nargs="*", help="all of them unless some are named")
    options: Any = parser.parse_args(arguments)
    names = comparable_ops()
    all_reports = reports(drawn(options.ops or names, options.count, options.seed))
    return _print_json(all_reports) if options.json else _print_differences(all_reports)


def _print_json(all_reports: Iterator[Report]) -> int:
    for report in all_reports:
        print(json.dumps(asdict(report)))
    return 0


def _print_differences(all_reports: Iterator[Report]) -> int:
    kinds = Counter[str]()
    for report in all_reports:
        is_new = unexplained(report)
        kinds[report.kind if is_new or report.kind.startswith("died") else "known" if report.kind else "alike"] += 1
        if is_new:
            print(f"{report.op} {report.number} ({report.label}): {report.kind}: {report.text}", flush=True)
    print(f"{sum(kinds.values())} calls: {dict(kinds.most_common())}")
    return 0 if set(kinds) <= {"alike", "known", "died in TensorFlow"} else 1


if __name__ == "__main__":
    sys.exit(main())
