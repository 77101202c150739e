"""What is deployed: the script of the container, and a server without the packages that it needs."""

from __future__ import annotations

import shutil
import subprocess
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tensorkeep.errors import UnimplementedError
from tensorkeep.serving.process import start
from tensorkeep.serving.process.options import ModelPlace, ServerOptions
from tensorkeep.serving.process.original_flags import options_of, parse_flags

ENTRY = Path(__file__).resolve().parents[3] / "deploy" / "serve_entrypoint.sh"
needs_shell = pytest.mark.skipif(shutil.which("sh") is None, reason="the script is one of a Unix shell")


def passed_on(*arguments: str, **variables: str) -> list[str]:
    """The arguments that the script of the container gives the server."""
    shell = str(shutil.which("sh"))
    found = subprocess.run([shell, ENTRY, *arguments], env=variables, capture_output=True, text=True, check=True)
    return found.stdout.splitlines()


@needs_shell
def test_the_script_of_the_container_has_the_conventions_of_the_original(tmp_path: Path) -> None:
    echo = tmp_path / "server"
    echo.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    echo.chmod(0o755)
    flags = passed_on("--model_config_file=/a b", TENSORKEEP_MODEL_SERVER=str(echo), MODEL_NAME="m")
    options = options_of(parse_flags(flags))
    assert (options.listening.grpc_port, options.listening.rest_port) == (8500, 8501)
    assert options.config_file == "/a b"
    flags = passed_on(TENSORKEEP_MODEL_SERVER=str(echo))
    assert options_of(parse_flags(flags)).models == (ModelPlace("model", "/models/model"),)
    flags = passed_on(TENSORKEEP_MODEL_SERVER=str(echo), MODEL_NAME="m", MODEL_BASE_PATH="/data")
    assert options_of(parse_flags(flags)).models == (ModelPlace("m", "/data/m"),)


def test_a_package_that_is_not_installed_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> ModuleSpec | None:
        return None if name == "httptools" else ModuleSpec(name, None)

    monkeypatch.setattr(start, "find_spec", find)
    with pytest.raises(UnimplementedError, match=r'\(httptools\): pip install "tensorkeep\[serve\]"$'):
        start.serve(ServerOptions())
