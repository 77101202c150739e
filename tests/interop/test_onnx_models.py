"""Models of the zoo exported to ONNX: equal to TensorFlow for any batch, and the same bytes every time."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import onnx_ir as ir
import pytest
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.errors import UnimplementedError
from tensorkeep.onnx.engine.empty_arrays import ENDS_PROCESS
from tests.interop.keras_sweep import difference
from tests.interop.model_zoo import NETWORKS, UNSTEADY, ZOO, Export, application
from tests.interop.onnx_sweep import TOLERANCES, in_onnx_runtime
from tests.support.depth import thinned

REFUSED: Final = {
    "image decoding": "DecodePng: ONNX has no operator",
    "tf.Example parsing": "ParseExampleV2: ONNX has no operators",
}
FURTHER_NETWORKS: Final = {
    "MobileNet": 48,
    "VGG19": 48,
    "ResNet50": 48,
    "ResNet101": 48,
    "ResNet101V2": 48,
    "ResNet152V2": 48,
    "DenseNet169": 48,
    "EfficientNetB1": 48,
    "EfficientNetV2B1": 48,
    "ConvNeXtSmall": 48,
    "InceptionResNetV2": 80,
    "ResNet152": 48,
    "DenseNet201": 48,
    "EfficientNetB2": 48,
    "EfficientNetB3": 48,
    "EfficientNetB4": 48,
    "EfficientNetB5": 48,
    "EfficientNetB6": 48,
    "EfficientNetB7": 48,
    "EfficientNetV2B2": 48,
    "EfficientNetV2B3": 48,
    "EfficientNetV2S": 64,
    "EfficientNetV2M": 64,
    "EfficientNetV2L": 64,
    "NASNetLarge": 64,
    "ConvNeXtBase": 48,
    "ConvNeXtLarge": 48,
    "ConvNeXtXLarge": 32,
}
"""The others of keras.applications, with the size of the image they are given."""
NOT_EMPTY: Final = frozenset(operator for operator, places in ENDS_PROCESS.items() if 0 in places)
"""What ends the process in ONNX Runtime where the batch is empty."""
NOT_BY_BATCH: Final = {"NMS post-processing", "control flow"}
"""Models whose inputs are no batches of anything."""
NOT_VERIFIED: Final = {
    "control flow": "it counts its calls, which a file cannot",
    "STFT audio": "ONNX Runtime fails where there are too few samples for a single frame",
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that is gone after the test."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def repeated(inputs: dict[str, Any], times: int) -> dict[str, Any]:
    return {name: np.concatenate([array] * times) for name, array in inputs.items()}


def batches_of(name: str, inputs: dict[str, Any], target: Path) -> list[dict[str, Any]]:
    """The inputs of the zoo, three times as many, and none; without these where ONNX Runtime would end the process."""
    if name in NOT_BY_BATCH:
        return [inputs]
    operators = {node.op_type for node in ir.traversal.RecursiveGraphIterator(ir.load(target).graph)}
    none = [] if operators & NOT_EMPTY else [{key: array[:0] for key, array in inputs.items()}]
    return [inputs, repeated(inputs, 3), *none]


def expect_agreement(name: str, folder: Path, export: Export | None = None) -> None:
    """The exported model gives what TensorFlow gives, for the batch of the zoo and for ones of other sizes."""
    source, target = folder / "model", folder / "model.onnx"
    signature, inputs = (export or ZOO[name])(str(source))
    oracle = tf.saved_model.load(str(source)).signatures[signature]
    options = tk.OnnxOptions(verify_inputs=repeated(inputs, 2) if name in UNSTEADY else None)
    done = tk.export_onnx(source, target, signature=signature, verify=name not in NOT_VERIFIED, options=options)
    assert (done.verification is None) == (name in NOT_VERIFIED)
    onnx.checker.check_model(str(target), full_check=True)
    with tk.load_saved_model(source) as model:
        run = in_onnx_runtime(model, signature, folder / "again.onnx")
    assert (folder / "again.onnx").read_bytes() == target.read_bytes()
    for given in batches_of(name, inputs, target):
        wanted = {key: value.numpy() for key, value in oracle(**{k: tf.constant(v) for k, v in given.items()}).items()}
        answer = run(given)
        for key, array in wanted.items():
            assert not difference(answer[key], array, TOLERANCES), key


@pytest.mark.parametrize("name", thinned([name for name in ZOO if name not in {*NETWORKS, *REFUSED}], 2))
def test_a_model_of_the_zoo_agrees_with_tensorflow(name: str, folder: Path) -> None:
    expect_agreement(name, folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned([*NETWORKS], 12))
def test_a_network_agrees_with_tensorflow(name: str, folder: Path) -> None:
    expect_agreement(name, folder)
    tf.keras.backend.clear_session()  # the largest have more than 100 MB of weights
    gc.collect()


def test_every_network_of_keras_is_looked_at() -> None:
    every = {name for name in dir(tf.keras.applications) if name[0].isupper()}
    assert every == {*NETWORKS, *FURTHER_NETWORKS}
    assert {*FURTHER_NETWORKS} >= UNSTEADY


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.parametrize("name", FURTHER_NETWORKS)
def test_a_further_network_agrees_with_tensorflow(name: str, folder: Path) -> None:
    expect_agreement(name, folder, application(name, FURTHER_NETWORKS[name]))
    tf.keras.backend.clear_session()
    gc.collect()


@pytest.mark.parametrize("name", REFUSED)
def test_what_onnx_has_no_operators_for_is_refused(name: str, folder: Path) -> None:
    signature, _ = ZOO[name](str(folder / "model"))
    with pytest.raises(UnimplementedError, match=REFUSED[name]):
        tk.export_onnx(folder / "model", folder / "model.onnx", signature=signature)
    assert not (folder / "model.onnx").exists()
