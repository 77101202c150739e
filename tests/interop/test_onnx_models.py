"""Models of the zoo exported to ONNX: equal to TensorFlow for any batch, and the same bytes every time."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import pytest
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.errors import UnimplementedError
from tests.interop.keras_sweep import difference
from tests.interop.model_zoo import NETWORKS, ZOO
from tests.interop.onnx_sweep import TOLERANCES, in_onnx_runtime
from tests.support.depth import thinned

REFUSED: Final = {
    "image decoding": "DecodePng: ONNX has no operator",
    "text vectorisation": "StaticRegexReplace: ONNX has no operator",
    "tf.Example parsing": "ParseExampleV2: ONNX has no operators",
}
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


def expect_agreement(name: str, folder: Path) -> None:
    """The exported model gives what TensorFlow gives, for the batch of the zoo and for one of another size."""
    source, target = folder / "model", folder / "model.onnx"
    signature, inputs = ZOO[name](str(source))
    oracle = tf.saved_model.load(str(source)).signatures[signature]
    done = tk.export_onnx(source, target, signature=signature, verify=name not in NOT_VERIFIED)
    assert (done.verification is None) == (name in NOT_VERIFIED)
    onnx.checker.check_model(str(target), full_check=True)
    with tk.load_saved_model(source) as model:
        run = in_onnx_runtime(model, signature, folder / "again.onnx")
    assert (folder / "again.onnx").read_bytes() == target.read_bytes()
    for given in [inputs] if name in NOT_BY_BATCH else [inputs, repeated(inputs, 3)]:
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


@pytest.mark.parametrize("name", REFUSED)
def test_what_onnx_has_no_operators_for_is_refused(name: str, folder: Path) -> None:
    signature, _ = ZOO[name](str(folder / "model"))
    with pytest.raises(UnimplementedError, match=REFUSED[name]):
        tk.export_onnx(folder / "model", folder / "model.onnx", signature=signature)
    assert not (folder / "model.onnx").exists()
