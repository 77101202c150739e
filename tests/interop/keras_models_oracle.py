"""What Keras 2 makes of the programs of models in graph mode, in a process of its own.

    python -m tests.interop.keras_models_oracle FOLDER

writes a pickle of what was observed and files of models to the folder, and reads the files that are in `ours` there.
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

from tests.interop.keras_model_programs import observed, read_cudnn_weights, read_files, write_files


def main(folder: Path) -> None:
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # read when TensorFlow is imported
    warnings.simplefilter("ignore")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    keras: Any = importlib.import_module("tf_keras.api._v1.keras")
    (folder / "observed.pickle").write_bytes(pickle.dumps(observed(tf, keras)))
    write_files(keras, folder / "theirs")
    read_files(keras, folder / "ours")
    read_cudnn_weights(keras, folder / "ours")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
