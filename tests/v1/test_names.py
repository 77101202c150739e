"""TensorFlow's names: where the tables say, imported when they are first asked for, and known to editors."""

from __future__ import annotations

import importlib.util
import inspect
import json
import pickle
import pydoc
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import mypy.api
import pytest

import tensorkeep.v1 as tf
from tensorkeep.v1.tables import ABOUT, SPACES

ROOT = Path(__file__).resolve().parents[2]
NAMESPACES = sorted(SPACES)


def namespace(path: str) -> Any:
    found: Any = tf
    for name in filter(None, path.split(".")):
        found = getattr(found, name)
    return found


def run(program: str) -> str:
    """What a program prints that starts with nothing imported."""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("path", NAMESPACES)
def test_every_name_of_a_table_is_where_it_says(path: str) -> None:
    space = namespace(path)
    assert [name for name in space.__all__ if not hasattr(space, name)] == []
    assert list(space.__all__) == sorted(set(space.__all__))
    assert set(space.__all__) <= set(dir(space))


@pytest.mark.parametrize("path", sorted(ABOUT))
def test_a_namespace_is_a_module_that_can_be_imported(path: str) -> None:
    space = namespace(path)
    assert isinstance(space, ModuleType)
    assert importlib.import_module(f"tensorkeep.v1.{path}") is space
    assert importlib.util.find_spec(f"tensorkeep.v1.{path}") is space.__spec__
    assert (space.__doc__ or "").startswith(f"`tf.{path}`: ")


def test_every_namespace_says_what_it_is_for() -> None:
    assert set(ABOUT) == set(SPACES) - {""}


def test_every_way_to_import_leads_to_the_same() -> None:
    printed = run(
        "import tensorkeep.v1.train\n"
        "import tensorkeep.v1.nn as nn\n"
        "import tensorkeep.v1.io.gfile\n"
        "from tensorkeep.v1 import math, train\n"
        "from tensorkeep.v1.train import Saver\n"
        "from tensorkeep.v1.saved_model import tag_constants\n"
        "import tensorkeep.v1 as tf\n"
        "print(train is tf.train, Saver is tf.train.Saver, nn is tf.nn, math is tf.math,\n"
        "      tensorkeep.v1.io.gfile is tf.io.gfile, tag_constants is tf.saved_model.tag_constants)"
    )
    assert printed.split() == ["True"] * 6


@pytest.mark.parametrize("module", ["tensorkeep.v1", "tensorkeep.v1.train", "tensorkeep.v1.io.gfile"])
def test_a_star_takes_all_that_is_listed(module: str) -> None:
    space: dict[str, object] = {}
    exec(f"from {module} import *", space)
    assert space.keys() - {"__builtins__"} == set(sys.modules[module].__all__)


def test_functions_and_classes_say_what_they_are() -> None:
    assert list(inspect.signature(tf.reduce_sum).parameters)[:2] == ["input_tensor", "axis"]
    assert "features" in pydoc.render_doc(tf.nn.relu)
    assert "reduce_sum" in pydoc.render_doc(tf.math, renderer=pydoc.plaintext)
    for item in (tf.reshape, tf.train.Saver, tf.Session, tf.saved_model.Builder):
        assert pickle.loads(pickle.dumps(item)) is item


def test_what_is_not_there_is_told_with_what_to_use_instead() -> None:
    with pytest.raises(AttributeError, match=r"module 'tensorkeep\.v1\.nn' has no attribute 'nonsense'"):
        _ = tf.nn.nonsense
    with pytest.raises(AttributeError, match=r"tf\.lite"):
        _ = tf.lite
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from tensorkeep.v1.train import nonsense")
    assert not hasattr(tf, "__wrapped__")


def test_names_can_be_replaced_and_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.train, "Saver", 1)
    assert tf.train.Saver == 1
    monkeypatch.undo()
    assert tf.train.Saver.__name__ == "Saver"


