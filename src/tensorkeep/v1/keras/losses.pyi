# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.losses import (
    BinaryCrossentropy, CategoricalCrossentropy, CategoricalHinge, CosineSimilarity, Hinge, Huber, KLD, KLDivergence,
    LogCosh, Loss, MAE, MAPE, MSE, MSLE, MeanAbsoluteError, MeanAbsolutePercentageError, MeanSquaredError,
    MeanSquaredLogarithmicError, Poisson, SparseCategoricalCrossentropy, SquaredHinge, binary_crossentropy,
    categorical_crossentropy, categorical_hinge, cosine, cosine_proximity, cosine_similarity, deserialize, get, hinge,
    kl_divergence, kld, kullback_leibler_divergence, logcosh, logcosh as log_cosh, mae, mape, mean_absolute_error,
    mean_absolute_percentage_error, mean_squared_error, mean_squared_logarithmic_error, mse, msle, poisson, serialize,
    sparse_categorical_crossentropy, squared_hinge,
)
from tensorkeep.tf1.keras.weighting import Reduction

__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "CosineSimilarity", "Hinge", "Huber", "KLD",
    "KLDivergence", "LogCosh", "Loss", "MAE", "MAPE", "MSE", "MSLE", "MeanAbsoluteError",
    "MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson", "Reduction",
    "SparseCategoricalCrossentropy", "SquaredHinge", "binary_crossentropy", "categorical_crossentropy",
    "categorical_hinge", "cosine", "cosine_proximity", "cosine_similarity", "deserialize", "get", "hinge",
    "kl_divergence", "kld", "kullback_leibler_divergence", "log_cosh", "logcosh", "mae", "mape", "mean_absolute_error",
    "mean_absolute_percentage_error", "mean_squared_error", "mean_squared_logarithmic_error", "mse", "msle", "poisson",
    "serialize", "sparse_categorical_crossentropy", "squared_hinge",
]
