"""What is done with requests besides answering them, as options and the configuration of models say it."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import temporary_path
from tensorkeep.proto.messages import Message
from tensorkeep.proto.serving import ModelServerConfig, PredictionLog
from tensorkeep.serving.inference.replaying import replay
from tensorkeep.serving.life.configuration import ModelSettings
from tensorkeep.serving.models import ModelAsked, ModelOverview, Models, State
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.traffic.canaries import Canary
from tensorkeep.serving.traffic.handling import TrafficSettings
from tensorkeep.serving.traffic.limits import EVERY_MODEL, ModelLimits
from tensorkeep.serving.traffic.metrics import ServerMetrics
from tensorkeep.serving.traffic.request_log import logging_of_text, require_loggable
from tensorkeep.serving.traffic.shadows import Answer, Shadow

LOG: Final = logging.getLogger("tensorkeep.serving")
_EVERY: Final = "*"  # in the place of a model's name


def traffic_settings(options: ServerOptions, models: Mapping[str, ModelSettings]) -> TrafficSettings:
    """What the options say, and of logs what the configuration of models says unless the options do."""
    rules = options.traffic
    logs = {name: model.logging for name, model in models.items() if model.logging is not None}
    return TrafficSettings(
        limits=limits_of(options),
        canaries=[_canary(text) for text in rules.canaries],
        shadows=[_shadow(text) for text in rules.shadows],
        logs=logs | dict(map(logging_of_text, rules.request_logs)),
    )


def check_rules(options: ServerOptions, models: Mapping[str, ModelSettings]) -> TrafficSettings:
    """What is to be done with requests, if all of it can be; else what is wrong, before models are loaded.

    What is said of a model that is not served is an error, or told where a file says which models there are: it may
    name others later.
    """
    settings = traffic_settings(options, models)
    for option, name in _named_models(options):
        if name not in models:
            served = ", ".join(sorted(models)) or "none"
            problem = f'{option} names the model "{name}", which is not served; there are: {served}'
            if not options.config_file:
                raise InvalidArgumentError(problem)
            LOG.warning("%s", problem)
    if options.models and (settings.canaries or settings.shadows):
        raise InvalidArgumentError(
            "--canary and --shadow need several versions of a model, and --model serves the newest alone: name the "
            "versions in a file, and give it by --config"
        )
    for prefix in {config.log_collector_config.filename_prefix for config in settings.logs.values()}:
        _check_writable(prefix)
    return settings


def _named_models(options: ServerOptions) -> Iterator[tuple[str, str]]:
    """The options that say something of a model, each with its name."""
    rules, loading = options.traffic, options.loading
    texts = {
        "--canary": rules.canaries,
        "--shadow": rules.shadows,
        "--limit": rules.limits,
        "--log-requests": rules.request_logs,
        "--allow": tuple(name for name, _ in loading.allowed),
        "--deltas": tuple(name for name, _ in loading.deltas),
        "--unload-first": loading.unloads_first,
    }
    for option, given in texts.items():
        yield from ((option, name) for name in (text.partition("=")[0] for text in given) if name != _EVERY)


def _check_writable(prefix: str) -> None:
    probe = temporary_path(prefix)
    try:
        FILES.make_directory(posixpath.dirname(prefix) or ".")
        FILES.create(probe).close()
        FILES.delete(probe)
    except TensorKeepError as error:
        raise InvalidArgumentError(f'requests cannot be logged to "{prefix}": {error}; see --log-requests') from error


def tell_absent(settings: TrafficSettings, models: Models) -> None:
    """Tells of versions that shall be tried and are not there, and are not being loaded either."""
    there = {model.name: model for model in models.overview()}
    for option, tried in (("--canary", settings.canaries), ("--shadow", settings.shadows)):
        for one in tried:
            if not _is_there(there.get(one.model), one.target):
                text = '%s: no version "%s" of model "%s" is served; until there is, nothing goes to it'
                LOG.warning(text, option, one.target, one.model)


def _is_there(model: ModelOverview | None, target: int | str) -> bool:
    if model is None:
        return False
    version = model.labels.get(target) if isinstance(target, str) else target
    return any(status.version == version and status.state is not State.END for status in model.versions)


def limits_of(options: ServerOptions) -> dict[str, ModelLimits]:
    """What each model may use in one of the workers; under "" what the others may, of which nothing is said."""
    found = {}
    for text in options.traffic.limits:
        name, equals, limits = text.partition("=")
        if not (name and equals):
            raise InvalidArgumentError(f'"{text}" is not MODEL=LIMITS, such as m=concurrency:8,queue:64')
        found[EVERY_MODEL if name == _EVERY else name] = ModelLimits.of(limits).share(options.workers)
    return found


def _canary(text: str) -> Canary:
    share = Canary.of(text)
    return Canary(share.model, share.target, share.percent)


def _shadow(text: str) -> Shadow:
    share = Shadow.of(text)
    return Shadow(share.model, share.target, share.percent)


def require_loggable_models(config: ModelServerConfig) -> None:
    """Raises what is wrong with the logs that a configuration asks for."""
    for model in config.model_config_list.config:
        if model.HasField("logging_config"):
            require_loggable(model.logging_config)


def answer_by(models: Models) -> Answer:
    """What answers copies of requests, which nobody counts."""

    async def answer(log: PredictionLog, asked: ModelAsked) -> PredictionLog:
        with models.hold(asked) as servable:
            response: Message = await replay(servable, log)
        made = PredictionLog()
        kind = log.WhichOneof("log_type")
        getattr(made, str(kind)).response.CopyFrom(response)
        return made

    return answer


def sum_of_metric(metrics: ServerMetrics, name: str) -> int | None:
    """The number of a metric now, over all its labels and all workers; None for what is not counted."""
    numbers = list(_numbers_of(metrics.page().splitlines(), name))
    return int(sum(numbers)) if numbers else None


def _numbers_of(lines: Iterable[str], name: str) -> Iterable[float]:
    scraped = "".join(letter if letter.isalnum() or letter == "_" else ":" for letter in name)
    for line in lines:
        if line.startswith((f"{scraped}{{", f"{scraped} ")):
            yield float(line.rpartition(" ")[2])
        elif line.startswith(f"# TYPE {scraped} "):
            yield 0.0
