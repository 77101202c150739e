"""Whole models: replicas on several devices, of which there is one, and pictures by Graphviz, which are refused.

A model is its own replica. `tensorkeep view` draws saved models.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NoReturn

from tensorkeep.errors import InvalidArgumentError, UnimplementedError

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model


def multi_gpu_model(model: Model, gpus: int | list[int], cpu_merge: bool = True, cpu_relocation: bool = False) -> Model:
    """The model itself: its batches are not cut, and the results are those of a model on several devices."""
    count = len(gpus) if isinstance(gpus, list | tuple) else gpus
    if count <= 1:
        raise InvalidArgumentError(
            f"For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`, not {gpus}"
        )
    warnings.warn(
        f"multi_gpu_model: there is one device, not {count}; the model is trained on it, its batches in one piece",
        stacklevel=2,
    )
    return model


def _refuse(name: str) -> NoReturn:
    raise UnimplementedError(
        f"{name} draws with Graphviz, which this package does not use: model.summary() lists the layers, and "
        "`tensorkeep view` draws a saved model"
    )


def plot_model(model: object, *args: object, **kwargs: object) -> NoReturn:
    """Draws a model in TensorFlow; here it is refused."""
    _refuse("plot_model")


def model_to_dot(model: object, *args: object, **kwargs: object) -> NoReturn:
    """Describes a model to Graphviz in TensorFlow; here it is refused."""
    _refuse("model_to_dot")
