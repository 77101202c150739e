"""The committed modules are what the schemas compile to."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_tool(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, root / "tools" / "compile_protos.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A second repository that holds the schemas, the modules and the tool, and nothing else."""
    shutil.copytree(ROOT / "src/tensorkeep/proto", tmp_path / "src/tensorkeep/proto")
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/compile_protos.py", tmp_path / "tools")
    return tmp_path


def test_compiling_the_schemas_again_changes_nothing():
    result = run_tool(ROOT, "--check")
    assert result.returncode == 0, result.stderr


def test_a_changed_schema_is_noticed_until_it_is_compiled(copy):
    schema = copy / "src/tensorkeep/proto/schemas/example.proto"
    schema.write_text(schema.read_text("utf-8") + "message Novelty {}\n", "utf-8")
    result = run_tool(copy, "--check")
    assert result.returncode == 1
    assert [line.split()[0] for line in result.stderr.splitlines()] == [
        "tensorkeep/proto/_generated/example_pb2.py",
        "tensorkeep/proto/_generated/example_pb2.pyi",
    ]
    assert run_tool(copy).returncode == 0
    assert run_tool(copy, "--check").returncode == 0


def test_a_module_without_a_schema_is_noticed_until_it_is_removed(copy):
    orphan = copy / "src/tensorkeep/proto/_generated/orphan_pb2.py"
    orphan.touch()
    assert run_tool(copy, "--check").returncode == 1
    assert run_tool(copy).returncode == 0
    assert not orphan.exists()


def test_a_broken_schema_is_an_error_and_changes_nothing(copy):
    generated = copy / "src/tensorkeep/proto/_generated/example_pb2.py"
    before = generated.read_bytes()
    (copy / "src/tensorkeep/proto/schemas/example.proto").write_text("message {", "utf-8")
    result = run_tool(copy)
    assert result.returncode != 0
    assert "protoc rejected the schemas" in result.stderr
    assert generated.read_bytes() == before
