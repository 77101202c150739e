"""What tests that start a Ray cluster in their own process have in common."""

from __future__ import annotations

from typing import Final

import pytest

STARTS_RAY: Final = pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")
"""Ray forks to start its processes, each of which becomes another program at once. JAX, if a test before imported it,
warns of every fork: of a child that goes on with Python, which might wait for a thread that is not there."""
