"""Files of a model and their digests."""

from __future__ import annotations

import base64
import hashlib
import json

import numpy as np
import pytest

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.inspect.manifests import (
    Manifest,
    check_manifest,
    itself_inside,
    make_manifest,
    read_manifest,
    write_manifest,
)
from tensorkeep.io.files.memory import MemoryFileSystem

FILES = {"saved_model.pb": b"graph", "variables/variables.index": b"index", "assets/vocabulary": b"", ".git/HEAD": b"x"}


def _put(fs: MemoryFileSystem, path: str, data: bytes) -> None:
    fs.make_directory(path.rpartition("/")[0])
    if fs.exists(path):
        fs.delete(path)
    file = fs.create(path)
    file.write(data)
    file.close()


@pytest.fixture
def fs() -> MemoryFileSystem:
    made = MemoryFileSystem()
    for name, data in FILES.items():
        _put(made, f"export/1/{name}", data)
    return made


def test_every_file_of_a_folder_is_listed_but_for_what_is_ignored(fs: MemoryFileSystem) -> None:
    found = make_manifest("export/1", fs=fs)
    expected = {name: hashlib.sha256(data).hexdigest() for name, data in FILES.items() if name != ".git/HEAD"}
    assert found.digests == expected
    assert found.name == "1"


def test_the_document_has_the_layout_of_model_signing(fs: MemoryFileSystem) -> None:
    statement = json.loads(make_manifest("export/1", ignore=["assets"], fs=fs).to_json())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://model_signing/signature/v1.0"
    resources = statement["predicate"]["resources"]
    assert [item["name"] for item in resources] == ["saved_model.pb", "variables/variables.index"]
    together = b"".join(bytes.fromhex(item["digest"]) for item in resources)
    assert statement["subject"] == [{"name": "1", "digest": {"sha256": hashlib.sha256(together).hexdigest()}}]
    assert "assets" in statement["predicate"]["serialization"]["ignore_paths"]


def test_a_checkpoint_is_its_files(fs: MemoryFileSystem) -> None:
    save_checkpoint("run/m", {"w": np.ones(3)}, fs=fs)
    save_checkpoint("run/other", {"w": np.ones(3)}, fs=fs)
    assert list(make_manifest("run/m", fs=fs).digests) == ["m.data-00000-of-00001", "m.index"]


def test_a_file_is_itself_as_in_the_layout(fs: MemoryFileSystem) -> None:
    _put(fs, "export/1/saved_model.pb", b"graph")
    manifest = make_manifest("export/1/saved_model.pb", fs=fs)
    assert (manifest.name, manifest.digests) == ("saved_model.pb", {".": hashlib.sha256(b"graph").hexdigest()})
    read = Manifest.from_json(manifest.to_json())
    assert str(check_manifest(read, "export/1/saved_model.pb", fs=fs)).endswith("the file is as the manifest says")
    _put(fs, "export/1/saved_model.pb", b"graPh")
    assert str(check_manifest(read, "export/1/saved_model.pb", fs=fs)).endswith(
        "1 file is not as the manifest says\n  saved_model.pb: changed"
    )


def test_files_are_in_the_order_of_their_folders() -> None:
    names = ["a", "a-b/c", "a.txt", "a/b", "b"]
    manifest = Manifest("m", {name: hashlib.sha256(name.encode()).hexdigest() for name in names})
    listed = json.loads(manifest.to_json())["predicate"]["resources"]
    assert [item["name"] for item in listed] == ["a", "a/b", "a-b/c", "a.txt", "b"]
    assert Manifest.from_json(manifest.to_json()) == manifest


@pytest.mark.parametrize(
    ("model", "target", "ignored"),
    [
        ("export/1", "export/1/m.json", ("m.json",)),
        ("export", "export/1/m.json", ("1/m.json",)),
        ("export/1", "export/m.json", ()),
        ("export/1/saved_model.pb", "export/1/m.json", ()),
    ],
)
def test_a_manifest_within_the_model_is_not_part_of_it(
    fs: MemoryFileSystem, model: str, target: str, ignored: tuple[str, ...]
) -> None:
    assert itself_inside(model, target, fs=fs) == ignored


