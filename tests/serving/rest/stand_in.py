"""A server of models that are functions, or golden models, and a client that asks an application without a network."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import DeadlineExceededError, InvalidArgumentError, NotFoundError
from tensorkeep.io.files.local import LOCAL
from tensorkeep.proto.messages import SignatureDef, serialize
from tensorkeep.proto.serving import (
    ClassificationResult,
    GetModelMetadataRequest,
    GetModelMetadataResponse,
    GetModelStatusRequest,
    GetModelStatusResponse,
    ModelServerConfig,
    ModelSpec,
    RegressionResult,
    SignatureDefMap,
)
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.serving.http1.messages import Request
from tensorkeep.serving.models import Call, ModelAsked, ModelOverview, State, VersionStatus
from tensorkeep.serving.rest.application import RestApplication, rest_application
from tensorkeep.serving.rest.options import RestOptions
from tensorkeep.serving.servables import Ends, Servable
from tests.support.golden import golden

Arrays = Mapping[str, np.ndarray]
Compute = Callable[[str, Arrays], dict[str, np.ndarray]]


def signature(inputs: Mapping[str, str], outputs: Sequence[str] = ("y",), defaults: Sequence[str] = ()) -> SignatureDef:
    """A signature with inputs of these types, each of the shape [?]."""
    made = SignatureDef(method_name="tensorflow/serving/predict")
    for name, dtype in inputs.items():
        made.inputs[name].name = f"{name}:0"
        made.inputs[name].dtype = DType.of(dtype).number
        made.inputs[name].tensor_shape.dim.add(size=-1)
    for name in outputs:
        made.outputs[name].name = f"{name}:0"
        made.outputs[name].dtype = 1
        made.outputs[name].tensor_shape.dim.add(size=-1)
    for name in defaults:
        made.defaults[name].dtype = 1
    return made


@dataclass
class StandInModel:
    """A version of a model, which is a function of named arrays."""

    signature_defs: Mapping[str, SignatureDef]
    compute: Compute
    version: int = 1
    labels: Mapping[str, int] = field(default_factory=dict)


def function_model(compute: Compute, **inputs: str) -> StandInModel:
    """A model whose default signature has these inputs."""
    return StandInModel({"serving_default": signature(inputs)}, compute)


def echo(dtype: str) -> StandInModel:
    """A model that gives back as "y" what it gets as "x"."""
    return function_model(lambda key, arrays: {"y": arrays["x"]}, x=dtype)


def golden_model(case: str, folder: str = "model") -> StandInModel:
    """A golden model, which computes."""
    path = str(golden(case) / folder)
    found = read_saved_model(path, LOCAL).meta_graphs
    meta_graph = next(each for each in found if list(each.meta_info_def.tags) == ["serve"])
    defs = dict(meta_graph.signature_def)
    servable = Servable(case, 1, load_saved_model(path, ["serve"]), defs)

    def compute(key: str, arrays: Arrays) -> dict[str, np.ndarray]:
        made = defs[key]
        fed = {made.inputs[name].name: array for name, array in arrays.items()}
        fetched = sorted({info.name for info in made.outputs.values()})
        results = servable.compute(Ends(tuple(sorted(fed)), tuple(fetched)), [fed[name] for name in sorted(fed)])
        by_name = dict(zip(fetched, results, strict=True))
        return {name: by_name[info.name] for name, info in made.outputs.items()}

    return StandInModel(defs, compute)


class StandInModels:
    """Models by name."""

    def __init__(self, models: Mapping[str, StandInModel]) -> None:
        self.models = models

    @contextmanager
    def hold(self, asked: ModelAsked) -> Iterator[Any]:
        found = self.models.get(asked.name)
        if asked.label is not None and (found is None or asked.label not in found.labels):
            raise InvalidArgumentError(f"Unrecognized servable version label: {asked.label}")
        if found is None or asked.version not in (None, found.version):
            which = f"Latest({asked.name})" if asked.version is None else f"Specific({asked.name}, {asked.version})"
            raise NotFoundError(f"Servable not found for request: {which}")
        yield found

    def statuses(self, asked: ModelAsked) -> Sequence[VersionStatus]:
        if asked.name not in self.models:
            raise NotFoundError(f"Could not find any versions of model {asked.name}")
        return [VersionStatus(self.models[asked.name].version, State.AVAILABLE)]

    def overview(self) -> Sequence[ModelOverview]:
        return [
            ModelOverview(name, (VersionStatus(found.version, State.AVAILABLE),), found.labels)
            for name, found in sorted(self.models.items())
        ]

    async def reload(self, config: ModelServerConfig) -> None:
        raise AssertionError("nobody asked for this")


class StandInInference:
    """Answers by the models' functions."""

    def __init__(self, models: StandInModels) -> None:
        self._models = models
        self.calls: list[tuple[ModelAsked, Call]] = []

    @asynccontextmanager
    async def request(self, asked: ModelAsked, call: Call) -> AsyncIterator[StandInOpened]:
        self.calls.append((asked, call))
        with self._models.hold(asked) as model:
            yield StandInOpened(model, asked, call)

    def metadata(self, request: GetModelMetadataRequest) -> GetModelMetadataResponse:
        asked = ModelAsked.of(request.model_spec)
        with self._models.hold(asked) as model:
            response = GetModelMetadataResponse(model_spec=ModelSpec(name=asked.name))
            response.model_spec.version.value = model.version
            signatures = SignatureDefMap(signature_def=dict(model.signature_defs))
            response.metadata["signature_def"].value = serialize(signatures)
        return response

    def model_status(self, request: GetModelStatusRequest) -> GetModelStatusResponse:
        response = GetModelStatusResponse()
        for status in self._models.statuses(ModelAsked.of(request.model_spec)):
            told = response.model_version_status.add(version=status.version, state=int(status.state))
            told.status.error_code = status.code
            told.status.error_message = status.message
        return response


