"""Checkpoints as arrays of JAX: types, devices, and shardings over four of them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.devices import jax_arrays
from tensorkeep.devices.loading import load_into

HELD = [
    np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.float16, np.float32, np.complex64,
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4,
]  # fmt: skip
VALUES = np.arange(60).reshape(5, 12) % 8


@pytest.mark.parametrize("piece", [16, 1 << 20])
def test_every_type_that_jax_has_arrives_as_it_is(tmp_path: Path, piece: int) -> None:
    tensors = {np.dtype(kind).name: VALUES.astype(kind) for kind in HELD}
    tensors["negative"] = (VALUES - 8).astype(ml_dtypes.int4)
    with tk.open_checkpoint(tk.save_checkpoint(tmp_path / "model", tensors)) as reader:
        loaded = load_into(jax_arrays.framework(), reader, None, None, piece=piece)
    for name, array in tensors.items():
        assert isinstance(loaded[name], jax.Array)
        np.testing.assert_array_equal(np.asarray(loaded[name]), array, strict=True)


def test_what_jax_would_round_is_refused_by_name(tmp_path: Path) -> None:
    tensors = {"step": np.array(2**40), "w": np.zeros(2, np.float32), "x": np.zeros(2)}
    prefix = tk.save_checkpoint(tmp_path / "model", tensors)
    with pytest.raises(
        tk.InvalidArgumentError, match=r'2 of 3.*"step": JAX holds int64 as int32.*"x": JAX holds float64'
    ):
        tk.load_arrays(prefix, to="jax")
    assert list(tk.load_arrays(prefix, ["w"], to="jax")) == ["w"]


def test_a_device_that_is_not_there_says_which_are(tmp_path: Path) -> None:
    prefix = tk.save_checkpoint(tmp_path / "model", {"w": np.zeros(2, np.float32)})
    for device in ("tpu:0", "cpu:77"):
        with pytest.raises(tk.NotFoundError, match=f'no device "{device}"; it has .*cpu:0'):
            tk.load_arrays(prefix, to="jax", device=device)
    for wrong in ("cpu:", "cpu:x", 3):
        with pytest.raises(tk.InvalidArgumentError, match="device: expected text such as"):
            tk.load_arrays(prefix, to="jax", device=wrong)


def test_an_open_checkpoint_is_loaded_from_and_stays_open(tmp_path: Path) -> None:
    prefix = tk.save_checkpoint(tmp_path / "model", {"w": VALUES.astype(np.float32)})
    with tk.open_checkpoint(prefix) as reader:
        for _ in range(2):
            loaded = tk.load_arrays(reader, to="jax", device=jax.devices()[0])
            np.testing.assert_array_equal(np.asarray(loaded["w"]), VALUES)


class SmallDevice:
    """A device that says how much memory it has."""

    platform = "gpu"

    def memory_stats(self) -> dict[str, int]:
        return {"bytes_limit": 1000, "bytes_in_use": 900}

    def __str__(self) -> str:
        return "gpu:0"


def test_a_device_that_says_it_is_too_small_is_believed() -> None:
    framework = jax_arrays.framework()
    framework.require_room({SmallDevice(): 100})
    with pytest.raises(tk.ResourceExhaustedError, match="101 bytes are to go to gpu:0, which has 100 bytes free"):
        framework.require_room({SmallDevice(): 101})


ON_FOUR_DEVICES = """
    import os
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
    import jax
    import numpy as np
    import pytest
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    import tensorkeep as tk
    from tensorkeep.devices import jax_arrays
    from tensorkeep.devices.loading import load_into

    w = np.arange(96, dtype=np.float32).reshape(8, 12)
    tensors = {name: w + at for at, name in enumerate(["alone", "both", "columns", "everywhere", "rows"])}
    prefix = tk.save_checkpoint(FOLDER + "/model", tensors)
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
    specs = {"both": ("a", "b"), "columns": (None, "b"), "everywhere": (), "rows": ("a",)}
    places = {name: NamedSharding(mesh, PartitionSpec(*spec)) for name, spec in specs.items()}
    for piece in (40, 1 << 20):
        with tk.open_checkpoint(prefix) as reader:
            loaded = load_into(jax_arrays.framework(), reader, None, {**places, "alone": "cpu:3"}, piece=piece)
        assert loaded["alone"].devices() == {jax.devices()[3]}
        for name, array in tensors.items():
            np.testing.assert_array_equal(np.asarray(loaded[name]), array, strict=True)
            assert name == "alone" or loaded[name].sharding == places[name]
            for shard in loaded[name].addressable_shards:
                np.testing.assert_array_equal(np.asarray(shard.data), array[shard.index])

    one = tk.load_arrays(prefix, ["rows"], to="jax", device=places["rows"])
    assert one["rows"].sharding == places["rows"]

    again = tk.save_checkpoint(FOLDER + "/again", loaded)
    for name, array in tk.load_tensors(again).items():
        np.testing.assert_array_equal(array, tensors[name], strict=True)

    uneven = tk.save_checkpoint(FOLDER + "/uneven", {"odd": np.zeros((3, 4), np.float32)})
    before = len(jax.live_arrays())
    with pytest.raises(tk.InvalidArgumentError, match='tensor "odd": .*cannot be sharded so'):
        tk.load_arrays(uneven, to="jax", device=places["rows"])

    data = prefix + ".data-00000-of-00001"
    stored = bytearray(open(data, "rb").read())
    stored[-5] ^= 1
    open(data, "wb").write(stored)
    with pytest.raises(tk.DataLossError, match="rows"):
        tk.load_arrays(prefix, to="jax", device=places)
    assert len(jax.live_arrays()) == before
    print("right")
"""


def test_tensors_are_spread_over_four_devices_and_saved_from_there(tmp_path: Path) -> None:
    code = textwrap.dedent(ON_FOUR_DEVICES).replace("FOLDER", repr(str(tmp_path)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "right", done.stderr
