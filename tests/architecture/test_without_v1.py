"""`tensorkeep.v1` may be deleted: everything else imports and works without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import rules
from tests.support import facade

pytestmark = pytest.mark.slow  # all of them together

ROOT = Path(__file__).resolve().parents[2]
# Quick files of every layer above checkpoints: building and running graphs, savers, training, meta graphs, and
# SavedModels loaded and exported. They run again without the facade; that nothing imports it is known by the syntax.
SELECTED = (
    "graph/test_building.py",
    "runtime/test_session.py",
    "tf1/functions/test_control_flow.py",
    "tf1/variables/test_variable.py",
    "tf1/layers/test_layers.py",
    "metagraph/test_exporting_and_importing.py",
    "saving/test_applying.py",
    "tf1/training/test_monitored.py",
    "saving/test_saver.py",
    "tf1/saved_model/test_builder.py",
    "tf1/saved_model/test_session_loading.py",
    "saved_model/load/test_model_loading.py",
    "tf1/saved_model/test_object_exporting.py",
)


def run(*command: str) -> tuple[int, str]:
    """Runs Python as if the facade were not there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment = {**kept, facade.WITHOUT: "1"}
    result = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("import tensorkeep.v1 as tf", True),
        ("from tensorkeep import v1", True),
        ("from tensorkeep.v1.sessions import Session", True),
        ("def f():\n    import tensorkeep.v1", True),
        ("from tests import programs", True),
        ("from tests.programs import build", True),
        ("from tests.indirect import build", True),
        ("import tensorkeep\nfrom tensorkeep.checkpoint import v1", False),
        ("from tests.plain import build", False),
    ],
)
def test_a_test_that_needs_the_facade_is_known_by_its_imports(source: str, needed: bool, tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "programs.py").write_text("import tensorkeep.v1")
    (folder / "indirect.py").write_text("from tests.programs import build\nfrom tests.test_it import x")
    (folder / "plain.py").write_text("from tests.plain import build")
    file = folder / "test_it.py"
    file.write_text(source)
    assert facade.needs_facade(file, tmp_path) is needed


def test_the_tests_of_the_facade_are_marked(pytestconfig: pytest.Config) -> None:
    assert facade.needs_facade(ROOT / "tests" / "v1" / "test_sessions.py")
    assert facade.needs_facade(ROOT / "tests" / "v1" / "test_logging.py")  # which has it imported by other processes
    assert not facade.needs_facade(Path(__file__))
    assert any(line.startswith("v1:") for line in pytestconfig.getini("markers"))


def test_every_other_module_imports_without_it() -> None:
    modules = [module for module in rules.load(ROOT / "src") if module.layer.split(".")[0] not in ("v1", "cli")]
    names = [module.name.removesuffix(".__init__") for module in modules]
    script = (
        "import importlib, sys\n"
        f"sys.modules[{facade.FACADE!r}] = None\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        "print(len(sys.modules))"
    )
    code, output = run("-c", script)
    assert code == 0, output


def test_the_selection_has_files_of_every_layer_that_do_without_the_facade() -> None:
    files = [ROOT / "tests" / name for name in SELECTED]
    assert [str(file) for file in files if not file.is_file() or facade.needs_facade(file)] == []
    above_checkpoints = rules.may_import("saved_model.export") - rules.may_import("edit")
    with_tests = {layer for layer in above_checkpoints if (ROOT / "tests" / layer).is_dir()}
    assert with_tests - {Path(name).parts[0] for name in SELECTED} <= {
        "ops",
        "onnx",
        "jax",
        "devices",
    }  # which say nothing about the facade


def test_the_selected_tests_pass_without_it() -> None:
    # Not those that kill a writer before each of its changes: they take most of the time, and run elsewhere.
    without_kills = ("-k", "not killed and not crash")
    files = [str(ROOT / "tests" / name) for name in SELECTED]
    code, output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *without_kills, *files)
    assert code == 0, output
    assert "passed" in output
    assert "skipped" not in output


def test_a_test_that_needs_it_is_left_out_and_would_fail() -> None:
    code, output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/v1")
    assert code == pytest.ExitCode.NO_TESTS_COLLECTED, output
    code, output = run("-c", "from tests.support import facade; facade.hide(); import tensorkeep.v1")
    assert "ModuleNotFoundError" in output