class StandInOpened:
    """A request for one of the models."""

    def __init__(self, model: StandInModel, asked: ModelAsked, call: Call) -> None:
        self._model = model
        self._asked = asked
        self._call = call

    def signature(self, key: str = "", rest: bool = False) -> tuple[str, SignatureDef]:
        key = key or "serving_default"
        if key not in self._model.signature_defs:
            raise InvalidArgumentError(f'Serving signature name: "{key}" not found in signature def')
        return key, self._model.signature_defs[key]

    async def predict(self, arrays: Arrays, output_filter: Sequence[str] = ()) -> dict[str, np.ndarray]:
        if self._call.deadline is not None and time.monotonic() > self._call.deadline:
            raise DeadlineExceededError("Timed out waiting for notification")
        return self._model.compute(self._asked.signature or "serving_default", arrays)

    async def classify(self, examples: Sequence[bytes], context: bytes = b"") -> ClassificationResult:
        found = self._run(examples, context)
        result = ClassificationResult()
        for labels, scores in zip(found["classes"], found["scores"], strict=True):
            row = result.classifications.add()
            for label, score in zip(labels, scores, strict=True):
                row.classes.add(label=label.decode(), score=float(score))
        return result

    async def regress(self, examples: Sequence[bytes], context: bytes = b"") -> RegressionResult:
        result = RegressionResult()
        for value in self._run(examples, context)["outputs"].reshape(-1):
            result.regressions.add(value=float(value))
        return result

    def _run(self, examples: Sequence[bytes], context: bytes) -> dict[str, np.ndarray]:
        fed = np.empty(len(examples), object)
        fed[:] = [context + example for example in examples]
        return self._model.compute(self._asked.signature or "serving_default", {"inputs": fed})


def application(options: RestOptions = RestOptions(), /, **models: StandInModel) -> RestApplication:
    """An application that serves these models."""
    served = StandInModels(models)
    return rest_application(StandInInference(served), served, options)


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        assert self.headers["content-type"] == "application/json"
        told = json.loads(self.body)
        assert list(told) == ["error"]
        return str(told["error"])


def ask(
    app: RestApplication,
    method: str,
    target: str,
    body: bytes | str | Sequence[bytes] = b"",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """What an application answers; a body in several pieces arrives in as many messages."""
    return asyncio.run(ask_soon(app, method, target, body, headers))


async def ask_soon(
    app: RestApplication,
    method: str,
    target: str,
    body: bytes | str | Sequence[bytes] = b"",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    pieces = [body.encode()] if isinstance(body, str) else [body] if isinstance(body, bytes) else list(body)
    path, _, query = target.partition("?")
    given = {name.lower(): value for name, value in (headers or {}).items()}
    answer = await app.answer(Request(method, path, query, given, StandInContent(pieces)))
    found = {"content-type": answer.content_type, "connection": "close" if answer.closes else "keep-alive"}
    found |= {name.decode(): value.decode() for name, value in answer.headers}
    return Reply(answer.status, found, answer.body)


class StandInContent:
    """A body that comes in pieces, and of which nothing is known before they are asked for."""

    whole = None

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]

    async def next(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


def predict(app: RestApplication, body: bytes | str, model: str = "m", **headers: str) -> Reply:
    """What a model predicts."""
    return ask(app, "POST", f"/v1/models/{model}:predict", body, headers)
