"""Paths of what is around a model: `tensorflow.python.data`, `lib`, `platform`, `tools`, `util` and others."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_TF: Final = {"tensorkeep.v1": "*"}
_DATA: Final = {
    "tensorkeep.tf1.datasets.dataset": "DatasetV1=Dataset DatasetV1Adapter=Dataset DatasetV2=Dataset",
    "tensorkeep.v1.data": "*",
}
_DATA_EXPERIMENTAL: Final = {"tensorkeep.v1.data.experimental": "*"}
_NEST: Final = {"tensorkeep.v1.internals.nesting": "*", "tensorkeep.v1.nest": "*"}
_READER: Final = {
    "tensorkeep.tf1.training.loops.events": "EventsWriter",
    "tensorkeep.v1.stored.checkpoints": "CheckpointReader NewCheckpointReader",
    "tensorkeep.v1.errors": "*",
}
_BUILD: Final = {
    "tensorkeep.v1.versions": """
        CXX11_ABI_FLAG MONOLITHIC_BUILD build_info cuda_build_info get_compile_flags get_include get_lib get_link_flags
        is_cuda_build is_rocm_build
    """,
}
_PROFILER: Final = {
    "tensorkeep.v1.profiling": "FLOAT_OPS_OPTIONS TRAINABLE_VARS_PARAMS_STAT_OPTIONS print_model_analysis",
    "tensorkeep.v1.profiler": "*",
}
_DATA_OPS: Final = """
    batching cardinality counter enumerate_ops error_ops get_single_element grouping interleave_ops iterator_ops
    parsing_ops prefetching_ops random_ops readers resampling scan_ops shuffle_ops take_while_ops unique writers
"""

_AS_IT_IS: Final = {"tensorkeep.v1.internals.decorators": "do_not_convert"}

SURROUNDINGS: Final[dict[str, Table]] = {
    "autograph.experimental": _AS_IT_IS,
    "contrib.autograph": _AS_IT_IS,
    "python.autograph": _AS_IT_IS,
    "python.autograph.impl.api": _AS_IT_IS,
    "examples.tutorials.mnist": {},
    "examples.tutorials.mnist.input_data": {"tensorkeep.tf1.training.inputs.mnist_files": "*"},
    "examples.tutorials.mnist.mnist": {"tensorkeep.tf1.training.mnist_network": "*"},
    "python.compat.compat": {"tensorkeep.v1.compatibility": "forward_compatibility_horizon forward_compatible"},
    "python.data": _DATA,
    "python.data.experimental": _DATA_EXPERIMENTAL,
    **{f"python.data.experimental.ops.{name}": _DATA_EXPERIMENTAL for name in _DATA_OPS.split()},
    "python.data.experimental.ops.dataframe": {
        "tensorkeep.tf1.datasets.data_frames": "DataFrame input_fields to_sparse unbatch_and_to_sparse",
    },
    "python.data.experimental.ops.parquet_dataset_ops": {
        "tensorkeep.tf1.datasets.data_frames": "DataFrame",
        "tensorkeep.tf1.datasets.parquet_files": "ParquetDataset read_parquet",
    },
    "python.data.ops.dataset_ops": _DATA,
    "python.data.ops.iterator_ops": _DATA,
    "python.data.ops.readers": _DATA,
    "python.data.util.nest": _NEST,
    "python.lib.io": {},
    "python.lib.io.file_io": {"tensorkeep.v1.internals.file_io": "*"},
    "python.lib.io.python_io": {"tensorkeep.v1.python_io": "*"},
    "python.lib.io.tf_record": {"tensorkeep.v1.python_io": "*"},
    "python.platform": {"tensorkeep.v1": "app flags gfile resource_loader test tf_logging=logging"},
    "python.platform.app": {"tensorkeep.v1.app": "*"},
    "python.platform.benchmark": {"tensorkeep.v1.test": "Benchmark"},
    "python.platform.build_info": _BUILD,
    "python.platform.flags": {"tensorkeep.v1.flags": "*"},
    "python.platform.gfile": {"tensorkeep.v1.gfile": "*"},
    "python.platform.googletest": {"tensorkeep.v1.internals.test_helpers": "*", "tensorkeep.v1.test": "*"},
    "python.platform.resource_loader": {"tensorkeep.v1.resource_loader": "*"},
    "python.platform.sysconfig": _BUILD,
    "sysconfig": _BUILD,
    "python.platform.test": {"tensorkeep.v1.test": "*"},
    "python.platform.tf_logging": {"tensorkeep.v1.logging": "*"},
    "contrib.tfprof": _PROFILER,
    "contrib.tfprof.model_analyzer": _PROFILER,
    "python.profiler": _PROFILER,
    "python.profiler.model_analyzer": _PROFILER,
    "python.profiler.option_builder": _PROFILER,
    "python.pywrap_tensorflow": _READER,
    "python.pywrap_tensorflow_internal": _READER,
    "python.tools": {},
    "python.tools.freeze_graph": {"tensorkeep.tools.freeze_graph": "*"},
    "python.tools.inspect_checkpoint": {"tensorkeep.tools.inspect_checkpoint": "*"},
    "python.tools.optimize_for_inference_lib": {"tensorkeep.v1.stored.graph_defs": "optimize_for_inference"},
    "python.tools.saved_model_cli": {"tensorkeep.tools.saved_model_cli": "*"},
    "python.tools.strip_unused_lib": {"tensorkeep.v1.stored.graph_defs": "strip_unused"},
    "python.util": {},
    "python.util.all_util": {"tensorkeep.v1.internals.decorators": "make_all remove_undocumented"},
    "python.util.compat": {"tensorkeep.v1.compat": "*"},
    "python.util.deprecation": {"tensorkeep.v1.internals.decorators": "*"},
    "python.util.function_utils": {"tensorkeep.v1.internals.decorators": "fn_args has_kwargs"},
    "python.util.keyword_args": {"tensorkeep.v1.internals.decorators": "keyword_args_only"},
    "python.util.lazy_loader": {"tensorkeep.v1.internals.decorators": "LazyLoader"},
    "python.util.nest": _NEST,
    "python.util.object_identity": {"tensorkeep.v1.internals.identity": "ObjectIdentityDictionary ObjectIdentitySet"},
    "python.util.tf_contextlib": {"contextlib": "contextmanager"},
    "python.util.tf_decorator": {"tensorkeep.v1.internals.decorators": "make_decorator unwrap"},
    "python.util.tf_export": {"tensorkeep.v1.internals.decorators": "estimator_export keras_export tf_export"},
    "python.util.tf_inspect": {"tensorkeep.v1.internals.inspection": "*", "inspect": "*"},
    "python.util.tf_should_use": {"tensorkeep.v1.internals.decorators": "should_use_result"},
}
