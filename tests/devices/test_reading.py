"""`read` of an open checkpoint with `to` and `device`: tensors and parts of them, as arrays of another library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import tensorkeep as tk
from tensorkeep.devices.loading import load_into
from tests.devices.invented import InventedFramework

VALUES = np.arange(120, dtype=np.float32).reshape(10, 12)


@pytest.fixture
def reader(tmp_path: Path) -> Any:
    tensors = {"count": np.int32(7), "empty": np.zeros((0, 3), np.float32), "w": VALUES}
    with tk.open_checkpoint(tk.save_checkpoint(tmp_path / "model", tensors)) as opened:
        yield opened


@pytest.mark.parametrize("part", [None, np.s_[2:5], np.s_[2:5, :], np.s_[:, 3:7], np.s_[4:5, 3:7], np.s_[3:3]])
def test_a_tensor_or_a_part_of_it_arrives_on_a_device(reader: Any, part: Any) -> None:
    found = reader.read("w", part, to="jax", device="cpu:0")
    assert found.devices() == {jax.devices("cpu")[0]}
    np.testing.assert_array_equal(np.asarray(found), VALUES if part is None else VALUES[part], strict=True)


def test_scalars_and_nothing_arrive(reader: Any) -> None:
    assert reader.read("count", to="jax").shape == ()
    assert int(reader.read("count", to="jax")) == 7
    assert reader.read("empty", to="jax", device="cpu").shape == (0, 3)


def test_a_part_is_cut_by_a_sharding_as_an_array_is(reader: Any) -> None:
    by_rows = NamedSharding(Mesh(np.array(jax.devices()[:1]), ("rows",)), PartitionSpec("rows"))
    found = reader.read("w", np.s_[2:6], to="jax", device=by_rows)
    assert found.sharding == by_rows
    np.testing.assert_array_equal(np.asarray(found), VALUES[2:6])


@pytest.mark.parametrize("part", [np.s_[2:8, :], np.s_[:, 2:8], np.s_[2:8, 2:8]])
@pytest.mark.parametrize("places", [[np.s_[:]], [np.s_[:3], np.s_[3:]], [np.s_[:, :3], np.s_[:, 3:]]])
def test_devices_have_their_shares_of_a_part(reader: Any, part: Any, places: Any) -> None:
    box = tk.TensorSlice.of(part, VALUES.shape).box(VALUES.shape)
    found = load_into(InventedFramework(), reader, ["w"], places, parts={"w": box}, piece=64)["w"]
    for share, place in zip(found, places, strict=True):
        np.testing.assert_array_equal(share, VALUES[part][place], strict=True)


def test_numpy_is_a_library_too(reader: Any) -> None:
    np.testing.assert_array_equal(reader.read("w", np.s_[1:2], to="numpy", device="cpu"), VALUES[1:2])
    with pytest.raises(tk.InvalidArgumentError, match='NumPy has "cpu" alone'):
        reader.read("w", np.s_[1:2], to="numpy", device="cuda:0")


def test_what_is_wrong_is_said(reader: Any) -> None:
    with pytest.raises(tk.InvalidArgumentError, match=r"of which library, say `to="):
        reader.read("w", device="cuda:0")
    with pytest.raises(tk.InvalidArgumentError, match="`copy` is for arrays of NumPy"):
        reader.read("w", to="jax", copy=False)
    with pytest.raises(tk.InvalidArgumentError, match="to: expected one of"):
        reader.read("w", to="tensorflow")
    with pytest.raises(tk.NotFoundError, match='"wrong"'):
        reader.read("wrong", to="jax")
    with pytest.raises(tk.InvalidArgumentError, match="without a step"):
        reader.read("w", np.s_[::2], to="jax")
    with pytest.raises(tk.NotFoundError, match='no device "cpu:77"'):
        reader.read("w", np.s_[:2], to="jax", device="cpu:77")


@pytest.mark.parametrize("whole", [True, False], ids=["in one piece", "in pieces"])
@pytest.mark.parametrize("fails_at", [1, 3])
def test_a_device_that_becomes_full_half_way_keeps_nothing(
    reader: Any, monkeypatch: pytest.MonkeyPatch, whole: bool, fails_at: int
) -> None:
    from tensorkeep.devices import jax_arrays

    real, calls = jax.device_put, []

    def put(*given: Any, **options: Any) -> Any:
        calls.append(given)
        if len(calls) == fails_at:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 480 bytes.")
        return real(*given, **options)

    monkeypatch.setattr(jax_arrays.jax, "device_put", put)
    names = ["count", "empty", "w"]
    piece = 1 << 20 if whole else 64
    kept: dict[str, Any] = {}
    if fails_at == 3 and whole:  # all is two pieces, and then more
        kept = load_into(jax_arrays.framework(), reader, names, None, piece=piece)
        assert kept
    before = {id(array) for array in jax.live_arrays()}
    with pytest.raises(tk.ResourceExhaustedError, match=r'tensor "\w+" could not be brought .*no memory left') as found:
        load_into(jax_arrays.framework(), reader, names, None, threads=2, piece=piece)
    assert found.value.__traceback__ is not None  # even who holds the error holds no array
    assert not [array for array in jax.live_arrays() if id(array) not in before and not array.is_deleted()]
