"""`tensorkeep sign` and `check`."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.command import DONE, FOUND, Command, Parser
from tensorkeep.cli.files import require_free
from tensorkeep.cli.output import Output, counted, shown
from tensorkeep.cli.progress import ProgressBar
from tensorkeep.inspect.manifests import check_manifest, make_manifest, read_manifest, write_manifest


def _add_sign(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a folder, the prefix of a checkpoint, or a file")
    parser.add_argument("manifest", metavar="MANIFEST", help="the file to write")
    parser.add_argument("--ignore", metavar="PATH", action="append", default=[], help="a file or folder in it to skip")
    parser.add_argument("--force", action="store_true", help="replace what is there")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def _run_sign(given: Namespace, output: Output) -> int:
    require_free(given.manifest, given.force)
    bar = ProgressBar(output)
    try:
        manifest = make_manifest(given.model, ignore=given.ignore, progress=bar)
    finally:
        bar.clear()
    if not given.dry_run:
        write_manifest(manifest, given.manifest, overwrite=given.force)
    if output.is_json:
        data = {"manifest": given.manifest, "digest": manifest.root_digest, "files": dict(manifest.digests)}
        output.data("sign/1", {"model": given.model, "is_dry_run": given.dry_run, **data})
        return DONE
    verb = "would write" if given.dry_run else "wrote"
    output.line(f"{verb} {shown(given.manifest)}: {counted(len(manifest.digests), 'file')}, {manifest.root_digest}")
    return DONE


def _add_check(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a folder, the prefix of a checkpoint, or a file")
    parser.add_argument("manifest", metavar="MANIFEST", help="a manifest, or a signature made by model-signing")
    parser.add_argument("--ignore", metavar="PATH", action="append", default=[], help="a file or folder in it to skip")


def _run_check(given: Namespace, output: Output) -> int:
    manifest = read_manifest(given.manifest)
    bar = ProgressBar(output)
    try:
        report = check_manifest(manifest, given.model, ignore=given.ignore, progress=bar)
    finally:
        bar.clear()
    if output.is_json:
        names = {"changed": list(report.changed), "missing": list(report.missing), "extra": list(report.extra)}
        output.data("check/1", {"model": given.model, "is_same": report.is_same, "same": len(report.same), **names})
    else:
        for line in str(report).splitlines():
            output.line(shown(line))
    return DONE if report.is_same else FOUND


COMMANDS = {
    "sign": Command(
        "Writes the SHA-256 digests of a model's files, in the layout of OpenSSF's model signing: an in-toto\n"
        "statement. Whoever has the manifest can tell later whether the model is still the same.",
        (
            "sign export/1 export-1.json",
            "sign run/model-1000 model-1000.json",
        ),
        _add_sign,
        _run_sign,
    ),
    "check": Command(
        "Compares a model with its manifest: every digest, and that no file is missing or was added. A signature\n"
        "made by model-signing serves too: its digests are compared; who signed it is for model-signing to say.",
        ("check export/1 signed/export-1.json",),
        _add_check,
        _run_check,
    ),
}
