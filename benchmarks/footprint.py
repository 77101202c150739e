"""What it costs to have the package: import time, memory after import, size on disk.

As in `start`, what is imported is compiled already: the first round, which is not counted, keeps the bytecode in a
folder.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from benchmarks.start import bytecode_environment
from benchmarks.timing import Report, table

# Not `ru_maxrss`: that is handed on from a parent process that was large.
_CHILD = """
{statement}
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def footprint(folder: Path, rounds: int) -> Report:
    environment = bytecode_environment(folder)
    rows = []
    for statement, distribution in (
        ("from tensorkeep import open_checkpoint", "tensorkeep"),  # `import tensorkeep` alone imports nothing yet
        ("import tensorkeep.v1", "tensorkeep"),
        ("import tensorflow", "tensorflow-cpu"),
        ("import safetensors.numpy", "safetensors"),
    ):
        seconds, memory = _import_cost(statement, environment, rounds)
        size = _installed_size(distribution) / 1e6
        rows.append([f"`{statement}`", f"{seconds:.2f} s", f"{memory / 1024:.0f} MB", f"{size:.0f} MB"])
    title = "Footprint (bars for checkpoints: 0.30 s, 60 MB, 80 MB). Size on disk includes what is required, NumPy too."
    return Report(f"{title}\n\n" + table(["", "time, interpreter included", "memory", "on disk"], rows))


def _import_cost(statement: str, environment: Mapping[str, str], rounds: int) -> tuple[float, int]:
    taken: list[float] = []
    memory = 0
    for _ in range(rounds + 1):
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _CHILD.format(statement=statement)],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        taken.append(time.perf_counter() - start)
        memory = int(done.stdout)
    return statistics.median(taken[1:]), memory


def _installed_size(distribution: str) -> int:
    """The bytes of a distribution's files and of all it requires, extras aside."""
    seen: set[str] = set()
    total = 0
    pending = [distribution]
    while pending:
        name = re.split(r"[\s;<>=!~\[(]", pending.pop())[0].lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # required on other platforms only
        if name == "tensorkeep":
            total += _source_size()
        for file in found.files or ():
            path = found.locate_file(file)
            total += path.stat().st_size if path.is_file() else 0  # type: ignore[attr-defined]
        pending += [item for item in found.requires or () if "extra ==" not in item]
    return total


def _source_size() -> int:
    """An editable installation lists none of the package's files; they are counted where they are, bytecode aside."""
    import tensorkeep

    files = (path for path in Path(tensorkeep.__file__).parent.rglob("*") if path.suffix != ".pyc")
    return sum(path.stat().st_size for path in files if path.is_file())
