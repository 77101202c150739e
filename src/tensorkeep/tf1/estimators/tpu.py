"""TPU estimators, which run on the CPU: `tf.estimator.tpu` and `tf.contrib.tpu`.

Programs for TPUs say `use_tpu=False` where there is none, and so these run them, as TensorFlow does on such machines.
Where a program says `use_tpu=True`, that is told in the log, and it runs on the CPU too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

from tensorkeep.dtypes import BFLOAT16, FLOAT32, INT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import Structure, TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.estimators.estimator import Estimator, InputFunction, ModelFunction, WarmStartSettings, arguments_of
from tensorkeep.tf1.estimators.export_outputs import Outputs
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec, checked_hooks
from tensorkeep.tf1.estimators.run_config import RunConfig as PlainRunConfig
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import while_loop
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.structures import flatten, pack_sequence_as
from tensorkeep.tf1.training.loops.hooks import SessionRunHook
from tensorkeep.tf1.training.optimizers.base import Optimizer
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope

if TYPE_CHECKING:
    from tensorkeep.tf1.training.optimizers.base import Gradient, Slot, Trained, Update, VarList

LOG: Final = logging.getLogger("tensorkeep")
_BATCH_SIZE: Final = "batch_size"

Given = TypeVar("Given")
Taken = ParamSpec("Taken")
HostCall: TypeAlias = "tuple[Callable[..., Any], Sequence[Any] | Mapping[str, Any]]"
"""A function, and the tensors that it is called with on the host."""


class InputPipelineConfig(IntEnum):
    """Where the input functions of a TPU are called. Here, they are called once."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class TPUConfig(NamedTuple):
    """What a TPU is told: how many steps in a row, on how many cores. Here, steps are run one by one."""

    iterations_per_loop: int = 2
    num_shards: int | None = None
    num_cores_per_replica: int | None = None
    per_host_input_for_training: Any = True
    tpu_job_name: str | None = None
    initial_infeed_sleep_secs: int | None = None
    input_partition_dims: Any = None
    eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1
    experimental_host_call_every_n_steps: int = 1
    experimental_allow_per_host_v2_parallel_get_next: bool = False
    experimental_feed_hook: Any = None


class RunConfig(PlainRunConfig):
    """A RunConfig with what a TPU is told. Addresses of TPUs are kept, and nobody is asked there."""

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: object = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if master is not None and cluster is not None:
            raise InvalidArgumentError("Both master and cluster are set.")
        self._values["tpu_config"] = tpu_config or TPUConfig()
        self._values["cluster"] = cluster
        if master or evaluation_master or cluster is not None:
            LOG.warning(
                "there is no TPU here: master=%r, evaluation_master=%r and cluster=%r are not asked, and everything "
                "runs on the CPU of this process",
                master,
                evaluation_master,
                cluster,
            )


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Mapping[str, Any] | None
    scaffold_fn: Callable[[], Any] | None
    host_call: Any
    training_hooks: tuple[SessionRunHook, ...]
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class TPUEstimatorSpec(_Fields):
    """What the model function of a TPU estimator returns.

    `eval_metrics` is a function of tensors that returns metrics, and the tensors, by name or in order; `host_call` is
    the same of what runs beside each training step.
    """

    def __new__(
        cls,
        mode: str,
        predictions: Outputs | None = None,
        loss: Tensor | None = None,
        train_op: Update | None = None,
        eval_metrics: HostCall | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        scaffold_fn: Callable[[], Any] | None = None,
        host_call: HostCall | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ) -> TPUEstimatorSpec:
        for word, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            _check_call(word, call)
        return super().__new__(
            cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn, host_call,
            checked_hooks(training_hooks), checked_hooks(evaluation_hooks), checked_hooks(prediction_hooks),
        )  # fmt: skip

    def as_estimator_spec(self) -> EstimatorSpec:
        """The same for an estimator that is not of a TPU."""
        metrics = None if self.eval_metrics is None else _call_function(self.eval_metrics)
        train_op = self.train_op
        if self.host_call is not None and self.mode == ModeKeys.TRAIN:
            beside = [item for item in flatten(_call_function(self.host_call)) if item is not None]
            if beside and train_op is not None and self.loss is not None:
                with control_dependencies([train_op, *beside]):
                    train_op = identity(self.loss)
        return EstimatorSpec(
            self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks,
            evaluation_hooks=self.evaluation_hooks,
            prediction_hooks=self.prediction_hooks,
        )


