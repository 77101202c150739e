"""`tf.train.SyncReplicasOptimizer` for the one replica there is: gradients of one replica are applied as they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Operation
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.training.loops.hooks import SessionRunHook
from tensorkeep.tf1.training.optimizers.base import Gradient, Optimizer, Slot, Trained
from tensorkeep.tf1.variables.global_step import Step

if TYPE_CHECKING:
    from tensorkeep.tf1.training.optimizers.moving_averages import ExponentialMovingAverage
    from tensorkeep.tf1.variables.variable import Variable


class SyncReplicasOptimizer(Optimizer):
    """Waits for the gradients of several replicas and applies their mean; of one, these themselves."""

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: ExponentialMovingAverage | None = None,
        variables_to_average: Sequence[Variable] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        super().__init__(use_locking, name)
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        if (replicas_to_aggregate, total) != (1, 1):
            raise UnimplementedError(
                f"gradients of {replicas_to_aggregate} of {total} replicas are to be joined, and there is one process: "
                "use replicas_to_aggregate=1, or train in several processes by tensorkeep.cluster"
            )
        self._opt = opt
        self._averages, self._averaged = variable_averages, variables_to_average
        self._gradients_applied = False

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> Operation:
        """Applies the gradients by the optimizer inside, and then counts the step."""
        if global_step is None:
            raise InvalidArgumentError("Global step is required to check staleness")
        applied = self._opt.apply_gradients(grads_and_vars, global_step, name)
        self._gradients_applied = True
        if self._averages is None:
            return applied
        with control_dependencies([applied]):
            averaged: Operation = self._averages.apply(self._averaged)
        return averaged

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Slot]:
        return self._opt.variables()

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """An operation that does nothing: no replica waits for tokens."""
        self._require_applied("get_init_tokens_op()")
        return no_op()

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """A hook that only sees, when the session begins, that gradients are applied: no replica waits for another."""
        return _ReplicasHook(self)

    def _require_applied(self, what: str) -> None:
        if not self._gradients_applied:
            raise FailedPreconditionError(f"{what} should be called after apply_gradients().")


class _ReplicasHook(SessionRunHook):
    """What a session of synchronized replicas has for each of their optimizers."""

    def __init__(self, sync_optimizer: SyncReplicasOptimizer) -> None:
        self._sync_optimizer = sync_optimizer  # programs ask for it by this name

    def begin(self) -> None:
        if not self._sync_optimizer._gradients_applied:
            raise InvalidArgumentError(
                "SyncReplicasOptimizer.apply_gradients() should be called before using the hook."
            )
