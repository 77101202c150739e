"""What stopped a program, told where the cause is a Python or a NumPy of another time."""

from __future__ import annotations

import collections
import re
import time
import urllib

import numpy as np
import pytest

from tensorkeep.v1.programs.causes import cause_of


def stopped_by(program: str) -> BaseException:
    try:
        exec(compile(program, "program.py", "exec"), {"np": np, "urllib": urllib, "time": time, "c": collections})
    except BaseException as error:
        return error
    raise AssertionError("the program was not stopped")


@pytest.mark.parametrize(
    ("program", "cause"),
    [
        ("print 'loss', 1", "Python 2"),
        ("exec 'x'", "Python 2"),
        ("try:\n    pass\nexcept ValueError, e:\n    pass", "Python 2"),
        ("raise ValueError, 'x'", "Python 2"),
        ("x = 0777", "Python 2"),
        ("x = 10L", "Python 2"),
        ("x = 1 <> 2", "Python 2"),
        ("for i in xrange(3): pass", "Python 3 has no xrange"),
        ("import cPickle", "Python 3 calls cPickle pickle"),
        ("{}.iteritems()", r"have items\(\)"),
        ("{}.keys()[0]", r"put list\(…\) around it"),
        ("range(3) + [1]", r"put list\(…\) around it"),
        ("[0] * (4 / 2)", None),
        ("range(4 / 2)", "`//`"),
        ("urllib.urlretrieve('x')", "urllib.request"),
        ("time.clock()", "perf_counter"),
        ("c.Mapping", "collections.abc"),
        ("from collections import Mapping", "collections.abc"),
        ("np.float", "old name"),
        ("np.zeros(1).itemset(0, 1)", r"a\[i\] = value"),
        ("import nosuchpackage.x", "pip install nosuchpackage"),
        ("raise ModuleNotFoundError('No module named cv2', name='cv2')", "pip install opencv-python"),
        ("b'x'.decode('ascii') + chr(1) and b'\\xff'.decode('ascii')", "latin1"),
        ("undefined_name", None),
        ("1 / 0", None),
        ("x = (", None),
    ],
)
def test_a_cause_is_named_where_it_is_known(program: str, cause: str | None) -> None:
    found = cause_of(stopped_by(program))
    if cause is None:
        assert found is None
    else:
        assert found is not None
        assert re.search(cause, found)


def test_the_old_argument_of_reshape_is_named() -> None:
    error = TypeError("reshape() got an unexpected keyword argument 'newshape'")
    assert "shape=" in (cause_of(error) or "")


@pytest.mark.parametrize(
    ("program", "cause"),
    [
        ("import tensorkeep.v1 as tf; tf.plcaeholder('float')", "did you mean placeholder?"),
        ("import tensorkeep.v1 as tf; tf.train.AdamOptimiser()", "did you mean AdamOptimizer?"),
        ("import tensorkeep.v1 as tf; tf.contrib.layers.fuly_connected(1)", "did you mean fully_connected?"),
        (
            "from tensorkeep.v1.contrib.layers import fuly_connected",
            "tensorkeep has no tensorflow.contrib.layers.fuly_connected: did you mean fully_connected?",
        ),
        ("import tensorkeep.v1 as tf; tf.train.what_nobody_has", None),
        ("import tensorkeep.v1 as tf; tf.constant(1).evla()", None),
    ],
)
def test_a_misspelled_name_of_tensorflow_is_told_what_it_was_meant_to_be(program: str, cause: str | None) -> None:
    assert cause_of(stopped_by(program)) == cause
