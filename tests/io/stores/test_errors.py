"""What goes wrong with stores is one of our errors, says what to do, and keeps secrets."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.io.files.paths import leads_elsewhere
from tensorkeep.io.stores.environment import environment_options
from tensorkeep.io.stores.store_errors import translated_error
from tests.support.fault_proxy import Fault, fault_proxy
from tests.support.stores import memory_bucket, s3_bucket, s3_endpoint

SECRETS = ("planted-key-id", "planted-secret-key", "planted-token", "planted-header")


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def with_secrets(url: str, endpoint: str, **options: str) -> tk.Storage:
    return tk.storage(
        url,
        endpoint=endpoint,
        access_key_id=SECRETS[0],
        secret_access_key=SECRETS[1],
        session_token=SECRETS[2],
        headers={"x-some": SECRETS[3]},
        retries=0,
        region="us-east-1",
        **options,
    )


@pytest.fixture
def answering() -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    """A server that gives the answer it is told to give, and repeats what it was sent, as stores do in their errors."""
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    answers: list[tuple[int, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            return

        def do_GET(self) -> None:
            status, code = answers[0]
            body = b"<Error><Code>%s</Code><Message>you sent %s</Message></Error>" % (
                code,
                str(self.headers).encode() + b" ".join(secret.encode() for secret in SECRETS),
            )
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", answers
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("status", "code", "kind", "remedy"),
    [
        (404, b"NoSuchBucket", tk.MissingFileError, "no such bucket"),
        (403, b"AccessDenied", tk.PermissionDeniedError, "lack the right"),
        (403, b"InvalidAccessKeyId", tk.UnauthenticatedError, "AWS_ACCESS_KEY_ID"),
        (403, b"SignatureDoesNotMatch", tk.UnauthenticatedError, "AWS_PROFILE"),
        (400, b"ExpiredToken", tk.UnauthenticatedError, "credentials"),
        (400, b"AuthorizationHeaderMalformed", tk.FailedPreconditionError, "AWS_REGION"),
        (503, b"SlowDown", tk.UnavailableError, "fewer requests"),
        (500, b"InternalError", tk.UnavailableError, "500"),
        (418, b"Teapot", tk.StorageError, "418"),
    ],
)
def test_what_a_store_answers_becomes_our_error_without_its_secrets(
    answering: tuple[str, list[tuple[int, bytes]]],
    status: int,
    code: bytes,
    kind: type[tk.TensorKeepError],
    remedy: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    endpoint, answers = answering
    answers.append((status, code))
    said = with_secrets("s3://planted", endpoint)
    with caplog.at_level(logging.DEBUG), pytest.raises(kind, match=remedy) as found:
        tk.save_checkpoint("s3://planted/run/m", {"a": np.zeros(3)})
    shown = [str(found.value), repr(found.value), repr(said), str(said), caplog.text]
    error: BaseException | None = found.value
    while error is not None:  # what a traceback would print
        shown.append(f"{error}{error.args}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert not [secret for secret in SECRETS for text in shown if secret in text]
    assert "s3://planted/run" in str(found.value)


def test_a_bucket_that_is_not_there_is_told_when_reading_too() -> None:
    with s3_bucket():
        tk.storage(
            "s3://no-such-bucket", endpoint=s3_endpoint(), access_key_id="a", secret_access_key="b", region="us-east-1"
        )
        for look in (tk.open_checkpoint, tk.latest_checkpoint, tk.list_tensors):
            with pytest.raises(tk.MissingFileError, match="no such bucket or container"):
                look("s3://no-such-bucket/run")


def test_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    tk.storage("s3://nobody", metadata_endpoint="http://127.0.0.1:9", endpoint="http://127.0.0.1:9", retries=0)
    with pytest.raises(tk.UnauthenticatedError, match="no credentials were found; AWS_ACCESS_KEY_ID"):
        tk.open_checkpoint("s3://nobody/run/m")


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with_secrets("s3://away", f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(tk.UnavailableError, match=r"cannot be reached.*endpoint"):
            tk.open_checkpoint("s3://away/run/m")


def test_a_scheme_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(tk.UnimplementedError, match=r'pip install "tensorkeep\[cloud\]"'):
        tk.open_checkpoint("s3://bucket/run/m")


def test_an_option_that_the_store_does_not_know() -> None:
    tk.storage("s3://wrong-option", colour="blue")
    with pytest.raises(tk.InvalidArgumentError, match="option"):
        tk.open_checkpoint("s3://wrong-option/m")


@pytest.mark.parametrize(
    "url", ["https://user:planted-token@host/m", "https://host/m?sig=planted-token", "s3://user:planted-token@b/m"]
)
def test_a_secret_in_a_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(tk.InvalidArgumentError) as found:
        tk.open_checkpoint(url)
    assert "planted" not in str(found.value)


def test_an_error_that_nobody_foresaw_shows_nothing_of_itself() -> None:
    error = translated_error(RuntimeError("planted-token"), "read", "s3://b/k")
    assert isinstance(error, tk.StorageError)
    assert "planted" not in str(error)


@pytest.mark.parametrize("profile", ["default", "other"])
def test_profiles_of_aws_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, profile: str) -> None:
    folder = tmp_path / ".aws"
    folder.mkdir()
    section = profile if profile == "default" else f"profile {profile}"
    (folder / "config").write_text(f"[{section}]\nregion = eu-central-1\nendpoint_url = http://here\n")
    (folder / "credentials").write_text(f"[{profile}]\naws_access_key_id = id\naws_secret_access_key = key\n")
    if profile != "default":
        monkeypatch.setenv("AWS_PROFILE", profile)
    assert environment_options("s3") == {
        "region": "eu-central-1",
        "endpoint": "http://here",
        "access_key_id": "id",
        "secret_access_key": "key",
    }
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://there")
    monkeypatch.setenv("AWS_REGION", "us-east-2")
    assert environment_options("s3").items() >= {"endpoint": "http://there", "region": "us-east-2"}.items()
    monkeypatch.setenv("AWS_PROFILE", "none-such")
    with pytest.raises(tk.FailedPreconditionError, match="none-such"):
        environment_options("s3")


def test_what_other_clouds_tools_say_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "localhost:4443")
    assert environment_options("gs") == {"base_url": "http://localhost:4443", "skip_signature": True}
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=a;AccountKey=k==;BlobEndpoint=http://e/a")
    assert environment_options("az") == {"account_name": "a", "account_key": "k==", "endpoint": "http://e/a"}


# Files that name other places


def test_a_state_file_makes_nobody_ask_another_store(caplog: pytest.LogCaptureFixture) -> None:
    with fault_proxy(s3_endpoint()) as proxy, s3_bucket(proxy.endpoint) as elsewhere:
        bucket = memory_bucket()
        tk.save_checkpoint(f"{elsewhere}/run/model-1", {"a": np.zeros(3)})
        tk.save_checkpoint(f"{bucket}/run/model-2", {"a": np.zeros(3)})
        tk.write_checkpoint_state(f"{bucket}/run", f"{elsewhere}/run/model-1")
        proxy.requests.clear()
        with caplog.at_level(logging.WARNING):
            assert tk.latest_checkpoint(f"{bucket}/run") is None
            assert tk.latest_checkpoint(f"{bucket}/run", verify="quick") == f"{bucket}/run/model-2"
        assert proxy.requests == []
        assert "in another store, which is not asked" in caplog.text


@pytest.mark.parametrize(
    ("path", "folder", "elsewhere"),
    [
        ("model", "run", False),
        ("/run/model", "s3://b/run", False),
        ("s3://b/x", "s3://b/run", False),
        ("s3://c/x", "s3://b/run", True),
        ("http://169.254.169.254/x", "run", True),
        ("gs://b/x", "s3://b/run", True),
        ("file:///x", "run", False),
    ],
)
def test_which_paths_lead_elsewhere(path: str, folder: str, elsewhere: bool) -> None:
    assert leads_elsewhere(path, folder) is elsewhere


def test_what_was_seen_is_not_asked_for_again_than_it_has_to_be() -> None:
    with fault_proxy(s3_endpoint()) as proxy, s3_bucket(proxy.endpoint) as bucket:
        tk.save_checkpoint(f"{bucket}/m", {f"tensor/{number}": np.zeros(2) for number in range(50_000)})
        proxy.requests.clear()
        with tk.open_checkpoint(f"{bucket}/m") as reader:
            assert len(reader.infos()) == 50_000
        assert len(proxy.requests) <= 3
        assert all(fault is Fault.NONE for _, _, fault in proxy.requests)
