"""How an estimator runs: its folder, its seed, how often it saves and reports.

`TF_CONFIG` of the environment is read as in TensorFlow. What it says of one process is obeyed; a cluster of several
is refused, for sessions run in this process.
"""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.io.machine.resources import environment_variable
from tensorkeep.proto.session_config import ConfigProto
from tensorkeep.tf1.estimators.strategies import OneReplicaStrategy
from tensorkeep.tf1.training.loops.device_setter import ClusterSpec
from tensorkeep.tf1.training.loops.monitored_training import USE_DEFAULT, Interval, steps_or_seconds

LOG: Final = logging.getLogger("tensorkeep")
_BOTH: Final = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."


class TaskType:
    """Names of the jobs of a cluster."""

    MASTER: Final = "master"
    PS: Final = "ps"
    WORKER: Final = "worker"
    CHIEF: Final = "chief"
    EVALUATOR: Final = "evaluator"


class RunConfig:
    """How an estimator runs. Checkpoints are saved every ten minutes if nothing is said."""

    def __init__(
        self,
        model_dir: PathLike | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: Interval = USE_DEFAULT,
        save_checkpoints_secs: Interval = USE_DEFAULT,
        session_config: ConfigProto | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: object = None,
        device_fn: Callable[[Any], str] | None = None,
        protocol: str | None = None,
        eval_distribute: object = None,
        experimental_distribute: object = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: int = 7200,
        checkpoint_save_graph_def: bool = True,
    ) -> None:
        _refuse_strategies(train_distribute, eval_distribute, experimental_distribute)
        steps, seconds = steps_or_seconds(save_checkpoints_steps, save_checkpoints_secs, (None, 600))
        if steps is not None and seconds is not None:
            raise InvalidArgumentError(_BOTH)
        environment = _environment()
        self._values: dict[str, Any] = {
            "model_dir": _model_dir(environment, model_dir),
            "tf_random_seed": tf_random_seed,
            "save_summary_steps": save_summary_steps,
            "save_checkpoints_steps": steps,
            "save_checkpoints_secs": seconds,
            "session_config": session_config,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours,
            "log_step_count_steps": log_step_count_steps,
            "train_distribute": train_distribute,
            "device_fn": device_fn,
            "protocol": protocol,
            "eval_distribute": eval_distribute,
            "experimental_distribute": experimental_distribute,
            "experimental_max_worker_delay_secs": experimental_max_worker_delay_secs,
            "session_creation_timeout_secs": session_creation_timeout_secs,
            "checkpoint_save_graph_def": checkpoint_save_graph_def,
        }
        _check(self._values)
        self._service = environment.get("service")
        _refuse_cluster(environment)

    # What TensorFlow's has for every process of a cluster, for the one that there is.
    cluster_spec = ClusterSpec({})
    evaluation_master = ""
    master = ""
    is_chief = True
    num_ps_replicas = 0
    num_worker_replicas = 1
    task_id = 0
    task_type: str = TaskType.WORKER
    global_id_in_cluster = 0

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def service(self) -> object:
        """Where other services are, as TF_CONFIG says."""
        return self._service

    def replace(self, **kwargs: object) -> RunConfig:
        """A copy with other values."""
        unknown = sorted(set(kwargs) - set(self._values))
        if unknown:
            raise InvalidArgumentError(
                f"Replacing {', '.join(unknown)} is not supported. Allowed properties are {sorted(self._values)}."
            )
        made = copy.copy(self)
        made._values = {**self._values, **kwargs}
        steps, seconds = kwargs.get("save_checkpoints_steps"), kwargs.get("save_checkpoints_secs")
        if steps is not None and seconds is not None:
            raise InvalidArgumentError(_BOTH)
        if steps is not None:
            made._values["save_checkpoints_secs"] = None
        if seconds is not None:
            made._values["save_checkpoints_steps"] = None
        _check(made._values)
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"


def _refuse_strategies(*strategies: object) -> None:
    if any(not (strategy is None or isinstance(strategy, OneReplicaStrategy)) for strategy in strategies):
        raise UnimplementedError(
            "distribution strategies are not here, but for those with one replica (tf.distribute.MirroredStrategy, "
            "OneDeviceStrategy): an estimator trains in this process, on one machine. Leave train_distribute, "
            "eval_distribute and experimental_distribute out"
        )


def _environment() -> dict[str, Any]:
    text = environment_variable("TF_CONFIG")
    if not text:
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InvalidArgumentError(f"TF_CONFIG of the environment is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise WrongTypeError(f"TF_CONFIG of the environment is {type(found).__name__}, expected an object")
    if found:
        LOG.info("TF_CONFIG environment variable: %s", found)
    return found


def _model_dir(environment: Mapping[str, Any], model_dir: PathLike | None) -> str | None:
    given = None if model_dir is None else path_text(model_dir)
    if given == "" or environment.get("model_dir") == "":
        raise InvalidArgumentError("model_dir should be non-empty.")
    told: str | None = environment.get("model_dir")
    if given and told and given != told:
        raise InvalidArgumentError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in "
            f'TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {told}.'
        )
    return given or told


def _refuse_cluster(environment: Mapping[str, Any]) -> None:
    """A cluster of one task is this process; of more, there is nobody to talk to."""
    cluster = ClusterSpec(environment.get("cluster") or {})
    tasks = sum(len(addresses) for addresses in cluster.as_dict().values()) if cluster else 0
    if tasks > 1:
        raise UnimplementedError(
            f"TF_CONFIG names a cluster of {tasks} tasks, and sessions run in this process: train in one, or by "
            "tensorkeep.cluster"
        )
    task = environment.get("task") or {}
    kind = task.get("type", TaskType.WORKER)
    if not tasks and kind != TaskType.WORKER:
        raise InvalidArgumentError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if int(task.get("index", 0)) != 0:
        raise InvalidArgumentError('If "cluster" is not set in TF_CONFIG, task index must be 0.')


def _check(values: Mapping[str, Any]) -> None:
    at_least: dict[str, tuple[float, bool]] = {
        "save_summary_steps": (0, True),
        "save_checkpoints_steps": (0, True),
        "save_checkpoints_secs": (0, True),
        "keep_checkpoint_max": (0, True),
        "keep_checkpoint_every_n_hours": (0, False),
        "log_step_count_steps": (0, False),
        "session_creation_timeout_secs": (0, False),
    }
    problems = []
    for name, (bound, included) in at_least.items():
        value = values[name]
        if value is not None and not (value >= bound if included else value > bound):
            problems.append(f"{name} should be {'>=' if included else '>'} 0")
    if values["model_dir"] is not None and not values["model_dir"]:
        problems.append("model_dir should be non-empty")
    seed = values["tf_random_seed"]
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        problems.append("tf_random_seed must be integer.")
    config = values["session_config"]
    if config is not None and getattr(getattr(config, "DESCRIPTOR", None), "full_name", "") != "tensorflow.ConfigProto":
        problems.append("session_config must be instance of ConfigProto")
    if values["device_fn"] is not None and not callable(values["device_fn"]):
        problems.append('device_fn must be callable with exactly one argument "op".')
    if problems:
        raise InvalidArgumentError("; ".join(problems))
