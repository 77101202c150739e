"""What a server would serve, without serving it: the models are loaded, warmed up, and unloaded again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event
from typing import Final

from tensorkeep.errors import UnknownError
from tensorkeep.serving.life.served_models import ServedModels
from tensorkeep.serving.models import ModelOverview, State
from tensorkeep.serving.process.loading import Runners, config_of, models_of
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.process.security import check_certificates
from tensorkeep.serving.process.traffic import check_rules, tell_absent

_UNDECIDED: Final = (State.START, State.LOADING)
_TICK: Final = 0.05  # seconds


def rehearse(options: ServerOptions) -> Sequence[ModelOverview]:
    """All models with the versions that were found, and what became of them. Nothing listens meanwhile."""
    check_certificates(options.security)
    runners = Runners()
    models = models_of(replace(options, workers=1), runners, asyncio.run, None)
    models.configure(config_of(options))
    rules = check_rules(options, models.settings)
    models.start()
    try:
        with suppress(UnknownError):  # which is told of each version
            models.wait_until_ready(lenient=True)
        _wait_for_all(models)
        tell_absent(rules, models)
        return models.overview()
    finally:
        models.close()
        runners.close()


def _wait_for_all(models: ServedModels) -> None:
    """Comes back when no version is being loaded: a model is ready with one, and the others are to be told of too."""
    changed = Event()
    models.on_change(lambda name, status: changed.set())
    while any(status.state in _UNDECIDED for model in models.overview() for status in model.versions):
        changed.wait(_TICK)
        changed.clear()
