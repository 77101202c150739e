"""Samples of what goes with functional branches. The branches and loops themselves need functions to call."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import sample, strings

SAMPLES = {
    "ToBool": [
        *(sample(value) for value in (np.bool_(True), np.bool_(False), np.int32(0), np.int64(-3), np.float32(0.0))),
        *(
            sample(value)
            for value in (np.float64(np.nan), np.zeros((0, 1), np.float16), np.zeros(0, np.float32), np.zeros((2, 3)))
        ),
        *(sample(value) for value in (strings(b""), strings(b"no"), strings([b""]))),
        *(sample(value, fails=True) for value in (np.float16(2.0), np.complex64(1), np.uint16(1))),
    ],
    "FakeParam": [
        sample(dtype="float32", shape=[2, 0]),
        sample(dtype="int32", shape=[0]),
        sample(dtype="string", shape=[0, 3]),
        sample(dtype="float64", shape=[0, 0]),
    ],
    "DeviceIndex": [sample(device_names=names) for names in (["GPU", "CPU"], ["CPU"], ["TPU", "GPU"])],
}

_CALLS = "tests/interop/test_functional.py::test_functions_of_tensorflow_2_give_its_results"
_GRADIENTS = "tests/interop/test_function_gradients.py::test_gradients_of_calls_are_tensorflows_nodes_and_values"

ELSEWHERE = {
    "BatchFunction": "tests/interop/test_batching.py",
    "If": "tests/interop/test_functional.py::test_if_takes_conditions_of_any_type_as_tensorflow_does",
    "StatelessIf": _CALLS,
    "Case": "tests/runtime/test_calling.py::test_a_case_takes_its_last_branch_for_an_index_beyond_them",
    "StatelessCase": _CALLS,
    "While": "tests/runtime/test_calling.py::test_a_loop_calls_its_functions",
    "StatelessWhile": _CALLS,
    "For": "tests/interop/test_functional.py::test_for_counts_as_tensorflow_counts",
    "PartitionedCall": _CALLS,
    "SymbolicGradient": _GRADIENTS,
    "StatefulPartitionedCall": "tests/runtime/test_calling.py::test_what_keeps_state_in_a_function_always_runs",
}
