"""Ops on variables and kept tensors keep state: where they are shown."""

from __future__ import annotations

_OPS = "tests/interop/test_state_ops.py"
_KINDS = ("", "Resource")
_SCATTERS = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max", "NdUpdate", "NdAdd", "NdSub", "NdMin", "NdMax")

SAMPLES: dict[str, list[object]] = {}

ELSEWHERE = {
    **{
        f"{kind}Scatter{scatter}": f"{_OPS}::test_scattered_updates_equal_tensorflows"
        for kind in _KINDS
        for scatter in _SCATTERS
    },
    **dict.fromkeys(
        ("VariableV2", "Assign", "AssignAdd", "AssignSub", "VarHandleOp", "ReadVariableOp", "AssignVariableOp"),
        f"{_OPS}::test_assignments_equal_tensorflows",
    ),
    "AssignAddVariableOp": f"{_OPS}::test_assignments_equal_tensorflows",
    "AssignSubVariableOp": f"{_OPS}::test_assignments_equal_tensorflows",
    "Variable": f"{_OPS}::test_the_first_kind_of_variable_has_no_shape_when_it_has_no_dimensions",
    "TemporaryVariable": f"{_OPS}::test_a_temporary_variable_gives_its_value_when_destroyed",
    "DestroyTemporaryVariable": f"{_OPS}::test_a_temporary_variable_gives_its_value_when_destroyed",
    "IsVariableInitialized": f"{_OPS}::test_variables_know_whether_they_are_initialized",
    "VarIsInitializedOp": f"{_OPS}::test_variables_know_whether_they_are_initialized",
    "DestroyResourceOp": f"{_OPS}::test_a_destroyed_variable_is_not_initialized",
    "DisableCopyOnRead": f"{_OPS}::test_a_read_without_copy_is_a_read",
    **dict.fromkeys(
        ("GetSessionHandle", "GetSessionTensor", "DeleteSessionTensor"),
        "tests/interop/test_session_tensors.py::test_a_tensor_is_found_by_its_handle_until_it_is_deleted",
    ),
    "GetSessionHandleV2": "tests/v1/test_session_tensors.py::test_a_handle_of_the_second_kind_is_fetched_as_one",
    "VariableShape": f"{_OPS}::test_the_shape_of_a_variable_is_that_of_its_value",
    "CountUpTo": f"{_OPS}::test_counting_ends_at_the_limit",
    "ResourceCountUpTo": f"{_OPS}::test_counting_ends_at_the_limit",
    "ResourceGather": f"{_OPS}::test_gathered_rows_equal_tensorflows",
    "ResourceGatherNd": f"{_OPS}::test_gathered_elements_equal_tensorflows",
}
