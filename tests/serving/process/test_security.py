"""Who may ask: bearer tokens, and certificates of both sides."""

from __future__ import annotations

import ssl
import urllib.error
from pathlib import Path

import grpc
import pytest

from tensorkeep.errors import InvalidArgumentError, UnauthenticatedError
from tensorkeep.serving.process.options import Security
from tensorkeep.serving.process.security import Tokens, check_certificates
from tests.serving.process.certificates import Certificates, make_certificates
from tests.serving.process.servers import put_model, running
from tests.serving.process.test_server import health, predicted


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def test_a_token_of_the_file_lets_in_and_nothing_else_does(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("# of the team\nsecret-1\n\nsecret-2\n")
    tokens = Tokens(str(path))
    tokens.check("Bearer secret-1")
    tokens.check_headers({"authorization": "bearer  secret-2"})
    tokens.check_metadata([("user-agent", "a"), ("authorization", "Bearer secret-1")])
    for wrong in (None, "", "Bearer", "Bearer ", "Bearer secret", "secret-1", "Basic secret-1", "Bearer # of the team"):
        with pytest.raises(UnauthenticatedError):
            tokens.check(wrong)
    path.write_text("other\n")
    tokens.reread()
    tokens.check("Bearer other")
    with pytest.raises(UnauthenticatedError):
        tokens.check("Bearer secret-1")


def test_a_file_without_tokens_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("# none\n")
    with pytest.raises(InvalidArgumentError, match="holds no token"):
        Tokens(str(tmp_path / "tokens"))


def test_certificates_that_are_none_are_told_by_file_and_option(tmp_path: Path, certificates: Certificates) -> None:
    (tmp_path / "text").write_text("no certificate")
    text, server, key = str(tmp_path / "text"), str(certificates.server.certificate), str(certificates.server.key)
    for security, message in (
        (Security(server), "TLS takes both --tls-cert and --tls-key, and there is no --tls-key"),
        (Security("", "", text), "there is no --tls-cert"),
        (Security(server, str(tmp_path / "none")), 'cannot open "'),
        (Security(text, text), rf'"{text}" \(--tls-cert\) and "{text}" \(--tls-key\) are no certificate and its key'),
        (Security(server, str(certificates.client.key)), "key values mismatch"),
        (Security(server, key, text), rf'"{text}" \(--client-ca\) holds no certificates in PEM'),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            check_certificates(security)


def test_both_protocols_ask_for_a_token_and_for_the_certificate_of_the_client(
    tmp_path: Path, certificates: Certificates
) -> None:
    (tmp_path / "tokens").write_text("secret\n")
    context = ssl.create_default_context(cafile=str(certificates.authority.certificate))
    context.load_cert_chain(certificates.client.certificate, certificates.client.key)
    with running(
        tmp_path,
        *("--model", f"m={put_model(tmp_path / 'm')}", "--token-file", str(tmp_path / "tokens")),
        *("--tls-cert", str(certificates.server.certificate), "--tls-key", str(certificates.server.key)),
        *("--client-ca", str(certificates.authority.certificate)),
        context=context,
    ) as server:
        assert server.predict(Authorization="Bearer secret")[0] == 200
        assert server.predict(Authorization="Bearer wrong")[0] == 401
        assert server.predict()[0] == 401
        assert server.get("/readyz")[0] == 200
        server.context = ssl.create_default_context(cafile=str(certificates.authority.certificate))
        with pytest.raises((urllib.error.URLError, OSError)):
            server.get("/readyz")
        files = (certificates.authority.certificate, certificates.client.key, certificates.client.certificate)
        credentials = grpc.ssl_channel_credentials(*(path.read_bytes() for path in files))
        with grpc.secure_channel(f"127.0.0.1:{server.port}", credentials) as channel:
            assert predicted(channel, metadata=[("authorization", "Bearer secret")]).outputs
            with pytest.raises(grpc.RpcError) as caught:
                predicted(channel)
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
            assert health(channel) == 1


def test_the_file_of_the_original_protects_grpc_and_leaves_http_plain(
    tmp_path: Path, certificates: Certificates
) -> None:
    texts = {"server_key": certificates.server.key, "server_cert": certificates.server.certificate}
    lines = [f"{field}: {path.read_text()!r}" for field, path in texts.items()]
    (tmp_path / "ssl.config").write_text("\n".join(lines))
    arguments = ("--model_name=m", f"--model_base_path={put_model(tmp_path / 'm')}")
    with running(tmp_path, *arguments, f"--ssl_config_file={tmp_path / 'ssl.config'}", original=True) as server:
        assert server.predict()[0] == 200
        credentials = grpc.ssl_channel_credentials(certificates.authority.certificate.read_bytes())
        with grpc.secure_channel(f"127.0.0.1:{server.port}", credentials) as channel:
            assert predicted(channel).outputs
