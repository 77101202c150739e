"""What Keras 2 makes of networks in graph mode, in a process of its own.

python -m tests.interop.keras_networks_oracle FILE NAME...
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

from tests.interop.keras_network_programs import observe_images, observe_network


def main(path: Path, names: list[str]) -> None:
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # read when TensorFlow is imported
    warnings.simplefilter("ignore")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    keras: Any = importlib.import_module("tf_keras.api._v1.keras")
    found: dict[str, Any] = {"images": observe_images(tf, keras)}
    found.update((name, observe_network(keras, name)) for name in names)
    path.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
