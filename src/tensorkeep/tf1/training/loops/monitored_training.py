"""The usual monitored session of a training program: saves, summarizes and counts, and resumes where it stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.training.loops.hooks import SessionRunHook
from tensorkeep.tf1.training.loops.monitored import MonitoredSession
from tensorkeep.tf1.training.loops.recording_hooks import (
    CheckpointSaverHook,
    Metrics,
    StepCounterHook,
    SummarySaverHook,
)
from tensorkeep.tf1.training.loops.roles import Config
from tensorkeep.tf1.training.loops.scaffold import Scaffold
from tensorkeep.tf1.training.loops.session_creators import ChiefSessionCreator, WorkerSessionCreator
from tensorkeep.tf1.variables.variable import Variable

LOG: Final = logging.getLogger("tensorkeep")


class NotGiven:
    """Stands for an interval that a program has not said."""


USE_DEFAULT: Final = NotGiven()
Interval: TypeAlias = NotGiven | int | None
"""Steps, or seconds; None is never."""


@dataclass(frozen=True)
class Parts:
    """What the session is made of."""

    scaffold: Callable[[], Scaffold] = Scaffold
    chief: Callable[..., ChiefSessionCreator] = ChiefSessionCreator
    worker: Callable[..., WorkerSessionCreator] = WorkerSessionCreator
    session: Callable[..., MonitoredSession] = MonitoredSession


def steps_or_seconds(
    steps: Interval, seconds: Interval, default: tuple[int | None, float | None]
) -> tuple[int | None, float | None]:
    """The two intervals: if either was given, one that was not is None; if neither was, the default."""
    if isinstance(steps, NotGiven) and isinstance(seconds, NotGiven):
        return default
    return None if isinstance(steps, NotGiven) else steps, None if isinstance(seconds, NotGiven) else seconds


def mark_target_node(target_nodes_or_tensors: Iterable[Any]) -> list[str]:
    """Sees that what a program says it will run are tensors, operations or variables; gives their names.

    DeepRec's smart stage reads ahead what these need. Results are the same without that, and here nothing is read
    ahead, which is told. What is none of these is told too, as there.
    """
    listed: list[Any] = []
    for item in target_nodes_or_tensors:
        listed += item.values() if isinstance(item, dict) else item if isinstance(item, list) else [item]
    names = [item.name for item in listed if _is_target(item)]
    for item in listed:
        if not _is_target(item):
            LOG.warning("%s, %s is not tensor or operation", item, type(item))
    LOG.info("%d target nodes: nothing is read ahead for them, for there is no smart stage here", len(names))
    return names


def _is_target(item: object) -> bool:
    return isinstance(item, Tensor | Operation | Variable)


def _is_set(*numbers: float | None) -> bool:
    return any(number is not None and number > 0 for number in numbers)


def monitored_training_session(
    parts: Parts,
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: PathLike | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Interval = USE_DEFAULT,
    save_summaries_steps: Interval = USE_DEFAULT,
    save_summaries_secs: Interval = USE_DEFAULT,
    config: Config = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Interval = USE_DEFAULT,
    summary_dir: PathLike | None = None,
    save_graph_def: bool = True,
    save_incremental_checkpoint_secs: float | None = None,
    target_nodes_or_tensors: Iterable[Any] | None = None,
    save_checkpoint_metrics: Metrics | None = None,
) -> MonitoredSession:
    """A session that resumes from `checkpoint_dir` and saves there, every ten minutes and at the end by default.

    With `save_incremental_checkpoint_secs` it also saves, that often, what changed since the last full checkpoint.
    `target_nodes_or_tensors` are for `mark_target_node`.
    `save_checkpoint_metrics` are told to the scaffold's saver with each checkpoint, for policies such as `KeepBest`.
    """
    if target_nodes_or_tensors:
        mark_target_node(target_nodes_or_tensors)
    scaffold = scaffold or parts.scaffold()
    if save_incremental_checkpoint_secs:
        scaffold.incremental_save_restore = True
    if not is_chief:
        waiting = parts.worker(scaffold=scaffold, master=master, config=config, max_wait_secs=max_wait_secs)
        return parts.session(session_creator=waiting, hooks=hooks or [], stop_grace_period_secs=stop_grace_period_secs)
    creator = parts.chief(scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config)
    all_hooks = list(chief_only_hooks or ())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if _is_set(log_step_count_steps):
            all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        steps, seconds = steps_or_seconds(save_summaries_steps, save_summaries_secs, (100, None))
        if _is_set(steps, seconds):
            all_hooks.append(
                SummarySaverHook(scaffold=scaffold, save_steps=steps, save_secs=seconds, output_dir=summary_dir)
            )
    if checkpoint_dir:
        steps, seconds = steps_or_seconds(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
        if _is_set(steps, seconds):
            all_hooks.append(
                CheckpointSaverHook(
                    checkpoint_dir,
                    save_steps=steps,
                    save_secs=seconds,
                    scaffold=scaffold,
                    save_graph_def=save_graph_def,
                    incremental_save_secs=save_incremental_checkpoint_secs,
                    metrics=save_checkpoint_metrics,
                )
            )
    all_hooks.extend(hooks or ())
    return parts.session(session_creator=creator, hooks=all_hooks, stop_grace_period_secs=stop_grace_period_secs)
