"""Live TensorFlow reads what went through a store, and we read what it wrote there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as keep
from tensorkeep.io.files.directories import files_below
from tensorkeep.io.files.everywhere import FILES
from tests.support.stores import s3_bucket

pytestmark = pytest.mark.interop
tf: Any = pytest.importorskip("tensorflow")


def fetched(source: str, folder: Path) -> None:
    for name in files_below(FILES, source):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        FILES.link(f"{source}/{name}", str(folder / name))


@pytest.mark.parametrize("saves", [1, 2, 3])
def test_a_checkpoint_that_was_replaced_in_a_store_is_read_by_tensorflow(tmp_path: Path, saves: int) -> None:
    tensors = {"w": np.arange(2_500_000, dtype=np.float32), "names": np.array([b"a", b"bc"], object)}
    options = tk.SaveOptions(sharding=tk.ShardByName(lambda name: int(name == "w")))
    with s3_bucket() as bucket:
        for number in range(saves):
            tk.save_checkpoint(f"{bucket}/run/m", {**tensors, "step": np.array(number)}, options)
        fetched(f"{bucket}/run", tmp_path)
    reader = tf.train.load_checkpoint(str(tmp_path / "m"))
    assert sorted(reader.get_variable_to_shape_map()) == ["names", "step", "w"]
    assert reader.get_tensor("step") == saves - 1
    np.testing.assert_array_equal(reader.get_tensor("w"), tensors["w"])
    assert reader.get_tensor("names").tolist() == [b"a", b"bc"]


def test_a_saver_and_a_model_in_a_store(tmp_path: Path) -> None:
    with s3_bucket() as bucket:
        with keep.Graph().as_default(), keep.Session() as session:
            x = keep.placeholder(keep.float32, [None], name="x")
            weight = keep.get_variable("w", initializer=np.float32(3))
            session.run(keep.global_variables_initializer())
            saver = keep.train.Saver(max_to_keep=2)
            for step in range(4):
                saver.save(session, f"{bucket}/run/model", global_step=step)
            keep.saved_model.simple_save(session, f"{bucket}/export/1", {"x": x}, {"y": x * weight})
        assert tk.latest_checkpoint(f"{bucket}/run") == f"{bucket}/run/model-3"
        kept = [name for name in FILES.list(f"{bucket}/run") if name.endswith(".index")]
        assert kept == ["model-2.index", "model-3.index"]
        fetched(bucket, tmp_path)
        answer = tk.load_saved_model(f"{bucket}/export/1").signatures["serving_default"](x=np.ones(2, np.float32))
        np.testing.assert_array_equal(answer["y"], [3, 3])
    loaded = tf.saved_model.load(str(tmp_path / "export/1"))
    np.testing.assert_array_equal(loaded.signatures["serving_default"](x=tf.ones(2))["y"], [3, 3])
    assert tf.train.load_variable(str(tmp_path / "run/model-3"), "w") == 3


def test_what_tensorflow_wrote_is_read_from_a_store(tmp_path: Path) -> None:
    variables = {"a": tf.Variable(np.arange(1_000_000.0)), "b": tf.Variable([b"text"])}
    written = tf.train.Checkpoint(**variables).write(str(tmp_path / "m"))
    with s3_bucket() as bucket:
        for name in files_below(FILES, str(tmp_path)):
            FILES.link(f"{tmp_path}/{name}", f"{bucket}/{name}")
        found = tk.load_objects(f"{bucket}/{Path(written).name}")
        np.testing.assert_array_equal(found["a"], np.arange(1_000_000.0))  # type: ignore[index, call-overload]
