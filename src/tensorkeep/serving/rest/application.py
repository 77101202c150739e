"""The answers to requests by HTTP.

It is a plain callable: the way from a request to its answer is short, and what a framework would do for every request
(matching a list of routes, a chain of middleware) costs more than the rest of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import unquote

import orjson

from tensorkeep.arrays import Array
from tensorkeep.errors import TensorKeepError, UnauthenticatedError
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.proto.serving import (
    ClassificationResult,
    GetModelMetadataRequest,
    GetModelMetadataResponse,
    GetModelStatusRequest,
    GetModelStatusResponse,
    ModelSpec,
    RegressionResult,
)
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.http1.messages import Answer, GoneError, Request
from tensorkeep.serving.models import REST, Call, ModelAsked, Models
from tensorkeep.serving.rest import answers, routes
from tensorkeep.serving.rest.binary_bodies import BINARY, JSON, answer_kind, binary_answer, inputs_of, read_binary
from tensorkeep.serving.rest.example_bodies import read_examples_body
from tensorkeep.serving.rest.openapi import openapi_body
from tensorkeep.serving.rest.options import RestOptions
from tensorkeep.serving.rest.page import door_body, page_body
from tensorkeep.serving.rest.predict_bodies import read_predict_body
from tensorkeep.serving.rest.requests import RefusedError, body_of, pack_body, takes_gzip, unpack_body
from tensorkeep.serving.rest.routes import Route, route_of
from tensorkeep.serving.statuses import code_of, http_status

__all__ = ["InferenceAsked", "OpenedAsked", "RestApplication", "rest_application"]

Result = TypeVar("Result")

_LOG: Final = logging.getLogger("tensorkeep.serving")
_INVALID_ARGUMENT: Final = 3
_UNAUTHENTICATED: Final = 16
_INTERNAL: Final = "An internal error occurred; the log of the server tells more"
_NOT_FOUND: Final = b"<!DOCTYPE html><html><head><title>404</title></head><body><h1>Not Found</h1></body></html>\n"
_HTML: Final = "text/html; charset=utf-8"
_CHALLENGE: Final = ((b"www-authenticate", b"Bearer"),)
_SHADOWS: Final = "/monitoring/shadows/"
_CORS: Final = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"POST, GET"),
    (b"access-control-allow-headers", b"Content-Type"),
)


class OpenedAsked(Protocol):
    """A request whose model has been found."""

    def signature(self, key: str = "", rest: bool = False) -> tuple[str, SignatureDef]: ...

    async def predict(self, arrays: Mapping[str, Array], output_filter: Sequence[str] = ()) -> dict[str, Array]: ...

    async def classify(self, examples: Sequence[bytes], context: bytes = b"") -> ClassificationResult: ...

    async def regress(self, examples: Sequence[bytes], context: bytes = b"") -> RegressionResult: ...


class InferenceAsked(Protocol):
    """The part of `Inference` that REST uses."""

    def request(self, asked: ModelAsked, call: Call) -> AbstractAsyncContextManager[OpenedAsked]: ...

    def metadata(self, request: GetModelMetadataRequest) -> GetModelMetadataResponse: ...

    def model_status(self, request: GetModelStatusRequest) -> GetModelStatusResponse: ...


def rest_application(
    inference: InferenceAsked, models: Models, options: RestOptions = RestOptions()
) -> RestApplication:
    """Who answers requests by HTTP."""
    return RestApplication(inference, models, options)


class RestApplication:
    """Answers requests by HTTP."""

    def __init__(self, inference: InferenceAsked, models: Models, options: RestOptions) -> None:
        self._inference = inference
        self._models = models
        self._options = options

    async def answer(self, request: Request) -> Answer:
        """The answer to a request, compressed if it is large and the client takes it so. GoneError if it has gone."""
        answer = await self._answer(request)
        least = self._options.compress_from
        if least is None or len(answer.body) < least or not takes_gzip(request.headers.get("accept-encoding", "")):
            return answer
        body = await self._aside(len(answer.body), pack_body, answer.body)
        headers = ((b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding"))
        return replace(answer, body=body, headers=(*answer.headers, *headers))

    async def _answer(self, request: Request) -> Answer:
        """The answer to a request, that to one which fails among them."""
        is_ours = request.path[:4].lower() == "/v1/"
        try:
            answer = await (self._of_models(request) if is_ours else self._beside(request))
        except (TensorKeepError, TimeoutError, asyncio.TimeoutError) as error:
            answer = _failure_answer(error)
        except RefusedError as refused:
            answer = Answer(answers.error_body(str(refused)), refused.status, closes=True)
        except GoneError:
            raise
        except Exception:
            _LOG.exception("%s %s failed in an unforeseen way", request.method, request.target)
            answer = Answer(answers.error_body(_INTERNAL), 500)
        if is_ours and self._options.cors:
            return replace(answer, headers=(*answer.headers, *_CORS))
        return answer

    async def _aside(self, size: int, work: Callable[..., Result], *arguments: Any) -> Result:
        """The result of some work, which is done beside the event loop if it is about many bytes."""
        if size < self._options.large:
            return work(*arguments)
        return await asyncio.get_running_loop().run_in_executor(self._options.executor, work, *arguments)

    # ----------------------------------------------------------------------------------------------------- /v1/…

    async def _of_models(self, request: Request) -> Answer:
        with _Told(self._options, ModelAsked(""), "") as told:
            if request.method == "OPTIONS":
                origin = request.headers.get("origin", "")
                return Answer(b"", 200 if "http://" in origin or "https://" in origin else 400)
            self._options.authorize(request.headers)
            route = route_of(request.method, request.path, request.target)
            told.asked = route.asked
            if route.what in (routes.STATUS, routes.METADATA, routes.MODELS):
                return self._question(route)
            told.taken()
        if route.what == routes.PREDICT:
            return await self._predict(route.asked, request)
        return await self._examples(route, request)

    def _question(self, route: Route) -> Answer:
        if route.what == routes.MODELS:
            return Answer(answers.models_body(self._models.overview()))
        if route.what == routes.STATUS:
            asked = GetModelStatusRequest(model_spec=_spec(route.asked))
            return Answer(answers.status_body(self._inference.model_status(asked)))
        fields = ["signature_def"]
        question = GetModelMetadataRequest(model_spec=_spec(route.asked), metadata_field=fields)
        return Answer(answers.metadata_body(self._inference.metadata(question)))

    def _call(self, method: str) -> Call:
        timeout = self._options.timeout
        return Call(REST, method, None if timeout is None else self._options.clock() + timeout)

    async def _body(self, request: Request) -> bytes | bytearray:
        """The body of a request, unpacked if it was compressed."""
        body = await body_of(request, self._options.most_body, self._options.body_timeout)
        encoding = request.headers.get("content-encoding", "").strip().lower()
        if encoding == "gzip":
            return await self._aside(len(body), unpack_body, body, self._options.most_unpacked)
        if encoding not in ("", "identity"):
            raise RefusedError(415, f"Content-Encoding: {encoding} is not taken; gzip is")
        return body

    async def _predict(self, asked: ModelAsked, request: Request) -> Answer:
        content_type = request.headers.get("content-type", "")
        kind = content_type.partition(";")[0].strip().lower()
        if kind in BINARY:
            return await self._predict_binary(asked, request, kind, content_type)
        call = self._call(routes.PREDICT)
        with _Told(self._options, asked, routes.PREDICT) as told:
            body = await self._body(request)
            read = await self._aside(len(body), read_predict_body, body, self._options.json)
            told.asked = asked = ModelAsked(asked.name, asked.version, asked.label, read.signature)
            told.taken()
            async with self._inference.request(asked, call) as opened:
                _, signature = opened.signature(read.signature, rest=True)
                arrays, in_rows = await self._aside(len(body), read.arrays, signature)
                outputs = await opened.predict(arrays)
                wanted = answer_kind(request.headers.get("accept", ""), JSON)
                return await self._outputs(wanted, outputs, in_rows)

    async def _predict_binary(self, asked: ModelAsked, request: Request, kind: str, content_type: str) -> Answer:
        call = self._call(routes.PREDICT)
        asked = ModelAsked(asked.name, asked.version, asked.label, request.parameter("signature_name"))
        with _Told(self._options, asked, routes.PREDICT) as told:
            body = await self._body(request)
            size = 0 if kind == "application/x-npy" else len(body)  # of which nothing is looked at but its beginning
            read = await self._aside(size, read_binary, kind, content_type, body, self._options.most_body)
            told.taken()
            async with self._inference.request(asked, call) as opened:
                _, signature = opened.signature(asked.signature, rest=True)
                outputs = await opened.predict(inputs_of(read, signature))
                return await self._outputs(answer_kind(request.headers.get("accept", ""), kind), outputs, False)

    async def _outputs(self, kind: str, outputs: Mapping[str, Array], in_rows: bool) -> Answer:
        size = sum(array.size * 8 for array in outputs.values())
        if kind == JSON:
            write = answers.predictions_body if in_rows else answers.outputs_body
            return Answer(await self._aside(size, write, outputs))
        content_type, body = await self._aside(size, binary_answer, kind, outputs)
        return Answer(body, content_type=content_type)

    async def _examples(self, route: Route, request: Request) -> Answer:
        asked, call = route.asked, self._call(route.what)
        with _Told(self._options, asked, route.what) as told:
            body = await self._body(request)
            read = await self._aside(len(body), read_examples_body, body, self._options.json)
            told.asked = asked = ModelAsked(asked.name, asked.version, asked.label, read.signature)
            told.taken()
            async with self._inference.request(asked, call) as opened:
                if route.what == routes.CLASSIFY:
                    classified = await opened.classify(read.examples, read.context)
                    return Answer(await self._aside(len(body), answers.classifications_body, classified))
                regressed = await opened.regress(read.examples, read.context)
                return Answer(await self._aside(len(body), answers.regressions_body, regressed))

    # ---------------------------------------------------------------------------------------------- Everything else

    async def _beside(self, request: Request) -> Answer:
        path, options = request.path, self._options
        is_read = request.method in ("GET", "HEAD")
        if is_read and path == "/healthz":
            return Answer(b"ok\n", content_type="text/plain")
        if is_read and (path == "/readyz" or path.startswith("/readyz/")):
            return self._readiness(path)
        is_page = is_read and options.pages and path in ("/", "/docs")
        try:
            options.authorize(request.headers)
        except UnauthenticatedError:
            if is_page:  # somebody with a browser, who can send a token by a form alone
                return Answer(door_body(), 401, _HTML, _CHALLENGE)
            raise
        if path == options.metrics_path and options.render_metrics is not None and request.method == "GET":
            if request.query:
                text = f"Unexpected path: {request.target}. Should be {options.metrics_path}"
                return Answer(text.encode(), 400, "text/plain")
            return Answer(await self._aside(options.large, options.render_metrics), content_type="text/plain")
        if is_read and path.startswith(_SHADOWS) and options.shadow_report is not None:
            report = options.shadow_report(unquote(path[len(_SHADOWS) :]))
            return Answer(orjson.dumps(report, option=orjson.OPT_INDENT_2))
        if is_read and options.pages and path == "/openapi.json":
            return Answer(await self._aside(options.large, openapi_body, self._models))
        if is_page:
            return Answer(await self._aside(options.large, page_body, self._models), content_type=_HTML)
        return Answer(_NOT_FOUND, 404, "text/html")

    def _readiness(self, path: str) -> Answer:
        reasons = self._options.unready(unquote(path[len("/readyz/") :]) or None)
        if not reasons:
            return Answer(b"ok\n", content_type="text/plain")
        return Answer("".join(f"{reason}\n" for reason in reasons).encode(), 503, "text/plain")


def _failure_answer(error: BaseException) -> Answer:
    code = code_of(error)
    headers = _CHALLENGE if code == _UNAUTHENTICATED else ()
    return Answer(answers.error_body(str(error)), http_status(code), headers=headers)


def _spec(asked: ModelAsked) -> ModelSpec:
    spec = ModelSpec(name=asked.name)
    if asked.version is not None:
        spec.version.value = asked.version
    elif asked.label is not None:
        spec.version_label = asked.label
    return spec


class _Told:
    """A block in which a request is read. If it ends there, it is counted here; once it is `taken`, inference counts
    it.
    """

    def __init__(self, options: RestOptions, asked: ModelAsked, method: str) -> None:
        self._options = options
        self._method = method
        self.asked = asked
        self._is_taken = False

    def __enter__(self) -> _Told:
        self._started = self._options.clock()
        return self

    def taken(self) -> None:
        """From here on, inference counts the request."""
        self._is_taken = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._is_taken:
            return
        exchange = Exchange(self.asked, Call(REST, self._method), self._started)
        exchange.seconds = self._options.clock() - self._started
        if error is not None:
            exchange.code = _INVALID_ARGUMENT if isinstance(error, RefusedError) else code_of(error)
            exchange.error = str(error)
        self._options.finished(exchange)
