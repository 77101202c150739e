"""Paths of models and their training: `tensorflow.python.layers`, `training`, `summary`, `saved_model` and others.

Those of `keras` are here that are no namespaces.
"""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_TF: Final = {"tensorkeep.v1": "*"}
_TRAIN: Final = {"tensorkeep.v1.train": "*"}
_LAYERS: Final = {"tensorkeep.tf1.layers.input_spec": "InputSpec", "tensorkeep.v1.layers": "*"}
_SUMMARY: Final = {"tensorkeep.v1.summary": "*"}
_SAVER: Final = {
    "tensorkeep.tf1.training.savers.saver_graph": "BaseSaverBuilder BulkSaverBuilder",
    "tensorkeep.graph.saveable": "SaveableObject",
    "tensorkeep.v1.stored.checkpoints": "*",
    "tensorkeep.v1.meta_graph": "*",
    **_TRAIN,
}
_ONE_REPLICA: Final = {
    "tensorkeep.v1.internals.execution": """
        get_cross_replica_context get_loss_reduction get_replica_context get_strategy has_strategy
        in_cross_replica_context
    """,
}
_SAVEABLES: Final = {
    "tensorkeep.graph.saveable": "SaveSpec SaveableObject",
}
_PLAIN_TRAINING: Final = """
    adadelta adagrad adagrad_da adagrad_decay adagrad_decay_v2 adam adam_async basic_loops basic_session_run_hooks
    checkpoint_management checkpoint_utils coordinator device_setter ftrl gradient_descent input
    learning_rate_decay momentum optimizer proximal_adagrad proximal_gradient_descent queue_runner
    queue_runner_impl rmsprop server_lib session_manager session_run_hook supervisor
    sync_replicas_optimizer training warm_starting_util weight_decay_optimizers
"""
_SAVED_MODEL_SPACES: Final = """
    builder constants loader main_op signature_constants signature_def_utils tag_constants utils
"""
_SAVED_MODEL_PARTS: Final = {
    "builder_impl": "builder", "loader_impl": "loader", "main_op_impl": "main_op",
    "signature_def_utils_impl": "signature_def_utils", "utils_impl": "utils",
}  # fmt: skip

_KERAS_LAYERS: Final[Table] = {"tensorkeep.v1.keras.layers": "*"}
_LAYER_MODULES: Final = """
    advanced_activations convolutional convolutional_recurrent core cudnn_recurrent dense_attention embeddings local
    merge noise normalization pooling recurrent recurrent_v2 serialization wrappers
"""
_ENGINE: Final[Table] = {
    "tensorkeep.tf1.keras.engine.base_layer": "Layer",
    "tensorkeep.tf1.keras.engine.input_layer": "Input InputLayer",
    "tensorkeep.tf1.keras.engine.model": "Model",
    "tensorkeep.tf1.keras.engine.network": "Network",
    "tensorkeep.tf1.keras.engine.nodes": "Node",
    "tensorkeep.tf1.keras.engine.sequential": "Sequential",
    "tensorkeep.tf1.layers.input_spec": "InputSpec",
}
_ENGINE_MODULES: Final = "base_layer input_layer input_spec network node sequential topology training"

_OPTIMIZERS: Final[Table] = {
    "tensorkeep.tf1.keras.optimizers.optimizer": "OptimizerV2=Optimizer",
    "tensorkeep.v1.keras.optimizers": "*",
    "tensorkeep.v1.keras.optimizers.schedules": "*",
}
_OPTIMIZER_MODULES: Final = """
    adadelta adagrad adam adamax ftrl gradient_descent learning_rate_schedule nadam optimizer_v2 rmsprop
"""
_SAVED_KERAS: Final[Table] = {
    "tensorkeep.v1.internals.keras_parts": """
        load_weights_from_hdf5_group load_weights_from_hdf5_group_by_name save_weights_to_hdf5_group
    """,
    "tensorkeep.tf1.keras.engine.saving.model_files": "load_model_from_hdf5=load_model save_model_to_hdf5=save_model",
    "tensorkeep.v1.keras.models": "*",
}
_KERAS_UTILS: Final[Table] = {
    "tensorkeep.tf1.functions.control.control_flow": "constant_value=smart_constant_value smart_cond",
    "tensorkeep.tf1.keras.engine.summaries": "print_summary",
    "tensorkeep.tf1.keras.losses": "ReductionV2=Reduction",
    "tensorkeep.v1.internals.keras_parts": """
        convert_shapes count_params get_reachable_from_inputs is_tensor_or_tensor_list shape_type_conversion
    """,
    "tensorkeep.v1.keras.utils": "*",
}

