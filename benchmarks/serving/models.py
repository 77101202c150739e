"""The models that are served, and requests for them, as bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.real_models import application
from tensorkeep.proto.messages import serialize
from tensorkeep.proto.serving import PredictRequest
from tensorkeep.proto.tensors import tensor_of_array


@dataclass(frozen=True)
class ServedModel:
    """A folder with versions of a model, and one row to ask it."""

    name: str
    base: Path
    row: dict[str, Any]

    @property
    def version(self) -> str:
        """The folder of the only version."""
        return str(self.base / "1")

    @property
    def body(self) -> bytes:
        """The row as a JSON request: one input, one instance."""
        (array,) = self.row.values()
        return json.dumps({"instances": array.tolist()}).encode()

    def grpc_request(self) -> Path:
        """A file with the row as a PredictRequest."""
        request = PredictRequest()
        request.model_spec.name = "m"
        for name, array in self.row.items():
            request.inputs[name].CopyFrom(tensor_of_array(array))
        path = self.base.parent / f"{self.base.name}.grpc"
        path.write_bytes(serialize(request))
        return path

    def rest_request(self, body: bytes | None = None, kind: str = "application/json") -> Path:
        """A file with the row as a whole HTTP request."""
        content = self.body if body is None else body
        head = f"POST /v1/models/m:predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
        path = self.base.parent / f"{self.base.name}.{kind.rpartition('/')[2]}.rest"
        path.write_bytes(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        return path


def dense(folder: Path, name: str, layers: int, width: int) -> ServedModel:
    """Layers of width x width in a row, with tanh between them."""
    module = tf.Module()
    module.kernels = [tf.Variable(tf.random.normal([width, width]) / width**0.5) for _ in range(layers)]

    @tf.function(input_signature=[tf.TensorSpec([None, width], tf.float32, name="x")])
    def call(x: tf.Tensor) -> dict[str, tf.Tensor]:
        for kernel in module.kernels:
            x = tf.tanh(x @ kernel)
        return {"y": x}

    module.call = call
    base = folder / name
    tf.saved_model.save(module, str(base / "1"), signatures=call)
    return ServedModel(name, base, {"x": np.random.default_rng(1).normal(size=(1, width)).astype(np.float32)})


def mobile_net(folder: Path) -> ServedModel:
    """MobileNetV2 with random weights, 224 x 224 pixels."""
    model = application("MobileNetV2")
    base = folder / "MobileNetV2"
    model.export(str(base / "1"))
    return ServedModel("MobileNetV2", base, model.inputs(1))