def test_what_is_not_there_has_no_manifest(fs: MemoryFileSystem) -> None:
    with pytest.raises(NotFoundError, match='no folder, file or checkpoint "nowhere"'):
        make_manifest("nowhere", fs=fs)


def test_a_model_that_has_not_changed_is_as_its_manifest_says(fs: MemoryFileSystem) -> None:
    write_manifest(make_manifest("export/1", fs=fs), "export/1.json", fs=fs)
    report = check_manifest(read_manifest("export/1.json", fs=fs), "export/1", fs=fs)
    assert report.is_same
    assert str(report) == '"export/1": all 3 files are as the manifest says'


def test_every_difference_is_named(fs: MemoryFileSystem) -> None:
    manifest = make_manifest("export/1", fs=fs)
    _put(fs, "export/1/saved_model.pb", b"graPh")
    fs.delete("export/1/assets/vocabulary")
    _put(fs, "export/1/assets/new", b"")
    report = check_manifest(manifest, "export/1", fs=fs)
    assert (report.changed, report.missing, report.extra) == (
        ("saved_model.pb",),
        ("assets/vocabulary",),
        ("assets/new",),
    )
    assert "saved_model.pb: changed" in str(report)


def test_a_manifest_beside_the_files_it_lists_can_be_left_out(fs: MemoryFileSystem) -> None:
    write_manifest(make_manifest("export/1", fs=fs), "export/1/manifest.json", fs=fs)
    manifest = read_manifest("export/1/manifest.json", fs=fs)
    assert check_manifest(manifest, "export/1", fs=fs).extra == ("manifest.json",)
    assert check_manifest(manifest, "export/1", ignore=["manifest.json"], fs=fs).is_same


def test_nothing_is_overwritten_unless_that_is_said(fs: MemoryFileSystem) -> None:
    manifest = make_manifest("export/1", fs=fs)
    write_manifest(manifest, "m.json", fs=fs)
    with pytest.raises(InvalidArgumentError, match="exists already"):
        write_manifest(manifest, "m.json", fs=fs)
    write_manifest(manifest, "m.json", overwrite=True, fs=fs)


def test_the_digests_in_a_signature_are_read(fs: MemoryFileSystem) -> None:
    manifest = make_manifest("export/1", fs=fs)
    payload = base64.b64encode(manifest.to_json().encode()).decode()
    bundle = {"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "dsseEnvelope": {"payload": payload}}
    assert Manifest.from_json(json.dumps(bundle)) == manifest


def _changed(fs: MemoryFileSystem, change: object) -> str:
    statement = json.loads(make_manifest("export/1", fs=fs).to_json())
    change(statement)  # type: ignore[operator]
    return json.dumps(statement)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda s: s.update(_type="other"), "another kind"),
        (lambda s: s["predicate"]["serialization"].update(method="file-shard-5"), "only SHA-256 of whole files"),
        (lambda s: s["predicate"]["resources"][0].update(name="../escape"), "not one path inside the model"),
        (lambda s: s["predicate"]["resources"][0].update(name="/etc/passwd"), "not one path inside the model"),
        (lambda s: s["predicate"]["resources"][0].update(name="."), "not one path inside the model"),
        (lambda s: s["predicate"]["resources"][0].update(digest="abc"), "not a SHA-256 digest"),
        (lambda s: s["predicate"]["resources"][0].update(digest="0" * 64), "contradicts itself"),
        (lambda s: s["predicate"].update(resources=[]), "lists no files"),
        (lambda s: s.pop("subject"), "not a statement"),
    ],
)
def test_a_document_that_makes_no_sense_is_refused(fs: MemoryFileSystem, change: object, why: str) -> None:
    with pytest.raises(DataLossError, match=why):
        Manifest.from_json(_changed(fs, change))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", "[" * 10_000, '{"dsseEnvelope": {"payload": "%%"}}', b"\xff\xfe"]
)
def test_other_files_are_not_manifests(text: str) -> None:
    with pytest.raises(DataLossError, match="not a statement"):
        Manifest.from_json(text)


def test_progress_is_told_in_bytes(fs: MemoryFileSystem) -> None:
    told: list[tuple[int, int]] = []
    make_manifest("export/1", progress=lambda done, total: told.append((done, total)), fs=fs)
    assert told[-1] == (10, 10)