def test_what_is_not_asked_for_is_not_imported() -> None:
    later = [
        "tensorkeep.v1.stored.saving",
        "tensorkeep.v1.stored.saved_models",
        "tensorkeep.tf1.training.optimizers.standard",
    ]
    assert run(f"import sys, tensorkeep.v1\nprint([name for name in {later} if name in sys.modules])") == "[]\n"


# What is registered while modules are imported, and is looked up by others. Ops are registered when a graph has one.
REGISTRIES = """
import importlib, json, sys
import tensorkeep.v1
from tensorkeep.v1.tables import SPACES

def size(value):
    return len(value) if isinstance(value, dict | list | set) else None

def sizes(modules):
    return {f"{name}.{key}": (size(value), [id(item) for item in value.values()] if isinstance(value, dict) else None)
            for name in modules for key, value in vars(sys.modules[name]).items()
            if size(value) is not None and not key.startswith("__")}

known = [name for name in sys.modules if name.startswith("tensorkeep.") and "_pb2" not in name]
before = sizes(known)
for table in SPACES.values():
    for module in table:
        importlib.import_module(module)
after = sizes(known)
print(json.dumps(sorted(key for key in before if before[key] != after[key])))
"""


def test_importing_more_names_changes_nothing_that_others_look_up() -> None:
    # Ops are registered, and their signatures read, when one is first asked for.
    found = {name.removeprefix("tensorkeep.graph.registry.opspec.") for name in json.loads(run(REGISTRIES))}
    assert found <= {"_REGISTRY", "_SIGNATURES"}


@pytest.mark.parametrize(
    "program",
    [
        "print((tf.ragged.constant([[1], []]) + 1).__class__.__name__)",
        "v = tf.Variable(1.0)\ntf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())\n"
        "message = tf.train.export_meta_graph()\ntf.reset_default_graph()\ntf.train.import_meta_graph(message)\n"
        "print(type(tf.get_collection(tf.GraphKeys.SAVERS)[0]).__name__)",
        "x = tf.SparseTensor([[0]], [2.0], [2])\nprint((x * [3.0, 1.0]).__class__.__name__)",
    ],
    ids=["ragged operators", "savers in collections", "sparse operators"],
)
def test_what_is_found_by_a_registry_is_there_at_once(program: str) -> None:
    expected = {"ragged": "RaggedTensor", "SAVERS": "Saver", "Sparse": "SparseTensor"}
    wanted = next(value for word, value in expected.items() if word in program)
    assert run(f"import tensorkeep.v1 as tf\n{program}") == f"{wanted}\n"


def test_type_checkers_know_names_and_signatures(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import tensorkeep.v1 as tf\n"
        "from tensorkeep.v1.io.gfile import exists\n"
        "x = tf.placeholder(tf.float32, [2])\n"
        "reveal_type(tf.reduce_sum)\n"
        "reveal_type(tf.math.reduce_sum(x))\n"
        "reveal_type(tf.train.Saver())\n"
        "reveal_type(tf.float32)\n"
        "tf.train.Saver(nonsense=1)\n"
        "tf.nn.nonsense\n"
        "tf.raw_ops.MatMul(a=x, b=x)\n"
    )
    output, errors, code = mypy.api.run(["--config-file", str(ROOT / "pyproject.toml"), str(file)])
    assert (errors, code) == ("", 1)
    lines = [line.partition(": ")[2] for line in output.splitlines()]
    assert 'note: Revealed type is "tensorkeep.tf1.functions.numbers.reductions.Reduction"' in lines
    assert lines.count('note: Revealed type is "tensorkeep.graph.graph.Tensor"') == 1
    assert 'note: Revealed type is "tensorkeep.v1.stored.saving.Saver"' in lines
    assert 'note: Revealed type is "tensorkeep.dtypes.DType"' in lines
    assert sorted(line for line in lines if line.startswith("error")) == [
        'error: Module has no attribute "nonsense"  [attr-defined]',
        'error: Unexpected keyword argument "nonsense" for "Saver"  [call-arg]',
    ]
