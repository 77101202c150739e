"""What links lead to outside of a model is not given away by copying the model."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tensorkeep.errors import PermissionDeniedError
from tensorkeep.io.files.local import LOCAL
from tensorkeep.saved_model.edit.directory_edits import extract_assets, freeze_model, replace_asset, rewrite_model
from tensorkeep.saved_model.edit.message_edits import rename_asset, rename_signature
from tensorkeep.saved_model.files.links import links_out
from tests.saved_model.models import build_model, store

rename = partial(rename_signature, old="serving_default", new="score")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model on disk, and beside it a secret."""
    fs = store()
    build_model(fs)
    for path, data in fs.contents().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "secret").write_bytes(b"secret")
    return tmp_path / "m"


def asset_of(model: Path) -> Path:
    (path,) = (model / "assets").iterdir()
    return path


def linked(path: Path, target: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize("name", ["assets.extra/note", "variables/variables.index", "keras_metadata.pb"])
def test_a_model_with_a_link_that_leads_out_is_not_copied(model: Path, name: str) -> None:
    linked(model / name, model.parent / "secret")
    with pytest.raises(PermissionDeniedError, match=f'lead out of it: "{name}"'):
        rewrite_model(model, model.parent / "n", rename)
    assert not (model.parent / "n").exists()


def test_nor_is_what_lies_beside_a_model_that_is_frozen(model: Path) -> None:
    linked(model / "assets.extra" / "note", model.parent / "secret")
    with pytest.raises(PermissionDeniedError, match=r'lead out of it: "assets\.extra/note"'):
        freeze_model(model, model.parent / "n")
    assert not (model.parent / "n").exists()


def test_a_model_with_links_inside_of_it_is_copied(model: Path) -> None:
    linked(model / "assets.extra" / "note", asset_of(model))
    rewrite_model(model, model.parent / "n", rename)
    assert (model.parent / "n" / "assets.extra" / "note").read_bytes() == asset_of(model).read_bytes()


def test_a_folder_that_leads_out_is_named_once_and_not_entered(model: Path) -> None:
    (model / "more").symlink_to(model.parent)
    assert links_out(str(model), LOCAL) == ["more"]
    assert links_out(str(model), LOCAL, without=("more",)) == []


def test_assets_that_lead_out_are_neither_extracted_nor_copied_under_another_name(model: Path) -> None:
    name = asset_of(model).name
    linked(asset_of(model), model.parent / "secret")
    with pytest.raises(PermissionDeniedError, match="lead out of it"):
        extract_assets(model, model.parent / "extracted")
    with pytest.raises(PermissionDeniedError, match="lead out of it"):
        rewrite_model(model, None, lambda item: rename_asset(item, name, "other"))
    assert not (model.parent / "extracted").exists()


def test_an_asset_in_the_place_of_a_link_leaves_what_that_led_to(model: Path) -> None:
    name = asset_of(model).name
    linked(asset_of(model), model.parent / "secret")
    (model.parent / "new").write_bytes(b"new")
    replace_asset(model, name, model.parent / "new")
    assert (model.parent / "secret").read_bytes() == b"secret"
    assert (model / "assets" / name).read_bytes() == b"new"
