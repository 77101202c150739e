"""The rules find what they forbid, and leave alone what they allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import rules


def violations(rule: rules.Rule, folder: Path, path: str, source: str) -> list[str]:
    file = folder / "tensorkeep" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source, encoding="utf-8")
    return rule(rules.load(folder))


FORBIDDEN = [
    (rules.unlisted_layers, "utils/text.py", ""),
    (rules.unlisted_layers, "helpers.py", ""),
    (rules.upward_imports, "io/local.py", "from tensorkeep.table import format"),
    (rules.upward_imports, "io/local.py", "from tensorkeep import table"),
    (rules.upward_imports, "io/local.py", "import tensorkeep.table.format"),
    (rules.upward_imports, "io/local.py", "import numpy, tensorkeep.table"),
    (rules.upward_imports, "io/local.py", "from ..table import format"),
    (rules.upward_imports, "io/local.py", "from .. import table"),
    (rules.upward_imports, "io/__init__.py", "from ..table.format import Footer"),
    (rules.upward_imports, "io/local.py", "from tensorkeep.proto import messages"),
    (
        rules.upward_imports,
        "io/local.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tensorkeep.table",
    ),
    (rules.upward_imports, "errors.py", "from tensorkeep.dtypes import DType"),
    (rules.upward_imports, "checkpoint/reader.py", "from tensorkeep import TensorInfo"),
    (rules.upward_imports, "checkpoint/reader.py", "import tensorkeep"),
    (rules.upward_imports, "checkpoint/reader.py", "from tensorkeep.graph import Graph"),
    (rules.upward_imports, "graph/graph.py", "from tensorkeep.checkpoint import reader"),
    (rules.upward_imports, "graph/graph.py", "from tensorkeep.table import table"),
    (rules.upward_imports, "saving/saver.py", "from tensorkeep.saved_model import loader"),
    (rules.upward_imports, "testing/suites.py", "from tensorkeep.v1 import train"),
    (rules.upward_imports, "checkpoint/reader.py", "from tensorkeep.testing import strategies"),
    (rules.upward_imports, "__init__.py", "from tensorkeep.cli import main"),
    (rules.upward_names, "io/__init__.py", "_NAMES = {'tensorkeep.table.format': 'Footer'}"),
    (rules.upward_names, "io/local.py", "_NAMES = {'tensorkeep.table.format': 'Footer'}"),
    (rules.upward_names, "io/local.py", "from tensorkeep._lazy import later\nx = later('tensorkeep.table.format')"),
    (rules.upward_names, "io/local.py", "import importlib\nimportlib.import_module('tensorkeep.table.format')"),
    (rules.upward_names, "saved_model/load/model.py", "_NAMES = {'tensorkeep.saved_model.export.graphs': 'export'}"),
    (rules.imports_in_functions, "table/table.py", "def f():\n    from tensorkeep.io import varint"),
    (rules.imports_in_functions, "table/table.py", "class C:\n    async def f(self):\n        from . import block"),
    (rules.star_imports, "table/table.py", "from tensorkeep.table.block import *"),
    (rules.file_access, "table/table.py", "import os"),
    (rules.file_access, "table/table.py", "import os.path as p"),
    (rules.file_access, "table/table.py", "from io import BytesIO"),
    (rules.file_access, "table/table.py", "from pathlib import Path"),
    (rules.file_access, "table/table.py", "def f():\n    import tempfile"),
    (rules.file_access, "table/table.py", "data = open('x').read()"),
    (rules.file_access, "checkpoint/bundle/format.py", "import numpy as np\nnp.memmap('x')"),
    (rules.file_access, "checkpoint/bundle/format.py", "def f(array, path):\n    array.tofile(path)"),
    (rules.protobuf_imports, "checkpoint/bundle/format.py", "import google.protobuf.message"),
    (rules.protobuf_imports, "checkpoint/bundle/format.py", "from google.protobuf import text_format"),
    (rules.protobuf_imports, "testing/suites.py", "from google import protobuf"),
    (rules.ambient_defaults, "graph/building.py", "import threading\nstate = threading.local()"),
    (rules.ambient_defaults, "graph/building.py", "from threading import local"),
    (rules.ambient_defaults, "graph/building.py", "from contextvars import ContextVar\n_default = ContextVar('graph')"),
    (rules.ambient_defaults, "graph/building.py", "import contextvars\nG = contextvars.ContextVar[int]('default_g')"),
    (
        rules.ambient_defaults,
        "graph/building.py",
        "from contextvars import ContextVar\nDEFAULT: ContextVar[int] = ContextVar('g')",
    ),
    (rules.ambient_defaults, "graph/building.py", "def get_default_graph(): ..."),
    (rules.ambient_defaults, "runtime/session.py", "def f():\n    global current\n    current = 1"),
    (rules.prints, "inspect/report.py", "print('hello')"),
    (rules.prints, "testing/suites.py", "def f():\n    print('hello')"),
    (rules.prints, "inspect/report.py", "import sys\nsys.stdout.write('hello')"),
    (rules.prints, "inspect/report.py", "from sys import stderr"),
    (rules.logging_configuration, "io/local.py", "import logging\nlogging.basicConfig()"),
    (rules.logging_configuration, "io/local.py", "from logging import basicConfig"),
    (rules.logging_configuration, "io/local.py", "import logging.config"),
    (rules.logging_configuration, "io/local.py", "from logging import config"),
    (rules.logging_configuration, "io/local.py", "import logging\nlogging.getLogger('x').setLevel(10)"),
    (rules.newer_python, "io/local.py", "from typing import Any, Self"),
    (rules.newer_python, "io/local.py", "def f():\n    import tomllib"),
    (rules.newer_python, "io/local.py", "import datetime\nnow = datetime.UTC"),
    (rules.newer_python, "io/local.py", "raise ExceptionGroup('both', [])"),
    (rules.thick_facade, "v1/train.py", "from tensorkeep.saving.saver import _save"),
    (rules.thick_facade, "v1/train.py", "from tensorkeep.ops.nn._beam_search import best_beams"),
    (rules.private_modules, "ops/images/resizing.py", "from tensorkeep.ops.nn._beam_search import best_beams"),
    (rules.private_modules, "ops/every.py", "import tensorkeep.ops.nn._beam_search.best_beams"),
    (rules.thick_facade, "v1/train.py", "def f(x):\n" + "    x += 1\n" * 11),
    (rules.thick_facade, "v1/train.py", "class C:\n    def f(self, x):\n        if x:\n" + "            x += 1\n" * 10),
    (rules.tensorflow_imports, "convert/hub.py", "import tensorflow as tf"),
    (rules.tensorflow_imports, "testing/suites.py", "def f():\n    from tensorflow.python import ops"),
]

ALLOWED = [
    (rules.newer_python, "io/local.py", "from typing import Any, TypeAlias\nself = timeout = None"),
    (rules.unlisted_layers, "io/local.py", ""),
    (rules.unlisted_layers, "errors.py", ""),
    (rules.upward_imports, "table/table.py", "from tensorkeep.table.block import Block\nfrom . import format"),
    (rules.upward_imports, "table/table.py", "import numpy\nfrom tensorkeep import errors\nfrom ..io import varint"),
    (rules.upward_imports, "embedding/table/snapshot.py", "from tensorkeep.checkpoint import slices"),
    (rules.upward_imports, "ops/files/checkpoints.py", "from tensorkeep import checkpoint, runtime"),
    (rules.upward_imports, "tf1/saved_model/session_loading.py", "from tensorkeep.saving.saver import Saver"),
    (rules.upward_imports, "testing/suites.py", "from tensorkeep import TensorInfo\nimport tensorkeep.checkpoint"),
    (rules.upward_imports, "__init__.py", "from tensorkeep._version import __version__\nfrom .train import saver"),
    (rules.upward_names, "table/__init__.py", "_NAMES = {'tensorkeep.io.files': 'LOCAL', 'numpy': 'array'}"),
    (rules.upward_names, "saved_model/__init__.py", "_NAMES = {'tensorkeep.saved_model.export.graphs': 'export'}"),
    (rules.upward_names, "io/local.py", "say = 'tensorkeep.table.format'\nknown = {'x': 'tensorkeep.table'}"),
    (rules.imports_in_functions, "io/remote.py", "def f():\n    import fsspec"),
    (rules.imports_in_functions, "io/remote.py", "if True:\n    from tensorkeep import errors"),
    (rules.file_access, "io/local.py", "import os, mmap, pathlib\nopen('x')"),
    (rules.file_access, "testing/suites.py", "from pathlib import Path"),
    (rules.file_access, "table/table.py", "from tensorkeep.io import LOCAL\nfile = LOCAL.open('x')\nimport posixpath"),
    (rules.protobuf_imports, "proto/messages.py", "from google.protobuf import descriptor_pool"),
    (rules.ambient_defaults, "v1/graph.py", "import threading\nstate = threading.local()"),
    (
        rules.ambient_defaults,
        "graph/building.py",
        "from contextvars import ContextVar\ncurrent = ContextVar('current')",
    ),
    (rules.ambient_defaults, "graph/messages/attrs.py", "import threading\ndefault = 3\nlock = threading.Lock()"),
    (
        rules.thick_facade,
        "v1/train.py",
        "from __future__ import annotations\nfrom tensorkeep.saving.saver import Saver",
    ),
    (rules.private_modules, "ops/nn/pooling.py", "from tensorkeep.ops.nn._beam_search import best_beams"),
    (rules.private_modules, "io/local.py", "from tensorkeep._lazy import later"),
    (rules.thick_facade, "v1/train.py", "def f(x):\n    'Says what.'\n" + "    x += 1\n" * 10),
    (rules.thick_facade, "saving/saver.py", "def f(x):\n" + "    x += 1\n" * 11),
    (rules.prints, "cli/main.py", "import sys\nprint('x', file=sys.stderr)"),
    (rules.logging_configuration, "serving/rest.py", "import logging.config"),
    (rules.logging_configuration, "v1/logging.py", "import logging\nlogging.getLogger('x').setLevel(10)"),
    (
        rules.logging_configuration,
        "io/local.py",
        "import logging\nlog = logging.getLogger(__name__)\nlog.debug('x')",
    ),
]


def identify(parameter: object) -> str | None:
    return getattr(parameter, "__name__", None)


@pytest.mark.parametrize(("rule", "path", "source"), FORBIDDEN, ids=identify)
def test_a_violation_is_found_once_with_its_place(rule: rules.Rule, path: str, source: str, tmp_path: Path) -> None:
    found = violations(rule, tmp_path, path, source)
    assert len(found) == 1
    assert found[0].startswith(f"{tmp_path / 'tensorkeep' / path}:")


@pytest.mark.parametrize(("rule", "path", "source"), ALLOWED, ids=identify)
def test_what_is_allowed_is_left_alone(rule: rules.Rule, path: str, source: str, tmp_path: Path) -> None:
    assert violations(rule, tmp_path, path, source) == []


def test_a_violation_names_file_line_and_both_layers(tmp_path: Path) -> None:
    found = violations(rules.upward_imports, tmp_path, "io/local.py", "\n\nfrom tensorkeep.table import format\n")
    place = tmp_path / "tensorkeep" / "io" / "local.py"
    assert found == [f"{place}:3: io must not import table (tensorkeep.table.format)"]
