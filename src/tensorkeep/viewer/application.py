"""The answers by HTTP: who may ask, and what a browser may do with them.

    GET  /?token=…            the page
    GET  /app.js, /app.css    what it is made of; nothing of a model is in it
    POST /api/NAME            a question of `answers.catalog`, its arguments as JSON; the answer as JSON
    POST /api/job, /api/cancel   {"id": …}: how far long work is, or its answer; its end
    GET  /npy?token=…&source=…&name=…   a tensor as a file

Only who knows the token is answered, by `Authorization: Bearer` or in the address. A request for another host than the
one that is served is refused, so that a name that is pointed here tells nobody anything; so is one from a page of
another origin. Pages may load nothing from anywhere else, and run no script but ours.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.io.showing.json_values import json_value
from tensorkeep.viewer.answers.catalog import LONG, SHORT
from tensorkeep.viewer.answers.tensors import npy_file
from tensorkeep.viewer.asking import Asked
from tensorkeep.viewer.jobs import Job, Jobs
from tensorkeep.viewer.page import answer_text, static_file
from tensorkeep.viewer.sources import Sources

_PATIENCE: Final = 0.4  # seconds that long work is waited for before it is told how far it is
_MOST_BODY: Final = 128 << 20  # bytes of a question: an .npy file may be in it
_STATIC: Final = {
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/app.css": ("app.css", "text/css; charset=utf-8"),
}
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self'; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
)
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Lets requests through that are for us and from our own page, and nothing else."""

    def __init__(self, application: ASGIApp, token: str, hosts: Collection[str], *, in_notebook: bool = False) -> None:
        self._application = application
        self._token = token
        self._hosts = frozenset(hosts)
        """What the header Host may be: addresses with the port."""
        ancestors = "http://localhost:* http://127.0.0.1:*" if in_notebook else "'none'"
        self._headers = {**_HEADERS, "Content-Security-Policy": POLICY.format(ancestors=ancestors)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope)
        problem = self._problem(request)
        answer = self._application if problem is None else _refusal(*problem)

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                known = [(key.lower().encode(), value.encode()) for key, value in self._headers.items()]
                message["headers"] = [*message.get("headers", ()), *known]
            await send(message)

        await answer(scope, receive, with_headers)

    def _problem(self, request: Request) -> tuple[int, str] | None:
        """Why a request is refused: a status and a sentence."""
        host = request.headers.get("host", "")
        if host not in self._hosts:
            return 421, "this address is not served under that name; use the address that tensorkeep view printed"
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "none")
        is_page = request.url.path == "/" and request.method == "GET"
        if origin is not None and origin != f"http://{host}":
            return 403, "pages of other sites are not answered"
        if site not in ("none", "same-origin") and not (is_page and origin is None):
            return 403, "pages of other sites are not answered"
        if request.url.path not in _STATIC and not self._knows_token(request):
            return 401, "the token is missing or wrong: use the whole address that tensorkeep view printed"
        return None

    def _knows_token(self, request: Request) -> bool:
        given = request.headers.get("authorization", "").removeprefix("Bearer ") or request.query_params.get(
            "token", ""
        )
        return secrets.compare_digest(given.encode(), self._token.encode())


def _refusal(status: int, sentence: str) -> Response:
    return Response(f"{sentence}\n", status, media_type="text/plain")


