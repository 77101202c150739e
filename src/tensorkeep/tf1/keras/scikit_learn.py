"""`tf.keras.wrappers.scikit_learn`: models with the methods of scikit-learn's estimators, for its searches and scores.

A wrapper keeps a function that makes a compiled model, and arguments: for that function, and for the model's `fit`,
`predict` and `evaluate`. Each takes those that it has, and what is given when it is called goes before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from inspect import Parameter, isfunction, ismethod, signature
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.tf1.keras.engine.sequential import Sequential
from tensorkeep.tf1.keras.losses import CategoricalCrossentropy, categorical_crossentropy
from tensorkeep.tf1.keras.utils.arrays import to_categorical

if TYPE_CHECKING:
    import numpy.typing as npt

    from tensorkeep.tf1.keras.callbacks.base import History

Examples: TypeAlias = "npt.ArrayLike | Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike]"
"""What a model is called with: an array, several, or several by the names of inputs."""


class BaseWrapper:
    """What both wrappers share. `build_fn` makes the model; in a subclass a method `__call__` can do it."""

    model: Any

    def __init__(self, build_fn: Callable[..., Any] | None = None, **sk_params: object) -> None:
        self.build_fn = build_fn
        self.sk_params: dict[str, Any] = sk_params
        self.check_params(sk_params)

    def check_params(self, params: Mapping[str, Any]) -> None:
        """InvalidArgumentError if no function takes one of the arguments."""
        takers: list[Callable[..., Any]] = [Sequential.fit, Sequential.predict, Sequential.predict_classes]
        takers += [Sequential.evaluate, self._builder()]
        wrong = [name for name in params if not any(_takes(function, name) for function in takers)]
        if wrong:
            raise InvalidArgumentError(
                f"{', '.join(wrong)} is not a legal parameter: neither the function that makes the model nor the "
                f"model's fit, predict and evaluate take it"
            )

    def _builder(self) -> Callable[..., Any]:
        """The function that makes the model, whose arguments can be looked at."""
        if self.build_fn is None:
            if not callable(self):
                raise InvalidArgumentError(
                    f"{type(self).__name__} needs build_fn, a function that makes a compiled model, or __call__"
                )
            return self.__call__
        if isfunction(self.build_fn) or ismethod(self.build_fn) or isinstance(self.build_fn, type):
            return self.build_fn
        called: Callable[..., Any] = self.build_fn.__call__  # type: ignore[operator]
        return called

    def get_params(self, **params: object) -> dict[str, Any]:
        """All arguments by name."""
        return {**deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: object) -> BaseWrapper:
        """Changes arguments, the function among them."""
        given: dict[str, Any] = dict(params)
        if "build_fn" in given:
            self.build_fn = given.pop("build_fn")
        self.check_params(given)
        self.sk_params.update(given)
        return self

    def filter_sk_params(self, fn: Callable[..., Any], override: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The arguments that a function takes, and those that go before them."""
        kept = {name: value for name, value in self.sk_params.items() if _takes(fn, name)}
        return {**kept, **(override or {})}

    def fit(self, x: Examples, y: npt.ArrayLike, **kwargs: object) -> History:
        """Makes a new model and trains it: its history."""
        builder = self._builder()
        self.model = builder(**self.filter_sk_params(builder))
        labels = np.asarray(y)
        if _is_of_classes(self.model.loss) and labels.ndim != 2:
            labels = to_categorical(labels)
        options = deepcopy(self.filter_sk_params(Sequential.fit))
        history: History = self.model.fit(x, labels, **{**options, **kwargs})
        return history

    def _trained(self) -> Any:
        if not hasattr(self, "model"):
            raise FailedPreconditionError(f"this {type(self).__name__} has no model yet: call fit first")
        return self.model


class KerasClassifier(BaseWrapper):
    """A model of classes. Labels are any values, or rows of zeros with a one."""

    classes_: Array
    n_classes_: int

    def fit(self, x: Examples, y: npt.ArrayLike, **kwargs: object) -> History:
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] > 1:
            self.classes_ = np.arange(labels.shape[1])
        elif labels.ndim == 1 or labels.ndim == 2:
            self.classes_, numbers = np.unique(labels, return_inverse=True)
            labels = numbers.reshape(labels.shape)
        else:
            raise InvalidArgumentError(f"Invalid shape for y: {labels.shape}; a label for each example, or a row")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, labels, **kwargs)

    def predict(self, x: Examples, **kwargs: object) -> Array:
        """The most likely class of each example."""
        options = self.filter_sk_params(Sequential.predict_classes, kwargs)
        found: Array = self.classes_[_classes(self._trained().predict(x, **options))]
        return found

    def predict_proba(self, x: Examples, **kwargs: object) -> Array:
        """The probabilities of all classes; where the model gives one, those of both."""
        found: Array = self._trained().predict(x, **self.filter_sk_params(Sequential.predict_proba, kwargs))
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def score(self, x: Examples, y: npt.ArrayLike, **kwargs: object) -> float:
        """The accuracy that the model measures."""
        model = self._trained()
        labels = np.searchsorted(self.classes_, np.asarray(y))
        if _is_of_classes(model.loss) and labels.ndim != 2:
            labels = to_categorical(labels, self.n_classes_)
        found = model.evaluate(x, labels, **self.filter_sk_params(Sequential.evaluate, kwargs))
        values = found if isinstance(found, list) else [found]
        for name, value in zip(model.metrics_names, values, strict=True):
            if name in ("accuracy", "acc"):
                return float(value)
        raise InvalidArgumentError(
            'The model is not configured to compute accuracy. You should pass `metrics=["accuracy"]` to the '
            f"`model.compile()` method. It has {', '.join(model.metrics_names)}"
        )


class KerasRegressor(BaseWrapper):
    """A model of numbers."""

    def predict(self, x: Examples, **kwargs: object) -> Array:
        """What the model gives for each example; where that is one number, without a dimension of its own."""
        found = np.asarray(self._trained().predict(x, **self.filter_sk_params(Sequential.predict, kwargs)))
        return np.squeeze(found, axis=-1) if found.shape[-1] == 1 else found

    def score(self, x: Examples, y: npt.ArrayLike, **kwargs: object) -> float:
        """The loss, below zero: so the best model has the highest score."""
        found = self._trained().evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -float(found[0] if isinstance(found, list) else found)


def _takes(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has an argument that can be given by that name."""
    found = signature(function).parameters.get(name)
    return found is not None and found.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def _classes(predictions: Array) -> Array:
    """The class of each example, by what a model predicts of it."""
    return predictions.argmax(axis=-1) if predictions.shape[-1] > 1 else (predictions > 0.5).astype(np.int32)


def _is_of_classes(loss: Any) -> bool:
    """Whether a loss takes rows of zeros with a one."""
    named = loss if isinstance(loss, str) else getattr(loss, "__name__", None)
    return isinstance(loss, CategoricalCrossentropy) or named == categorical_crossentropy.__name__
