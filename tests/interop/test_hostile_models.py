"""Models that TensorFlow made and that attack: none gets out of its folder here, and `scan` names every one.

Each attack works: TensorFlow itself is seen to write the file, or to read the secret.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.convert.converting import convert
from tensorkeep.errors import PermissionDeniedError, TensorKeepError
from tensorkeep.saved_model.edit.directory_edits import extract_assets, freeze_model, replace_asset, rewrite_model
from tensorkeep.saved_model.edit.freezing import freeze_saved_model
from tensorkeep.saved_model.edit.message_edits import asset_names, rename_signature
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.scan.model_scan import scan_model
from tensorkeep.saved_model.show.tensorflow_text import ShowRequest, shown_text
from tests.interop.hostile_models import READING, SERVING, WRITING

ATTACKS = {**WRITING, **READING}
SECRET = b"red\nnobody may read this\n"
IN_THE_FILES = ("asset in another folder", "asset that is a link", "folder that is a link")  # and not in the graph
UNREAD = ("asset in another folder", "folder that is a link")  # by what the model itself does in TensorFlow
CLASSIC = ("gradient of a harmless function", "attribute of the caller", "asset that is read later")
NEVER_RUN = ("initializer of a resource", "initializers in a collection")  # no signature needs them
EVENTS: list[list[tuple[str, str]]] = []
"""What the process has opened, connected to and started: a list for each that listens now."""


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if EVENTS and event in ("open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system"):
        what = os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes) else str(arguments)
        EVENTS[-1].append((event, what))


sys.addaudithook(_listen)


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that no model may touch. It is the working folder too, where relative paths lead."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(SECRET)
    monkeypatch.chdir(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def untouched(outside: Path) -> Iterator[None]:
    """Nothing outside is changed or even opened, nothing is connected to and nothing is started, while this lasts."""
    before = contents(outside)
    EVENTS.append([])
    try:
        yield
    finally:
        seen = EVENTS.pop()
    assert [event for event in seen if event[0] != "open" or str(outside) in event[1]] == []
    assert contents(outside) == before


def called_by_tensorflow(name: str, model: Path) -> None:
    """Loads a model and calls its signature, in the way of TensorFlow 1 where the attack is on that."""
    if name in CLASSIC:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.compat.v1.saved_model.load(session, ["serve"], str(model))
            session.run("y:0", {"x:0": 1.0})
    else:
        tf.saved_model.load(str(model)).signatures[SERVING](x=tf.constant(1.0))


@pytest.mark.parametrize("name", WRITING)
def test_the_attack_writes_if_tensorflow_runs_it(name: str, tmp_path: Path, outside: Path) -> None:
    WRITING[name](tmp_path / "model", outside)
    before = contents(outside)
    called_by_tensorflow(name, tmp_path / "model")
    assert contents(outside) != before


@pytest.mark.parametrize("name", [name for name in READING if name not in UNREAD])
def test_the_attack_reads_if_tensorflow_runs_it(name: str, tmp_path: Path, outside: Path) -> None:
    READING[name](tmp_path / "model", outside)
    called_by_tensorflow(name, tmp_path / "model")
    for path in outside.iterdir():
        path.unlink()
    with pytest.raises(tf.errors.NotFoundError):
        called_by_tensorflow(name, tmp_path / "model")


@pytest.mark.parametrize("name", ATTACKS)
def test_scan_names_the_attack(name: str, tmp_path: Path, outside: Path) -> None:
    ATTACKS[name](tmp_path / "model", outside)
    rule = "writes-files" if name in WRITING else "reads-files"
    with untouched(outside):
        report = scan_model(tmp_path / "model")
    assert rule in report.counts, str(report)


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in (*IN_THE_FILES, *NEVER_RUN)])
def test_a_loaded_model_is_refused_what_its_graph_does(name: str, tmp_path: Path, outside: Path) -> None:
    ATTACKS[name](tmp_path / "model", outside)
    refused = pytest.raises(PermissionDeniedError)
    with untouched(outside), tk.load_saved_model(tmp_path / "model") as model, refused:
        model.signatures[SERVING](x=1.0)


@pytest.mark.parametrize("name", NEVER_RUN)
def test_what_no_signature_needs_is_not_run(name: str, tmp_path: Path, outside: Path) -> None:
    ATTACKS[name](tmp_path / "model", outside)
    with untouched(outside), tk.load_saved_model(tmp_path / "model") as model:
        assert model.signatures[SERVING](x=1.0)["y"] == 1.0


@pytest.mark.parametrize("name", IN_THE_FILES)
def test_a_loaded_model_does_not_follow_files_out_of_its_folder(name: str, tmp_path: Path, outside: Path) -> None:
    ATTACKS[name](tmp_path / "model", outside)
    with untouched(outside), suppress(TensorKeepError), tk.load_saved_model(tmp_path / "model") as model:
        model.signatures[SERVING](x=1.0)


def freeze_to_a_graph(model: Path, target: Path) -> None:
    graph_def = freeze_saved_model(model, ["y"])
    target.write_bytes(graph_def.SerializeToString())


def replace_every_asset(model: Path, target: Path) -> None:
    target.write_text("blue")
    for name in asset_names(read_saved_model(model)):
        replace_asset(model, name, target)


LOOKS: dict[str, Callable[[Path, Path], object]] = {
    "show": lambda model, target: shown_text(read_saved_model(model), ShowRequest(everything=True)),
    "freeze to a graph": freeze_to_a_graph,
    "freeze to a model": freeze_model,
    "edit": lambda model, target: rewrite_model(model, target, lambda item: rename_signature(item, SERVING, "other")),
    "extract assets": extract_assets,
    "convert": lambda model, target: convert(model, target.with_suffix(".pb")),
    "replace assets": replace_every_asset,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_looking_at_an_attack_and_changing_it_runs_nothing(name: str, tmp_path: Path, outside: Path) -> None:
    ATTACKS[name](tmp_path / "model", outside)
    (tmp_path / "made").mkdir()
    for word, look in LOOKS.items():
        with untouched(outside), suppress(TensorKeepError):
            look(tmp_path / "model", tmp_path / "made" / word.replace(" ", "-"))
    assert not [path for path, data in contents(tmp_path / "made").items() if b"nobody may read this" in data]
