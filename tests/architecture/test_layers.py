"""The layers and the exclusive rights of folders, checked on the source as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.architecture import rules

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def modules() -> Sequence[rules.Module]:
    loaded = rules.load(REPOSITORY / "src")
    assert loaded, "there is no source to look at"
    return loaded


def expect_none(violations: list[str]) -> None:
    assert not violations, "\n".join(["", *violations])


def test_every_layer_stands_on_earlier_ones_only() -> None:
    earlier: set[str] = set()
    for layer, below in rules.STANDS_ON.items():
        assert earlier.issuperset(below), layer
        earlier.add(layer)


def test_every_folder_is_a_layer(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.unlisted_layers(modules))


def test_imports_lead_to_lower_layers_only(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.upward_imports(modules))


def test_names_that_are_imported_when_asked_for_are_of_lower_layers_or_of_the_package_itself(
    modules: Sequence[rules.Module],
) -> None:
    expect_none(rules.upward_names(modules))


def test_no_function_imports_a_module_of_ours(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.imports_in_functions(modules))


def test_no_star_imports(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.star_imports(modules))


def test_only_io_touches_the_operating_system(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.file_access(modules))


def test_only_proto_imports_the_protobuf_runtime(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.protobuf_imports(modules))


def test_only_v1_keeps_ambient_defaults(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.ambient_defaults(modules))


def test_only_the_command_line_prints(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.prints(modules))


def test_only_the_command_line_the_server_and_the_facade_configure_logging(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.logging_configuration(modules))


def test_a_private_module_is_used_in_its_folder_only(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.private_modules(modules))


def test_the_facade_is_thin(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.thick_facade(modules))


def test_nothing_needs_a_python_newer_than_the_oldest_promised(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.newer_python(modules))


def test_nothing_imports_tensorflow(modules: Sequence[rules.Module]) -> None:
    expect_none(rules.tensorflow_imports(modules))


def test_of_the_tests_only_those_of_interoperation_import_tensorflow() -> None:
    tests = rules.load(REPOSITORY, package="tests", mentioning=b"tensorflow")
    expect_none(rules.tensorflow_imports([module for module in tests if module.layer != "interop"]))
