"""Models as estimators of scikit-learn: arguments where they belong, labels of any kind, scores, and copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError

keras: Any = tf.keras
wrappers: Any = keras.wrappers.scikit_learn
DRAWN = np.random.default_rng(1)
X = DRAWN.normal(size=(90, 2)).astype("f")
SIDES = np.where(X[:, 0] > 0, "right", "left")
CORNERS = 2 * (X[:, 0] > 0) + (X[:, 1] > 0)


@pytest.fixture(autouse=True)
def session() -> Any:
    keras.backend.clear_session()
    tf.set_random_seed(1)
    np.random.seed(1)
    yield
    keras.backend.clear_session()


def model_of(
    outputs: int, activation: str, loss: Any, rate: float = 0.1, metrics: tuple[str, ...] = ("accuracy",)
) -> Any:
    model = keras.Sequential([keras.layers.Dense(outputs, activation=activation, input_shape=(2,))])
    model.compile(keras.optimizers.Adam(rate), loss, metrics=list(metrics))
    return model


def two_sides(rate: float = 0.1) -> Any:
    return model_of(1, "sigmoid", "binary_crossentropy", rate)


@pytest.mark.parametrize("loss", ["categorical_crossentropy", "sparse_categorical_crossentropy", "object"])
def test_a_classifier_learns_labels_of_any_kind(loss: Any) -> None:
    def corners() -> Any:
        return model_of(4, "softmax", keras.losses.CategoricalCrossentropy() if loss == "object" else loss)

    names = np.array([30, 10, 20, 40])[CORNERS]
    classifier = wrappers.KerasClassifier(corners, epochs=40, batch_size=30, verbose=0)
    history = classifier.fit(X, names)
    assert len(history.history["loss"]) == 40
    assert classifier.classes_.tolist() == [10, 20, 30, 40]
    assert classifier.n_classes_ == 4
    predicted = classifier.predict(X)
    assert predicted.shape == (90,)
    score = np.mean(predicted == names)
    assert score > 0.9
    np.testing.assert_allclose(classifier.score(X, names), score, atol=1e-6)
    assert classifier.score(X[:5], names[:5]) == np.mean(predicted[:5] == names[:5])
    probabilities = classifier.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(classifier.classes_[probabilities.argmax(1)], predicted)


def test_a_classifier_of_two_classes_has_the_probabilities_of_both() -> None:
    classifier = wrappers.KerasClassifier(build_fn=two_sides, epochs=30, verbose=0)
    classifier.fit(X, SIDES)
    assert classifier.classes_.tolist() == ["left", "right"]
    predicted = classifier.predict(X, batch_size=7)
    assert predicted.shape == (90, 1)  # as in TensorFlow 1.15
    assert np.mean(predicted[:, 0] == SIDES) > 0.9
    probabilities = classifier.predict_proba(X)
    assert probabilities.shape == (90, 2)
    np.testing.assert_array_equal(probabilities[:, 1] > 0.5, predicted[:, 0] == "right")


def test_rows_of_zeros_with_a_one_are_labels_too() -> None:
    classifier = wrappers.KerasClassifier(lambda: model_of(4, "softmax", "categorical_crossentropy"), epochs=30)
    classifier.fit(X, np.eye(4)[CORNERS], verbose=0)
    assert classifier.classes_.tolist() == [0, 1, 2, 3]
    assert np.mean(classifier.predict(X) == CORNERS) > 0.9
    with pytest.raises(InvalidArgumentError, match="Invalid shape for y"):
        classifier.fit(X, np.zeros((90, 1, 1)))


def test_a_regressor_predicts_numbers_and_scores_by_its_loss() -> None:
    y = X @ [1.0, -2.0] + 0.5
    regressor = wrappers.KerasRegressor(
        lambda rate: model_of(1, "linear", "mse", rate, ()), rate=0.1, epochs=60, verbose=0
    )
    regressor.fit(X, y)
    predicted = regressor.predict(X)
    assert predicted.shape == (90,)
    np.testing.assert_allclose(regressor.score(X, y), -np.mean((predicted - y) ** 2), rtol=1e-4, atol=1e-8)
    assert regressor.score(X, y) > -0.2


def test_arguments_go_where_they_are_taken_and_those_of_a_call_before_them() -> None:
    rates = []

    def build(rate: float = 0.1) -> Any:
        rates.append(rate)
        return two_sides(rate)

    classifier = wrappers.KerasClassifier(build, rate=0.01, epochs=3, batch_size=90, verbose=0)
    assert classifier.filter_sk_params(build) == {"rate": 0.01}
    assert classifier.filter_sk_params(keras.Sequential.predict, {"steps": 2}) == {
        "batch_size": 90, "verbose": 0, "steps": 2,
    }  # fmt: skip
    assert len(classifier.fit(X, SIDES, epochs=2).epoch) == 2
    assert classifier.get_params() == {"rate": 0.01, "epochs": 3, "batch_size": 90, "verbose": 0, "build_fn": build}
    # What scikit-learn's `clone` and searches do: a new one of the same arguments, some of which are changed then.
    copied = type(classifier)(**classifier.get_params()).set_params(rate=0.5, epochs=1)
    assert len(copied.fit(X, SIDES).epoch) == 1
    assert rates == [0.01, 0.5]
    assert classifier.get_params()["epochs"] == 3
    for wrong in ({"nb_epoch": 3}, {"learning": 1, "epochs": 2}):
        with pytest.raises(InvalidArgumentError, match=r"(nb_epoch|learning) is not a legal parameter"):
            wrappers.KerasClassifier(build, **wrong)
    with pytest.raises(InvalidArgumentError, match="depth is not a legal"):
        classifier.set_params(depth=3)


def test_what_makes_models_is_a_function_an_object_a_method_or_the_wrapper() -> None:
    class Maker:
        def __call__(self, rate: float = 0.1) -> Any:
            return two_sides(rate)

        def make(self, rate: float = 0.1) -> Any:
            return two_sides(rate)

    class Mine(wrappers.KerasClassifier):  # type: ignore[misc]
        def __call__(self, rate: float = 0.1) -> Any:
            return two_sides(rate)

    for made in (
        wrappers.KerasClassifier(Maker(), rate=0.2, verbose=0),
        wrappers.KerasClassifier(Maker().make, rate=0.2, verbose=0),
        Mine(rate=0.2, verbose=0),
    ):
        made.fit(X, SIDES)
        assert keras.backend.get_value(made.model.optimizer.lr) == np.float32(0.2)
    with pytest.raises(InvalidArgumentError, match="needs build_fn"):
        wrappers.KerasRegressor()


def test_a_wrapper_without_a_model_or_accuracy_says_so() -> None:
    classifier = wrappers.KerasClassifier(lambda: model_of(1, "sigmoid", "mse", metrics=()), verbose=0)
    for method in (classifier.predict_proba, lambda x: classifier.score(x, SIDES)):
        with pytest.raises(FailedPreconditionError, match="call fit first"):
            method(X)
    classifier.fit(X, SIDES)
    with pytest.raises(InvalidArgumentError, match="not configured to compute accuracy"):
        classifier.score(X, SIDES)


def test_dilated_transposed_convolutions_are_of_images_with_one_rate() -> None:
    layers = keras.layers
    with pytest.raises(InvalidArgumentError, match="only those of images"):
        layers.Conv3DTranspose(1, 2, dilation_rate=2)(keras.Input((3, 3, 3, 1)))
    with pytest.raises(InvalidArgumentError, match="to be equal to each other"):
        layers.Conv2DTranspose(1, 2, dilation_rate=(1, 2))(keras.Input((3, 3, 1)))
    with pytest.raises(InvalidArgumentError, match="not supported in conjunction"):
        layers.Conv2DTranspose(1, 2, strides=2, dilation_rate=2)
