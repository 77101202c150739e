"""Peak memory beyond the data itself, each measured in a process of its own.

What counts is memory of the process (`RssAnon`): pages of a mapped file belong to the system's cache and are given
back at need.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.timing import Report, table

_CHILD = """
import sys, threading, time
import numpy as np
import tensorkeep as tk

task, prefix, size = sys.argv[1], sys.argv[2], int(sys.argv[3])

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))

arrays = None
if task in ("make", "save"):
    arrays = {f"t{at}": np.full(size // 8 // 4, at, np.float32) for at in range(8)}
if task == "make":
    tk.save_checkpoint(prefix, arrays)
    print(0)
    sys.exit()
tk.save_checkpoint(prefix + "-warm", {"x": np.zeros(4)})
tk.load_tensors(prefix + "-warm")
before = peak = anonymous()
done = threading.Event()

def watch():
    global peak
    while not done.is_set():
        peak = max(peak, anonymous())
        time.sleep(0.0005)

watcher = threading.Thread(target=watch)
watcher.start()
if task == "save":
    tk.save_checkpoint(prefix + "-saved", arrays, tk.SaveOptions(durability=tk.Durability.CACHE))
else:
    with tk.open_checkpoint(prefix, tk.ReadOptions(copy=task == "copy")) as reader:
        kept = reader.read_many()
peak = max(peak, anonymous())
done.set()
watcher.join()
print(peak - before)
"""


def memory(folder: Path, size: int) -> Report:
    folder.mkdir(parents=True, exist_ok=True)
    prefix = str(folder / "memory")

    def measure(task: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, task, prefix, str(size)], check=True, capture_output=True, text=True
        )
        return int(done.stdout)

    measure("make")
    saved, copied, mapped = measure("save"), measure("copy"), measure("map")
    mib = 1 << 20
    rows = [
        [f"save {size >> 20} MiB", f"{saved / mib:.1f} MiB", "32 MiB"],
        [f"load {size >> 20} MiB, copies", f"{(copied - size) / mib:.1f} MiB ({copied / size - 1:.1%})", "5 %"],
        [f"load {size >> 20} MiB, zero-copy", f"{mapped / mib:.1f} MiB", "16 MiB"],
    ]
    return Report("Peak memory beyond the data\n\n" + table(["", "extra", "bar"], rows))
