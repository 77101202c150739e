"""`tf.contrib.training`, `slim`, `opt` and `summary`: what needs sessions and savers of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tensorkeep.checkpoint.finding.waiting import Waiting, new_checkpoints
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import Feeds, Fetches, SessionLike
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.tf1.contrib import summary
from tensorkeep.tf1.contrib.framework.values import restoring_function
from tensorkeep.tf1.contrib.opt import averaging, external, wrappers
from tensorkeep.tf1.contrib.slim.learning import train_step, trained_by_slim
from tensorkeep.tf1.contrib.training.session_loops import LoopParts, evaluate_checkpoints, evaluate_slim_checkpoints
from tensorkeep.tf1.training.loops.hooks import SessionRunHook
from tensorkeep.tf1.training.loops.roles import Config, GraphSaver, Metadata, SummaryWriter
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.v1.defaults import get_default_session
from tensorkeep.v1.learning.training import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    Scaffold,
    Supervisor,
)
from tensorkeep.v1.stored.saving import Saver

_PARTS: Final = LoopParts(Saver, Supervisor, Scaffold, ChiefSessionCreator, MonitoredSession)
_USE_DEFAULT: Final = 0


def assign_from_checkpoint_fn(
    model_path: PathLike,
    var_list: Sequence[Any] | Mapping[str, Any],
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[SessionLike], None] | None:
    """A function of a session that restores variables; None if the checkpoint has none of them.

    What the checkpoint does not have is an error when it is restored, or is warned of and left alone.
    """
    return restoring_function(Saver, model_path, var_list, ignore_missing_vars, reshape_variables)


class MovingAverageOptimizer(wrappers.MovingAverageOptimizer):
    """Saves by a `tf.train.Saver`."""

    new_saver = Saver


class ElasticAverageOptimizer(averaging.ElasticAverageOptimizer):
    """Saves by a `tf.train.Saver`."""

    new_saver = Saver


class ExternalOptimizerInterface(external.ExternalOptimizerInterface):
    """Runs in the session in force if none is given."""

    current_session = staticmethod(get_default_session)


class ScipyOptimizerInterface(external.ScipyOptimizerInterface):
    """Runs in the session in force if none is given."""

    current_session = staticmethod(get_default_session)


def initialize(graph: Graph | None = None, session: SessionLike | None = None) -> None:
    """Begins the files of all summary writers of the graph, in a session or the one in force."""
    summary.initialize(graph, session or get_default_session())


def train(
    train_op: Fetches,
    logdir: PathLike | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: int | None = 600,
    save_summaries_steps: int | None = 100,
    config: Config = None,
    max_wait_secs: float = 7200,
    run_metadata: Metadata = None,
) -> Any:
    """Trains until a hook says stop; the last value of the training operation."""
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise InvalidArgumentError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise InvalidArgumentError("logdir cannot be None when save_checkpoint_secs is not None")
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        found: Any = None
        while not session.should_stop():
            found = session.run(train_op, run_metadata=run_metadata)
    return found


def slim_train(
    train_op: Fetches,
    logdir: PathLike | None,
    train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
    train_step_kwargs: Mapping[str, Any] | int = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Step | None = None,
    number_of_steps: int | None = None,
    init_op: Operation | int | None = _USE_DEFAULT,
    init_feed_dict: Feeds | None = None,
    local_init_op: Operation | int | None = _USE_DEFAULT,
    init_fn: Callable[[Any], None] | None = None,
    ready_op: Tensor | int | None = _USE_DEFAULT,
    summary_op: Tensor | int | None = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: SummaryWriter | int | None = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: GraphSaver | None = None,
    save_interval_secs: float = 600,
    sync_optimizer: object = None,
    session_config: Config = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Trains until the number of steps is reached or the input ends, and saves; the last loss."""
    return trained_by_slim(_PARTS, locals())


def evaluate_once(
    checkpoint_path: PathLike,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Fetches = None,
    feed_dict: Feeds | None = None,
    final_ops: Fetches = None,
    final_ops_feed_dict: Feeds | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: Config = None,
) -> Any:
    """Evaluates one checkpoint until a hook says stop; the values of the final operations."""
    return evaluate_checkpoints(_PARTS, [path_text(checkpoint_path)], 1, locals())


def evaluate_repeatedly(
    checkpoint_dir: PathLike,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Fetches = None,
    feed_dict: Feeds | None = None,
    final_ops: Fetches = None,
    final_ops_feed_dict: Feeds | None = None,
    eval_interval_secs: float = 60,
    hooks: Sequence[SessionRunHook] | None = None,
    config: Config = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates each checkpoint of a folder as it comes; the values of the final operations at the last one."""
    waiting = Waiting(interval=eval_interval_secs, timeout=timeout, is_over=timeout_fn)
    return evaluate_checkpoints(_PARTS, new_checkpoints(checkpoint_dir, waiting), max_number_of_evaluations, locals())


def slim_evaluate_once(
    master: str,
    checkpoint_path: PathLike,
    logdir: PathLike,
    num_evals: int = 1,
    initial_op: Operation | None = None,
    initial_op_feed_dict: Feeds | None = None,
    eval_op: Fetches = None,
    eval_op_feed_dict: Feeds | None = None,
    final_op: Fetches = None,
    final_op_feed_dict: Feeds | None = None,
    summary_op: Tensor | int | None = _USE_DEFAULT,
    summary_op_feed_dict: Feeds | None = None,
    variables_to_restore: Sequence[Any] | Mapping[str, Any] | None = None,
    session_config: Config = None,
    hooks: Sequence[SessionRunHook] | None = None,
) -> Any:
    """Evaluates one checkpoint so many times, and writes summaries; the values of the final operation."""
    return evaluate_slim_checkpoints(_PARTS, [path_text(checkpoint_path)], 1, locals())


def evaluation_loop(
    master: str,
    checkpoint_dir: PathLike,
    logdir: PathLike,
    num_evals: int = 1,
    initial_op: Operation | None = None,
    initial_op_feed_dict: Feeds | None = None,
    init_fn: Callable[..., None] | None = None,
    eval_op: Fetches = None,
    eval_op_feed_dict: Feeds | None = None,
    final_op: Fetches = None,
    final_op_feed_dict: Feeds | None = None,
    summary_op: Tensor | int | None = _USE_DEFAULT,
    summary_op_feed_dict: Feeds | None = None,
    variables_to_restore: Sequence[Any] | Mapping[str, Any] | None = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Config = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
) -> Any:
    """Evaluates each checkpoint of a folder as it comes; the values of the final operation at the last one."""
    waiting = Waiting(interval=eval_interval_secs, timeout=timeout, is_over=timeout_fn)
    return evaluate_slim_checkpoints(
        _PARTS, new_checkpoints(checkpoint_dir, waiting), max_number_of_evaluations, locals()
    )
