"""The server as a process: its start, requests by both protocols, its end, and what keeps it from starting."""

from __future__ import annotations

import json
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from tensorkeep.cli.main import main
from tensorkeep.proto.serving import (
    HealthCheckRequest,
    HealthCheckResponse,
    PredictRequest,
    PredictResponse,
    ReloadConfigRequest,
    ReloadConfigResponse,
)
from tests.serving.process.servers import (
    PATIENCE,
    ROW,
    Running,
    command,
    ended,
    original_command,
    put_model,
    running,
)
from tests.support.server_processes import free_ports

PREDICT = "/tensorflow.serving.PredictionService/Predict"
RELOAD = "/tensorflow.serving.ModelService/HandleReloadConfigRequest"
STATUS = "/tensorflow.serving.ModelService/GetModelStatus"
HEALTH = "/grpc.health.v1.Health/Check"


def predict_request(model: str = "m") -> PredictRequest:
    request = PredictRequest()
    request.model_spec.name = model
    tensor = request.inputs["features"]
    tensor.dtype = 1
    for size in (1, len(ROW)):
        tensor.tensor_shape.dim.add().size = size
    tensor.float_val.extend(ROW)
    return request


def predicted(channel: grpc.Channel, model: str = "m", **options: object) -> PredictResponse:
    call = channel.unary_unary(PREDICT, PredictRequest.SerializeToString, PredictResponse.FromString)
    return call(predict_request(model), timeout=PATIENCE, **options)


def reload(channel: grpc.Channel, models: dict[str, Path]) -> None:
    request = ReloadConfigRequest()
    for name, path in models.items():
        request.config.model_config_list.config.add(name=name, base_path=str(path), model_platform="tensorflow")
    call = channel.unary_unary(RELOAD, ReloadConfigRequest.SerializeToString, ReloadConfigResponse.FromString)
    call(request, timeout=PATIENCE)


def health(channel: grpc.Channel) -> int:
    call = channel.unary_unary(HEALTH, HealthCheckRequest.SerializeToString, HealthCheckResponse.FromString)
    return call(HealthCheckRequest(), timeout=PATIENCE).status


def test_a_model_answers_by_both_protocols_and_the_server_stops_when_it_is_told(tmp_path: Path) -> None:
    with running(tmp_path, "--model", f"m={put_model(tmp_path / 'm')}") as server:
        status, answer = server.predict()
        assert status == 200
        with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            probabilities = list(predicted(channel).outputs["prob"].float_val)
            assert answer["predictions"][0]["prob"] == pytest.approx(probabilities)
            assert health(channel) == HealthCheckResponse.SERVING
        assert server.get("/readyz")[0] == 200
        said = server.said
        assert f"Running gRPC ModelServer at 0.0.0.0:{server.port} ..." in said
        assert f"Exporting HTTP/REST API at:localhost:{server.rest_port} ..." in said
        assert said.index("Successfully loaded servable version {name: m version: 1}") < said.index("Running gRPC")
        assert server.stop() == 0
        assert "The server has stopped" in server.said


