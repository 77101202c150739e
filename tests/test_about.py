"""What tensorkeep says of itself."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

import tensorkeep
from tensorkeep.native.library import native


def test_it_tells_versions_and_whether_compiled_code_is_in_use() -> None:
    found = tensorkeep.about()
    assert found.version == tensorkeep.__version__
    assert found.numpy == np.__version__
    assert found.native == (native().library is not None)
    assert found.protobuf[0].isdigit()


def test_it_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        tensorkeep.about().native = True  # type: ignore[misc]


def test_without_compiled_code_one_line_says_so() -> None:
    environment = {**os.environ, "TENSORKEEP_NATIVE": "0"}
    command = [sys.executable, "-c", "import tensorkeep; print(tensorkeep.about())"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.endswith("native library: turned off by TENSORKEEP_NATIVE=0\n")
    assert result.stdout.count("\n") == 1
