"""Namespaces of estimators: `tf.estimator` and what is below it, `tf.tpu`, and `tf.contrib` beside them."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_TPU: Final[Table] = {
    "tensorkeep.tf1.estimators.tpu": """
        CrossShardOptimizer InputPipelineConfig TPUConfig batch_parallel bfloat16_scope cross_replica_sum
        core initialize_system outside_compilation repeat=repeat_steps replicate rewrite shard shutdown_system
        while_loop=while_steps
    """,
    "tensorkeep.tf1.training.loops.recording_hooks": "AsyncCheckpointSaverHook=CheckpointSaverHook",
    "tensorkeep.v1.learning.estimators": "RunConfig=TPURunConfig TPUEstimator TPUEstimatorSpec",
}

ESTIMATORS: Final[dict[str, Table]] = {
    "contrib.cluster_resolver": {
        "tensorkeep.tf1.contrib.small_spaces": "SimpleClusterResolver",
        "tensorkeep.tf1.estimators.tpu": "TPUClusterResolver",
    },
    "contrib.estimator": {
        "tensorkeep.tf1.estimators.early_stopping": """
            make_early_stopping_hook read_eval_metrics stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook
            stop_if_no_increase_hook
        """,
        "tensorkeep.tf1.estimators.evaluating_hooks": """
            InMemoryEvaluatorHook export_all_saved_models export_saved_model_for_mode
            make_stop_at_checkpoint_step_hook
        """,
        "tensorkeep.tf1.estimators.extending": """
            TowerOptimizer=tower_optimizer add_metrics call_logit_fn clip_gradients_by_norm forward_features
            replicate_model_fn
        """,
        "tensorkeep.v1.learning.estimators": """
            BaselineEstimator DNNEstimator DNNLinearCombinedEstimator LinearEstimator dnn_logit_fn_builder
            linear_logit_fn_builder binary_classification_head=BinaryClassHead
            logistic_regression_head=LogisticRegressionHead
            multi_class_head=MultiClassHead multi_head=MultiHead multi_label_head=MultiLabelHead
            poisson_regression_head=PoissonRegressionHead regression_head=RegressionHead
        """,
    },
    "contrib.distribute": {
        "tensorkeep.tf1.estimators.strategies": "MirroredStrategy OneDeviceStrategy",
    },
    "contrib.feature_column": {
        "tensorkeep.tf1.columns.sequence": """
            concatenate_context_input sequence_categorical_column_with_hash_bucket
            sequence_categorical_column_with_identity sequence_categorical_column_with_vocabulary_file
            sequence_categorical_column_with_vocabulary_list sequence_input_layer sequence_numeric_column
        """,
    },
    "contrib.tpu": _TPU,
    "estimator": {
        "tensorkeep.tf1.estimators.extending": "add_metrics",
        "tensorkeep.tf1.estimators.keys": "ModeKeys",
        "tensorkeep.tf1.estimators.parsing": "classifier_parse_example_spec regressor_parse_example_spec",
        "tensorkeep.tf1.training.loops.hooks": """
            FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError NanTensorHook
            SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook SessionRunValues StopAtStepHook
        """,
        "tensorkeep.tf1.training.loops.profiling_hooks": "ProfilerHook",
        "tensorkeep.tf1.training.loops.recording_hooks": """
            CheckpointSaverHook CheckpointSaverListener StepCounterHook SummarySaverHook
        """,
        "tensorkeep.tf1.training.savers.warm_starting": "VocabInfo",
        "tensorkeep.v1.learning.estimators": """
            BaselineClassifier BaselineEstimator BaselineRegressor BestExporter BinaryClassHead DNNClassifier
            DNNEstimator DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor DNNRegressor
            Estimator EstimatorSpec EvalSpec Exporter FinalExporter Head LatestExporter LinearClassifier LinearEstimator
            LinearRegressor LogisticRegressionHead MultiClassHead MultiHead MultiLabelHead PoissonRegressionHead
            RegressionHead RunConfig TrainSpec WarmStartSettings train_and_evaluate
        """,
    },
    "estimator.experimental": {
        "tensorkeep.tf1.estimators.early_stopping": """
            make_early_stopping_hook stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook
            stop_if_no_increase_hook
        """,
        "tensorkeep.tf1.estimators.evaluating_hooks": "InMemoryEvaluatorHook make_stop_at_checkpoint_step_hook",
        "tensorkeep.tf1.estimators.extending": "call_logit_fn",
        "tensorkeep.tf1.estimators.receivers": "build_raw_supervised_input_receiver_fn",
        "tensorkeep.v1.learning.estimators": "dnn_logit_fn_builder linear_logit_fn_builder",
    },
    "estimator.export": {
        "tensorkeep.tf1.estimators.export_outputs": """
            ClassificationOutput EvalOutput ExportOutput PredictOutput RegressionOutput
        """,
        "tensorkeep.tf1.estimators.receivers": """
            ServingInputReceiver TensorServingInputReceiver build_parsing_serving_input_receiver_fn
            build_raw_serving_input_receiver_fn
        """,
    },
    "estimator.inputs": {
        "tensorkeep.tf1.estimators.inputs": "numpy_input_fn pandas_input_fn",
    },
    "estimator.tpu": {
        "tensorkeep.tf1.estimators.tpu": "InputPipelineConfig TPUConfig",
        "tensorkeep.v1.learning.estimators": "RunConfig=TPURunConfig TPUEstimator TPUEstimatorSpec",
    },
    "tpu": {
        "tensorkeep.tf1.estimators.tpu": """
            CrossShardOptimizer batch_parallel bfloat16_scope cross_replica_sum initialize_system
            outside_compilation replicate rewrite shard shutdown_system
        """,
    },
}

ABOUT_ESTIMATORS: Final = {
    "contrib.cluster_resolver": "clusters that are told, and TPUs, of which there are none",
    "contrib.estimator": "heads and hooks, under their older names",
    "contrib.feature_column": "columns of sequences",
    "contrib.tpu": "TPU estimators, which run on the CPU",
    "estimator": "models as functions, trained, evaluated, asked and exported from a folder",
    "estimator.experimental": "parts of canned models, and inputs of exported graphs that train",
    "estimator.export": "what exported models are fed, and what they offer",
    "estimator.inputs": "inputs of arrays and data frames",
    "estimator.tpu": "TPU estimators, which run on the CPU",
    "tpu": "TPUs, for which the CPU stands in",
}
"""What the namespaces are for, for `help`."""