def test_a_request_that_runs_when_the_server_is_told_to_stop_is_answered(tmp_path: Path) -> None:
    """Its body is on its way: the server waits for it, says meanwhile that it is not ready, and takes no other."""
    body = json.dumps({"instances": [ROW]}).encode()
    head = f"POST /v1/models/m:predict HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with running(tmp_path, "--model", f"m={put_model(tmp_path / 'm')}") as server:
        with socket.create_connection(("127.0.0.1", server.rest_port), PATIENCE) as slow:
            slow.sendall(head + body[:5])
            server.until(lambda: server.get("/healthz")[0] == 200)  # what was sent before has arrived
            server.process.send_signal(signal.SIGTERM)
            server.until_said("The server stops")
            server.until(lambda: not listens(server.rest_port) and not listens(server.port))
            slow.sendall(body[5:])
            answer = b"".join(iter(lambda: slow.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b'"predictions"' in answer
        assert server.process.wait(PATIENCE) == 0


def test_requests_that_wait_for_a_batch_when_the_server_is_told_to_stop_are_answered(tmp_path: Path) -> None:
    (tmp_path / "batching.config").write_text("batch_timeout_micros { value: 1000000 }")
    arguments = ("--model", f"m={put_model(tmp_path / 'm')}", "--batching-file", str(tmp_path / "batching.config"))
    with running(tmp_path, *arguments) as server, ThreadPoolExecutor() as threads:
        with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            calls = [threads.submit(predicted, channel), threads.submit(server.predict)]
            in_flight = 'tensorkeep_requests_in_flight{model="m"} 2\n'
            server.until(lambda: in_flight in server.get("/monitoring/prometheus/metrics")[1])
            server.process.send_signal(signal.SIGTERM)
            assert calls[0].result(PATIENCE).outputs
            assert calls[1].result(PATIENCE)[0] == 200
        assert server.process.wait(PATIENCE) == 0


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
    except OSError:
        return False
    return True


def test_a_second_signal_ends_the_server_at_once(tmp_path: Path) -> None:
    with (
        running(tmp_path, "--model", f"m={put_model(tmp_path / 'm')}") as server,
        socket.create_connection(("127.0.0.1", server.rest_port), PATIENCE) as slow,
    ):
        slow.sendall(b"POST /v1/models/m:predict HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
        server.until(lambda: server.get("/healthz")[0] == 200)
        server.process.send_signal(signal.SIGTERM)
        server.until_said("The server stops")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 128 + signal.SIGTERM


# ------------------------------------------------------------------------------------------------------------- Workers


def worker_numbers(server: Running) -> list[int]:
    path = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    return [int(number) for number in path.read_text().split()]


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="workers are found through /proc")


@needs_proc
def test_workers_share_ports_and_one_that_is_killed_is_replaced(tmp_path: Path) -> None:
    with running(tmp_path, "--model", f"m={put_model(tmp_path / 'm')}", "--workers", "2") as server:
        first, second = worker_numbers(server)
        assert server.predict()[0] == 200
        os.kill(first, signal.SIGKILL)
        server.until_said("is ready again")
        third, fourth = sorted(worker_numbers(server))
        assert {third, fourth} > {second}
        assert [server.predict()[0] for _ in range(8)] == [200] * 8
        assert server.stop() == 0
    assert not any(Path(f"/proc/{number}").exists() for number in (second, third, fourth))


@needs_proc
def test_a_change_of_the_configuration_by_a_call_reaches_all_workers(tmp_path: Path) -> None:
    one, other = put_model(tmp_path / "one"), put_model(tmp_path / "other")
    with running(tmp_path, "--model", f"one={one}", "--workers", "2") as server:
        address = f"127.0.0.1:{server.port}"
        with grpc.insecure_channel(address) as channel:
            reload(channel, {"one": one, "other": other})
        server.until_said("Successfully loaded servable version {name: other version: 1}", 2)
        assert {server.predict("other")[0] for _ in range(20)} == {200}
        with grpc.insecure_channel(address) as channel:
            with pytest.raises(grpc.RpcError) as caught:
                reload(channel, {"one": Path("relative")})
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert "Expected model one to have an absolute path or URI" in caught.value.details()
        assert {server.predict("one")[0] for _ in range(4)} == {200}


@needs_proc
def test_metrics_are_those_of_all_workers(tmp_path: Path) -> None:
    with running(tmp_path, "--model", f"m={put_model(tmp_path / 'm')}", "--workers", "2") as server:
        for _ in range(20):
            assert server.predict()[0] == 200
        counts = set()
        for _ in range(6):
            _, text = server.get("/monitoring/prometheus/metrics")
            line = next(line for line in text.splitlines() if line.startswith(":tensorflow:serving:request_count{"))
            counts.add(line)
        assert counts == {':tensorflow:serving:request_count{model_name="m",status="OK"} 20'}


# -------------------------------------------------------------------------------------------------------- The original


def test_the_original_command_line_starts_the_same_server(tmp_path: Path) -> None:
    base = put_model(tmp_path / "m", 123)
    socket_path = tmp_path / "grpc.socket"
    arguments = (
        "--model_name=m",
        f"--model_base_path={base}",
        f"--grpc_socket_path={socket_path}",
        "--enable_profiler",
    )
    with running(tmp_path, *arguments, original=True) as server:
        assert server.predict()[0] == 200
        with grpc.insecure_channel(f"unix:{socket_path}") as channel:
            assert predicted(channel).model_spec.version.value == 123
        assert server.said.startswith("--enable_profiler is accepted and has no effect: ")


def test_a_configuration_that_does_not_parse_ends_it_at_once(tmp_path: Path) -> None:
    config = tmp_path / "models.config"
    config.write_text('model_config_list { config { name: "m" base_path "/models/m" } }')
    found = ended(original_command(f"--model_config_file={config}", f"--port={free_ports(1)[0]}"))
    assert found.returncode == 255
    assert "Error parsing text-format tensorflow.serving.ModelServerConfig: 1:" in found.stderr
    assert found.stdout.startswith(
        f"Failed to start server. Error: INVALID_ARGUMENT: Invalid protobuf file: '{config}'"
    )


def test_a_model_that_cannot_be_loaded_ends_it_as_the_original_ends(tmp_path: Path) -> None:
    (tmp_path / "m" / "1").mkdir(parents=True)
    arguments = ("--model_name=m", f"--model_base_path={tmp_path / 'm'}", "--max_num_load_retries=0")
    found = ended(original_command(*arguments, f"--port={free_ports(1)[0]}"))
    assert found.returncode == 255
    assert found.stdout.startswith(
        "Failed to start server. Error: UNKNOWN: 1 servable(s) did not become available: {{{name: m version: 1} due to "
        "error: NOT_FOUND: Specified file path does not appear to contain a SavedModel bundle"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (["--version"], 0, "TensorFlow ModelServer: ", ""),
        (["--help"], 255, "usage: ", ""),
        (["--prot=1"], 255, "unknown argument: --prot=1\nusage: ", ""),
        (["--port=x"], 255, "usage: ", "Couldn't interpret value x for flag port.\n"),
        ([], 255, "Failed to start server. Error: INVALID_ARGUMENT: Both server_options.model_base_path", ""),
    ],
)
def test_what_does_not_start_says_why(arguments: list[str], code: int, out: str, err: str) -> None:
    found = ended(original_command(*arguments))
    assert (found.returncode, found.stderr) == (code, err)
    assert found.stdout.startswith(out)


# ------------------------------------------------------------------------------------------------------ Usual mistakes


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = ended(command("--model", f"m={tmp_path}", "--port", str(port), "--rest-port", "0"))
    assert found.returncode == 1
    assert f"port {port}: another program listens there; choose another port by --port" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a server needs models: either --model NAME=DIR, or --config FILE"),
        (["--model", "m"], '--model is "m", expected NAME=DIR'),
        (["--model", "m=a", "--model", "m=b"], "--model names m more than once"),
        (["--model", "m=a", "--port", "9", "--rest-port", "9"], "gRPC and HTTP cannot share port 9"),
        (["--model", "m=a", "--workers", "0"], "there cannot be 0 workers"),
        (["--model", "m=a", "--threads", "-3"], "there cannot be -3 threads"),
        (["--model", "m=a", "--port", "99999"], "--port is 99999, expected a port from 1 to 65535, or 0 for none"),
        (["--model", "m=a", "--rest-port", "-1", "--dry-run"], "--rest-port is -1, expected a port"),
        (["--model", "m=a", "--poll", "-1", "--dry-run"], "--poll is -1, expected seconds, 0 or more"),
        (["--model", "m=a", "--stop-timeout", "nan"], "--stop-timeout is nan, expected seconds, 0 or more"),
        (["--model", "m=a", "--config-poll", "3"], "--config-poll looks at the file of --config, and there is none"),
        (["--model", "m=a", "--metrics-path", "x"], '--metrics-path is "x", expected one that begins with /'),
        (["--model", "m=a", "--socket", "/none/x"], '--socket is "/none/x", and there is no folder "/none"'),
        (["--model", "m=a", "--socket", "/" + 120 * "x"], '--socket is "/xxxx'),
    ],
)
def test_mistakes_are_told_before_anything_is_loaded(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *arguments]) == 1
    assert capsys.readouterr().err.startswith(f"error: {message}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--canary", "x=1:5"], '--canary names the model "x", which is not served; there are: m'),
        (["--deltas", "x=run"], '--deltas names the model "x", which is not served; there are: m'),
        (["--unload-first", "x"], '--unload-first names the model "x", which is not served; there are: m'),
        (
            ["--shadow", "m=1:5"],
            "--canary and --shadow need several versions of a model, and --model serves the newest",
        ),
        (["--log-requests", "m={file}/x:1"], 'requests cannot be logged to "{file}/x": '),
    ],
)
def test_rules_that_can_have_no_effect_are_refused_before_anything_is_loaded(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    filled = [argument.replace("{file}", str(tmp_path / "file")) for argument in arguments]
    assert main(["serve", "--model", f"m={tmp_path}", "--dry-run", *filled]) == 1
    assert capsys.readouterr().err.startswith(f"error: {message}".replace("{file}", str(tmp_path / "file")))


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (
            "nowhere",
            '"{}" does not exist; expected a folder with a numbered folder for each version (DIR/1, DIR/2), or',
        ),
        ("file", '"{}" is a file; expected a folder'),
        ("empty", '"{}" holds no version; expected a folder'),
    ],
)
def test_a_folder_without_a_model_is_told_in_a_line(place: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    ports = ("--port", str(free_ports(1)[0]), "--rest-port", "0")
    found = ended(command("--model", f"m={tmp_path / place}", *ports))
    assert found.returncode == 1
    last = found.stderr.splitlines()[-1]
    assert last.startswith(f'error: there is nothing to serve: model "m": {problem.format(tmp_path / place)}')


def test_a_rehearsal_waits_for_all_versions_and_tells_of_those_that_are_tried_and_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    base = put_model(tmp_path / "m")
    put_model(tmp_path / "m", 2)
    (tmp_path / "models.config").write_text(config_text(m=base))
    rules = ("--canary", "m=2:5", "--shadow", "m=9:5", "--limit", "x=concurrency:1")
    assert main(["serve", "--config", str(tmp_path / "models.config"), "--dry-run", *rules]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()] == [
        ["m", "2", "AVAILABLE"],
        ["m", "1", "AVAILABLE"],
    ]
    assert caplog.messages == [
        '--limit names the model "x", which is not served; there are: m',
        '--shadow: no version "9" of model "m" is served; until there is, nothing goes to it',
    ]


# ------------------------------------------------------------------------------------------------------ What it is told


def config_text(**models: Path) -> str:
    policy = "model_version_policy { all {} }"
    entries = [
        f'config {{ name: "{name}" base_path: "{path}" model_platform: "tensorflow" {policy} }}'
        for name, path in models.items()
    ]
    return f"model_config_list {{ {' '.join(entries)} }}"


def test_requests_are_redirected_copied_and_logged_as_the_server_is_told(tmp_path: Path) -> None:
    base = put_model(tmp_path / "m")
    put_model(tmp_path / "m", 2)
    (tmp_path / "models.config").write_text(config_text(m=base))
    rules = ("--canary", "m=1:100", "--shadow", "m=2:100", "--log-requests", f"m={tmp_path / 'logs' / 'm'}:1")
    with running(tmp_path, "--config", str(tmp_path / "models.config"), *rules, "--limit", "*=concurrency:2") as server:
        for version in (1, 2):  # it answers when there is one of them, and drops copies until there is the other
            server.until_said(f"Successfully loaded servable version {{name: m version: {version}}}")
        for _ in range(3):
            assert server.predict()[0] == 200
        _, metrics = server.get("/monitoring/prometheus/metrics")
        assert 'tensorkeep_canary_requests_total{model="m",target="1"} 3\n' in metrics
        server.until(lambda: json.loads(server.get("/monitoring/shadows/m")[1])["shadows"][0]["requests"] == 3)
        assert server.stop() == 0
    assert [path.suffix for path in (tmp_path / "logs").iterdir()] == [".tfrecord"]


def test_a_hang_up_has_the_server_read_its_configuration_again(tmp_path: Path) -> None:
    one, other = put_model(tmp_path / "one"), put_model(tmp_path / "other")
    config = tmp_path / "models.config"
    config.write_text(config_text(one=one))
    with running(tmp_path, "--config", str(config)) as server:
        assert server.predict("other")[0] == 404
        config.write_text("nonsense")
        server.process.send_signal(signal.SIGHUP)
        server.until_said("The configuration could not be read again, and stays as it was")
        config.write_text(config_text(one=one, other=other))
        server.process.send_signal(signal.SIGHUP)
        server.until_said("Successfully loaded servable version {name: other version: 1}")
        server.until(lambda: server.predict("other")[0] == 200)
        assert server.predict("one")[0] == 200
