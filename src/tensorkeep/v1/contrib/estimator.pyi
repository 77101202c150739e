# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.early_stopping import (
    make_early_stopping_hook, read_eval_metrics, stop_if_higher_hook, stop_if_lower_hook, stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from tensorkeep.tf1.estimators.evaluating_hooks import (
    InMemoryEvaluatorHook, export_all_saved_models, export_saved_model_for_mode, make_stop_at_checkpoint_step_hook,
)
from tensorkeep.tf1.estimators.extending import (
    add_metrics, call_logit_fn, clip_gradients_by_norm, forward_features, replicate_model_fn,
    tower_optimizer as TowerOptimizer,
)
from tensorkeep.v1.learning.estimators import (
    BaselineEstimator, BinaryClassHead as binary_classification_head, DNNEstimator, DNNLinearCombinedEstimator,
    LinearEstimator, LogisticRegressionHead as logistic_regression_head, MultiClassHead as multi_class_head,
    MultiHead as multi_head, MultiLabelHead as multi_label_head, PoissonRegressionHead as poisson_regression_head,
    RegressionHead as regression_head, dnn_logit_fn_builder, linear_logit_fn_builder,
)

__all__ = [
    "BaselineEstimator", "DNNEstimator", "DNNLinearCombinedEstimator", "InMemoryEvaluatorHook", "LinearEstimator",
    "TowerOptimizer", "add_metrics", "binary_classification_head", "call_logit_fn", "clip_gradients_by_norm",
    "dnn_logit_fn_builder", "export_all_saved_models", "export_saved_model_for_mode", "forward_features",
    "linear_logit_fn_builder", "logistic_regression_head", "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook", "multi_class_head", "multi_head", "multi_label_head",
    "poisson_regression_head", "read_eval_metrics", "regression_head", "replicate_model_fn", "stop_if_higher_hook",
    "stop_if_lower_hook", "stop_if_no_decrease_hook", "stop_if_no_increase_hook",
]
