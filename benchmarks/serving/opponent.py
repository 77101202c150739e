"""TensorFlow behind the same Python servers: what one would write who serves a SavedModel from Python.

    python -m benchmarks.serving.opponent DIR --port 8500 --rest-port 8501 --workers 2 [--batching]

gRPC by grpc.aio with the messages of tensorflow-serving-api, HTTP by starlette and uvicorn with orjson, both in one
event loop on uvloop; the model runs in a pool of threads. Requests wait for others to share a run with where
`--batching` is said: rows that came while the model ran go in together, as TensorFlow Serving does by default.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import numpy as np
import orjson
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def main() -> int:
    parser = argparse.ArgumentParser(prog="opponent", description=__doc__)
    parser.add_argument("directory")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rest-port", type=int, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--batching", action="store_true")
    given = parser.parse_args()
    others = [
        subprocess.Popen([sys.executable, "-m", "benchmarks.serving.opponent", *_again(sys.argv[1:])])
        for _ in range(given.workers - 1)
    ]
    try:
        uvloop.run(_serve(given))
    finally:
        for other in others:
            other.terminate()
    return 0


def _again(arguments: list[str]) -> list[str]:
    at = arguments.index("--workers")
    return [*arguments[:at], *arguments[at + 2 :]]


class Model:
    """A signature of a model that TensorFlow has loaded, run in threads."""

    def __init__(self, directory: str, batching: bool, threads: int) -> None:
        import tensorflow as tf

        if threads:
            tf.config.threading.set_intra_op_parallelism_threads(threads)
            tf.config.threading.set_inter_op_parallelism_threads(threads)
        self._tf = tf
        self._model = tf.saved_model.load(directory)
        self._signature = self._model.signatures["serving_default"]
        self._threads = ThreadPoolExecutor(4)
        self._batching = batching
        self._waiting: list[tuple[dict[str, Any], asyncio.Future[dict[str, Any]]]] = []
        self._busy = False

    def compute(self, arrays: dict[str, Any]) -> dict[str, Any]:
        fed = {name: self._tf.constant(array) for name, array in arrays.items()}
        return {name: tensor.numpy() for name, tensor in self._signature(**fed).items()}

    async def run(self, arrays: dict[str, Any]) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        if not self._batching:
            return await loop.run_in_executor(self._threads, self.compute, arrays)
        future: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._waiting.append((arrays, future))
        if not self._busy:
            self._busy = True
            self._task = loop.create_task(self._run_batches())
        return await future

    async def _run_batches(self) -> None:
        while self._waiting:
            taken, self._waiting = self._waiting[:32], self._waiting[32:]
            names = taken[0][0]
            joined = {name: np.concatenate([arrays[name] for arrays, _ in taken]) for name in names}
            results = await asyncio.get_running_loop().run_in_executor(self._threads, self.compute, joined)
            at = 0
            for arrays, future in taken:
                rows = len(next(iter(arrays.values())))
                future.set_result({name: result[at : at + rows] for name, result in results.items()})
                at += rows
        self._busy = False


class _Server(uvicorn.Server):
    """A server that leaves signals alone: uvicorn's own ends the process by them before the other workers are told."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def end(self) -> None:
        self.should_exit = True


async def _serve(given: argparse.Namespace) -> None:
    model = Model(given.directory, given.batching, int(os.environ.get("OPPONENT_THREADS", "0")))
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", -1), ("grpc.so_reuseport", 1)])
    server.add_generic_rpc_handlers((_handlers(model),))
    server.add_insecure_port(f"127.0.0.1:{given.port}")
    await server.start()
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listening.bind(("127.0.0.1", given.rest_port))
    config = uvicorn.Config(_application(model), log_level="error", lifespan="off", access_log=False)
    http = _Server(config)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, http.end)
    await http.serve([listening])
    await server.stop(None)


def _handlers(model: Model) -> grpc.GenericRpcHandler:
    from tensorflow_serving.apis import predict_pb2

    tf = model._tf

    async def predict(request: Any, context: Any) -> Any:
        arrays = {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()}
        response = predict_pb2.PredictResponse()
        for name, array in (await model.run(arrays)).items():
            response.outputs[name].CopyFrom(tf.make_tensor_proto(array))
        response.model_spec.name = request.model_spec.name
        return response

    handler = grpc.unary_unary_rpc_method_handler(
        predict, predict_pb2.PredictRequest.FromString, predict_pb2.PredictResponse.SerializeToString
    )
    return grpc.method_handlers_generic_handler("tensorflow.serving.PredictionService", {"Predict": handler})


def _application(model: Model) -> Starlette:
    (name,) = model._signature.structured_input_signature[1]

    async def predict(request: Request) -> Response:
        rows = np.asarray(orjson.loads(await request.body())["instances"], np.float32)
        results = await model.run({name: rows})
        (array,) = results.values()
        return Response(
            orjson.dumps({"predictions": array}, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json"
        )

    return Starlette(routes=[Route("/v1/models/m:predict", predict, methods=["POST"])])


if __name__ == "__main__":
    sys.exit(main())
