"""Tries an installed tensorkeep: saves, lists, reads and checks a checkpoint, and asks for the compiled library.

`python tools/check_installation.py`, with the Python that it is installed for. Fails if anything is wrong, or if the
library that a wheel comes with is not in use.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile

import numpy as np

import tensorkeep as tk


def main() -> int:
    about = tk.about()
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "run", "model")
        kernel = np.arange(12, dtype=np.float32).reshape(4, 3)
        tk.save_checkpoint(prefix, {"dense/kernel": kernel, "step": np.int64(7)})
        tk.save_checkpoint(prefix, {"dense/kernel": 2 * kernel, "step": np.int64(8)})
        with tk.open_checkpoint(prefix) as checkpoint:
            assert np.array_equal(checkpoint.read("dense/kernel"), 2 * kernel)
            assert np.array_equal(checkpoint.read("dense/kernel", np.s_[1:3]), 2 * kernel[1:3])
        assert tk.check_checkpoint(prefix).is_intact
        command = [sys.executable, "-m", "tensorkeep", "list", prefix]
        assert "dense/kernel" in subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    print(f"{about}; Python {platform.python_version()} on {platform.platform()}")
    return 0 if about.native else 1


if __name__ == "__main__":
    sys.exit(main())
