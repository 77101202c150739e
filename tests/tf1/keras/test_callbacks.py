"""Callbacks, with models that train and with ones that only pretend to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.tf1.keras.callbacks.steering import latest_file
from tensorkeep.tf1.training.loops.events import summary_iterator

keras = tf.keras
X = np.linspace(-1, 1, 32, dtype="float32").reshape(16, 2)
Y = X.sum(1, keepdims=True)


@pytest.fixture
def model() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session():
        made = keras.Sequential([keras.layers.Dense(1, input_shape=(2,), kernel_initializer="zeros")])
        made.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
        yield made


def _fit(model: Any, *callbacks: Any, epochs: int = 3, **options: Any) -> Any:
    return model.fit(X, Y, epochs=epochs, batch_size=8, verbose=0, callbacks=list(callbacks), **options)


def test_files_are_written_as_epochs_go_by(model: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    seen: list[int] = []
    history = _fit(
        model,
        keras.callbacks.CSVLogger(str(log)),
        keras.callbacks.TensorBoard(str(tmp_path / "events"), histogram_freq=1),
        keras.callbacks.ModelCheckpoint(str(tmp_path / "w{epoch:02d}"), save_weights_only=True),
        keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch)),
    )
    assert seen == [0, 1, 2]
    lines = log.read_text().splitlines()
    assert lines[0] == "epoch,loss,mean_absolute_error"
    assert [float(line.split(",")[1]) for line in lines[1:]] == pytest.approx(history.history["loss"])
    assert latest_file(str(tmp_path / "w{epoch:02d}")) == str(tmp_path / "w03")
    [events] = (tmp_path / "events").iterdir()
    tags = [value.tag for event in summary_iterator(str(events)) for value in event.summary.value]
    assert tags.count("epoch_loss") == 3
    assert any("kernel" in tag for tag in tags)
    _fit(model, keras.callbacks.CSVLogger(str(log), append=True), epochs=1)
    assert len(log.read_text().splitlines()) == 5


def test_a_training_ends_when_it_does_not_become_better(model: Any) -> None:
    stopping = keras.callbacks.EarlyStopping(monitor="loss", patience=2, min_delta=100.0, restore_best_weights=True)
    history = _fit(model, stopping, epochs=10)
    assert len(history.epoch) == 3
    assert stopping.stopped_epoch == 2
    model.optimizer.lr = 1e30
    history = _fit(model, keras.callbacks.TerminateOnNaN(), epochs=10)
    assert len(history.epoch) < 10


def test_learning_rates_change(model: Any) -> None:
    history = _fit(model, keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)))
    np.testing.assert_allclose(history.history["lr"], [0.1, 0.05, 0.1 / 3], rtol=1e-6)
    history = _fit(model, keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2), epochs=1)
    np.testing.assert_allclose(history.history["lr"], [0.1 / 6], rtol=1e-6)
    plateau = keras.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=100.0, min_lr=0.002)
    history = _fit(model, plateau, epochs=5)
    assert float(keras.backend.get_value(model.optimizer.lr)) == pytest.approx(0.002)
    with pytest.raises(InvalidArgumentError, match='"schedule" function should be float'):
        _fit(model, keras.callbacks.LearningRateScheduler(lambda epoch: "fast"))


def test_only_the_best_is_saved() -> None:
    saved: list[str] = []
    callback = keras.callbacks.ModelCheckpoint("m-{val_acc:.1f}", monitor="val_acc", save_best_only=True)
    callback.set_model(SimpleNamespace(save=lambda path, overwrite: saved.append(path)))
    for epoch, value in enumerate((0.5, 0.4, 0.7)):
        callback.on_epoch_end(epoch, {"val_acc": value})
    assert saved == ["m-0.5", "m-0.7"]
    other = keras.callbacks.ModelCheckpoint("m", monitor="val_acc", save_best_only=True)
    with pytest.warns(UserWarning, match="`val_acc` which is not available"):
        other.on_epoch_end(3, {"loss": 1.0})
    with pytest.raises(InvalidArgumentError, match="names 'val_acc', which is no measure"):
        callback._save_model(3, {"loss": 1.0})


def test_progress_is_shown(model: Any, capsys: pytest.CaptureFixture[str]) -> None:
    model.fit(X, Y, epochs=2, batch_size=8, verbose=1)
    shown = capsys.readouterr().out
    assert "Epoch 1/2" in shown
    assert "16/16 [==============================]" in shown
    assert "- loss: " in shown
    assert "- mean_absolute_error: " in shown


def test_a_bar_is_as_long_as_what_is_done(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(keras.utils.Progbar, "clock", staticmethod(lambda: now[0]))
    bar = keras.utils.Progbar(4, width=8, stateful_metrics=["last"])
    now[0] = 102.0
    bar.update(1, [("loss", 1.0), ("last", 5.0)])
    now[0] = 104.0
    bar.update(2, [("loss", 3.0), ("last", 6.0)])
    now[0] = 108.0
    bar.update(4, [("loss", 2.0), ("last", 7.0)])
    assert capsys.readouterr().out.splitlines() == [
        "1/4 [=>......] - ETA: 6s - loss: 1.0000 - last: 5.0000",
        "2/4 [===>....] - ETA: 4s - loss: 2.0000 - last: 6.0000",
        "4/4 [========] - 8s 2s/step - loss: 2.0000 - last: 7.0000",
    ]
    bar = keras.utils.Progbar(2, verbose=2)
    bar.add(1, [("loss", 1e-5)])
    bar.add(1, [("loss", 1e-5)])
    assert capsys.readouterr().out == "2/2 - 0s 0us/step - loss: 1.0000e-05\n"


def test_what_is_not_written_is_refused() -> None:
    with pytest.raises(UnimplementedError, match=r"TensorBoard\(write_images\)"):
        keras.callbacks.TensorBoard(write_images=True)
    with pytest.raises(UnimplementedError, match="RemoteMonitor"):
        keras.callbacks.RemoteMonitor()
    with pytest.raises(InvalidArgumentError, match=r"factor >= 1\.0"):
        keras.callbacks.ReduceLROnPlateau(factor=1.5)
    with pytest.raises(InvalidArgumentError, match="save_freq"):
        keras.callbacks.ModelCheckpoint("x", save_freq="day")