LEARNING: Final[dict[str, Table]] = {
    "keras.backend_config": {"tensorkeep.v1.keras.backend": "*"},
    "keras.callbacks_v1": {"tensorkeep.v1.keras.callbacks": "*"},
    "keras.optimizer_v2": _OPTIMIZERS,
    **{f"keras.optimizer_v2.{name}": _OPTIMIZERS for name in _OPTIMIZER_MODULES.split()},
    "keras.saving": _SAVED_KERAS,
    **{f"keras.saving.{name}": _SAVED_KERAS for name in ("hdf5_format", "model_config", "save")},
    **{
        f"keras.utils.{name}": _KERAS_UTILS
        for name in ("io_utils", "layer_utils", "losses_utils", "multi_gpu_utils", "tf_utils", "vis_utils")
    },
    "keras.engine": _ENGINE,
    **{f"keras.engine.{name}": _ENGINE for name in _ENGINE_MODULES.split()},
    **{f"keras.layers.{name}": _KERAS_LAYERS for name in _LAYER_MODULES.split()},
    "keras.utils.conv_utils": {"tensorkeep.v1.internals.layers": "*"},
    "keras.utils.data_utils": {"tensorkeep.v1.keras.utils": "*"},
    "keras.utils.generic_utils": {"tensorkeep.v1.keras.utils": "*"},
    "keras.utils.np_utils": {"tensorkeep.v1.keras.utils": "*"},
    "python.layers": _LAYERS,
    **{f"python.layers.{name}": _LAYERS for name in ["convolutional", "core", "layers", "normalization", "pooling"]},
    "python.layers.base": _LAYERS,
    "python.layers.utils": {
        "tensorkeep.tf1.functions.control.control_flow": "constant_value=smart_constant_value smart_cond",
        "tensorkeep.v1.internals.layers": """
            convert_data_format conv_input_length conv_output_length deconv_output_length normalize_data_format
            normalize_padding normalize_tuple
        """,
    },
    "python.saved_model": {"tensorkeep.v1.saved_model": "*"},
    "python.saved_model.saved_model": {"tensorkeep.v1.saved_model": "*"},
    "python.saved_model.simple_save": {"tensorkeep.v1.stored.saved_models": "simple_save"},
    **{
        f"python.saved_model.{name}": {f"tensorkeep.v1.saved_model.{name}": "*"} for name in _SAVED_MODEL_SPACES.split()
    },
    **{
        f"python.saved_model.{name}": {f"tensorkeep.v1.saved_model.{space}": "*", "tensorkeep.v1.saved_model": "*"}
        for name, space in _SAVED_MODEL_PARTS.items()
    },
    "python.summary": _SUMMARY,
    "python.summary.summary": _SUMMARY,
    "python.summary.summary_iterator": {"tensorkeep.v1.learning.training": "summary_iterator"},
    "python.summary.writer": _SUMMARY,
    "python.summary.writer.event_file_writer": {"tensorkeep.tf1.training.loops.events": "EventFileWriter"},
    "python.summary.writer.writer": _SUMMARY,
    "python.summary.writer.writer_cache": _SUMMARY,
    "python.training": _TRAIN,
    **{f"python.training.{name}": {**_TRAIN, **_TF} for name in _PLAIN_TRAINING.split()},
    "python.training.monitored_session": {
        "tensorkeep.tf1.training.loops.monitored": """
            _CoordinatedSession _HookedSession _MonitoredSession=BaseMonitoredSession _RecoverableSession
            _WrappedSession
        """,
        **_TRAIN,
        **_TF,
    },
    "python.training.training_util": {
        "tensorkeep.tf1.variables.global_step": """
            _get_or_create_global_step_read=global_step_read _increment_global_step=increment_global_step
        """,
        **_TRAIN,
        **_TF,
    },
    "python.training.summary_io": {
        "tensorkeep.tf1.training.loops.events": "SummaryWriterCache=FileWriterCache",
        **_SUMMARY,
        **_TRAIN,
    },
    "python.training.distribute": _ONE_REPLICA,
    "python.training.distribution_strategy_context": _ONE_REPLICA,
    "python.distribute.distribution_strategy_context": _ONE_REPLICA,
    "python.distribute.group_embedding_collective_strategy": {
        "tensorkeep.v1.learning.collective": "CollectiveStrategy"
    },
    "python.training.evaluation": {
        "tensorkeep.v1.contrib.training": """
            _StopAfterNEvalsHook=StopAfterNEvalsHook _evaluate_once=evaluate_once
            _get_or_create_eval_step=get_or_create_eval_step
        """,
    },
    "python.training.incremental_saver": {
        "tensorkeep.v1.stored.incremental": """
            IncrementalSaver SUB_INCR_CKPT_DIR _get_incremental_saver=get_incremental_saver
        """,
    },
    "python.training.moving_averages": {
        "tensorkeep.tf1.training.optimizers.moving_averages": "ExponentialMovingAverage assign_moving_average",
    },
    "python.training.saver": _SAVER,
    "python.training.saveable_object": _SAVEABLES,
    "python.training.saving.saveable_object": _SAVEABLES,
    "python.training.saving.saveable_object_util": {
        "tensorkeep.tf1.variables.saveable": "op_list_to_dict=named_saveables saveable_objects_for_op=saveables_for",
    },
    "python.training.slot_creator": {
        "tensorkeep.tf1.training.optimizers.slots": "create_slot create_slot_with_initializer create_zeros_slot",
    },
    "python.training.tracking.base": {
        "tensorkeep.tf1.training.objects.trackable": "NoDependency Trackable=AutoTrackable"
    },
    "python.training.tracking.tracking": {"tensorkeep.tf1.training.objects.trackable": "AutoTrackable"},
    "python.training.tracking.util": {"tensorkeep.v1.stored.objects": "Checkpoint"},
    "python.module.module": {"tensorkeep.tf1.training.objects.module": "Module"},
}