def _check_call(word: str, call: HostCall | None) -> None:
    if call is None:
        return
    if not isinstance(call, tuple | list) or len(call) != 2 or not callable(call[0]):
        raise InvalidArgumentError(f"{word} should be a tuple of a function and its tensors, given: {call}")
    function, tensors = call
    if isinstance(tensors, tuple | list):
        takes = arguments_of(function)
        if len(takes) != len(tensors) and len(takes) > 0:
            raise InvalidArgumentError(
                f"In TPUEstimatorSpec.{word}, length of tensors {len(tensors)} does not match method args of the "
                f"function, which takes {len(takes)}."
            )


def _call_function(call: HostCall) -> Any:
    function, tensors = call
    return function(**tensors) if isinstance(tensors, Mapping) else function(*tensors)


class TPUEstimator(Estimator):
    """An estimator whose functions are told the size of a batch, as `params["batch_size"]`."""

    def __init__(
        self,
        model_fn: ModelFunction,
        model_dir: PathLike | None = None,
        config: RunConfig | None = None,
        params: Mapping[str, Any] | None = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: object = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: PathLike | WarmStartSettings | None = None,
        embedding_config_spec: object = None,
        export_saved_model_api_version: object = None,
    ) -> None:
        if config is None or not isinstance(config, RunConfig):
            raise InvalidArgumentError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in (_BATCH_SIZE, "context")):
            raise InvalidArgumentError("batch_size and context are reserved keys but existed in params.")
        if use_tpu:
            LOG.warning("use_tpu is True, and there is no TPU here: the model runs on the CPU of this process")
        self._sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        super().__init__(_ForCpu(model_fn), model_dir, config, dict(params or {}), warm_start_from)

    def _params_of(self, mode: str) -> Any:
        size = self._sizes.get(mode)
        found = self.params
        return found if size is None else {**found, _BATCH_SIZE: size}

    def _call_input_fn(self, input_fn: InputFunction, mode: str) -> Any:
        if self._sizes.get(mode) is None and "params" in arguments_of(input_fn):
            LOG.info("no batch size is given for %s, and params of the input function has none", mode)
        available = {"mode": mode, "params": self._params_of(mode), "config": self.config}
        return input_fn(**{name: available[name] for name in arguments_of(input_fn) if name in available})

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: PlainRunConfig) -> EstimatorSpec:
        kept = self._params
        # TensorFlow tells model functions, and not input functions, whether they run on a TPU: `_ModelFnWrapper`.
        self._params = {**self._params_of(mode), "use_tpu": False}
        try:
            return super()._call_model_fn(features, labels, mode, config)
        finally:
            self._params = kept


class _ForCpu:
    """A model function that returns the spec of an estimator, whichever the program's returns."""

    def __init__(self, model_fn: ModelFunction) -> None:
        self._model_fn = model_fn
        takes = arguments_of(model_fn)
        if "features" not in takes:
            raise InvalidArgumentError(f"model_fn ({model_fn}) must include features argument.")
        self._takes = takes

    def __call__(self, features: Any, labels: Any, mode: str, params: Any, config: Any) -> EstimatorSpec:
        available = {"features": features, "labels": labels, "mode": mode, "params": params, "config": config}
        spec = self._model_fn(**{name: available[name] for name in self._takes if name in available})
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec


# ---------------------------------------------------------------------------------------------------- Beside them


class CrossShardOptimizer(Optimizer):
    """An optimizer that would add the gradients of all cores; there is one, so it is the one inside."""

    def __init__(
        self,
        opt: Optimizer,
        reduction: str = "weighted_mean",
        name: str = "CrossShardOptimizer",
        group_assignment: object = None,
    ) -> None:
        super().__init__(False, name)
        self._opt = opt

    def compute_gradients(
        self,
        loss: Tensor,
        var_list: VarList | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Tensor | None = None,
    ) -> list[tuple[Gradient | None, Trained]]:
        return self._opt.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> Operation:
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, var: Trained, name: str) -> Slot | None:
        return self._opt.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._opt.get_slot_names()

    def variables(self) -> list[Slot]:
        return self._opt.variables()


def cross_replica_sum(x: Tensor, group_assignment: object = None, name: str | None = None) -> Tensor:
    """The sum over all cores, of which there is one."""
    return identity(x, name=name)


def shard(
    computation: Callable[..., Given], inputs: Sequence[Any] | None = None, num_shards: int = 1, **_: object
) -> Given:
    """What a computation gives on all cores, of which there is one."""
    return computation(*(inputs or ()))


def batch_parallel(
    computation: Callable[..., Given], inputs: Sequence[Any] | None = None, num_shards: int = 1, **_: object
) -> Given:
    """What a computation gives for the parts of a batch, of which there is one."""
    return shard(computation, inputs, num_shards)


