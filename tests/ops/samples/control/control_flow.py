"""Where the ops of branches and loops are shown: none of them makes sense alone."""

from __future__ import annotations

from typing import Any

SAMPLES: dict[str, list[Any]] = {}

ELSEWHERE = {
    "RefIdentity": "tests/ops/control/test_tensor_arrays.py::test_a_reference_is_passed_on",
    "RefSelect": "tests/ops/control/test_tensor_arrays.py::test_a_reference_is_passed_on",
    "Abort": "tests/ops/control/test_tensor_arrays.py::test_abort_ends_the_run",
}
