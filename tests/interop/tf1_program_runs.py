"""Runs programs for TensorFlow 1 under TensorFlow itself, with `tensorflow.compat.v1` in the place of `tensorflow`.

    python -m tests.interop.tf1_program_runs FILE

reads from the file, as JSON, a list of command lines, and writes to it a list of what each printed. One process runs
all of them: starting TensorFlow takes longer than they do.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

import tensorkeep.v1  # noqa: F401 - whose graph the seeds of MNIST's batches are asked of
from tensorkeep.tf1.training.inputs import mnist_files

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # read when TensorFlow is imported


def pretend() -> Any:
    """Has `import tensorflow` give TensorFlow 1's names, with the example package that TensorFlow 2 lacks."""
    import tensorflow.compat.v1 as tf
    from absl import flags

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    sys.modules["tensorflow"] = tf
    for name in ("examples", "examples.tutorials", "examples.tutorials.mnist"):
        sys.modules[f"tensorflow.{name}"] = type(sys)(f"tensorflow.{name}")
    sys.modules["tensorflow.examples.tutorials.mnist.input_data"] = mnist_files
    vars(sys.modules["tensorflow.examples.tutorials.mnist"])["input_data"] = mnist_files
    network = importlib.import_module("tests.interop.tf1_digit_network")
    vars(sys.modules["tensorflow.examples.tutorials.mnist"])["mnist"] = network
    return tf, flags.FLAGS


def run(line: list[str], tf: Any, flags: Any, own: set[str]) -> str:
    """What a program prints. Flags that are not absl's `own` are another program's, and are forgotten."""
    for name in set(flags) - own:
        delattr(flags, name)
    flags.unparse_flags()
    tf.reset_default_graph()
    sys.argv = line
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        runpy.run_path(line[0], run_name="__main__")
    session = tf.get_default_session()
    if session is not None:  # an interactive one, which is the default until it is closed
        session.close()
    return printed.getvalue()


def main(file: Path) -> None:
    warnings.simplefilter("ignore")
    tf, flags = pretend()
    lines = json.loads(file.read_text())
    own = set(flags)
    file.write_text(json.dumps([run(line, tf, flags, own) for line in lines]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
