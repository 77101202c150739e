"""Incremental checkpoints put over a model that is being served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep.serving.life.configuration import one_model
from tensorkeep.serving.life.deltas import refresh_deltas
from tensorkeep.serving.life.loading import LoadOptions, ends_of, load_servable
from tensorkeep.serving.life.options import LifeOptions, ModelExtras
from tensorkeep.serving.life.served_models import ServedModels
from tensorkeep.serving.models import ModelAsked
from tensorkeep.serving.servables import Servable
from tests.saved_model.test_increments import KEYS, trained  # noqa: F401 - a fixture

LOADING = LoadOptions(make_runner=lambda servable: None, mapped=True)  # type: ignore[arg-type, return-value]


def scores(servable: Servable) -> Any:
    signature = servable.signature_defs["serving_default"]
    ends = ends_of(signature)
    assert ends is not None
    results = dict(zip(ends.fetches, servable.compute(ends, [np.array(KEYS)]), strict=True))
    return results[signature.outputs["scores"].name]


def test_the_newest_delta_is_put_over_a_model_once(trained: Any) -> None:  # noqa: F811
    place, delta, before, after = trained
    folder = str(Path(delta).parent)
    servable = load_servable("m", 1, str(place), LOADING)
    np.testing.assert_array_equal(scores(servable), before[1])
    assert refresh_deltas(servable, folder + "-none") is None
    assert refresh_deltas(servable, folder) == str(delta)
    np.testing.assert_array_equal(scores(servable), after[1])
    assert refresh_deltas(servable, folder, str(delta)) == str(delta)
    servable.close()


def test_a_server_watches_the_folder_of_deltas(
    trained: Any,  # noqa: F811
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    place, delta, _, after = trained
    (tmp_path / "models").mkdir()
    place.rename(tmp_path / "models" / "1")
    models = ServedModels(
        lambda name, version, path, extras: load_servable(name, version, path, LOADING, extras),
        LifeOptions(),
        extras={"m": ModelExtras(delta_path=str(Path(delta).parent))},
        run=lambda job: job(),
    )
    models.configure(one_model("m", str(tmp_path / "models")))
    with caplog.at_level("INFO", "tensorkeep.serving"):
        for now in range(1, 5):
            models.tick(float(now))
    assert sum("was refreshed by" in message for message in caplog.messages) == 1
    with models.hold(ModelAsked("m")) as servable:
        np.testing.assert_array_equal(scores(servable), after[1])
    models.close(1)


def test_a_delta_that_does_not_fit_is_told_once(trained: Any, caplog: pytest.LogCaptureFixture) -> None:  # noqa: F811
    place, delta, before, _ = trained
    Path(f"{delta}.index").write_bytes(b"damaged")
    models = ServedModels(
        lambda name, version, path, extras: load_servable(name, version, path, LOADING, extras),
        LifeOptions(),
        extras={"": ModelExtras(delta_path=str(Path(delta).parent))},
        run=lambda job: job(),
    )
    (place.parent / "models").mkdir()
    place.rename(place.parent / "models" / "1")
    models.configure(one_model("m", str(place.parent / "models")))
    for now in range(1, 5):
        models.tick(float(now))
    assert sum("could not be refreshed" in message for message in caplog.messages) == 1
    with models.hold(ModelAsked("m")) as servable:
        np.testing.assert_array_equal(scores(servable), before[1])
    models.close(1)
