"""What `import tensorkeep` offers is what it lists, documented, and cheap to import."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tensorkeep
from tools import write_stubs

pytestmark = pytest.mark.slow  # all of them together


def is_public(name: str, value: object) -> bool:
    """Whether a name is part of what the package offers. Its own submodules are not: they are there to be imported."""
    if name.startswith("_") or value is annotations:  # left behind by `from __future__ import annotations`
        return False
    return not (isinstance(value, ModuleType) and value.__name__ == f"tensorkeep.{name}")


def test_the_list_is_sorted_and_without_repetition() -> None:
    assert list(tensorkeep.__all__) == sorted(set(tensorkeep.__all__))


def test_every_listed_name_exists() -> None:
    assert [name for name in tensorkeep.__all__ if not hasattr(tensorkeep, name)] == []


def test_every_public_name_is_listed() -> None:
    reachable = {name for name in dir(tensorkeep) if is_public(name, getattr(tensorkeep, name))}
    assert reachable == {name for name in tensorkeep.__all__ if not name.startswith("_")}


def test_the_version_is_that_of_the_distribution() -> None:
    assert tensorkeep.__version__ == importlib.metadata.version("tensorkeep")


STUBS = write_stubs.stubs()


@pytest.mark.parametrize("name", tensorkeep.__all__)
def test_every_public_class_and_function_says_what_it_is(name: str) -> None:
    value = getattr(tensorkeep, name)
    if inspect.isclass(value):
        documentation = vars(value).get("__doc__") or ""
        assert not documentation.startswith(f"{value.__name__}("), "that is the signature a dataclass writes by itself"
        assert documentation.strip()
    elif callable(value):
        assert (value.__doc__ or "").strip()


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = {"tensorflow", "keras", "rich", "hypothesis", "pytest"}
    script = f"import sys, tensorkeep; print(sorted({heavy!r} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


@pytest.mark.parametrize("place", STUBS, ids=str)
def test_the_stub_of_a_package_is_what_its_table_says(place: Path) -> None:
    stub = write_stubs.SOURCE / place
    assert stub.is_file(), "run tools/write_stubs.py"
    assert stub.read_text(encoding="utf-8") == STUBS[place], "run tools/write_stubs.py"


def test_there_is_no_stub_without_a_table() -> None:
    written = {path.relative_to(write_stubs.SOURCE) for path in (write_stubs.SOURCE / "tensorkeep").rglob("*.pyi")}
    assert {path for path in written if "_generated" not in path.parts} == set(STUBS)


def test_importing_the_package_imports_nothing_but_itself() -> None:
    script = (
        "import sys, tensorkeep\n"
        "print(sorted(name for name in sys.modules if name.startswith(('tensorkeep', 'numpy', 'google'))))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "['tensorkeep', 'tensorkeep._lazy']\n"


@pytest.mark.parametrize(
    "name", ["checkpoint", "convert", "edit", "embedding", "errors", "inspect", "io", "saved_model"]
)
def test_its_parts_are_reached_through_it_and_offered_for_completion(name: str) -> None:
    script = f"import tensorkeep; print({name!r} in dir(tensorkeep), tensorkeep.{name}.__name__)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == f"True tensorkeep.{name}\n"
