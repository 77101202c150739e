"""What the other converter's environment is asked to do. It runs there: TensorFlow 2.15, tf2onnx, and nothing of ours.

python -m benchmarks.other_converter save NAME FOLDER        writes a model of `MODELS` as a SavedModel, with its inputs
python -m benchmarks.other_converter convert FOLDER FILE N   converts it for opset N, as tf2onnx's command does

Inputs and TensorFlow's answers lie beside the folder, in `FOLDER-inputs-BATCH.npz` and `FOLDER-answers-BATCH.npz`. The
last line that is printed is JSON: seconds from when everything was imported, and the versions of what did it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, Final

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

BATCHES: Final = (1, 32)


def save(name: str, folder: str) -> dict[str, Any]:
    """Writes a model, what it is given for each batch, and what TensorFlow makes of that."""
    import numpy as np
    import tensorflow as tf

    from benchmarks.converted_models import MODELS

    model = MODELS[name]
    model.export(folder)
    loaded = tf.saved_model.load(folder)
    signature = loaded.signatures["serving_default"]
    for batch in BATCHES:
        inputs = model.inputs(batch)
        answers = signature(**{key: tf.constant(value) for key, value in inputs.items()})
        np.savez(f"{folder}-inputs-{batch}.npz", **inputs)
        np.savez(f"{folder}-answers-{batch}.npz", **{key: value.numpy() for key, value in answers.items()})
    return {"TensorFlow": tf.__version__}


def convert(folder: str, file: str, opset: str) -> dict[str, Any]:
    """Converts a SavedModel by the command of tf2onnx, which is called in this process."""
    import tf2onnx.convert

    command = ["--saved-model", folder, "--output", file, "--opset", opset, "--signature_def", "serving_default"]
    sys.argv = ["tf2onnx", *command]
    start = time.perf_counter(), time.process_time()
    tf2onnx.convert.main()
    return {
        "seconds": time.perf_counter() - start[0],
        "processor": time.process_time() - start[1],
        "tf2onnx": tf2onnx.__version__,
    }


def main(arguments: Sequence[str]) -> int:
    work = {"save": save, "convert": convert}[arguments[0]]
    print(json.dumps(work(*arguments[1:])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
