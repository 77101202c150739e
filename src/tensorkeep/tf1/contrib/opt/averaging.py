"""Optimizers of workers that train variables of their own, and meet at common ones every few steps.

What trains are local variables; beside each stands a global one, its center, which checkpoints hold. The centers move
towards what workers found (elastic averages), become its mean (model averages), or take a step along the workers'
mean gradient (AGN). In one process there is one worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from tensorkeep.dtypes import BOOL
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import colocate_with, control_dependencies, current_graph, device, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection_ref
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import fill, zeros_like
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.data.accumulators import ConditionalAccumulator
from tensorkeep.tf1.functions.data.queues import FIFOQueue
from tensorkeep.tf1.functions.nn.normalization import l2_loss
from tensorkeep.tf1.functions.numbers.elementwise import add_n, equal, floormod
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.hooks import SessionRunHook
from tensorkeep.tf1.training.loops.roles import GraphSaver, TrainingSession
from tensorkeep.tf1.training.loops.scaffold import no_saver
from tensorkeep.tf1.training.optimizers.base import Gradient, Optimizer, Trained
from tensorkeep.tf1.variables.assignments import assign, assign_add, assign_sub
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.listing import trainable_variables
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.scopes import get_variable
from tensorkeep.tf1.variables.variable import Variable

_CENTER = "global_center_variable"
_LOCAL_CENTER = "local_center_variable"
_SUM = "grad_variable"
Pairs = Iterable[tuple["Gradient | TensorLike | None", Trained]]


# ---------------------------------------------------------------------------------------------------- Variables


class _CenterGetter:
    """Makes trainable variables local ones of the worker, and others beside them."""

    _beside: ClassVar[str | None] = None
    """What a second local variable beside each is called; None if there is none."""

    def __init__(self, worker_device: str) -> None:
        self._worker_device = worker_device
        self._global_map: dict[Any, Any] = {}
        self._beside_map: dict[Any, Any] = {}

    def __call__(
        self,
        getter: Callable[..., Any],
        name: str,
        trainable: bool | None,
        collections: Sequence[str] | None,
        *args: object,
        **kwargs: Any,
    ) -> Any:
        if trainable is False:
            return self._untrained(getter, name, collections, *args, **kwargs)
        with device(self._worker_device):
            own = getter(name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
        if kwargs.get("reuse") is True:
            return own
        options = {**kwargs, "trainable": False}
        center = self._center(getter, name, own, args, options)
        self._global_map.update(zip(_parts(own), _parts(center), strict=True))
        if self._beside is not None:
            with device(self._worker_device):
                beside = getter(f"{self._beside}/{name}", *args, collections=[GraphKeys.LOCAL_VARIABLES], **options)
            self._beside_map.update(zip(_parts(own), _parts(beside), strict=True))
        return own

    def _center(self, getter: Callable[..., Any], name: str, own: Any, args: Any, options: dict[str, Any]) -> Any:
        return getter(f"{_CENTER}/{name}", *args, collections=[GraphKeys.GLOBAL_VARIABLES], **options)

    def _untrained(
        self, getter: Callable[..., Any], name: str, collections: Sequence[str] | None, *args: object, **kwargs: Any
    ) -> Any:
        place = self._worker_device if GraphKeys.LOCAL_VARIABLES in (collections or ()) else None
        if place is None:
            return getter(name, *args, trainable=False, collections=collections, **kwargs)
        with device(place):
            return getter(name, *args, trainable=False, collections=collections, **kwargs)


def _parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


class ElasticAverageCustomGetter(_CenterGetter):
    """Beside each trainable variable: its center, and what this worker last saw of that."""

    _beside = _LOCAL_CENTER


class ModelAverageCustomGetter(_CenterGetter):
    """Beside each trainable variable: its center, which begins where it does."""

    def _center(self, getter: Callable[..., Any], name: str, own: Any, args: Any, options: dict[str, Any]) -> Any:
        if isinstance(own, PartitionedVariable):
            raise InvalidArgumentError(f'"{name}" is partitioned: ModelAverageCustomGetter takes whole variables')
        return Variable(
            own.initialized_value(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            name=f"{_CENTER}/{name}",
            use_resource=options.get("use_resource"),
        )


class AGNCustomGetter(_CenterGetter):
    """Beside each trainable variable: its center, and the sum of this worker's gradients."""

    _beside = _SUM


# ---------------------------------------------------------------------------------------------------- Optimizers


