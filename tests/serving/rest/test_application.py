"""What an application answers: URLs, codes, headers, limits."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Mapping

import numpy as np
import pytest

from tensorkeep.errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    FailedPreconditionError,
    InternalError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from tensorkeep.native.json_tape import JsonLimits
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.http1.messages import GoneError, Request
from tensorkeep.serving.rest.options import RestOptions
from tests.serving.rest.stand_in import (
    StandInModel,
    application,
    ask,
    ask_soon,
    echo,
    function_model,
    golden_model,
    predict,
    signature,
)
from tests.support.golden import golden

ECHO = application(m=echo("float32"))
ONE = '{"instances": [1]}'


# ---------------------------------------------------------------------------------------------------------------- URLs


@pytest.mark.parametrize(
    "target",
    [
        "/v1/models/m:predict",
        "/V1/Models/m:predict",
        "/v1/models/m/versions/1:predict",
        "/v1/models/m/VERSIONS/0001:predict",
        "/v1/models/%6d:predict",
        "/v1/models/m:predict?x=1",
    ],
)
def test_the_same_model_by_several_urls(target: str) -> None:
    reply = ask(ECHO, "POST", target, ONE)
    assert (reply.status, reply.json) == (200, {"predictions": [1.0]})
    assert reply.headers["content-type"] == "application/json"


def test_names_are_decoded_after_they_are_matched() -> None:
    app = application(**{"a/b:c": echo("float32")})
    assert ask(app, "POST", "/v1/models/a%2Fb%3Ac:predict", ONE).status == 200


def test_labels_are_versions_by_name() -> None:
    model = echo("float32")
    model.labels = {"stable": 1}
    app = application(m=model)
    assert ask(app, "POST", "/v1/models/m/labels/stable:predict", ONE).status == 200
    reply = ask(app, "POST", "/v1/models/m/labels/other:predict", ONE)
    assert (reply.status, reply.error) == (400, "Unrecognized servable version label: other")


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("POST", "/v1/models/m:Predict"),
        ("POST", "/v1/models/m:guess"),
        ("POST", "/v1/models/m"),
        ("POST", "/v1/models/m/versions/x:predict"),
        ("POST", "/v1/models/:predict"),
        ("GET", "/v1/models/m:predict"),
        ("GET", "/v1/models/m/metadata/more?a=b"),
        ("GET", "/v1/"),
        ("PUT", "/v1/models/m"),
        ("HEAD", "/v1/models/m"),
        ("DELETE", "/v1/models/m:predict"),
        ("PATCH", "/v1/models/m"),
    ],
)
def test_what_nobody_asks_is_malformed(method: str, target: str) -> None:
    reply = ask(ECHO, method, target, ONE)
    assert (reply.status, reply.error) == (400, f"Malformed request: {method} {target}")


def test_a_version_beyond_all_numbers_is_refused() -> None:
    assert ask(ECHO, "GET", f"/v1/models/m/versions/{2**63}").status == 400
    assert ask(ECHO, "GET", f"/v1/models/m/versions/{'9' * 5000}").status == 400


@pytest.mark.parametrize("target", ["/v1", "/v2/models/m", "/nothing", "/monitoring/prometheus/metrics"])
def test_everything_else_is_a_page_that_is_not_there(target: str) -> None:
    reply = ask(ECHO, "GET", target)
    assert (reply.status, reply.headers["content-type"]) == (404, "text/html")


def test_unknown_models_and_versions_are_not_found() -> None:
    assert predict(ECHO, ONE, "other").error == "Servable not found for request: Latest(other)"
    reply = ask(ECHO, "POST", "/v1/models/m/versions/7:predict", ONE)
    assert (reply.status, reply.error) == (404, "Servable not found for request: Specific(m, 7)")
    assert ask(ECHO, "GET", "/v1/models/other").error == "Could not find any versions of model other"


def test_a_body_that_is_no_json_is_told_before_the_model_is_looked_for() -> None:
    assert predict(ECHO, "{", "other").status == 400
    assert predict(ECHO, "{}", "other").status == 404
    assert ask(ECHO, "POST", "/v1/models/other:classify", "{}").status == 400


def test_an_unknown_signature_is_told_in_the_words_of_rest() -> None:
    reply = predict(ECHO, '{"signature_name": "s", "instances": [1]}')
    assert (reply.status, reply.error) == (400, 'Serving signature name: "s" not found in signature def')


# ------------------------------------------------------------------------------------------------------------- Answers


def test_a_model_predicts_by_rows_and_by_columns() -> None:
    app = application(g=golden_model("g26_tf1_simple_save"))
    rows = [[1, 2, 3, 4, 5, 6], [0.5, 0, 0, 0, 0, 0]]
    by_rows = predict(app, json.dumps({"instances": rows}), "g").json["predictions"]
    by_columns = predict(app, json.dumps({"inputs": {"features": rows}}), "g").json["outputs"]
    assert [row["cls"] for row in by_rows] == by_columns["cls"]
    assert [row["prob"] for row in by_rows] == by_columns["prob"]
    assert sum(by_rows[0]["prob"]) == pytest.approx(1)


def test_a_model_regresses_as_tensorflow_does() -> None:
    app = application(g=golden_model("g27_tf1_multi"))
    examples = [
        {"sp": [4, 5], "w": [1.0, 2.0, 3.0], "word": "banana"},
        {"w": [0.0, -1.0, 0.5], "word": {"b64": "enp6"}},
        {"sp": 9, "w": [0.1, 0.2, 0.3]},
    ]
    body = json.dumps({"signature_name": "regress", "examples": examples})
    expected = np.load(golden("g27_tf1_multi") / "outputs.npz")["regress/outputs"]
    found = ask(app, "POST", "/v1/models/g:regress", body).json["results"]
    np.testing.assert_allclose(np.array(found, np.float32), expected, rtol=1e-5)


def test_a_whole_number_is_no_float_feature() -> None:
    app = application(g=golden_model("g27_tf1_multi"))
    reply = ask(app, "POST", "/v1/models/g:regress", '{"signature_name": "regress", "examples": [{"w": [1, 2, 3]}]}')
    assert reply.status == 400
    assert "Data types don't match" in reply.error


def test_classifications_have_results() -> None:
    found = {"classes": np.array([[b"a", b"b"]], object), "scores": np.array([[0.25, 0.75]], np.float32)}
    model = StandInModel({"serving_default": signature({"inputs": "string"})}, lambda key, arrays: found)
    reply = ask(application(m=model), "POST", "/v1/models/m:classify", '{"examples": [{"x": 1.5}]}')
    assert reply.json == {"results": [[["a", 0.25], ["b", 0.75]]]}


def test_the_context_is_put_before_every_example() -> None:
    seen: list[bytes] = []

    def compute(key: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        seen.extend(arrays["inputs"].tolist())
        return {"outputs": np.array([1.5], np.float32)}

    app = application(m=StandInModel({"serving_default": signature({"inputs": "string"})}, compute))
    reply = ask(app, "POST", "/v1/models/m:regress", '{"context": {"c": 1}, "examples": [{"x": 1.5}]}')
    assert reply.json == {"results": [1.5]}
    assert seen[0].index(b"c") < seen[0].index(b"x")


def test_the_status_of_a_model_is_that_of_the_original() -> None:
    reply = ask(ECHO, "GET", "/v1/models/m")
    status = {"version": "1", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    assert reply.json == {"model_version_status": [status]}
    assert reply.body.startswith(b'{\n "model_version_status": [\n  {\n   "version": "1",')
    assert reply.body.endswith(b"}\n")


def test_the_metadata_of_a_model_is_that_of_the_original() -> None:
    reply = ask(ECHO, "GET", "/v1/models/m/versions/1/metadata")
    tensor = {
        "name": "x:0", "dtype": "DT_FLOAT",
        "tensor_shape": {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False},
    }  # fmt: skip
    assert reply.json == {
        "model_spec": {"name": "m", "signature_name": "", "version": "1"},
        "metadata": {
            "signature_def": {
                "signature_def": {
                    "serving_default": {
                        "inputs": {"x": tensor},
                        "outputs": {"y": {**tensor, "name": "y:0"}},
                        "method_name": "tensorflow/serving/predict",
                        "defaults": {},
                    }
                }
            }
        },
    }


def test_all_models_are_listed() -> None:
    model = echo("float32")
    model.labels = {"stable": 1}
    for target in ("/v1/models", "/v1/models/"):
        (listed,) = ask(application(m=model), "GET", target).json["models"]
        assert listed["name"] == "m"
        assert listed["labels"] == {"stable": "1"}
        assert listed["model_version_status"][0]["state"] == "AVAILABLE"


# --------------------------------------------------------------------------------------------------------------- Codes


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (CancelledError, 499), (UnknownError, 500), (InternalError, 500), (DataLossError, 500),
        (FailedPreconditionError, 400), (OutOfRangeError, 400), (NotFoundError, 404), (AlreadyExistsError, 409),
        (AbortedError, 409), (PermissionDeniedError, 403), (ResourceExhaustedError, 429), (UnimplementedError, 501),
        (UnavailableError, 503), (UnauthenticatedError, 401),
    ],
)  # fmt: skip
def test_errors_of_a_model_have_codes_of_http(error: type[Exception], status: int) -> None:
    def compute(key: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        raise error("x" * 2000)

    reply = predict(application(m=function_model(compute, x="float32")), ONE)
    assert (reply.status, reply.error) == (status, "x" * 2000)


def test_what_nobody_foresaw_is_an_internal_error_that_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def compute(key: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        raise ZeroDivisionError("secret")

    reply = predict(application(m=function_model(compute, x="float32")), ONE)
    assert reply.status == 500
    assert "secret" not in reply.error
    assert "secret" in caplog.text


def test_an_answer_that_comes_too_late_is_a_timeout() -> None:
    now = iter([0.0, 0.0, 0.0, -1e9, -1e9, -1e9])
    app = application(RestOptions(timeout=1, clock=lambda: next(now, -1e9)), m=echo("float32"))
    reply = predict(app, ONE)
    assert (reply.status, reply.error) == (504, "Timed out waiting for notification")


def test_types_without_json_are_not_implemented_in_columns_and_invalid_in_rows_and_answers() -> None:
    app = application(
        m=echo("float16"), out=function_model(lambda key, arrays: {"y": np.ones(1, np.float16)}, x="float32")
    )
    assert predict(app, '{"inputs": [1.0]}').status == 501
    assert predict(app, '{"instances": [1.0]}').status == 400
    reply = predict(app, ONE, "out")
    assert (reply.status, reply.error) == (400, "Failed to write JSON value for tensor type: half")


# --------------------------------------------------------------------------------------------- Bodies and their limits


def test_a_body_in_pieces_is_put_together() -> None:
    assert ask(ECHO, "POST", "/v1/models/m:predict", [b'{"inst', b'ances": ', b"", b"[1]}"]).status == 200


def test_compressed_bodies_are_unpacked() -> None:
    packed = gzip.compress(ONE.encode())
    headers = {"content-encoding": "gzip"}
    assert ask(ECHO, "POST", "/v1/models/m:predict", packed, headers).json == {"predictions": [1.0]}
    damaged = ask(ECHO, "POST", "/v1/models/m:predict", packed[:-3], headers)
    assert damaged.error == "JSON Parse error: The document is empty"
    two = gzip.compress(b'{"instances"') + gzip.compress(b": [1]}")
    assert ask(ECHO, "POST", "/v1/models/m:predict", two, headers).status == 200


def test_a_body_that_is_huge_when_unpacked_is_refused() -> None:
    app = application(RestOptions(most_unpacked=1000), m=echo("float32"))
    bomb = gzip.compress(b" " * 1001)
    assert ask(app, "POST", "/v1/models/m:predict", bomb, {"content-encoding": "gzip"}).status == 413
    assert (
        ask(app, "POST", "/v1/models/m:predict", gzip.compress(b" " * 1000), {"content-encoding": "gzip"}).status == 400
    )


def test_another_encoding_is_refused() -> None:
    assert ask(ECHO, "POST", "/v1/models/m:predict", ONE, {"content-encoding": "br"}).status == 415


def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not() -> None:
    app = application(RestOptions(most_body=10), m=echo("float32"))
    declared = ask(app, "POST", "/v1/models/m:predict", b"", {"content-length": "11"})
    assert (declared.status, declared.headers["connection"]) == (413, "close")
    assert ask(app, "POST", "/v1/models/m:predict", [b"x" * 6, b"x" * 6]).status == 413


def test_limits_of_json_are_options() -> None:
    app = application(RestOptions(json=JsonLimits(depth=3, numbers=4, nodes=50)), m=echo("float32"))
    assert predict(app, '{"inputs": [[1]]}').status == 200
    assert "Nested too deeply" in predict(app, '{"inputs": [[[1]]]}').error
    assert "Too many values" in predict(app, '{"inputs": [1, 2, 3, 4, 5]}').error


class NeverComing:
    """A body that does not come, for one reason or another."""

    whole = None

    def __init__(self, is_gone: bool) -> None:
        self._is_gone = is_gone

    async def next(self) -> bytes:
        if self._is_gone:
            raise GoneError
        await asyncio.Event().wait()
        return b""


def test_a_client_that_goes_away_gets_no_answer() -> None:
    with pytest.raises(GoneError):
        asyncio.run(ECHO.answer(Request("POST", "/v1/models/m:predict", "", {}, NeverComing(True))))


def test_a_body_that_does_not_arrive_is_given_up() -> None:
    app = application(RestOptions(body_timeout=0.01), m=echo("float32"))
    answer = asyncio.run(app.answer(Request("POST", "/v1/models/m:predict", "", {}, NeverComing(False))))
    assert (answer.status, answer.closes) == (408, True)


def test_large_bodies_are_read_and_written_beside_the_event_loop() -> None:
    values = np.arange(40_000, dtype=np.float32)

    async def run() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        ticking = asyncio.create_task(tick())
        body = json.dumps({"instances": values.tolist()}).encode()
        reply = await ask_soon(ECHO, "POST", "/v1/models/m:predict", body)
        ticking.cancel()
        assert reply.json["predictions"] == values.tolist()
        return ticks

    assert asyncio.run(run()) > 2


def test_large_answers_are_compressed_for_those_who_take_it() -> None:
    app = application(RestOptions(compress_from=100), m=echo("float32"))
    body = json.dumps({"instances": [1] * 100})
    reply = predict(app, body, **{"accept-encoding": "br, gzip"})
    assert reply.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(reply.body)) == {"predictions": [1.0] * 100}
    assert "content-encoding" not in predict(app, body).headers
    assert "content-encoding" not in predict(app, ONE, **{"accept-encoding": "gzip"}).headers
    assert "content-encoding" not in predict(app, body, **{"accept-encoding": "br, gzip;q=0.0"}).headers
    assert "content-encoding" in predict(app, body, **{"accept-encoding": "br;q=1.0, gzip; q=0.8"}).headers


# ----------------------------------------------------------------------------------- CORS, health, metrics, permission


def test_other_sites_are_answered_only_on_request() -> None:
    app = application(RestOptions(cors=True), m=echo("float32"))
    for reply in (predict(app, ONE), predict(app, "{"), ask(app, "OPTIONS", "/v1/x", headers={"origin": "https://a"})):
        assert reply.headers["access-control-allow-origin"] == "*"
        assert reply.headers["access-control-allow-methods"] == "POST, GET"
        assert reply.headers["access-control-allow-headers"] == "Content-Type"
    assert "access-control-allow-origin" not in predict(ECHO, ONE).headers


@pytest.mark.parametrize(("origin", "status"), [("https://a", 200), ("http://a", 200), ("a", 400), ("", 400)])
def test_a_preflight_is_answered_with_nothing(origin: str, status: int) -> None:
    reply = ask(ECHO, "OPTIONS", "/v1/models/m:predict", headers={"origin": origin})
    assert (reply.status, reply.body) == (status, b"")


def test_a_server_is_alive_and_ready_or_says_why_not() -> None:
    def unready(model: str | None) -> list[str]:
        if model == "unknown":
            raise NotFoundError("no such model")
        return [] if model == "m" else ["model n is loading", "draining"]

    app = application(RestOptions(unready=unready))
    assert (ask(app, "GET", "/healthz").status, ask(ECHO, "GET", "/readyz").status) == (200, 200)
    reply = ask(app, "GET", "/readyz")
    assert (reply.status, reply.body) == (503, b"model n is loading\ndraining\n")
    assert ask(app, "GET", "/readyz/m").status == 200
    assert ask(app, "GET", "/readyz/unknown").status == 404


def test_metrics_are_at_their_path_and_nowhere_else() -> None:
    app = application(RestOptions(render_metrics=lambda: b"# TYPE x counter\n"))
    path = "/monitoring/prometheus/metrics"
    reply = ask(app, "GET", path)
    assert (reply.status, reply.body, reply.headers["content-type"]) == (200, b"# TYPE x counter\n", "text/plain")
    queried = ask(app, "GET", f"{path}?a=b")
    assert (queried.status, queried.headers["content-type"]) == (400, "text/plain")
    assert queried.body.decode() == f"Unexpected path: {path}?a=b. Should be {path}"
    assert ask(ECHO, "GET", path).status == 404
    other = application(RestOptions(render_metrics=lambda: b"x", metrics_path="/metrics"))
    assert ask(other, "GET", "/metrics").status == 200
    assert ask(other, "GET", path).status == 404


def test_those_who_may_not_ask_are_told_so_but_for_health() -> None:
    def authorize(headers: Mapping[str, str]) -> None:
        if headers.get("authorization") != "Bearer yes":
            raise UnauthenticatedError("a bearer token is needed")

    app = application(RestOptions(authorize=authorize, render_metrics=lambda: b"x"), m=echo("float32"))
    reply = predict(app, ONE)
    assert (reply.status, reply.error) == (401, "a bearer token is needed")
    assert reply.headers["www-authenticate"] == "Bearer"
    assert predict(app, ONE, authorization="Bearer yes").status == 200
    for target, status in (("/healthz", 200), ("/readyz", 200), ("/", 401), ("/monitoring/prometheus/metrics", 401)):
        assert ask(app, "GET", target).status == status
    assert ask(app, "OPTIONS", "/v1/models/m", headers={"origin": "http://a"}).status == 200
    door = ask(app, "GET", "/")  # a browser has no other way to send a token
    assert door.headers["content-type"].startswith("text/html")
    assert b'id="token"' in door.body
    assert b"serving_default" not in door.body
    assert b"serving_default" in ask(app, "GET", "/", headers={"authorization": "Bearer yes"}).body


def test_requests_that_do_not_come_to_inference_are_told_of() -> None:
    told: list[Exchange] = []
    app = application(RestOptions(finished=told.append), m=echo("float32"))
    predict(app, ONE)
    predict(app, ONE, "other")
    assert told == []
    predict(app, "{")
    ask(app, "GET", "/v1/models/m")
    ask(app, "PUT", "/v1/models/m")
    ask(app, "OPTIONS", "/v1/models/m")
    seen = [(each.asked.name, each.call.method, each.code) for each in told]
    assert seen == [("m", "predict", 3), ("m", "", 0), ("", "", 3), ("", "", 0)]


# --------------------------------------------------------------------------------------------------------------- Pages


def test_the_interface_is_described_by_the_signatures() -> None:
    app = application(g=golden_model("g26_tf1_simple_save"), e=golden_model("g27_tf1_multi"))
    described = ask(app, "GET", "/openapi.json").json
    assert described["openapi"] == "3.1.0"
    assert {"/v1/models/g:predict", "/v1/models/e:classify", "/v1/models/e:regress", "/v1/models"} <= described[
        "paths"
    ].keys()
    schema = described["paths"]["/v1/models/g:predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    row = schema["properties"]["instances"]["items"]["anyOf"][0]
    assert row == {"type": "array", "items": {"type": "number", "format": "float"}, "minItems": 6, "maxItems": 6}


def test_the_page_needs_no_other_file_and_runs_nothing_that_models_say() -> None:
    app = application(**{"<script>alert(1)</script>": echo("float32"), "g": golden_model("g26_tf1_simple_save")})
    for target in ("/", "/docs"):
        page = ask(app, "GET", target)
        text = page.body.decode()
        assert page.headers["content-type"].startswith("text/html")
        assert "<script>alert" not in text
        assert "http://" not in text
        assert "https://" not in text
        assert "features" in text
        assert "[?, 6]" in text
    assert ask(application(RestOptions(pages=False)), "GET", "/docs").status == 404


def test_the_page_tells_that_nothing_is_served() -> None:
    assert "No models are served yet" in ask(application(), "GET", "/").body.decode()
