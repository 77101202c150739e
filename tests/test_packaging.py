"""The wheel: what it says it may be installed on, and that it works where it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MANUAL = ROOT / "man" / "tensorkeep.1"
PARTS = ("src", "man", "setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md")


def run(*command: object, folder: Path) -> str:
    answer = subprocess.run(
        [str(part) for part in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert answer.returncode == 0, answer.stdout[-5000:]
    return answer.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a distribution is built from."""
    folder = tmp_path_factory.mktemp("source")
    for part in PARTS:
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "*.egg-info")
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        else:
            shutil.copy(ROOT / part, folder / part)
    return folder


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", "made")
    run(sys.executable, "-m", "pip", "wheel", *options, ".", folder=source)
    (made,) = (source / "made").iterdir()
    return made


def fresh_environment(python: str, folder: Path) -> Path:
    run(python, "-m", "venv", folder, folder=Path("/"))
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@pytest.mark.slow
def test_a_wheel_is_for_one_platform_and_every_version_of_python(wheel: Path) -> None:
    assert re.fullmatch(r"tensorkeep-[^-]+-py3-none-(linux|macosx|win)\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        (about,) = (name for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
        assert "Root-Is-Purelib: false" in archive.read(about).decode()
        libraries = [name for name in archive.namelist() if name.endswith((".so", ".pyd"))]
    assert len(libraries) == 1
    assert libraries[0].startswith("tensorkeep/native/_compiled.")


@pytest.mark.slow
def test_the_description_has_nothing_that_only_a_checkout_shows(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (about,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(about).decode()
    assert "Description-Content-Type: text/markdown" in text
    assert "# tensorkeep" in text
    assert not re.findall(r"\]\((?!https?:|#)[^)]*\)", text.partition("# tensorkeep")[2])


@pytest.mark.slow
def test_a_wheel_has_the_manual_page_where_man_looks_for_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (page,) = (name for name in archive.namelist() if name.endswith(".data/data/share/man/man1/tensorkeep.1"))
        assert archive.read(page) == MANUAL.read_bytes()


@pytest.mark.slow
def test_an_archive_of_the_source_has_the_manual_page(source: Path) -> None:
    run(sys.executable, "-c", "from setuptools import build_meta; build_meta.build_sdist('archive')", folder=source)
    (made,) = (source / "archive").iterdir()
    with tarfile.open(made) as archive:
        assert [name for name in archive.getnames() if name.endswith("/man/tensorkeep.1")]


def test_the_manual_page_is_what_the_commands_say_of_themselves() -> None:
    said = run(sys.executable, "-m", "tensorkeep", "man", folder=ROOT)
    assert said == MANUAL.read_text(encoding="utf-8"), 'the commands have changed: "make man" writes the page anew'


@pytest.mark.slow
def test_an_installed_wheel_opens_a_checkpoint_with_its_library(wheel: Path, tmp_path: Path) -> None:
    python = fresh_environment(sys.executable, tmp_path / "fresh")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, folder=tmp_path)
    # What it depends on is this environment's: what is tried here is the wheel.
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    installed = Path(run(python, "-c", where, folder=tmp_path).strip())
    (installed / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    shutil.copy(ROOT / "tools/check_installation.py", tmp_path)
    imported = run(python, "-c", "import tensorkeep; print(tensorkeep.__file__)", folder=tmp_path)
    assert imported.startswith(str(installed))
    run(python, "check_installation.py", folder=tmp_path)


def other_pythons() -> list[Any]:
    """The interpreters that the variable names; one that is skipped, and says why, if it names none."""
    named = os.environ.get("TENSORKEEP_OTHER_PYTHONS", "").split()
    reason = "TENSORKEEP_OTHER_PYTHONS names no other Python to install the wheel for"
    return list(named) or [pytest.param("none", marks=pytest.mark.skip(reason=reason))]


@pytest.mark.slow
@pytest.mark.parametrize("name", other_pythons())
def test_an_installed_wheel_works_with_other_versions_of_python(name: str, wheel: Path, tmp_path: Path) -> None:
    """Those that the variable names, such as "python3.10 python3.13"; their packages come from the package index."""
    python = fresh_environment(name, tmp_path / "fresh")
    run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel, folder=tmp_path)
    shutil.copy(ROOT / "tools/check_installation.py", tmp_path)
    run(python, "check_installation.py", folder=tmp_path)
