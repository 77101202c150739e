"""Tests of compiled code are left out where it has been turned off on purpose, and only there."""

from __future__ import annotations

import pytest

from tests.native.implementations import is_turned_off


@pytest.fixture
def native() -> None:
    """For tests that need the library."""
    if is_turned_off():
        pytest.skip("TENSORKEEP_NATIVE=0")
