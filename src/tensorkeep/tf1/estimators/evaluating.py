"""One evaluation of a checkpoint: metrics over the batches of an input, and their report in an event file."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.proto.messages import Summary, parse
from tensorkeep.proto.session_config import ConfigProto
from tensorkeep.tf1.estimators.keys import MetricKeys
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.estimators.surroundings import surroundings
from tensorkeep.tf1.functions.constants import make_tensor_proto
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.training.loops.events import FileWriterCache
from tensorkeep.tf1.training.loops.hooks import FinalOpsHook, SessionRunContext, SessionRunHook, SessionRunValues
from tensorkeep.tf1.training.metrics.means import mean
from tensorkeep.tf1.variables.global_step import get_global_step

LOG: Final = logging.getLogger("tensorkeep")


class StopAfterHook(SessionRunHook):
    """Stops after so many runs, and says every tenth of the way how far it is."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._done = 0
        self._every = max(count // 10, 1)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        self._done += 1
        if self._done % self._every == 0 or self._done == self._count:
            LOG.info("Evaluation [%d/%d]", self._done, self._count)
        if self._done >= self._count:
            run_context.request_stop()


class Evaluation:
    """The evaluation of a model in the graph being built: its metrics, its loss and its step."""

    clock: Callable[[], float] = staticmethod(time.time)

    def __init__(self, spec: EstimatorSpec, checkpoint: str | None) -> None:
        self._checkpoint = checkpoint
        self._scaffold = spec.scaffold
        metrics = dict(spec.eval_metric_ops)
        for name in (MetricKeys.LOSS, GraphKeys.GLOBAL_STEP):
            if name in metrics:
                raise InvalidArgumentError(
                    f'Metric with name "{name}" is not allowed, because Estimator already defines a default metric '
                    "with the same name."
                )
        assert spec.loss is not None
        metrics[MetricKeys.LOSS] = mean(spec.loss)
        self._update = group(*[metrics[name][1] for name in sorted(metrics)])
        self._values: dict[str, Any] = {name: metrics[name][0] for name in sorted(metrics)}
        self._values[GraphKeys.GLOBAL_STEP] = get_global_step(current_graph())
        own = self._scaffold.local_init_op
        if own is not None:
            both = group(own, self._scaffold.default_local_init_op())
            self._scaffold = surroundings().scaffold(local_init_op=both, copy_from_scaffold=self._scaffold)

    def run(self, hooks: Sequence[SessionRunHook], config: ConfigProto, folder: str) -> dict[str, Any]:
        """The values after all batches; they are also written to an event file of a folder."""
        final = FinalOpsHook(self._values)
        creator = surroundings().chief_creator(
            scaffold=self._scaffold, checkpoint_filename_with_path=self._checkpoint, config=config
        )
        start = self.clock()
        LOG.info("Starting evaluation at %s", _time_text(start))
        with surroundings().monitored_session(session_creator=creator, hooks=[*hooks, final]) as session:
            while not session.should_stop():
                session.run(self._update)
        LOG.info("Inference Time : %0.5fs", self.clock() - start)
        LOG.info("Finished evaluation at %s", _time_text(self.clock()))
        results: dict[str, Any] = final.final_ops_values
        if results is None:
            raise InvalidArgumentError("the evaluation ended before its results were worked out")
        write_results(folder, results, self._checkpoint)
        return results


def _time_text(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


# ---------------------------------------------------------------------------------------------------- The report


def write_results(folder: str, results: Mapping[str, Any], checkpoint: str | None) -> None:
    """Writes results to an event file, as TensorBoard shows them, and the name of the checkpoint."""
    step = int(results[GraphKeys.GLOBAL_STEP])
    shown = ", ".join(f"{key} = {value}" for key, value in sorted(results.items()) if not isinstance(value, bytes))
    LOG.info("Saving dict for global step %d: %s", step, shown)
    summary = Summary()
    for key, value in results.items():
        if value is not None and key != GraphKeys.GLOBAL_STEP:
            _add_value(summary, key, value)
    writer = FileWriterCache.get(folder)
    writer.add_summary(summary, step)
    if checkpoint:
        LOG.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint)
        named = Summary()
        named.value.add(tag="checkpoint_path", tensor=make_tensor_proto(np.array(checkpoint.encode(), object)))
        writer.add_summary(named, step)
    writer.flush()


def _add_value(summary: Summary, key: str, value: Any) -> None:
    if isinstance(value, np.float32 | np.float64 | np.integer | float | int):
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, bytes):
        _add_serialized(summary, key, value)
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=key, node_name=key, tensor=make_tensor_proto(value))
        LOG.info("Summary for np.ndarray is not visible in Tensorboard by default: %s", key)
    else:
        LOG.warning(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray or a "
            "serialized string of Summary.",
            key,
        )


def _add_serialized(summary: Summary, key: str, value: bytes) -> None:
    try:
        found = parse(Summary, value, key)
    except DataLossError:
        LOG.warning("Skipping summary for %s, cannot parse string to Summary.", key)
        return
    for number, item in enumerate(found.value):
        item.tag = f"{key}/{number}"
        summary.value.append(item)
