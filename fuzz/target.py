"""One target, in a process of its own: `python -m fuzz.target NAME [options of libFuzzer] [folders or files]`."""

from __future__ import annotations

import os
import resource
import sys

import atheris

with atheris.instrument_imports(include=["tensorkeep"]):
    from fuzz.embeddings import EMBEDDING_TARGETS
    from fuzz.harness import TARGETS, mutate
    from fuzz.models import MODEL_TARGETS, mutate_message
    from fuzz.serving import SERVING_TARGETS

MEMORY = 4 << 30  # of addresses: an array of terabytes is refused at once, untouched or not


def main() -> None:
    name = sys.argv.pop(1)
    # One processor: readers then do without threads, which only slow down work as small as this.
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[os.getpid() % len(os.sched_getaffinity(0))]})
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    run, _ = {**TARGETS, **MODEL_TARGETS, **EMBEDDING_TARGETS, **SERVING_TARGETS}[name]
    options = {}
    if name in MODEL_TARGETS:
        options["custom_mutator"] = lambda data, size, seed: mutate_message(data, size, seed, _change)
    if name.startswith("sealed"):
        options["custom_mutator"] = lambda data, size, seed: mutate(data, size, seed, _change)
    atheris.Setup(sys.argv, run, **options)
    atheris.Fuzz()


def _change(data: bytes, size: int) -> bytes:
    return bytes(atheris.Mutate(data, size)) if data else bytes(atheris.Mutate(b"\0", size))


if __name__ == "__main__":
    main()
