"""`inspect_checkpoint` beside TensorFlow's own, on the same files."""

from __future__ import annotations

import numpy as np
import pytest
from tensorflow.python.tools import inspect_checkpoint as theirs

import tensorkeep
from tensorkeep.tools import inspect_checkpoint as ours
from tests.interop.test_checkpoint_readers import GOLDEN, V1
from tests.support.golden import ROOT

ASKED = [
    (None, False, False, ""),
    ("", False, True, "a"),
    (None, True, False, "^[a-m]"),
    ("nope", False, False, ""),
]


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("path", [path for path in GOLDEN if not path.startswith(("g12", "g13"))])
def test_prints_the_same(path, asked, capsys):
    theirs.print_tensors_in_checkpoint_file(f"{ROOT}/{path}", *asked)
    wanted = capsys.readouterr().out
    ours.print_tensors_in_checkpoint_file(f"{ROOT}/{path}", *asked)
    assert capsys.readouterr().out == wanted
    assert wanted


@pytest.mark.parametrize("options", [tensorkeep.SaveOptions(), V1], ids=["V2", "V1"])
@pytest.mark.parametrize("count", [0, 1, 2000])
def test_prints_the_same_of_what_we_wrote(tmp_path, options, count, capsys):
    path = tensorkeep.save_checkpoint(tmp_path / "m", {"big": np.arange(count, dtype=np.float32), "b": b"x"}, options)
    for asked in (*ASKED, ("big", False, False, "")):
        theirs.print_tensors_in_checkpoint_file(path, *asked)
        wanted = capsys.readouterr().out
        ours.print_tensors_in_checkpoint_file(path, *asked)
        assert capsys.readouterr().out == wanted


def test_tensorflow_reads_an_index_as_an_empty_checkpoint_and_we_the_checkpoint(tmp_path, capsys):
    path = tensorkeep.save_checkpoint(tmp_path / "m", {"w": np.zeros(3)})
    theirs.print_tensors_in_checkpoint_file(f"{path}.index", None, False)
    assert capsys.readouterr().out == "\n# Total number of params: 0\n"
    ours.print_tensors_in_checkpoint_file(f"{path}.index", None, False)
    assert capsys.readouterr().out == "w (DT_DOUBLE) [3]\n\n# Total number of params: 3\n"


def test_errors_begin_with_tensorflow_s_words(tmp_path, capsys):
    theirs.print_tensors_in_checkpoint_file(str(tmp_path / "nope"), None, False)
    wanted = capsys.readouterr().out.strip()
    ours.print_tensors_in_checkpoint_file(str(tmp_path / "nope"), None, False)
    assert capsys.readouterr().out.startswith(wanted)
