"""Whether the library is there, and what happens where it is not."""

from __future__ import annotations

import _ctypes
import ctypes
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.native import library
from tests.native.implementations import present


@pytest.fixture(autouse=True)
def _looked_for_anew() -> Iterator[None]:
    library.native.cache_clear()
    yield
    library.native.cache_clear()


@pytest.mark.usefixtures("native")
def test_the_library_is_built_wherever_these_tests_run() -> None:
    assert present().state == "in use"


def test_the_environment_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.SWITCH, "0")
    assert library.native() == library.Native(None, "turned off by TENSORKEEP_NATIVE=0")


@pytest.mark.parametrize("value", ["", "1", "yes"])
@pytest.mark.usefixtures("native")
def test_nothing_else_in_the_environment_does(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(library.SWITCH, value)
    assert library.native().library is not None


def test_where_it_was_not_built_it_says_why_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(library.SWITCH, raising=False)
    monkeypatch.setattr(library, "find_spec", lambda name: None)
    found = library.native()
    assert found.library is None
    assert "not built, for want of a C++ compiler" in found.state
    assert "reinstall" in found.state


def test_a_file_that_is_no_library_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "_compiled.abi3.so"
    path.write_bytes(b"\x7fELF, or so it says")
    _found_at(monkeypatch, str(path))
    found = library.native()
    assert found.library is None
    assert found.state.startswith("cannot be loaded: ")


def test_another_library_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    _found_at(monkeypatch, _ctypes.__file__)
    found = library.native()
    assert found.library is None
    assert "tensorkeep_interface" in found.state


@pytest.mark.usefixtures("native")
def test_a_library_that_was_built_from_other_source_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_INTERFACE", library._INTERFACE + 1)
    library.native.cache_clear()
    with pytest.warns(UserWarning, match="the native library is out of date: .*; reinstall tensorkeep"):
        found = library.native()
    assert library.native() is found  # it is said but once
    assert found.library is None
    assert f"interface {library._INTERFACE - 1}, expected {library._INTERFACE}" in found.state


@pytest.mark.parametrize("array", [np.zeros((3, 4))[:, ::2], np.broadcast_to(np.float64(1), (3,))])
def test_an_array_that_cannot_be_written_to_as_it_is_has_no_address(array: np.ndarray) -> None:
    with pytest.raises((TypeError, ValueError), match=r"contiguous|writable"):
        library.address(array)


@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (2, 0)])
def test_the_address_is_that_of_the_elements(shape: tuple[int, ...]) -> None:
    array = np.ones(shape)
    assert ctypes.addressof(library.address(array)) == array.ctypes.data
    assert ctypes.addressof(library.readable(array)) == array.ctypes.data


def test_what_is_only_read_is_copied_if_need_be() -> None:
    array = np.arange(12.0).reshape(3, 4).T
    place = library.readable(array)
    copy = (ctypes.c_double * 12).from_address(ctypes.addressof(place))
    np.testing.assert_array_equal(np.array(copy).reshape(4, 3), array)


def _found_at(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    class Spec:
        origin = path

    monkeypatch.delenv(library.SWITCH, raising=False)
    monkeypatch.setattr(library, "find_spec", lambda name: Spec)
