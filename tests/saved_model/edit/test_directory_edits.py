"""SavedModels in directories, changed in one step."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnimplementedError
from tensorkeep.io.files.directories import files_below
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import FingerprintDef, SavedModel
from tensorkeep.saved_model.edit.directory_edits import (
    change_variables,
    extract_assets,
    freeze_model,
    replace_asset,
    rewrite_model,
)
from tensorkeep.saved_model.edit.message_edits import drop_meta_graph, rename_asset, rename_signature
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature
from tensorkeep.saved_model.files.fingerprint import OnFingerprint, checked_fingerprint
from tensorkeep.saved_model.files.layout import read_saved_model, signature_keys
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tests.saved_model.handmade import object_model
from tests.saved_model.models import build_model, run_model, store, y_of
from tests.support.golden import ROOT

rename = partial(rename_signature, old="serving_default", new="score")


def made(**options: object) -> MemoryFileSystem:
    fs = store()
    build_model(fs, **options)  # type: ignore[arg-type]
    fs.make_directory("m/assets.extra")
    atomic_write(fs, "m/assets.extra/note", b"mine")
    atomic_write(fs, "m/fingerprint.pb", b"\x08\x01")
    return fs


def fingerprint_that_fits(folder: str, model: SavedModel, fs: MemoryFileSystem) -> FingerprintDef | None:
    with open_checkpoint(folder, fs=fs) as variables:
        return checked_fingerprint(folder, model, variables, OnFingerprint.RAISE, fs)


def test_a_changed_model_goes_to_another_directory_with_all_its_files() -> None:
    fs = made()
    before = fs.contents()
    changed = rewrite_model("m", "n", rename, fs=fs)
    assert read_saved_model("n", fs) == changed
    assert signature_keys(changed.meta_graphs[0]) == ["score", "word"]
    assert {path: fs.contents()[path] for path in before} == before
    names = set(files_below(fs, "m"))
    assert set(files_below(fs, "n")) == names
    for name in names - {"saved_model.pb", "fingerprint.pb"}:
        assert fs.contents()[f"n/{name}"] == before[f"m/{name}"]
    assert fingerprint_that_fits("n", changed, fs) is not None
    assert y_of(fs, "n") == [[5, 7, 9]]
    with pytest.raises(AlreadyExistsError):
        rewrite_model("m", "n", rename, fs=fs)


@pytest.mark.parametrize("target", [None, "n"])
def test_a_model_that_nobody_could_read_is_not_written(target: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    fs = made()
    before = fs.contents()
    monkeypatch.setattr("tensorkeep.saved_model.files.layout.MOST_BYTES", 1000)  # in place of 2 GiB
    with pytest.raises(UnimplementedError, match=r"of more than 1000\. Keep large constants in variables"):
        rewrite_model("m", target, rename, fs=fs)
    assert fs.contents() == before


@pytest.mark.parametrize("target", [None, "m", "./m/"])
def test_a_model_is_changed_in_its_own_place(target: str | None) -> None:
    fs = made()
    rewrite_model("m", target, rename, partial(drop_meta_graph, tags="train"), fs=fs)
    (meta_graph,) = read_saved_model("m", fs).meta_graphs
    assert signature_keys(meta_graph) == ["score", "word"]
    assert fingerprint_that_fits("m", read_saved_model("m", fs), fs) is not None


def test_a_model_without_a_fingerprint_gets_none() -> None:
    fs = made()
    fs.delete("m/fingerprint.pb")
    rewrite_model("m", "n", rename, fs=fs)
    rewrite_model("m", None, rename, fs=fs)
    assert not fs.exists("n/fingerprint.pb")
    assert not fs.exists("m/fingerprint.pb")


def test_text_stays_text() -> None:
    fs = made(as_text=True)
    rewrite_model("m", "n", rename, fs=fs)
    assert "saved_model.pb" not in fs.list("n")
    assert signature_keys(read_saved_model("n", fs).meta_graphs[0]) == ["score", "word"]


def test_a_change_that_fails_leaves_nothing_behind() -> None:
    fs = made()
    with pytest.raises(NotFoundError):
        rewrite_model("m", "top/n", partial(rename_signature, old="none", new="n"), fs=fs)
    assert not fs.exists("top")


@pytest.mark.parametrize("target", ["top/n", None])
def test_a_crash_leaves_the_old_model_or_the_new_one(target: str | None) -> None:
    log = CrashingFileSystem(made())
    rewrite_model("m", target, rename, fs=log)
    for changes in range(log.changes_made):
        fs = made()
        with pytest.raises(SimulatedCrash):
            rewrite_model("m", target, rename, fs=CrashingFileSystem(fs, changes))
        assert y_of(fs, "m") == [[5, 7, 9]]
        if target is not None and fs.exists(target):
            assert y_of(fs, target) == [[5, 7, 9]]
            assert signature_keys(read_saved_model(target, fs).meta_graphs[0]) == ["score", "word"]


# ----------------------------------------------------------------------------------------------------------- variables


@pytest.mark.parametrize("target", ["n", None])
def test_records_of_an_ssd_tier_stay_beside_variables_that_get_other_values(target: str | None) -> None:
    """As DeepRec leaves them beside the variables of a model; they are rows that the checkpoint does not have."""
    fs = made()
    names = (
        "variables-e-ssd_record.index",
        "variables-e-ssd_record.data-00000-of-00001",
        "variables-e-emb_files/0.emb",
    )
    fs.make_directory("m/variables/variables-e-emb_files")
    for name in names:
        atomic_write(fs, f"m/variables/{name}", name.encode())
    change_variables("m", target, {"w": np.zeros((2, 3), np.float32)}, fs=fs)
    for name in names:
        assert fs.contents()[f"{target or 'm'}/variables/{name}"] == name.encode()


@pytest.mark.parametrize("target", ["n", None])
def test_variables_get_other_values(target: str | None) -> None:
    fs = made()
    before = fs.contents()["m/saved_model.pb"]
    change_variables("m", target, {"w": np.zeros((2, 3), np.float32)}, fs=fs)
    assert y_of(fs, target or "m") == [[0, 0, 0]]
    assert fs.contents()[f"{target or 'm'}/saved_model.pb"] == before
    place = target or "m"
    assert fingerprint_that_fits(place, read_saved_model(place, fs), fs) is not None
    if target is not None:
        assert y_of(fs, "m") == [[5, 7, 9]]


def test_values_that_do_not_fit_are_refused_all_at_once() -> None:
    fs = made()
    with pytest.raises(InvalidArgumentError, match=r'"w" is float32.*got float64.*no variable "v"'):
        change_variables("m", None, {"w": np.zeros((2, 3)), "v": np.zeros(1)}, fs=fs)
    assert y_of(fs, "m") == [[5, 7, 9]]
    fs.delete("m/variables/variables.index")
    with pytest.raises(NotFoundError, match="no variables"):
        change_variables("m", None, {}, fs=fs)


def test_values_that_are_not_changed_are_the_same_bit_for_bit(tmp_path) -> None:
    source = ROOT / "g28_tf2_module" / "model"
    with open_checkpoint(source / "variables" / "variables") as reader:
        name = next(name for name in reader if reader[name].dtype.name == "float32")
        value = reader.read(name) + 1
        change_variables(source, tmp_path / "n", {name: value})
        with open_checkpoint(tmp_path / "n" / "variables" / "variables") as again:
            assert list(again) == list(reader)
            for key in reader:
                wanted = value if key == name else reader.read(key)
                assert again.read(key).tolist() == wanted.tolist()


# -------------------------------------------------------------------------------------------------------------- assets


def test_an_asset_is_replaced_by_another_file() -> None:
    fs = made()
    atomic_write(fs, "new.txt", b"blue\nred\n")
    replace_asset("m", "vocab.txt", "new.txt", fs=fs)
    words = np.array([b"red", b"green"], object)
    assert run_model(fs, "m", "place:0", {"word:0": words}).tolist() == [1, -1]
    with pytest.raises(NotFoundError, match=r"there are vocab\.txt"):
        replace_asset("m", "other.txt", "new.txt", fs=fs)


def test_assets_are_copied_out_of_a_model() -> None:
    fs = made()
    assert extract_assets("m", "out/files", fs=fs) == {"vocab.txt": "out/files/vocab.txt"}
    assert fs.contents()["out/files/vocab.txt"] == fs.contents()["m/assets/vocab.txt"]
    fs.delete("m/assets/vocab.txt")
    with pytest.raises(NotFoundError, match=r"lacks its assets vocab\.txt"):
        extract_assets("m", "other", fs=fs)


# ------------------------------------------------------------------------------------------------------------ freezing


def test_a_frozen_model_has_constants_and_no_variables() -> None:
    fs = made()
    rewrite_model("m", None, partial(drop_meta_graph, tags="train"), fs=fs)
    frozen = freeze_model("m", "n", fs=fs)
    (meta_graph,) = frozen.meta_graphs
    assert not fs.exists("n/variables")
    assert not meta_graph.HasField("saver_def")
    assert {node.op for node in meta_graph.graph_def.node}.isdisjoint({"VariableV2", "SaveV2", "RestoreV2"})
    assert y_of(fs, "n") == [[5, 7, 9]]
    words = np.array([b"red", b"green"], object)
    assert run_model(fs, "n", "place:0", {"word:0": words}).tolist() == [0, 1]


def test_a_model_is_pruned_to_a_signature() -> None:
    fs = made()
    before = len(read_saved_model("m", fs).meta_graphs[0].graph_def.node)
    pruned = rewrite_model("m", "n", partial(prune_to_signature, key="serving_default", tags="serve"), fs=fs)
    meta_graph = pruned.meta_graphs[0]
    assert signature_keys(meta_graph) == ["serving_default"]
    names = {node.name for node in meta_graph.graph_def.node}
    assert "place" not in names
    assert {"y", "x", "w"} <= names
    assert len(names) < before
    assert y_of(fs, "n") == [[5, 7, 9]]
    with pytest.raises(ValueError, match='Could not find signature "none"'):
        prune_to_signature(pruned, "none", "serve")


@pytest.mark.parametrize("target", ["n", None])
def test_a_renamed_asset_has_its_file_under_the_new_name(target: str | None) -> None:
    fs = made()
    rewrite_model("m", target, partial(rename_asset, old="vocab.txt", new="words/new.txt"), fs=fs)
    place = target or "m"
    assert [name for name in files_below(fs, place) if name.startswith("assets/")] == ["assets/words/new.txt"]
    words = np.array([b"red", b"green"], object)
    assert run_model(fs, place, "place:0", {"word:0": words}).tolist() == [0, 1]


def test_variables_of_objects_are_changed_by_the_names_that_a_loaded_model_has() -> None:
    fs = store()
    change_variables(object_model(fs), "n", {"w": np.float32([5])}, fs=fs)
    with load_saved_model("n", fs=fs) as model:
        assert model.variables["w"].tolist() == [5]
    with pytest.raises(InvalidArgumentError, match='no variable "v"; there are'):
        change_variables("n", None, {"v": np.float32([5])}, fs=fs)
