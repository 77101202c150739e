"""Arrays on devices become checkpoints, piece by piece."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.devices import jax_arrays, saving

W = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


class Foreign:
    """An array of a library that is not there: it can be shared, and sliced by rows."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape = array, array.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array

    def __dlpack__(self) -> object:
        raise BufferError("not this way")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __getitem__(self, index: Any) -> Foreign:
        return Foreign(self.array[index])


def test_arrays_of_several_libraries_are_read_back(tmp_path: Path) -> None:
    arrays = {
        "bits": jnp.array([1, 2], jnp.bfloat16),
        "empty": jnp.zeros((0, 3)),
        "foreign": Foreign(W.astype(np.float64)),
        "ours": W,
        "scalar": jnp.float32(3),
        "w": jnp.asarray(W),
    }
    assert tk.save_arrays(tmp_path / "model", arrays) == str(tmp_path / "model")
    found = tk.load_tensors(tmp_path / "model")
    assert found["bits"].dtype == ml_dtypes.bfloat16
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], np.asarray(array), strict=True)


def test_what_does_not_fit_a_piece_comes_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax_arrays.JaxPieces, "_is_here", False)
    monkeypatch.setattr(saving, "PIECE", 40)
    pieces = list(jax_arrays.JaxPieces(jnp.asarray(W), 40))
    assert [piece.size for piece in pieces] == [10, 10, 4]
    np.testing.assert_array_equal(np.concatenate(pieces), W.reshape(-1))
    source = saving._source("x", Foreign(W.reshape(6, 4)))
    assert isinstance(source, tk.ArraySource)
    assert [np.shape(chunk) for chunk in source.chunks] == [(2, 4), (2, 4), (2, 4)]


def test_a_save_in_the_background_has_the_values_of_when_it_was_asked_for(tmp_path: Path) -> None:
    changing = W.copy()
    handle = tk.save_arrays(
        tmp_path / "model", {"a": jnp.asarray(W), "b": changing, "c": Foreign(changing)}, wait=False
    )
    changing[:] = 0
    assert handle.result(60) == str(tmp_path / "model")
    for array in tk.load_tensors(tmp_path / "model").values():
        np.testing.assert_array_equal(array, W)


def test_arrays_without_values_are_refused_by_name_before_anything_is_written(tmp_path: Path) -> None:
    gone = jnp.asarray(W) + 1
    gone.delete()
    with pytest.raises(tk.InvalidArgumentError, match=r'array "w": it has been deleted or donated'):
        tk.save_arrays(tmp_path / "model", {"w": gone})
    with pytest.raises(tk.InvalidArgumentError, match=r'array "w": it is being traced'):
        jax.jit(lambda x: tk.save_arrays(tmp_path / "model", {"w": x}))(W)
    with pytest.raises(tk.InvalidArgumentError, match="expected a mapping"):
        tk.save_arrays(tmp_path / "model", [W])  # type: ignore[call-overload]
    assert list(tmp_path.iterdir()) == []


ON_FOUR_DEVICES = """
    import os
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
    import jax, numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    import tensorkeep as tk, tensorkeep.v1 as tf
    from tensorkeep.devices import saving

    w = np.arange(96, dtype=np.float32).reshape(8, 12)
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
    saving.PIECE = 100
    spread = jax.device_put(w, NamedSharding(mesh, PartitionSpec("a", "b")))
    tk.save_arrays(FOLDER + "/model", {"w": spread, "there": jax.device_put(w, jax.devices()[3])})
    for array in tk.load_tensors(FOLDER + "/model").values():
        np.testing.assert_array_equal(array, w)

    v = tf.get_variable("v", initializer=w)
    with tf.Session(engine="jax:cpu:2") as session:
        session.run(v.initializer)
        session.run(tf.assign(v, tf.matmul(v, np.eye(12, dtype="f") * 2)).op)
        held = session._core.lasting_resource(v.op).elsewhere
        assert held.array.devices() == {jax.devices()[2]}
        np.testing.assert_array_equal(session.run(v), w * 2)
    print("right")
"""


def test_arrays_on_several_devices_are_saved_and_sessions_run_on_any(tmp_path: Path) -> None:
    code = textwrap.dedent(ON_FOUR_DEVICES).replace("FOLDER", repr(str(tmp_path)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "right", done.stderr
