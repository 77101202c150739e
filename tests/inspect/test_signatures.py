"""Signatures by keys, beside the package model-signing: what one signs, the other verifies."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.cli.main import main
from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.inspect.manifests import check_manifest, make_manifest, read_manifest, read_signature, sign_model

pytestmark = pytest.mark.slow  # all of them together

IS_THERE = all(find_spec(name) is not None for name in ("model_signing", "OpenSSL"))

with_package = pytest.mark.skipif(not IS_THERE, reason="model-signing is not installed (tensorkeep[sign])")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with models and two pairs of keys, which is the current one."""
    for name in ("saved_model.pb", "a/b", "a-b/c", ".git/HEAD"):
        path = tmp_path / "model" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    save_checkpoint(tmp_path / "run" / "m-1", {"w": np.arange(3.0)})
    save_checkpoint(tmp_path / "run" / "m-2", {"w": np.arange(4.0)})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def keys(world: Path) -> None:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    for name, password in (("key", None), ("other", None), ("locked", b"open sesame")):
        private = ec.generate_private_key(ec.SECP256R1())
        hidden = form.BestAvailableEncryption(password) if password else form.NoEncryption()
        (world / f"{name}.pem").write_bytes(private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, hidden))
        (world / f"{name}.pub").write_bytes(
            private.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
        )


def theirs(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "model_signing", *words], capture_output=True, text=True, check=False)


@with_package
@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("model", "folder", "options"),
    [
        ("model", "model", []),
        ("model/saved_model.pb", "model/saved_model.pb", []),
        ("run/m-1", "run", ["--ignore_unsigned_files"]),
    ],
)
def test_what_is_signed_here_is_verified_by_model_signing(model: str, folder: str, options: list[str]) -> None:
    signed = sign_model(model, "signature", "key.pem")
    assert signed.digests == make_manifest(model).digests
    done = theirs("verify", "key", folder, "--signature", "signature", "--public_key", "key.pub", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    done = theirs("verify", "key", folder, "--signature", "signature", "--public_key", "other.pub", *options)
    assert done.returncode != 0


@with_package
@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("model", ["model", "model/saved_model.pb"])
def test_what_model_signing_signs_is_verified_here(model: str) -> None:
    done = theirs("sign", "key", model, "--private_key", "key.pem", "--signature", "signature")
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_signature("signature", "key.pub") == read_manifest("signature")
    assert check_manifest(read_signature("signature", "key.pub"), model).is_same
    with pytest.raises(DataLossError, match=r'"signature" is no signature by the key of "other\.pub"'):
        read_signature("signature", "other.pub")


@with_package
@pytest.mark.usefixtures("keys")
def test_a_signature_that_was_changed_is_found_out(world: Path) -> None:
    sign_model("model", "signature", "key.pem")
    text = (world / "signature").read_text()
    at = text.index('"payload":') + 40
    (world / "signature").write_text(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :])
    with pytest.raises(DataLossError, match="no signature by the key"):
        read_signature("signature", "key.pub")


@with_package
@pytest.mark.usefixtures("keys")
def test_a_signature_within_the_model_is_not_part_of_it() -> None:
    sign_model("model", "model/model.sig", "key.pem")
    assert check_manifest(read_signature("model/model.sig", "key.pub"), "model").is_same
    done = theirs("verify", "key", "model", "--signature", "model/model.sig", "--public_key", "key.pub")
    assert done.returncode == 0, done.stdout + done.stderr
    with pytest.raises(InvalidArgumentError, match="exists already"):
        sign_model("model", "model/model.sig", "key.pem")


@with_package
@pytest.mark.usefixtures("keys")
def test_keys_that_cannot_be_used_are_named(world: Path) -> None:
    (world / "nonsense").write_text("no key")
    for key in ("nonsense", "nowhere.pem", "locked.pem", "key.pub"):
        with pytest.raises(InvalidArgumentError, match=f'"{key}" cannot be used to sign: .'):
            sign_model("model", "signature", key)
    assert not (world / "signature").exists()
    sign_model("model", "signature", "locked.pem", password=b"open sesame")
    assert read_signature("signature", "locked.pub").name == "model"


@with_package
@pytest.mark.usefixtures("keys")
def test_the_command_signs_and_verifies(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (world / "password").write_text("open sesame\n")
    words = ["sign", "model", "s", "--private-key", "locked.pem", "--password-file", "password"]
    assert main([*words, "--dry-run"]) == 0
    assert not (world / "s").exists()
    assert main(words) == 0
    digest = make_manifest("model").root_digest
    assert capsys.readouterr().out == f"would write s: 3 files, {digest}, signed\nwrote s: 3 files, {digest}, signed\n"
    assert main(["check", "model", "s"]) == 0
    assert main(["check", "model", "s", "--public-key", "locked.pub"]) == 0
    (world / "model" / "a" / "b").write_text("changed")
    assert main(["check", "model", "s", "--public-key", "locked.pub"]) == 3
    assert capsys.readouterr().out.splitlines() == [
        '"model": all 3 files are as the manifest says',
        "who signed it was not looked at: say --public-key FILE",
        '"model": all 3 files are as the manifest says',
        "the signature is by the key of locked.pub",
        '"model": 1 file is not as the manifest says',
        "  a/b: changed",
        "the signature is by the key of locked.pub",
    ]


@with_package
@pytest.mark.usefixtures("keys")
def test_pipes_are_not_waited_for(world: Path) -> None:
    sign_model("model", "signature", "key.pem")
    os.mkfifo(world / "pipe")
    for act in (
        lambda: sign_model("model", "other", "pipe"),
        lambda: read_signature("signature", "pipe"),
        lambda: read_signature("pipe", "key.pub"),
    ):
        with pytest.raises(InvalidArgumentError, match='"pipe" is a device or pipe, expected a file'):
            act()
    os.mkfifo(world / "model" / "inside")
    with pytest.raises(InvalidArgumentError, match="inside"):
        sign_model("model", "other", "key.pem")


@pytest.mark.usefixtures("world")
def test_without_the_package_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("model_signing", "model_signing.signing", "model_signing.verifying"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UnimplementedError, match=r'model-signing, which .* pip install "tensorkeep\[sign\]"'):
        sign_model("model", "signature", "key.pem")
    with pytest.raises(UnimplementedError, match=r'pip install "tensorkeep\[sign\]"'):
        read_signature("signature", "key.pub")
