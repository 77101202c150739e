"""Programs that say `import tensorflow`, run as they are: as Python runs them, with our modules."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tensorkeep.errors import MissingFileError
from tensorkeep.v1.programs.running import module_file

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a program, given as text, by `python -m tensorkeep run`."""

    def run_program(
        text: str, *arguments: str, command: tuple[str, ...] = ("tensorkeep", "run")
    ) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "program.py"
        file.write_text(text)
        line = [sys.executable, "-W", "error::SyntaxWarning", "-m", *command, str(file), *arguments]
        return subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)

    return run_program


IMPORTS = """
import sys
import tensorflow as tf
import tensorflow.compat.v1 as tf1
import tensorflow.contrib.slim as slim
import tensorflow_core
from tensorflow import nn
from tensorflow.core.framework import graph_pb2
from tensorflow.python.client import device_lib, session
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops
from tensorflow.python.platform import gfile
from tensorflow.python.tpu import tpu_config
import tensorkeep.v1
import helper

assert tf is tf1 is tensorflow_core is tensorkeep.v1
assert nn is tf.nn and graph_pb2.GraphDef is tf.GraphDef and session.Session is tf.Session
assert tf.python.framework.ops is ops and ops.convert_to_tensor is tf.convert_to_tensor
assert gfile.Exists is tf.gfile.Exists and dtypes.float32 is tf.float32
assert tf.__version__.startswith("1.15") and tf.VERSION == tf.__version__ == tf.version.VERSION
assert tf.nn.__spec__.name == "tensorkeep.v1.nn"
assert __name__ == "__main__" and sys.modules["__main__"].tf is tf and __file__ == sys.argv[0]
print(sys.argv[1:], helper.NAME, [device.name for device in device_lib.list_local_devices()])
x = tf.py_func(lambda a: a * 2, [tf.constant(3.0)], tf.float32)
with tf.Session() as sess:
    print(sess.run(array_ops.stack([x, x + 1])))
"""


def test_every_way_to_import_leads_to_our_modules(run: Run, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import tensorflow as tf\nNAME = tf.train.Saver.__name__\n")
    ended = run(IMPORTS, "--json", "--learning_rate=1", "x y")
    assert ended.stderr == ""
    assert ended.stdout == "['--json', '--learning_rate=1', 'x y'] Saver ['/device:CPU:0']\n[6. 7.]\n"
    assert ended.returncode == 0


ALIASES = """
import sys
import tensorflow as tf
from tensorflow.python.ops.rnn_cell import *
from tensorflow.python.ops.math_ops import *

sys.modules["keras"] = tf.keras
import keras.backend as K
from keras.engine.topology import Layer

assert K is tf.keras.backend and Layer is tf.keras.layers.Layer and GRUCell is tf.nn.rnn_cell.GRUCell
assert list(range(2)) == [0, 1] and reduce_sum is tf.reduce_sum
print(K.__name__)
"""


def test_modules_are_found_where_a_program_has_put_keras_under_another_name(run: Run) -> None:
    done = run(ALIASES)
    assert (done.returncode, done.stdout, done.stderr) == (0, "tensorkeep.v1.keras.backend\n", "")


def test_a_program_can_be_run_as_a_module_s_argument(run: Run) -> None:
    ended = run("import tensorflow, sys\nsys.exit(len(sys.argv))", "a", command=("tensorkeep.v1",))
    assert (ended.returncode, ended.stderr) == (2, "")


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        ("pass", 0, ""),
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit('no data')", 1, "no data\n"),
        ("import os; os._exit(3)", 3, ""),
    ],
)
def test_a_program_ends_as_under_python(run: Run, ending: str, code: int, said: str) -> None:
    ended = run(f"import tensorflow\n{ending}\n")
    assert (ended.returncode, ended.stderr) == (code, said)


def test_an_error_is_shown_from_the_program_on_with_its_cause(run: Run) -> None:
    ended = run("import tensorflow as tf\ndef f():\n    {}.iteritems()\nf()\n")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert 'program.py", line 4, in <module>' in ended.stderr.splitlines()[1]
    assert "running.py" not in ended.stderr
    assert ended.stderr.splitlines()[-1] == "cause: dictionaries of Python 3 have items(), values(), keys() and `in`"


def test_a_name_that_is_not_here_stops_where_it_is_used_and_says_what_to_use(run: Run) -> None:
    ended = run("import tensorflow as tf\nimport tensorflow.lite as lite\nprint('so far')\nlite.TFLiteConverter\n")
    assert ended.stdout == "so far\n"
    assert "graphs are frozen by tf.graph_util" in ended.stderr
    ended = run("from tensorflow.lite import TFLiteConverter as Converter\nprint('so far')\nConverter('model')\n")
    assert ended.stdout == "so far\n"
    assert "tensorflow.lite.TFLiteConverter is not here: graphs are frozen by tf.graph_util" in ended.stderr
    ended = run("from tensorflow.train import Nonsense\n")
    assert "cause: tensorkeep has no tensorflow.train.Nonsense\n" in ended.stderr


