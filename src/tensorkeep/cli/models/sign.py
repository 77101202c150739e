"""`tensorkeep sign` and `check`."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from typing import Final

from tensorkeep.cli.command import DONE, FOUND, Command, Parser
from tensorkeep.cli.files import require_free
from tensorkeep.cli.output import Output, ProgressBar, amount_of, shown_value
from tensorkeep.inspect.manifests import (
    Manifest,
    check_manifest,
    itself_inside,
    make_manifest,
    read_manifest,
    read_signature,
    sign_model,
    write_manifest,
)
from tensorkeep.io.files.everywhere import FILES

_LONGEST_PASSWORD: Final = 1 << 12


def _add_sign(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a folder, the prefix of a checkpoint, or a file")
    parser.add_argument("manifest", metavar="MANIFEST", help="the file to write")
    parser.add_argument("--ignore", metavar="PATH", action="append", default=[], help="a file or folder in it to skip")
    parser.add_argument("--private-key", metavar="FILE", help="sign the digests by this key, in PEM; see above")
    parser.add_argument("--password-file", metavar="FILE", help="whose first line is the password of the key")
    parser.add_argument("--force", action="store_true", help="replace what is there")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def _run_sign(given: Namespace, output: Output) -> int:
    require_free(given.manifest, given.force)
    manifest = _digests(given, output) if given.dry_run or given.private_key is None else _sign_given(given)
    if not given.dry_run and given.private_key is None:
        write_manifest(manifest, given.manifest, overwrite=given.force)
    if output.is_json:
        data = {"manifest": given.manifest, "digest": manifest.root_digest, "files": dict(manifest.digests)}
        state = {"is_dry_run": given.dry_run, "is_signed": given.private_key is not None}
        output.data("sign/1", {"model": given.model, **state, **data})
        return DONE
    verb = "would write" if given.dry_run else "wrote"
    what = ", signed" if given.private_key is not None else ""
    count = amount_of(len(manifest.digests), "file")
    output.line(f"{verb} {shown_value(given.manifest)}: {count}, {manifest.root_digest}{what}")
    return DONE


def _digests(given: Namespace, output: Output) -> Manifest:
    bar = ProgressBar(output)
    try:
        ignored = (*given.ignore, *itself_inside(given.model, given.manifest))
        return make_manifest(given.model, ignore=ignored, progress=bar)
    finally:
        bar.clear()


def _sign_given(given: Namespace) -> Manifest:
    return sign_model(
        given.model,
        given.manifest,
        given.private_key,
        password=None if given.password_file is None else _first_line(given.password_file),
        ignore=given.ignore,
        overwrite=given.force,
    )


def _first_line(path: str) -> bytes:
    with closing(FILES.open(path)) as file:
        return bytes(file.read(0, min(file.size, _LONGEST_PASSWORD))).partition(b"\n")[0].removesuffix(b"\r")


def _add_check(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a folder, the prefix of a checkpoint, or a file")
    parser.add_argument("manifest", metavar="MANIFEST", help="a manifest, or a signature")
    parser.add_argument("--ignore", metavar="PATH", action="append", default=[], help="a file or folder in it to skip")
    parser.add_argument("--public-key", metavar="FILE", help="verify the signature by this key, in PEM; see above")


def _run_check(given: Namespace, output: Output) -> int:
    is_verified = given.public_key is not None
    manifest = read_signature(given.manifest, given.public_key) if is_verified else read_manifest(given.manifest)
    bar = ProgressBar(output)
    try:
        report = check_manifest(manifest, given.model, ignore=given.ignore, progress=bar)
    finally:
        bar.clear()
    if output.is_json:
        names = {"changed": list(report.changed), "missing": list(report.missing), "extra": list(report.extra)}
        state = {"is_same": report.is_same, "is_verified": is_verified}
        output.data("check/1", {"model": given.model, **state, "same": len(report.same), **names})
        return DONE if report.is_same else FOUND
    for line in str(report).splitlines():
        output.line(shown_value(line))
    if is_verified:
        output.line(f"the signature is by the key of {shown_value(given.public_key)}")
    elif manifest.is_signed:
        output.line("who signed it was not looked at: say --public-key FILE")
    return DONE if report.is_same else FOUND


COMMANDS = {
    "sign": Command(
        "Writes the SHA-256 digests of a model's files, in the layout of OpenSSF's model signing: an in-toto\n"
        "statement. Whoever has the manifest can tell later whether the model is still the same.\n\n"
        "With --private-key it is a signature, as by `model_signing sign key`, and nobody else can make another one.\n"
        'That takes the package model-signing (pip install "tensorkeep[sign]") and a key of an elliptic curve:\n'
        "  openssl ecparam -name prime256v1 -genkey -noout -out key.pem\n"
        "  openssl ec -in key.pem -pubout -out key.pub",
        (
            "sign export/1 export-1.json",
            "sign run/model-1000 model-1000.json",
        ),
        _add_sign,
        _run_sign,
    ),
    "check": Command(
        "Compares a model with its manifest: every digest, and that no file is missing or was added. A signature\n"
        "serves too, be it made by `tensorkeep sign` or by model-signing: its digests are compared. With --public-key\n"
        'it is verified first, which takes the package model-signing (pip install "tensorkeep[sign]").',
        ("check export/1 signed/export-1.json",),
        _add_check,
        _run_check,
    ),
}
