"""The parts of a server, put together: models, what is done with requests, the protocols, and whether it can answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Final

from tensorkeep.errors import NotFoundError, TensorKeepError
from tensorkeep.proto.serving import ModelServerConfig
from tensorkeep.serving.connections import ConnectionServer
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.http1.connection import Connection
from tensorkeep.serving.inference.service import Inference, InferenceOptions
from tensorkeep.serving.life.served_models import ServedModels
from tensorkeep.serving.models import ModelAsked, ModelOverview, Models, State, VersionStatus
from tensorkeep.serving.process.loading import BatchRunners, Runners, config_of, models_of, wait_in
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.process.peers import Place
from tensorkeep.serving.process.security import Tokens
from tensorkeep.serving.process.told_by_files import with_files
from tensorkeep.serving.process.traffic import (
    answer_by,
    check_rules,
    require_loggable_models,
    sum_of_metric,
    tell_absent,
    traffic_settings,
)
from tensorkeep.serving.rest.application import rest_application
from tensorkeep.serving.rest.options import RestOptions
from tensorkeep.serving.rpc.arguments import transfer_of
from tensorkeep.serving.rpc.health import Health
from tensorkeep.serving.rpc.methods import everybody
from tensorkeep.serving.rpc.server import RpcOptions, build_server
from tensorkeep.serving.servables import Servable
from tensorkeep.serving.traffic.handling import ServerTraffic
from tensorkeep.serving.traffic.metrics import ServerMetrics, counter_files

_FOLLOWS_EVERY: Final = 1.0  # seconds
LOG: Final = logging.getLogger("tensorkeep.serving")

Reload = Callable[[ModelServerConfig], Awaitable[None]]


class ModelsOfWorkers:
    """The models of this worker, of which a call to change the configuration is for all workers."""

    def __init__(self, models: ServedModels, reload: Reload) -> None:
        self.hold: Callable[[ModelAsked], AbstractContextManager[Servable]] = models.hold
        self.statuses: Callable[[ModelAsked], list[VersionStatus]] = models.statuses
        self.overview: Callable[[], list[ModelOverview]] = models.overview
        self._reload = reload

    async def reload(self, config: ModelServerConfig) -> None:
        await self._reload(config)


class Readiness:
    """Says whether requests should be sent here."""

    def __init__(self, models: Models, drain: Callable[[], None]) -> None:
        """`drain` is called when the server is about to stop."""
        self._models = models
        self._drain = drain
        self.is_open = False

    def open(self) -> None:
        """Requests are answered from now on."""
        self.is_open = True

    def close(self) -> None:
        """The server is about to stop: those who ask whether it is ready should send requests elsewhere."""
        self.is_open = False
        self._drain()

    def reasons_against(self, name: str | None = None) -> list[str]:
        """Why requests, for one model or for any, should not be sent here; nothing if they should.

        NotFoundError for a model that there is not.
        """
        if not self.is_open:
            return ["the server is starting or stopping"]
        models = [model for model in self._models.overview() if name in (None, model.name)]
        if name is not None and not models:
            raise NotFoundError(f"Could not find any versions of model {name}")
        return [
            f"no version of model {model.name} is available"
            for model in models
            if not any(status.state is State.AVAILABLE for status in model.versions)
        ]


class Parts:
    """The parts of a server."""

    def __init__(self, options: ServerOptions, place: Place, reload: Reload, carried: bytes | None = None) -> None:
        """Makes them, in the event loop that will serve. Raises what is wrong with the options and their files."""
        self._options = options = with_files(options)
        self._tokens = Tokens(options.security.token_file) if options.security.token_file else None
        files = counter_files(place.counters, options.workers) if place.counters else {}
        metrics = self._metrics = ServerMetrics(place.index, files)
        self._runners = BatchRunners(options, metrics) if options.batching.is_on else Runners()
        self.models = models_of(options, self._runners, wait_in(asyncio.get_running_loop()), metrics)
        self.configure(config_of(options, carried))
        self._health = Health(self.models)
        self.readiness = Readiness(self.models, self._health.drain)
        seen = ModelsOfWorkers(self.models, reload)
        self._seen_settings = self.models.settings
        self._settings = check_rules(options, self.models.settings)
        self._traffic = ServerTraffic(
            seen,
            self._settings,
            metrics=metrics,
            answer=answer_by(seen),
            worker=place.index,
            tags=options.loading.tags,
            report_files={index: f"{path}.shadows" for index, path in files.items()},
        )
        told = InferenceOptions(
            options.checks_method_names, options.writes_tensor_content, read_metric=partial(sum_of_metric, metrics)
        )
        self.inference = Inference(seen, self._traffic, told)
        self._rest = rest_application(self.inference, seen, self._rest_options())

    def rpc_server(self) -> ConnectionServer:
        """A server by gRPC that does not listen yet."""
        authorize = everybody if self._tokens is None else self._tokens.check_metadata
        options = RpcOptions(transfer_of(self._options.listening.grpc_arguments), authorize=authorize)
        return build_server(self.inference, self._health, options)

    def http_server(self) -> ConnectionServer:
        """A server by HTTP that does not listen yet."""
        return ConnectionServer(lambda transport: Connection(transport, self._rest))

    def _rest_options(self) -> RestOptions:
        where = self._options.listening
        options = RestOptions(
            timeout=where.rest_seconds,
            cors=where.allows_other_origins,
            metrics_path=where.metrics_path,
            render_metrics=self._traffic.metrics_page if where.has_metrics else None,
            unready=self.readiness.reasons_against,
            finished=self._count_question,
            shadow_report=self._traffic.shadow_report if self._options.traffic.shadows else None,
        )
        return options if self._tokens is None else replace(options, authorize=self._tokens.check_headers)

    def _count_question(self, exchange: Exchange) -> None:
        """Counts a request by HTTP that did not come to inference."""
        call = exchange.call
        self._metrics.answered(exchange.asked.name, exchange.code, call.method, call.protocol, exchange.seconds)

    def tell_absent(self) -> None:
        """Tells of versions that shall be tried and are not there, when the models are loaded."""
        tell_absent(self._settings, self.models)

    # ------------------------------------------------------------------------------------------------- What changes

    def configure(self, config: ModelServerConfig) -> None:
        """Puts a configuration in force, without waiting for what is loaded then."""
        require_loggable_models(config)
        self.models.configure(config)

    async def reload(self, config: ModelServerConfig) -> None:
        """Puts a configuration in force; comes back when the models serve that are newly named."""
        require_loggable_models(config)
        await self.models.reload(config)
        self._follow_settings()

    async def keep_following(self) -> None:
        """Has what is done with requests follow the configuration of models, which may come from a file."""
        while True:
            await asyncio.sleep(_FOLLOWS_EVERY)
            self._follow_settings()

    def _follow_settings(self) -> None:
        settings = self.models.settings
        if settings is self._seen_settings:
            return
        self._seen_settings = settings
        try:
            self._traffic.change(traffic_settings(self._options, settings))
        except TensorKeepError as error:
            LOG.error("Requests are logged as before: %s", error)

    def reread(self) -> None:
        """Looks at the configuration file and at the tokens now; what is wrong is told, and what was before stays."""
        try:
            if self._tokens is not None:
                self._tokens.reread()
            if self._options.config_file:
                self.configure(config_of(self._options))
            self._runners.reread()
            LOG.info("The configuration was read again")
        except TensorKeepError as error:
            LOG.error("The configuration could not be read again, and stays as it was: %s", error)

    async def finish(self) -> None:
        """Writes what is to be written of requests, when there are no more."""
        await self._traffic.close()

    def close(self, seconds: float) -> bool:
        """Unloads the models; takes at most so long. False if something is still being computed then."""
        self.models.close(seconds)
        return self._runners.close()