def rewrite(computation: Callable[..., Any], inputs: Sequence[Any] | None = None, **_: object) -> Structure:
    """What a computation gives, as one for a TPU does: one value in a list, an operation if there is no value."""
    made = computation(*map(convert, inputs or ()))
    parts = flatten(made) if made is not None else []
    operations = [part for part in parts if isinstance(part, Operation)]
    if len(operations) == len(parts):
        with control_dependencies(operations):
            return no_op()
    with control_dependencies(operations):
        values = [identity(part) for part in parts if not isinstance(part, Operation)]
    is_flat = isinstance(made, list | tuple) and not any(isinstance(part, list | tuple | dict) for part in made)
    if operations or is_flat or not isinstance(made, list | tuple | dict):
        return values
    packed: Structure = pack_sequence_as(made, values)
    return packed


def replicate(
    computation: Callable[..., Any],
    inputs: Sequence[Sequence[Any]] | None = None,
    **_: object,
) -> list[Structure]:
    """What a computation gives on each core for its inputs. There is one core."""
    each = [[]] if inputs is None else list(inputs)
    if len(each) != 1:
        raise UnimplementedError(f"a computation is to run on {len(each)} cores, and there is one: call it for each")
    return [rewrite(computation, each[0])]


def core(num: int) -> str:
    """The name of a core, for `tf.device`; operations on it run on the CPU."""
    return f"device:TPU_REPLICATED_CORE:{num}"


def repeat_steps(
    n: TensorLike,
    body: Callable[..., Any],
    inputs: Sequence[Any] | None = None,
    infeed_queue: None = None,
    name: str | None = None,
) -> Any:
    """What a body makes of inputs after so many turns; the operation that runs it, if it takes none."""
    given = [constant(0), *(inputs or [])]
    wanted = convert(n, INT32)

    def turn(at: Tensor, *values: Tensor) -> list[Any]:
        return [at + 1, *_as_list(body(*values))]

    found = while_steps(lambda at, *_: at < wanted, turn, given, infeed_queue, name)
    return list(found[1:]) if inputs else found.op


def while_steps(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    inputs: Sequence[Any] | None = None,
    infeed_queue: None = None,
    name: str | None = None,
) -> Any:
    """What a body makes of inputs while a condition of them holds: a list, or the only tensor."""
    if infeed_queue is not None:
        raise UnimplementedError("there is no infeed: give the loop its tensors as inputs")
    given = [convert(item) for item in (inputs or [])] or [constant(0)]
    takes = bool(inputs)

    def turn(*values: Tensor) -> list[Any]:
        made = _as_list(body(*values) if takes else body())
        tensors = [item for item in made if not isinstance(item, Operation)]
        with control_dependencies([item for item in made if isinstance(item, Operation)]):
            return [identity(item) for item in (tensors if takes else values)]

    found: Any = while_loop(lambda *values: condition(*values) if takes else condition(), turn, given, name=name)
    return list(found) if isinstance(found, list | tuple) else found


def _as_list(made: Any) -> list[Any]:
    return [] if made is None else list(made) if isinstance(made, list | tuple) else [made]


def outside_compilation(computation: Callable[Taken, Given], *args: Taken.args, **kwargs: Taken.kwargs) -> Given:
    """What a computation gives that a TPU would leave to its host."""
    return computation(*args, **kwargs)


def initialize_system(*_: object, **__: object) -> Operation:
    """An operation that would make a TPU ready; there is none, and it does nothing."""
    return no_op()


def shutdown_system(*_: object, **__: object) -> Operation:
    """An operation that would shut a TPU down; there is none, and it does nothing."""
    return no_op()


@contextmanager
def bfloat16_scope() -> Iterator[VariableScope]:
    """A variable scope whose variables are kept as floats and read as bfloat16."""

    def getter(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if DType.of(kwargs.get("dtype") or FLOAT32) is not BFLOAT16:
            return getter(*args, **kwargs)
        kwargs["dtype"] = FLOAT32
        return cast(getter(*args, **kwargs), BFLOAT16)

    with variable_scope("", custom_getter=getter) as scope:
        yield scope


class TPUClusterResolver:
    """Where a TPU is. There is none: the name is kept."""

    def __init__(
        self, tpu: object = None, zone: str | None = None, project: str | None = None, **options: object
    ) -> None:
        self._tpu = tpu

    def master(self) -> str:
        """Nobody: sessions run in this process."""
        return ""

    def get_master(self) -> str:
        """The address of a TPU's server, which is empty as that of `master` is: sessions run in this process."""
        return ""
