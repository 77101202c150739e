"""What a server would serve, without serving it: the models are loaded, warmed up, and unloaded again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from tensorkeep.errors import UnknownError
from tensorkeep.serving.models import ModelOverview
from tensorkeep.serving.process.certificates import check_certificates
from tensorkeep.serving.process.loading import Runners, config_of, models_of
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.process.traffic import traffic_settings


def rehearse(options: ServerOptions) -> Sequence[ModelOverview]:
    """All models with the versions that were found, and what became of them. Nothing listens meanwhile."""
    check_certificates(options.security)
    traffic_settings(options, {})  # for what is wrong with it
    runners = Runners()
    models = models_of(replace(options, workers=1), runners, asyncio.run, None)
    models.configure(config_of(options))
    models.start()
    try:
        with suppress(UnknownError):  # which is told of each version
            models.wait_until_ready(lenient=True)
        return models.overview()
    finally:
        models.close()
        runners.close()
