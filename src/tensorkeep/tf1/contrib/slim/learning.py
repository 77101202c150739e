"""Training as slim has it: a step, and a loop of steps under a supervisor."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from tensorkeep.errors import AbortedError, InvalidArgumentError, OutOfRangeError, UnimplementedError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.building import building, current_graph, name_scope
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.contrib.training.gradient_steps import (
    USE_GLOBAL_STEP,
    Gradients,
    add_gradients_summaries,
    clip_gradient_norms,
    create_train_op,
    multiply_gradients,
)
from tensorkeep.tf1.contrib.training.session_loops import LoopParts
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.data.lookup_tables import tables_initializer
from tensorkeep.tf1.functions.data.summaries import merge_all
from tensorkeep.tf1.functions.numbers.elementwise import equal, greater_equal, mod
from tensorkeep.tf1.training.optimizers.base import Optimizer
from tensorkeep.tf1.variables.global_step import Step, get_or_create_global_step
from tensorkeep.tf1.variables.listing import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

_log = logging.getLogger("tensorkeep")
USE_DEFAULT: Final = 0
"""The argument that stands for what is made if nothing is given."""


def create_slim_train_op(
    total_loss: Tensor,
    optimizer: Optimizer,
    global_step: Step | int | None = USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Tensor:
    """The loss, which also takes a step of training; gradients are multiplied and clipped one by one if so told."""

    def transformed(gradients: Any) -> Any:
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                gradients = multiply_gradients(gradients, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                gradients = clip_gradient_norms(gradients, clip_gradient_norm)
        return gradients

    return create_train_op(
        total_loss,
        optimizer,
        global_step=global_step,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=transformed,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
    )


def add_slim_gradients_summaries(grads_and_vars: Gradients) -> list[Any]:
    """A histogram of each gradient, and its length."""
    return add_gradients_summaries(grads_and_vars, joined_by="/")


def train_step(
    sess: SessionLike, train_op: Tensor | Operation, global_step: Step, train_step_kwargs: Mapping[str, Any]
) -> tuple[Any, bool]:
    """One step of training: the loss, and whether it was the last; what else is done is told by the last argument."""
    start = time.perf_counter()
    loss, step = sess.run([train_op, global_step])
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        _log.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, time.perf_counter() - start)
    should_stop = "should_stop" in train_step_kwargs and sess.run(train_step_kwargs["should_stop"])
    return loss, bool(should_stop)


def trained_by_slim(parts: LoopParts, told: dict[str, Any]) -> Any:
    """Trains until the number of steps is reached or the input ends, and saves; the last loss."""
    _check_training(told)
    graph = told["graph"] or current_graph()
    with building(graph):
        if told["global_step"] is None:
            told["global_step"] = get_or_create_global_step()
        made = _training_parts(parts, told)
        given = told["train_step_kwargs"]
        steps = _step_arguments(told) if given is USE_DEFAULT else given
    supervisor = parts.supervisor(
        graph=graph,
        is_chief=told["is_chief"],
        logdir=told["logdir"],
        init_feed_dict=told["init_feed_dict"],
        summary_writer=told["summary_writer"],
        global_step=told["global_step"],
        save_summaries_secs=told["save_summaries_secs"],
        save_model_secs=told["save_interval_secs"],
        init_fn=told["init_fn"],
        **made,
    )
    if told["summary_writer"] is not None:
        steps["summary_writer"] = supervisor.summary_writer
    while True:
        try:
            return _run_training(supervisor, told, steps)
        except AbortedError:
            _log.info("Retrying training!")


def _check_training(told: Mapping[str, Any]) -> None:
    if told["train_op"] is None:
        raise InvalidArgumentError("train_op cannot be None.")
    if told["logdir"] is None:
        for name, default in (("summary_op", USE_DEFAULT), ("saver", None), ("trace_every_n_steps", None)):
            if told[name] is not default:
                raise InvalidArgumentError(f"Cannot provide {name} because logdir=None")
    if told["sync_optimizer"] is not None:
        raise UnimplementedError("sync_optimizer: there is one process, in which the plain optimizer does the same")
    if told["trace_every_n_steps"] is not None:
        raise UnimplementedError("trace_every_n_steps: use a profiler of Python, or leave it away")
    count = told["number_of_steps"]
    if count is not None and count <= 0:
        raise InvalidArgumentError(f"`number_of_steps` must be either None or a positive number: {count}")


def _training_parts(parts: LoopParts, told: Mapping[str, Any]) -> dict[str, Any]:
    """What a supervisor needs, made as slim makes it where it is not given."""

    def given(name: str, make: Callable[[], Any]) -> Any:
        return make() if told[name] is USE_DEFAULT else told[name]

    saver = told["saver"] or parts.saver()
    with name_scope("init_ops"):
        init_op = given("init_op", global_variables_initializer)
        ready_op = given("ready_op", report_uninitialized_variables)
        local = given("local_init_op", lambda: group(local_variables_initializer(), tables_initializer()))
    return {
        "saver": saver,
        "init_op": init_op,
        "ready_op": ready_op,
        "local_init_op": local,
        "ready_for_local_init_op": None,
        "summary_op": given("summary_op", merge_all),
    }


def _step_arguments(told: Mapping[str, Any]) -> dict[str, Any]:
    step, last, every = told["global_step"], told["number_of_steps"], told["log_every_n_steps"]
    with name_scope("train_step"):
        found: dict[str, Any] = {"should_stop": greater_equal(step, last) if last else constant(False)}
        if every > 0:
            found["should_log"] = equal(mod(step, every), 0)
        return found


def _run_training(supervisor: Any, told: Mapping[str, Any], steps: Mapping[str, Any]) -> Any:
    loss: Any = None
    with supervisor.managed_session(
        told["master"], start_standard_services=False, config=told["session_config"]
    ) as plain:
        session: Any = told["session_wrapper"](plain) if told["session_wrapper"] else plain
        if told["is_chief"] and told["logdir"]:
            supervisor.start_standard_services(session)
        threads = supervisor.start_queue_runners(session)
        try:
            while not supervisor.should_stop():
                loss, should_stop = told["train_step_fn"](session, told["train_op"], told["global_step"], steps)
                if should_stop:
                    _log.info("Stopping Training.")
                    supervisor.request_stop()
                    break
        except OutOfRangeError as error:
            _log.info("Caught OutOfRangeError. Stopping Training. %s", error)
        if told["logdir"] and supervisor.is_chief:
            _log.info("Finished training! Saving model to disk.")
            assert supervisor.saver is not None  # there is a folder
            assert supervisor.save_path is not None
            supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
            supervisor.stop(threads, close_summary_writer=False, ignore_live_threads=told["ignore_live_threads"])
    return loss
