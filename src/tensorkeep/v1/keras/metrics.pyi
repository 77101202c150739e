# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.losses import (
    KLD, MAE, MAPE, MSE, MSLE, binary_crossentropy, categorical_crossentropy, hinge, kl_divergence, kld,
    kullback_leibler_divergence, logcosh, logcosh as log_cosh, mae, mape, mean_absolute_error,
    mean_absolute_percentage_error, mean_squared_error, mean_squared_logarithmic_error, mse, msle, poisson,
    sparse_categorical_crossentropy, squared_hinge,
)
from tensorkeep.tf1.keras.metrics.accuracies import (
    Accuracy, BinaryAccuracy, CategoricalAccuracy, SparseCategoricalAccuracy, SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy, binary_accuracy, categorical_accuracy, sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy, top_k_categorical_accuracy,
)
from tensorkeep.tf1.keras.metrics.base import Mean, MeanTensor, Metric, Sum
from tensorkeep.tf1.keras.metrics.by_name import deserialize, get, serialize
from tensorkeep.tf1.keras.metrics.confusion import (
    AUC, FalseNegatives, FalsePositives, MeanIoU, Precision, Recall, SensitivityAtSpecificity,
    SpecificityAtSensitivity, TrueNegatives, TruePositives,
)
from tensorkeep.tf1.keras.metrics.errors import (
    BinaryCrossentropy, CategoricalCrossentropy, CategoricalHinge, CosineSimilarity, Hinge, KLDivergence, LogCoshError,
    MeanAbsoluteError, MeanAbsolutePercentageError, MeanRelativeError, MeanSquaredError, MeanSquaredLogarithmicError,
    Poisson, RootMeanSquaredError, SparseCategoricalCrossentropy, SquaredHinge, cosine_proximity,
    cosine_proximity as cosine,
)

__all__ = [
    "AUC", "Accuracy", "BinaryAccuracy", "BinaryCrossentropy", "CategoricalAccuracy", "CategoricalCrossentropy",
    "CategoricalHinge", "CosineSimilarity", "FalseNegatives", "FalsePositives", "Hinge", "KLD", "KLDivergence",
    "LogCoshError", "MAE", "MAPE", "MSE", "MSLE", "Mean", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanIoU", "MeanRelativeError", "MeanSquaredError", "MeanSquaredLogarithmicError", "MeanTensor", "Metric",
    "Poisson", "Precision", "Recall", "RootMeanSquaredError", "SensitivityAtSpecificity", "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy", "SparseTopKCategoricalAccuracy", "SpecificityAtSensitivity", "SquaredHinge",
    "Sum", "TopKCategoricalAccuracy", "TrueNegatives", "TruePositives", "binary_accuracy", "binary_crossentropy",
    "categorical_accuracy", "categorical_crossentropy", "cosine", "cosine_proximity", "deserialize", "get", "hinge",
    "kl_divergence", "kld", "kullback_leibler_divergence", "log_cosh", "logcosh", "mae", "mape", "mean_absolute_error",
    "mean_absolute_percentage_error", "mean_squared_error", "mean_squared_logarithmic_error", "mse", "msle", "poisson",
    "serialize", "sparse_categorical_accuracy", "sparse_categorical_crossentropy", "sparse_top_k_categorical_accuracy",
    "squared_hinge", "top_k_categorical_accuracy",
]