class _CenterOptimizer(Optimizer):
    """An optimizer of local variables, after so many steps of which the centers are changed."""

    def __init__(self, opt: Optimizer, period: int, getter: _CenterGetter, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._period = period
        self._global_map, self._beside_map = getter._global_map, getter._beside_map
        self._local_step: Any = get_variable(
            "local_step", initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        self._opt._prepare()

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)

    def _applied_locally(self, pairs: list[Any]) -> Operation:
        """The inner optimizer's step, whose slots become local variables, as what it trains is."""
        listed = get_collection_ref(current_graph(), GraphKeys.GLOBAL_VARIABLES)
        before = {id(item) for item in listed}
        applied = self._opt.apply_gradients(pairs)
        made = [item for item in listed if id(item) not in before]
        listed[:] = [item for item in listed if id(item) in before]
        get_collection_ref(current_graph(), GraphKeys.LOCAL_VARIABLES).extend(made)
        return applied

    def _each_period(self, after: Sequence[Operation], meet: Callable[[], Operation]) -> Operation:
        """Counts the local step, and meets the other workers where the period divides it."""
        with control_dependencies(after):
            counted = assign_add(self._local_step, 1, name="local_step_update")
        with control_dependencies([counted]):
            due = equal(floormod(self._local_step.read_value(), self._period), 0)
            done: Operation = cond(due, meet, no_op)
        return done

    def _trained(self) -> list[Any]:
        local = [item for item in trainable_variables() if item in self._global_map]
        if not local:
            raise FailedPreconditionError(
                f"no trainable variable has a center: make variables by tf.get_variable in a scope whose custom_getter "
                f"is the one given to {type(self).__name__}"
            )
        return local

    def _centered(self, local: Iterable[Any]) -> list[Tensor | Variable]:
        """What sets variables to their centers."""
        return [assign(item, self._global_map[item].read_value()) for item in local]


def _changed(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    return [variable for gradient, variable in pairs if gradient is not None]


def _counted(global_step: Step | None) -> list[Any]:
    if global_step is None:
        return []
    with colocate_with(global_step):
        return [assign_add(global_step, 1)]


class ElasticAverageOptimizer(_CenterOptimizer):
    """Workers and centers attract each other: Zhang, Choromanska and LeCun (2015).

    Every `communication_period` steps a variable and its center come `moving_rate` of the way to each other; in
    between, `rho` times half the squared distance is added to the loss.
    """

    BETA: ClassVar = 0.9
    new_saver: Callable[..., Any] = staticmethod(no_saver)

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(opt, communication_period, ea_custom_getter, use_locking, name)
        self._num_worker, self._synchronous = num_worker, synchronous
        self._local_map = self._beside_map
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho: Any = self._moving_rate / opt._learning_rate if rho is None else rho  # type: ignore[attr-defined]

    def compute_gradients(self, loss: Tensor, var_list: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Gradients of the loss, and of the distance to the centers as this worker last saw them."""
        chosen = list(var_list or trainable_variables())
        apart = add_n([l2_loss(item - self._local_map[item]) for item in chosen])
        return self._opt.compute_gradients(loss + self._rho * apart, chosen, *args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Pairs, global_step: Step | None = None, name: str | None = None
    ) -> Operation:
        pairs = list(grads_and_vars)
        local = _changed(pairs)

        def meet() -> Operation:
            with control_dependencies(self._seen(local)):
                moves = [self._moving_rate * (item.read_value() - self._local_map[item].read_value()) for item in local]
            updates = [assign_sub(item, move) for item, move in zip(local, moves, strict=True)]
            updates += [assign_add(self._global_map[item], move) for item, move in zip(local, moves, strict=True)]
            return group(*updates, *_counted(global_step))

        return self._each_period([self._applied_locally(pairs)], meet)

    def _seen(self, local: Iterable[Any]) -> list[Tensor | Variable]:
        """What has this worker see the centers as they are."""
        return [assign(self._local_map[item], self._global_map[item].read_value()) for item in local]

    def get_init_op(self, task_index: int) -> Operation:
        """What sets variables to their centers; if synchronous, it waits until all workers have done it."""
        local = self._trained()
        done = group(*self._centered(local), *self._seen(local))
        return _met(done, self._num_worker, task_index) if self._synchronous else done

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        return _BeginAtCenters(lambda: [self.get_init_op(task_index)])

    def swapping_saver(
        self, var_list: Sequence[Any] | Mapping[str, Any] | None = None, name: str = "swapping_saver", **kwargs: object
    ) -> GraphSaver:
        """A saver that saves the centers under the names of the variables, as evaluation wants them."""
        given = self._trained() if var_list is None else var_list
        stored = dict(given) if isinstance(given, Mapping) else {item.op.name: item for item in given}
        swapped = {key: self._global_map.get(item, item) for key, item in stored.items()}
        saver: GraphSaver = self.new_saver(swapped, name=name, **kwargs)
        return saver


def _met(after: Operation, count: int, index: int) -> Operation:
    """What puts a token into the queue of each other worker, and waits for one of each in its own."""
    queues = [FIFOQueue(count, [BOOL], shapes=[[]], shared_name=f"variable_init_sync_queue{at}") for at in range(count)]
    with control_dependencies([after]):
        told = [queue.enqueue(constant(False)) for at, queue in enumerate(queues) if at != index]
    waited = queues[index].dequeue_many(count - 1)
    return group(after, *told, waited)


class ModelAverageOptimizer(_CenterOptimizer):
    """Centers are the mean of what the workers found, every `interval_steps` steps; workers go on from there."""

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(opt, interval_steps, ma_custom_getter, use_locking, name)
        self._num_worker, self._is_chief = num_worker, is_chief
        self._interval_steps = interval_steps
        self._chief_init_op: Operation | None = None

    def apply_gradients(
        self, grads_and_vars: Pairs, global_step: Step | None = None, name: str | None = None
    ) -> Operation:
        pairs = list(grads_and_vars)
        if not pairs:
            raise InvalidArgumentError("Must supply at least one variable")
        if global_step is None:
            raise InvalidArgumentError("Global step is required")
        local = _changed(pairs)
        sums = [self._accumulator(self._global_map[item], item) for item in local]
        self._chief_init_op = group(*(item.set_global_step(global_step, name="SetGlobalStep") for item in sums))
        tokens = FIFOQueue(-1, [BOOL], shapes=[[]], shared_name="sync_queue")

        def meet() -> Operation:
            given = [part.apply_grad(item.read_value(), global_step) for part, item in zip(sums, local, strict=True)]
            with control_dependencies(given):
                together = self._averaged(sums, local, global_step, tokens) if self._is_chief else tokens.dequeue()
            with control_dependencies([together]):
                return group(*self._centered(local))

        return self._each_period([self._applied_locally(pairs)], meet)

    def _accumulator(self, center: Any, item: Any) -> ConditionalAccumulator:
        with device(center.device), name_scope(f"{self._name}/global"):
            return ConditionalAccumulator(
                item.dtype.base_dtype, item.get_shape(), shared_name=f"{center.name}/var_accum"
            )

    def _averaged(self, sums: list[Any], local: list[Any], global_step: Step, tokens: FIFOQueue) -> Operation:
        """What the chief does: centers become means, the step counts, and the others are told."""
        centers = [self._global_map[item] for item in local]
        means = [part.take_grad(self._num_worker) for part in sums]
        updates: list[Any] = [assign(center, mean) for center, mean in zip(centers, means, strict=True)]
        with control_dependencies([*updates, *_counted(global_step)]):
            return tokens.enqueue_many(fill([self._num_worker - 1], constant(False)))

    def get_init_op(self) -> Operation:
        """What sets variables to their centers."""
        return group(*self._centered(self._trained()))

    def make_session_run_hook(self) -> SessionRunHook:
        if self._chief_init_op is None:
            raise FailedPreconditionError("make_session_run_hook of ModelAverageOptimizer comes after apply_gradients")
        chief = [self._chief_init_op] if self._is_chief else []
        return _BeginAtCenters(lambda: [self.get_init_op(), *chief])


class AGNOptimizer(_CenterOptimizer):
    """Accumulated gradient normalization, after Hermans, Spanakis and Möckel (2017).

    Every `communication_period` steps the inner optimizer takes a step of the centers along the mean of the gradients
    since the last time, and the variables go on from there.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(optimizer, communication_period, custom_getter, use_locking, name)
        self._num_worker = num_worker
        self._grad_map = self._beside_map

    def apply_gradients(
        self, grads_and_vars: Pairs, global_step: Step | None = None, name: str | None = None
    ) -> Operation:
        pairs: list[tuple[Any, Any]] = list(grads_and_vars)
        local = _changed(pairs)
        updates: list[Any] = [self._applied_locally(pairs)]
        updates += [assign_add(self._grad_map[item], gradient) for gradient, item in pairs if gradient is not None]
        sums = [self._grad_map[item] for item in local]

        def meet() -> Operation:
            means = [item.read_value() / self._period for item in sums]
            along = zip(means, (self._global_map[item] for item in local), strict=True)
            with control_dependencies([self._opt.apply_gradients(along)]):
                cleared = [assign(item, zeros_like(item.read_value())) for item in sums]
                return group(*_counted(global_step), *self._centered(local), *cleared)

        return self._each_period(updates, meet)

    def get_init_op(self, task_index: int) -> Operation:
        """What sets variables to their centers, and sums of gradients to zero."""
        local = self._trained()
        cleared = [assign(self._grad_map[item], zeros_like(self._grad_map[item].read_value())) for item in local]
        return group(*self._centered(local), *cleared)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        return _BeginAtCenters(lambda: [self.get_init_op(task_index)])


class _BeginAtCenters(SessionRunHook):
    """Runs what sets variables to their centers when a session was made."""

    def __init__(self, make: Callable[[], list[Operation]]) -> None:
        self._make = make

    def begin(self) -> None:
        self._begun = self._make()

    def after_create_session(self, session: TrainingSession, coord: Coordinator) -> None:
        session.run(self._begun)
