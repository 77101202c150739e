# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.testing import (
    Benchmark, StubOutForTesting, TestCase, assert_equal_graph_def, benchmark_config, compute_gradient,
    compute_gradient_error, create_local_cluster, get_temp_dir, gpu_device_name, is_built_with_cuda,
    is_built_with_gpu_support, is_built_with_rocm, is_built_with_xla, is_gpu_available, main, mock, test_src_dir_path,
)

__all__ = [
    "Benchmark", "StubOutForTesting", "TestCase", "assert_equal_graph_def", "benchmark_config", "compute_gradient",
    "compute_gradient_error", "create_local_cluster", "get_temp_dir", "gpu_device_name", "is_built_with_cuda",
    "is_built_with_gpu_support", "is_built_with_rocm", "is_built_with_xla", "is_gpu_available", "main", "mock",
    "test_src_dir_path",
]
