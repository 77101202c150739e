"""DeepRec's collective training, in a group of one process.

Workers that train together exchange embeddings and gradients at each step. With one of them there is nothing to
exchange: a program with a collective strategy is the program without. More than one, by what the environment says of
the processes that were started together, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tensorkeep.errors import UnimplementedError
from tensorkeep.io.machine.resources import environment_variable
from tensorkeep.v1.learning.estimators import Estimator, EvalSpec, TrainSpec, train_and_evaluate

_SIZES: Final = ("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE")


def check_group_of_one(what: str) -> None:
    """UnimplementedError if the environment says that this process is one of several that train together."""
    for name in _SIZES:
        told = environment_variable(name)
        if told and told.strip().isdigit() and int(told) > 1:
            raise _refused_group(what, f"{name} is {told}")
    cluster = json.loads(environment_variable("TF_CONFIG") or "{}").get("cluster", {})
    workers = [task for job in ("chief", "worker") for task in cluster.get(job, ())]
    if len(workers) > 1:
        raise _refused_group(what, f"TF_CONFIG names {len(workers)} workers")


def _refused_group(what: str, seen: str) -> UnimplementedError:
    return UnimplementedError(
        f"{what}: {seen}, and workers exchange nothing here: a collective group has one process. Start one, use "
        "--group_embedding localized in DeepRec's programs, or train in several processes by tensorkeep.cluster"
    )


def enable_distributed_strategy(strategy: str = "parameter_server") -> None:
    """DeepRec's: says how workers train together, of which there is one; UnimplementedError if there are more."""
    if strategy == "collective":
        check_group_of_one('tf.config.experimental.enable_distributed_strategy("collective")')


class CollectiveStrategy:
    """DeepRec's: the scopes of a model whose embeddings are spread over workers, of which there is one."""

    def __init__(self) -> None:
        check_group_of_one("CollectiveStrategy")

    @property
    def world_size(self) -> int:
        """How many workers there are. DeepRec's programs ask for it with and without a call."""
        return _Number(1)

    @property
    def rank(self) -> int:
        """Which of the workers this is. DeepRec's programs ask for it with and without a call."""
        return _Number(0)

    @contextmanager
    def scope(self, *args: object, **kwargs: object) -> Iterator[CollectiveStrategy]:
        """Where a model is built: as without."""
        yield self

    @contextmanager
    def embedding_scope(self, **kwargs: object) -> Iterator[CollectiveStrategy]:
        """Where variables are built that workers share out: as without."""
        yield self

    def estimator(self, model_fn: Any, model_dir: str | None = None, config: Any = None, **kwargs: Any) -> Any:
        """An estimator, as without, that also has `train_and_evaluate`."""
        return CollectiveEstimator(model_fn, model_dir=model_dir, config=config, **kwargs)


class CollectiveEstimator(Estimator):
    """An estimator of a collective strategy: it trains and evaluates itself."""

    def train_and_evaluate(
        self, train_spec: TrainSpec, eval_spec: EvalSpec
    ) -> tuple[dict[str, Any] | None, list[Any] | None]:
        """What `tf.estimator.train_and_evaluate` does with this estimator."""
        return train_and_evaluate(self, train_spec, eval_spec)


class _Number(int):
    """A number that gives itself when it is called."""

    def __call__(self) -> int:
        return int(self)
