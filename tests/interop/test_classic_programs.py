"""The classic programs: the same text under TensorFlow and under us, and each reads what the other wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import tensorkeep.v1 as tk
from tests.interop.classic_programs import PAIRS, Pair, save_a_sum
from tests.interop.programs import tensorflow_1

MODULES = {"tensorkeep": tk, "tensorflow": tf.compat.v1}


def run(part: Any, module: str, folder: Path) -> Any:
    """What a part gives in a process that has done nothing before."""
    found = MODULES[module]
    with tensorflow_1(), found.Graph().as_default():
        return part(found, str(folder))


@pytest.mark.parametrize("loader", MODULES)
@pytest.mark.parametrize("saver", MODULES)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_what_one_saves_the_other_loads(pair: Pair, saver: str, loader: str, tmp_path: Path) -> None:
    assert run(pair.save, saver, tmp_path) == pair.saved
    assert run(pair.load, loader, tmp_path) == pair.loaded


def test_the_files_of_a_sum_are_tensorflows_byte_for_byte(tmp_path: Path) -> None:
    """Except for the graph, of which order and wording of a few fields are nobody's promise."""
    folders = {name: tmp_path / name for name in MODULES}
    for name, folder in folders.items():
        folder.mkdir()
        run(save_a_sum, name, folder)
    for file in ("model.ckpt.data-00000-of-00001", "model.ckpt.index"):
        assert (folders["tensorkeep"] / file).read_bytes() == (folders["tensorflow"] / file).read_bytes()
    states = [(folder / "checkpoint").read_text().replace(str(folder), "") for folder in folders.values()]
    assert states[0] == states[1]
    graphs = [(folder / "model.ckpt.meta").read_bytes() for folder in folders.values()]
    assert graphs[0] == graphs[1]


def export_as_text(tf: Any, folder: str) -> Any:
    v1 = tf.Variable(tf.constant(1.0, shape=[1]), name="v1")
    v2 = tf.Variable(tf.constant(2.0, shape=[1]), name="v2")
    tf.add(v1, v2, name="result")
    saver = tf.train.Saver()
    saver.export_meta_graph(f"{folder}/model.ckpt.meta.json", as_text=True)


def test_a_graph_as_text_is_tensorflows_to_the_letter(tmp_path: Path) -> None:
    texts = []
    for name in MODULES:
        (tmp_path / name).mkdir()
        run(export_as_text, name, tmp_path / name)
        texts.append((tmp_path / name / "model.ckpt.meta.json").read_text())
    for section in ("meta_info_def {", "graph_def {", "saver_def {", "collection_def {", "stripped_op_list {"):
        assert section in texts[0]
    assert texts[0] == texts[1]
