"""Which embeddings TensorBoard shows: the file that it reads, and the names that programs import it by."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tensorkeep.v1 as tf

WRITTEN = """\
model_checkpoint_path: "model.ckpt"
embeddings {
  tensor_name: "words:0"
  metadata_path: "words.tsv"
  sprite {
    image_path: "sprite.png"
    single_image_dim: 28
    single_image_dim: 28
  }
}
"""


def test_the_configuration_is_written_beside_the_events(tmp_path: Path) -> None:
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig(model_checkpoint_path="model.ckpt")
    embedding = config.embeddings.add()
    embedding.tensor_name, embedding.metadata_path = "words:0", "words.tsv"
    embedding.sprite.image_path = "sprite.png"
    embedding.sprite.single_image_dim.extend([28, 28])
    with tf.summary.FileWriter(str(tmp_path / "run")) as writer:
        projector.visualize_embeddings(writer, config)
    assert (tmp_path / "run" / "projector_config.pbtxt").read_text() == WRITTEN
    projector.visualize_embeddings(str(tmp_path / "other"), config)
    assert (tmp_path / "other" / "projector_config.pbtxt").read_text() == WRITTEN
    with pytest.raises(ValueError, match="must have a logdir"):
        projector.visualize_embeddings("", config)


PROGRAM = """
import importlib.util
has_own = importlib.util.find_spec("tensorboard") is not None
import tensorkeep.v1
tensorkeep.v1.install()
from tensorflow.contrib.tensorboard.plugins import projector as contributed
from tensorboard.plugins import projector
assert has_own or projector is contributed
assert contributed.ProjectorConfig().embeddings.add().tensor_name == ""
"""


def test_programs_find_it_under_both_names() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=120)
