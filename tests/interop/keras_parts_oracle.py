"""What Keras 2 makes of the programs in graph mode: a process of its own, since TensorFlow has one Keras at a time.

    python -m tests.interop.keras_parts_oracle FILE

writes a pickle of what was observed. The optimizers are those that `tf.keras.optimizers` was until TensorFlow 2.10.
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.interop.keras_part_programs import observed


def main(file: Path) -> None:
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # read when TensorFlow is imported
    warnings.simplefilter("ignore")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    first: Any = importlib.import_module("tf_keras.api._v1.keras")
    optimizers: Any = importlib.import_module("tf_keras.optimizers.legacy")
    optimizers.schedules = importlib.import_module("tf_keras.optimizers.schedules")
    names = ("activations", "backend", "constraints", "losses", "metrics", "regularizers")
    keras = SimpleNamespace(optimizers=optimizers, **{name: getattr(first, name) for name in names})
    file.write_bytes(pickle.dumps(observed(tf, keras)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
