"""The server with the engine of ONNX Runtime: the same answers, alone, in batches and by several workers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.serving.process.servers import Running, put_model, running

pytest.importorskip("onnxruntime")
CASE = "g30_keras_conv_bn"


def answers(server: Running, count: int) -> list[list[float]]:
    """What a server answers for some images, which it is asked for all at once."""
    images = [[[[0.1 * number, 0.2, x * y / 144.0] for x in range(12)] for y in range(12)] for number in range(count)]
    with ThreadPoolExecutor(count) as threads:
        found = list(threads.map(lambda image: server.post("/v1/models/m:predict", {"instances": [image]}), images))
    assert {status for status, _ in found} == {200}, found
    return [answer["predictions"][0] for _, answer in found]


def has_onnx_runtime(server: Running) -> bool | None:
    """Whether the library is in the server's process, before any request; None where the system does not tell."""
    maps = Path(f"/proc/{server.process.pid}/maps")
    return "onnxruntime" in maps.read_text() if maps.exists() else None


@pytest.fixture(scope="module")
def by_our_kernels(tmp_path_factory: pytest.TempPathFactory) -> list[list[float]]:
    folder = tmp_path_factory.mktemp("ours")
    with running(folder, "--model", f"m={put_model(folder / 'm', case=CASE)}") as server:
        found = answers(server, 4)
        assert not has_onnx_runtime(server)
        return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("--engine", "onnxruntime"),
        ("--engine", "onnxruntime", "--batching"),
        ("--engine", "auto", "--workers", "2"),
    ],
    ids=" ".join,
)
def test_answers_are_those_of_our_kernels(
    arguments: tuple[str, ...], tmp_path: Path, by_our_kernels: list[list[float]]
) -> None:
    with running(tmp_path, "--model", f"m={put_model(tmp_path / 'm', case=CASE)}", *arguments) as server:
        if "--workers" not in arguments:
            assert has_onnx_runtime(server) is not False
        for _ in range(3):
            for found, wanted in zip(answers(server, 4), by_our_kernels, strict=True):
                assert found == pytest.approx(wanted, rel=1e-4, abs=1e-6)
        assert server.stop() == 0
