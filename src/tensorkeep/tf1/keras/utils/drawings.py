"""Pictures of models by Graphviz, which are refused: `tensorkeep view` draws saved models."""

from __future__ import annotations

from typing import Any, NoReturn

from tensorkeep.errors import UnimplementedError


def _refuse(name: str) -> NoReturn:
    raise UnimplementedError(
        f"{name} draws with Graphviz, which this package does not use: model.summary() lists the layers, and "
        "`tensorkeep view` draws a saved model"
    )


def plot_model(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Draws a model in TensorFlow; here it is refused."""
    _refuse("plot_model")


def model_to_dot(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Describes a model to Graphviz in TensorFlow; here it is refused."""
    _refuse("model_to_dot")
