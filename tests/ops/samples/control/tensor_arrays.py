"""Where stacks and arrays of tensors are shown: each takes several nodes."""

from __future__ import annotations

from typing import Any

SAMPLES: dict[str, list[Any]] = {}

_FILE = "tests/ops/control/test_tensor_arrays.py"
_SHOWN = {
    "": "test_writing_and_reading",
    "Write": "test_writing_and_reading",
    "Read": "test_writing_and_reading",
    "Gather": "test_writing_and_reading",
    "Scatter": "test_writing_and_reading",
    "Size": "test_writing_and_reading",
    "Split": "test_splitting_and_joining",
    "Concat": "test_splitting_and_joining",
    "Grad": "test_gradients_add_up_and_are_zero_elsewhere",
    "Close": "test_closing",
}

ELSEWHERE = {
    **{
        f"TensorArray{what}{version}": f"{_FILE}::{test}"
        for what, test in _SHOWN.items()
        for version in ("", "V2", "V3")
    },
    "TensorArrayGradWithShape": f"{_FILE}::test_gradients_may_have_more_dimensions",
    "TensorArrayPack": f"{_FILE}::test_packing_and_unpacking_of_the_first_generation",
    "TensorArrayUnpack": f"{_FILE}::test_packing_and_unpacking_of_the_first_generation",
    **{
        f"Stack{what}{version}": f"{_FILE}::test_a_stack_gives_back_the_last_value_first"
        for what in ("", "Push", "Pop")
        for version in ("", "V2")
    },
    **{f"StackClose{version}": f"{_FILE}::test_an_empty_or_closed_stack_has_nothing" for version in ("", "V2")},
}