def test_a_module_that_is_not_here_is_imported_from_its_package(run: Run) -> None:
    ended = run("from tensorflow.contrib import cudnn_rnn\nprint('so far')\ncudnn_rnn.CudnnLSTM(1, 2)\n")
    assert ended.stdout == "so far\n"
    assert "tf.contrib.cudnn_rnn.CudnnLSTM): cuDNN needs a GPU" in ended.stderr


def test_a_name_is_no_module_that_could_be_found_by_its_path(run: Run) -> None:
    ended = run(
        "import pydoc, tensorflow as tf\n"
        "print(pydoc.locate('tensorflow.contrib.seq2seq.LuongAttention') is tf.contrib.seq2seq.LuongAttention)\n"
        "print(pydoc.locate('tensorflow.contrib.layers.glorot_uniform_initializer'))\n"
        "print(pydoc.locate('tensorflow.keras.initializers.truncated_normal_initializer'))\n"
    )
    assert ended.stdout == "True\nNone\nNone\n", ended.stderr


def test_a_module_is_run_by_its_name(tmp_path: Path) -> None:
    package = tmp_path / "translation"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "train.py").write_text("import sys\nimport tensorflow as tf\nprint(__name__, sys.argv[1:])\ntf.lite.x\n")

    def run_module(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "tensorkeep", "run", *arguments]
        return subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)

    ended = run_module("-m", "translation.train", "--src", "vi")
    assert ended.stdout == "__main__ ['--src', 'vi']\n"
    assert ended.returncode == 1
    assert "runpy" not in ended.stderr
    assert "2\t" not in (told := run_module("--dry-run", "-m", "translation.train").stdout)
    assert "4\ttf.lite" in told
    for name in ("translation.decode", "translation", "nothing"):
        assert f'there is no module "{name}" to be run' in run_module("-m", name).stderr


def test_a_rehearsal_of_a_module_imports_nothing_of_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "loud"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('it was imported')")
    (package / "__main__.py").write_text("import tensorflow as tf\ntf.constant(1)\n")
    monkeypatch.chdir(tmp_path)
    before = (list(sys.meta_path), list(sys.path), set(sys.modules))
    assert module_file("loud") == module_file("loud.__main__") == str(package / "__main__.py")
    assert (list(sys.meta_path), list(sys.path), set(sys.modules)) == before
    for name in ("loud.train", "loud.__main__.py", "quiet", "loud."):
        with pytest.raises(MissingFileError, match=f'there is no module "{name}" to be run'):
            module_file(name)


def test_a_notebook_is_told_from_a_program(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "tensorkeep", "run", "train.ipynb"]
    ended = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert 'error: "train.ipynb" is a notebook: put `import tensorkeep.v1; tensorkeep.v1.install()`' in ended.stderr


def test_warnings_of_the_program_are_its_own(run: Run) -> None:
    ended = run("import warnings\nwarnings.warn('old', DeprecationWarning)\nwarnings.warn('odd')\n")
    assert "program.py:3: UserWarning: odd" in ended.stderr


def test_graphs_of_strangers_still_call_no_python(run: Run) -> None:
    ended = run(
        "import tensorflow as tf\n"
        "own = tf.py_func(lambda: 1.0, [], tf.double)\n"
        "stranger = tf.GraphDef()\n"
        "node = stranger.node.add(name='call', op='PyFunc')\n"
        "node.attr['token'].s = b'pyfunc_0'\n"
        "node.attr['Tout'].list.type.append(2)\n"
        "node.attr['Tin'].list.SetInParent()\n"
        "called, = tf.import_graph_def(stranger, return_elements=['call:0'])\n"
        "with tf.Session() as sess:\n"
        "    print(sess.run(own))\n"
        "    sess.run(called)\n"
    )
    assert ended.stdout == "1.0\n"
    assert "Could not find callback with key=pyfunc_0" in ended.stderr


def test_install_is_refused_once_tensorflow_itself_is_there() -> None:
    program = (
        "import sys, types\n"
        "sys.modules['tensorflow'] = types.ModuleType('tensorflow')\n"
        "import tensorkeep.v1 as tf\n"
        "try:\n    tf.install()\n"
        "except tf.errors.FailedPreconditionError as error:\n    print(error)\n"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("tensorflow has been imported already, and is TensorFlow's own")


def test_install_works_at_the_head_of_a_program_and_twice() -> None:
    program = (
        "import tensorkeep.v1\ntensorkeep.v1.install()\ntensorkeep.v1.install()\n"
        "import tensorflow as tf\nfrom tensorflow.python.util import nest\n"
        "print(tf is tensorkeep.v1, nest.flatten({'b': 1, 'a': [2]}))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "True [2, 1]\n"


def test_a_dry_run_tells_which_names_are_not_here(run: Run) -> None:
    text = "import tensorflow as tf\nx = tf.nn.relu(tf.lite.Interpreter)\ntf.Session().run(x)\n"
    file = "program.py"
    ended = run(text, command=("tensorkeep", "run", "--dry-run"))
    assert ended.returncode == 3, ended.stderr
    assert "2\ttf.lite" in ended.stdout
    assert "3 names of TensorFlow, 1 of them not here" in ended.stdout
    assert file
    ended = run("import tensorflow as tf\ntf.enable_eager_execution()\n", command=("tensorkeep", "run", "--dry-run"))
    assert "2\ttf.enable_eager_execution\tthere is no eager mode: build a graph" in ended.stdout
