"""Runs the fuzzers: `python fuzz/run.py --seconds 60 [TARGET ...]`.

Each target starts from the golden files and runs in a process of its own. It fails on any exception that is not ours,
on memory above a limit, and on an input that takes too long. The input that did it is then left in `--artifacts`, with
the line that repeats it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROUND = 60  # seconds
sys.path.insert(0, str(ROOT))

from fuzz import embeddings, harness, models, serving  # noqa: E402

TARGETS = {**harness.TARGETS, **models.MODEL_TARGETS, **embeddings.EMBEDDING_TARGETS, **serving.SERVING_TARGETS}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all, unless named: {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--memory", type=int, default=1024, help="MiB a target may take")
    parser.add_argument("--patience", type=int, default=10, help="seconds an input may take")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time")
    parser.add_argument("--corpus", type=Path, help="folder to keep what was learnt in, for the next time")
    parser.add_argument("--artifacts", type=Path, default=ROOT / "build" / "fuzz", help="where findings are left")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    arguments.artifacts.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        corpus = arguments.corpus or Path(folder)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            return max(pool.map(lambda name: run(name, corpus / name, arguments), arguments.targets or TARGETS))


def run(name: str, corpus: Path, arguments: argparse.Namespace) -> int:
    """Runs one target and says what came of it. 0 if that is nothing."""
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = TARGETS[name][1]()
    for seed in seeds:
        (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    command = [
        sys.executable, "-m", "fuzz.target", name, str(corpus),
        f"-rss_limit_mb={arguments.memory}",
        f"-timeout={arguments.patience}",
        f"-artifact_prefix={arguments.artifacts / name}-",
        f"-max_len={max(4096, *map(len, seeds))}",
        "-print_final_stats=1",
    ]  # fmt: skip
    tried = edges = 0
    # In rounds: atheris loses a little memory with every comparison of arrays, which is not what we look for.
    for left in range(arguments.seconds, 0, -ROUND):
        limit = f"-max_total_time={min(left, ROUND)}"
        done = subprocess.run(
            [*command, limit], cwd=ROOT, capture_output=True, text=True, errors="replace", check=False
        )
        output = done.stdout + done.stderr
        tried += sum(map(int, re.findall(r"stat::number_of_executed_units: *(\d+)", output)))
        edges = max([edges, *map(int, re.findall(r"cov: (\d+)", output))])
        artifacts = re.findall(r"Test unit written to (\S+)", output)
        if done.returncode != 0 and "libFuzzer: timeout" in output and not _fails_again(command, artifacts):
            continue  # the machine was asleep, not the target
        if done.returncode != 0:
            print(f"{name}: FOUND SOMETHING after {tried} inputs", flush=True)
            print("\n".join(f"    {line}" for line in _gist(output)), flush=True)
            for artifact in artifacts:
                print(f"    repeat: {sys.executable} -m fuzz.target {name} {artifact}", flush=True)
            return 1
    print(f"{name}: nothing found ({tried} inputs, {edges} branches, {len(seeds)} seeds)", flush=True)
    return 0


def _fails_again(command: list[str], artifacts: list[str]) -> bool:
    """Whether inputs that took too long do so when they are tried by themselves. Those that do not are forgotten."""
    alone = [item for item in command if not Path(item).is_dir()]
    for artifact in artifacts:
        done = subprocess.run([*alone, artifact], cwd=ROOT, capture_output=True, check=False)
        if done.returncode != 0:
            return True
        Path(artifact).unlink(missing_ok=True)
    return False


def _gist(output: str) -> list[str]:
    """The traceback, or the last lines if there is none."""
    lines = [line for line in output.splitlines() if not line.startswith("INFO: Instrumenting")]
    starts = [at for at, line in enumerate(lines) if "Uncaught Python exception" in line or "ERROR: libFuzzer" in line]
    return lines[starts[0] :][:40] if starts else lines[-20:]


if __name__ == "__main__":
    sys.exit(main())