class Viewer:
    """Answers questions about some sources by HTTP."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.jobs = Jobs()

    def application(self, token: str, hosts: Collection[str], *, in_notebook: bool = False) -> Guard:
        """What a server runs: it answers who knows the token, under these hosts."""
        routes = [
            Route("/", self._page),
            *(Route(path, self._static) for path in _STATIC),
            Route("/npy", self._npy),
            Route("/api/{name}", self._api, methods=["POST"]),
        ]
        return Guard(Starlette(routes=routes, lifespan=self._lifespan), token, hosts, in_notebook=in_notebook)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        yield
        self.close()

    def close(self) -> None:
        """Cancels all work and gives files back."""
        self.jobs.close()
        self.sources.close()

    async def _page(self, _: Request) -> Response:
        return Response(static_file("index.html"), media_type="text/html; charset=utf-8")

    async def _static(self, request: Request) -> Response:
        name, kind = _STATIC[request.url.path]
        return Response(static_file(name), media_type=kind)

    # -------------------------------------------------------------------------------------------------- questions

    async def _api(self, request: Request) -> Response:
        name = request.path_params["name"]
        try:
            given = await _body(request)
            if name == "job":
                return await self._poll_job(request, given)
            if name == "cancel":
                self.jobs.cancel(str(given.get("id", "")))
                return _json({})
            if name in SHORT:
                return _json(await run_in_threadpool(SHORT[name], Asked(self.sources, given)))
            if name in LONG:
                answer = LONG[name]
                key, job = self.jobs.start(lambda progress: answer(Asked(self.sources, given, progress)))
                return await self._wait_for_job(request, key, job)
            raise NotFoundError(f'there is no question "{name[:100]}"')
        except TensorKeepError as error:
            return _failure_response(error)
        except MemoryError:
            return _failure_response(TensorKeepError("there is not enough memory for it"))
        except (RecursionError, UnicodeError) as error:
            return _failure_response(InvalidArgumentError(f"the question cannot be understood: {error}"))

    async def _poll_job(self, request: Request, given: Mapping[str, Any]) -> Response:
        key = str(given.get("id", ""))
        return await self._wait_for_job(request, key, self.jobs.find(key))

    async def _wait_for_job(self, request: Request, key: str, job: Job) -> Response:
        """The answer, if it comes soon; else how far the work is. If the page goes meanwhile, its work is cancelled."""
        waiting = asyncio.wrap_future(job.future)
        leaving = asyncio.ensure_future(request.receive())  # all of the question was read: only its end can come
        both: list[asyncio.Future[Any]] = [waiting, leaving]
        await asyncio.wait(both, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        is_gone = leaving.done() and not leaving.cancelled()
        leaving.cancel()
        if not waiting.done():
            if is_gone:
                self.jobs.cancel(key)
            waiting.add_done_callback(lambda future: future.cancelled() or future.exception())
            return _json({"job": key, "done": job.done, "total": job.total})
        self.jobs.forget(key)
        return _json(waiting.result())

    async def _npy(self, request: Request) -> Response:
        query = request.query_params
        number = query.get("source", "0")
        name = query.get("name", "")
        given = {"source": int(number) if number.isdecimal() else -1, "name": name}
        try:
            size, chunks = await run_in_threadpool(npy_file, Asked(self.sources, given))
        except TensorKeepError as error:
            return _failure_response(error)
        file = quote(name.replace("/", "_") or "tensor", safe="")
        headers = {"Content-Length": str(size), "Content-Disposition": f"attachment; filename*=UTF-8''{file}.npy"}
        return StreamingResponse(
            iterate_in_threadpool(_bytes_of(chunks)), headers=headers, media_type="application/octet-stream"
        )


def _bytes_of(chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield from chunks


async def _body(request: Request) -> dict[str, Any]:
    """The arguments of a question."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InvalidArgumentError("a question is JSON, and says so by its content type, application/json")
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > _MOST_BODY:
            raise InvalidArgumentError(f"a question of more than {_MOST_BODY >> 20} MiB is too large")
    try:
        given = json.loads(data)
    except ValueError as error:
        raise InvalidArgumentError(f"the question is no JSON: {error}") from None
    if not isinstance(given, dict):
        raise InvalidArgumentError("a question is a JSON object")
    return given


def _json(value: Mapping[str, Any]) -> Response:
    return Response(answer_text(value), media_type="application/json")


def _failure_response(error: TensorKeepError) -> Response:
    """An error as the page tells it. It is an answer like any other: nothing is wrong with the server."""
    message = str(error.args[0]) if error.args and isinstance(error.args[0], str) else str(error)
    return Response(
        answer_text(json_value({"error": type(error).__name__, "message": message})), 422, media_type="application/json"
    )
