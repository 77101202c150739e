"""Who is answered: who knows the token, under our own name, from our own page."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.cli.main import main
from tensorkeep.errors import CancelledError, InvalidArgumentError, UnavailableError
from tensorkeep.io.files.numpy_files import decode_npy
from tensorkeep.viewer.answers.catalog import LONG
from tensorkeep.viewer.jobs import Jobs
from tensorkeep.viewer.server import Place, Server
from tensorkeep.viewer.sources import Source


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    tk.save_checkpoint(folder / "m", {"a/b": np.arange(6, dtype=np.float32).reshape(2, 3), "é": np.ones(1)})
    made = Server([str(folder / "m")])
    made.start()
    yield made
    made.close()


def sent(
    server: Server, method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    known = {"Host": f"127.0.0.1:{server.port}", **{key.replace("_", "-"): value for key, value in headers.items()}}
    connection.request(method, path, body, known)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, {key.lower(): value for key, value in answer.getheaders()}, data


def asked(server: Server, name: str, given: Any, **headers: str) -> tuple[int, Any]:
    known = {"Authorization": f"Bearer {server.token}", "Content_Type": "application/json", **headers}
    status, _, data = sent(server, "POST", f"/api/{name}", json.dumps(given).encode(), **known)
    return status, data


def test_who_knows_the_token_is_answered(server: Server) -> None:
    status, data = asked(server, "weights", {})
    assert status == 200
    assert json.loads(data)["name"] == ["a/b", "é"]


@pytest.mark.parametrize("token", ["", "wrong", "Bearer"])
def test_who_does_not_is_not(server: Server, token: str) -> None:
    status, data = asked(server, "weights", {}, Authorization=f"Bearer {token}")
    assert status == 401
    assert b"a/b" not in data
    assert sent(server, "GET", "/")[0] == 401
    assert sent(server, "GET", "/npy?source=0&name=a/b")[0] == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "evil.example:80", "127.0.0.1.nip.io:80"])
def test_another_name_of_this_machine_is_refused(server: Server, host: str) -> None:
    status, data = asked(server, "weights", {}, Host=host)
    assert status == 421
    assert b"a/b" not in data


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_a_page_of_another_site_is_refused(server: Server, origin: str) -> None:
    assert asked(server, "weights", {}, Origin=origin)[0] == 403
    assert asked(server, "weights", {}, Sec_Fetch_Site="cross-site")[0] == 403
    assert (
        asked(server, "weights", {}, Origin=f"http://127.0.0.1:{server.port}", Sec_Fetch_Site="same-origin")[0] == 200
    )


def test_every_answer_forbids_what_it_does_not_need(server: Server) -> None:
    for path in ("/", f"/?token={server.token}", "/app.js", "/nothing"):
        _, headers, _ = sent(server, "GET", path)
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers


def test_the_page_has_no_script_of_its_own_and_leads_nowhere(server: Server) -> None:
    _, _, data = sent(server, "GET", f"/?token={server.token}")
    text = data.decode()
    assert re.findall(r"<script[^>]*>", text) == ['<script src="app.js">']
    assert not re.findall(r"https?://", text)


def test_a_question_that_is_no_json_object_is_an_error(server: Server) -> None:
    known = {"Authorization": f"Bearer {server.token}"}
    for body, kind in (
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b"{}", "text/plain"),
        (b"\xff", "application/json"),
    ):
        status, _, data = sent(server, "POST", "/api/weights", body, Content_Type=kind, **known)
        assert status == 422
        assert json.loads(data)["error"] == "InvalidArgumentError"
    assert asked(server, "nosuch", {})[0] == 422
    assert asked(server, "job", {"id": "none"})[0] == 422
    assert sent(server, "GET", "/api/weights", **known)[0] == 405


def test_a_tensor_comes_as_a_file(server: Server) -> None:
    status, headers, data = sent(server, "GET", f"/npy?token={server.token}&source=0&name=a%2Fb")
    assert status == 200
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''a_b.npy"
    np.testing.assert_array_equal(decode_npy(data, "it"), np.arange(6).reshape(2, 3))
    assert sent(server, "GET", f"/npy?token={server.token}&source=0&name=none")[0] == 422


class Endless(NamedTuple):
    """Work that never ends by itself: whether it has begun, and whether it was ended."""

    begun: threading.Event
    ended: threading.Event


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Endless:
    """Makes the answer to "drift" one that never comes."""
    begun, ended = threading.Event(), threading.Event()

    def answer(question: Any) -> Any:
        begun.set()
        try:
            while True:
                question.progress(1, 4)
                time.sleep(0.005)
        finally:
            ended.set()

    monkeypatch.setitem(LONG, "drift", answer)
    return Endless(begun, ended)


def test_long_work_is_told_and_cancelled(server: Server, endless: Endless) -> None:
    status, data = asked(server, "drift", {})
    told = json.loads(data)
    assert (status, told["done"], told["total"]) == (200, 1, 4)
    assert json.loads(asked(server, "job", {"id": told["job"]})[1])["job"] == told["job"]
    assert asked(server, "cancel", {"id": told["job"]})[0] == 200
    assert endless.ended.wait(10)
    assert asked(server, "job", {"id": told["job"]})[0] == 422


@pytest.mark.parametrize("is_first", [True, False])
def test_work_ends_when_its_page_goes(server: Server, endless: Endless, is_first: bool) -> None:
    name, given = "drift", b"{}"
    if not is_first:
        name, given = "job", json.dumps({"id": json.loads(asked(server, "drift", {})[1])["job"]}).encode()
    known = {"Host": f"127.0.0.1:{server.port}", "Authorization": f"Bearer {server.token}"}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("POST", f"/api/{name}", given, {**known, "Content-Type": "application/json"})
    assert endless.begun.wait(10)
    assert not endless.ended.is_set()
    connection.close()
    assert endless.ended.wait(10)


def test_work_that_nobody_asks_for_ends() -> None:
    now = [0.0]
    jobs = Jobs(lambda: now[0])
    goes_on, is_asked = threading.Event(), threading.Event()

    def work(progress: Any) -> Any:
        progress(0, 2)
        is_asked.set()
        goes_on.wait(10)
        progress(1, 2)
        return {}

    for is_found in (True, False):
        goes_on.clear()
        is_asked.clear()
        name, job = jobs.start(work)
        assert is_asked.wait(10)
        now[0] += 31
        if is_found:
            jobs.find(name)
        goes_on.set()
        if is_found:
            assert job.future.result(10) == {}
        else:
            with pytest.raises(CancelledError, match="nobody waits"):
                job.future.result(10)
    jobs.close()


def test_a_question_does_not_wait_for_the_work_of_another(tmp_path: Path) -> None:
    tk.save_checkpoint(tmp_path / "m", {"a": np.ones(2, np.float32)})
    source = Source(str(tmp_path / "m"))
    begun, goes_on = threading.Event(), threading.Event()
    slow = threading.Thread(target=source.kept, args=("slow", lambda: (begun.set(), goes_on.wait(20))))
    slow.start()
    assert begun.wait(10)
    found: list[Any] = []
    other = threading.Thread(target=lambda: found.append(source.listing))
    other.start()
    other.join(10)
    goes_on.set()
    slow.join(10)
    source.close()
    assert [tensor.name for tensor in found[0].tensors] == ["a"]


def test_results_that_nobody_fetches_are_let_go() -> None:
    jobs = Jobs()
    names = [jobs.start(lambda progress: {}) for _ in range(100)]
    for _, job in names:
        job.future.result(10)
    jobs.start(lambda progress: {})
    assert len(jobs._jobs) <= 66
    jobs.close()


def test_a_port_that_is_taken_is_told(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="--port"):
        Server([str(tmp_path)], Place(port=server.port))
    with pytest.raises(InvalidArgumentError):
        Server([str(tmp_path)], Place(port=70000))
    with pytest.raises(InvalidArgumentError):
        Server([])


def test_a_host_that_others_can_reach_is_told_and_answers_by_its_own_names_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "note.txt").write_text("only a text\n")
    seen: list[tuple[int, int]] = []

    def look(shown: Server, when_ready: Callable[[], None]) -> None:
        when_ready()
        shown.start()
        seen.append((asked(shown, "sources", {})[0], asked(shown, "sources", {}, Host=f"evil.example:{shown.port}")[0]))
        shown.close()

    monkeypatch.setattr(Server, "run", look)
    path = str(tmp_path / "note.txt")
    assert main(["view", path, "--host", "0.0.0.0", "--no-browser"]) == 0
    told = capsys.readouterr()
    assert "who can reach 0.0.0.0 and knows the address below sees these models" in told.err
    assert socket.gethostname() in told.out
    assert main(["view", path, "--host", "localhost", "--no-browser"]) == 0
    assert "who can reach" not in capsys.readouterr().err
    assert seen == [(200, 421), (200, 421)]
