# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.agreement import (
    cohen_kappa, count, streaming_concat, streaming_covariance, streaming_pearson_correlation,
)
from tensorkeep.tf1.contrib.areas import auc_using_histogram, auc_with_confidence_intervals, streaming_dynamic_auc
from tensorkeep.tf1.contrib.metrics import (
    accuracy, aggregate_metric_map, aggregate_metrics, sparse_recall_at_top_k, streaming_accuracy, streaming_auc,
    streaming_false_negative_rate, streaming_false_negatives, streaming_false_negatives_at_thresholds,
    streaming_false_positive_rate, streaming_false_positives, streaming_false_positives_at_thresholds,
    streaming_mean_absolute_error, streaming_mean_cosine_distance, streaming_mean_iou, streaming_mean_relative_error,
    streaming_mean_squared_error, streaming_precision, streaming_precision_at_thresholds, streaming_recall,
    streaming_recall_at_k, streaming_recall_at_thresholds, streaming_root_mean_squared_error,
    streaming_sensitivity_at_specificity, streaming_sparse_average_precision_at_k,
    streaming_sparse_average_precision_at_top_k, streaming_sparse_precision_at_k, streaming_sparse_precision_at_top_k,
    streaming_sparse_recall_at_k, streaming_specificity_at_sensitivity, streaming_true_negatives,
    streaming_true_negatives_at_thresholds, streaming_true_positives, streaming_true_positives_at_thresholds,
)
from tensorkeep.tf1.contrib.threshold_metrics import (
    f1_score, precision_at_recall, precision_recall_at_equal_thresholds, recall_at_precision, streaming_curve_points,
    streaming_false_negative_rate_at_thresholds, streaming_false_positive_rate_at_thresholds,
)
from tensorkeep.tf1.functions.arrays.counting import confusion_matrix
from tensorkeep.tf1.functions.numbers.sets import set_difference, set_intersection, set_size, set_union
from tensorkeep.tf1.training.metrics.means import (
    mean as streaming_mean, mean_tensor as streaming_mean_tensor, percentage_below as streaming_percentage_less,
)

__all__ = [
    "accuracy", "aggregate_metric_map", "aggregate_metrics", "auc_using_histogram", "auc_with_confidence_intervals",
    "cohen_kappa", "confusion_matrix", "count", "f1_score", "precision_at_recall",
    "precision_recall_at_equal_thresholds", "recall_at_precision", "set_difference", "set_intersection", "set_size",
    "set_union", "sparse_recall_at_top_k", "streaming_accuracy", "streaming_auc", "streaming_concat",
    "streaming_covariance", "streaming_curve_points", "streaming_dynamic_auc", "streaming_false_negative_rate",
    "streaming_false_negative_rate_at_thresholds", "streaming_false_negatives",
    "streaming_false_negatives_at_thresholds", "streaming_false_positive_rate",
    "streaming_false_positive_rate_at_thresholds", "streaming_false_positives",
    "streaming_false_positives_at_thresholds", "streaming_mean", "streaming_mean_absolute_error",
    "streaming_mean_cosine_distance", "streaming_mean_iou", "streaming_mean_relative_error",
    "streaming_mean_squared_error", "streaming_mean_tensor", "streaming_pearson_correlation",
    "streaming_percentage_less", "streaming_precision", "streaming_precision_at_thresholds", "streaming_recall",
    "streaming_recall_at_k", "streaming_recall_at_thresholds", "streaming_root_mean_squared_error",
    "streaming_sensitivity_at_specificity", "streaming_sparse_average_precision_at_k",
    "streaming_sparse_average_precision_at_top_k", "streaming_sparse_precision_at_k",
    "streaming_sparse_precision_at_top_k", "streaming_sparse_recall_at_k", "streaming_specificity_at_sensitivity",
    "streaming_true_negatives", "streaming_true_negatives_at_thresholds", "streaming_true_positives",
    "streaming_true_positives_at_thresholds",
]
