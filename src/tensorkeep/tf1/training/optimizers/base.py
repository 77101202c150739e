"""Optimizers: gradients, slots, and the update of each variable.

An optimizer of the usual kind only says what it is made of: the rule that updates a variable, the slots and the numbers
that the rule takes. One that is not overrides what TensorFlow's overrides: `_create_slots`, `_prepare`, `_apply_dense`,
`_apply_sparse`, `_resource_apply_dense`, `_resource_apply_sparse`, `_finish`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MappingView, Sequence
from typing import Any, ClassVar, TypeAlias

from tensorkeep.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT64, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit_operation
from tensorkeep.graph.building import (
    colocate_with,
    control_dependencies,
    current_graph,
    init_scope,
    name_scope,
    operation_of,
)
from tensorkeep.graph.collections import GraphKeys, get_collection, get_collection_ref
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.opspec import find_op, get_op
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.shapes import unique
from tensorkeep.tf1.functions.control.grouping import group, tuple_
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.segments import unsorted_segment_sum
from tensorkeep.tf1.training.optimizers.slots import create_slot, create_slot_with_initializer, create_zeros_slot
from tensorkeep.tf1.variables.assignments import assign_add
from tensorkeep.tf1.variables.composed import ComposedVariable
from tensorkeep.tf1.variables.creation import is_embedding_variable, is_resource_variable
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.embedding_variables.slots import counts_of
from tensorkeep.tf1.variables.global_step import Step, get_or_create_global_step
from tensorkeep.tf1.variables.hash_tables.table import DistributedHashTable, HashTable
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.resource import BaseResourceVariable
from tensorkeep.tf1.variables.variable import Variable

Trained: TypeAlias = Variable | HashTable
"""What an optimizer changes. Tables by key and embedding variables are changed by rows only."""
Slot: TypeAlias = Variable | HashTable
VarList: TypeAlias = "Trained | PartitionedVariable | Sequence[Any] | Mapping[str, Trained]"
"""Variables to train, by themselves, in a list, perhaps nested, or by name."""
Gradient: TypeAlias = Tensor | IndexedSlices
Update: TypeAlias = Operation | Tensor | Variable
"""What changes a variable when it is run."""
Number: TypeAlias = "TensorLike | Callable[[], TensorLike]"
"""A learning rate or its like, or a function that gives it when gradients are applied."""


class Optimizer:
    """What all optimizers share: computing gradients, and applying them variable by variable."""

    GATE_NONE: ClassVar = 0
    GATE_OP: ClassVar = 1
    GATE_GRAPH: ClassVar = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise InvalidArgumentError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Slot]] = {}
        self._non_slots: dict[tuple[str, Graph], Variable] = {}
        self._embedding_step: Step | None = None  # what stamps the keys of embedding variables

    def get_name(self) -> str:
        return self._name

    def doing_loss_scaling(self) -> bool:
        """Whether gradients are those of a loss made larger, for the sake of small types."""
        return False

    # ------------------------------------------------------------------------------------------ the two halves

    def minimize(
        self,
        loss: Tensor,
        global_step: Step | None = None,
        var_list: VarList | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Tensor | None = None,
    ) -> Operation:
        """An operation that takes one step towards a smaller loss."""
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if not any(gradient is not None for gradient, _ in pairs):
            raise InvalidArgumentError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(variable) for _, variable in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Tensor,
        var_list: VarList | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Tensor | None = None,
    ) -> list[tuple[Gradient | None, Trained]]:
        """Pairs of gradient and variable; the gradient is None where the loss does not depend on the variable."""
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise InvalidArgumentError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH. "
                f"Not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        chosen = self._chosen(var_list, loss.graph)
        targets = [
            variable.handle if isinstance(variable, BaseResourceVariable | HashTable) else variable
            for variable in chosen
        ]
        found = gradients(
            loss,
            targets,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            found = tuple_(found)
        pairs = list(zip(found, chosen, strict=True))
        self._assert_valid_dtypes([variable for gradient, variable in pairs if gradient is not None])
        return pairs

    def _chosen(self, var_list: VarList | None, graph: Graph) -> list[Trained]:
        """The variables to train, with parts in the place of partitioned ones and of those made of others."""
        listed: Sequence[Any]
        if var_list is None:
            listed = get_collection(graph, GraphKeys.TRAINABLE_VARIABLES)
            listed += get_collection(graph, GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
        elif isinstance(var_list, Mapping):
            listed = [var_list[key] for key in sorted(var_list)]
        elif isinstance(var_list, Sequence | MappingView):
            listed = list(var_list)
        else:
            listed = list(var_list) if isinstance(var_list, PartitionedVariable) else [var_list]
        flat: list[Trained] = []
        for variable in listed:
            if isinstance(variable, DistributedHashTable):
                flat.extend(variable.partitions)
                continue
            for part in variable.parts if isinstance(variable, ComposedVariable) else [variable]:
                flat.extend(part if isinstance(part, PartitionedVariable | list | tuple) else [part])
        if not flat:
            raise InvalidArgumentError("No variables to optimize.")
        return flat

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> Operation:
        """An operation that applies gradients to variables, and then counts the step."""
        pairs = [(_as_gradient(gradient), _checked_variable(variable)) for gradient, variable in grads_and_vars]
        if not pairs:
            raise InvalidArgumentError("No variables provided.")
        trained = [variable for gradient, variable in pairs if gradient is not None]
        if not trained:
            names = [str(variable) for _, variable in pairs]
            raise InvalidArgumentError(f"No gradients provided for any variable: {names}.")
        with init_scope():
            self._create_slots(trained)
            if any(map(is_embedding_variable, trained)):
                self._embedding_step = get_or_create_global_step() if global_step is None else global_step
        with name_scope(name or self._name) as scope:
            self._prepare()
            updates = []
            for gradient, variable in pairs:
                if gradient is not None:
                    with name_scope(f"update_{variable.op.name}"), colocate_with(variable):
                        updates.append(self._update(gradient, variable))
            applied = self._count_step(updates, global_step, scope)
            collected = get_collection_ref(applied.graph, GraphKeys.TRAIN_OP)
            if applied not in collected:
                collected.append(applied)
            return applied

    def _count_step(self, updates: list[Update], global_step: Step | None, scope: str) -> Operation:
        if global_step is None:
            return self._finish(updates, scope)
        with control_dependencies([self._finish(updates, "update")]), colocate_with(global_step):
            if isinstance(global_step, BaseResourceVariable):
                one = convert(1, global_step.dtype.base_dtype)
                return emit_operation("AssignAddVariableOp", global_step.handle, one, name=scope)
            return operation_of(assign_add(global_step, 1, name=scope))

    def _update(self, gradient: Gradient, variable: Trained) -> Update:
        """Updates one variable, and holds it to its constraint."""
        if isinstance(variable, EmbeddingVariable):
            if variable.constraint is not None:
                raise FailedConstraintError("Cannot use a constraint function on a sparse variable.")
            return self._apply_embedding(_checked_slices(gradient, variable), variable)
        if isinstance(variable, HashTable):
            slices = _checked_slices(gradient, variable)
            return self._hash_table_apply_sparse_duplicate_indices(slices.values, variable, slices.indices)
        constraint = variable.constraint
        if isinstance(gradient, IndexedSlices):
            if constraint is not None and not isinstance(variable, BaseResourceVariable):
                raise FailedConstraintError("Cannot use a constraint function on a sparse variable.")
            if isinstance(variable, BaseResourceVariable):
                update = self._resource_apply_sparse_duplicate_indices(gradient.values, variable, gradient.indices)
            else:
                return self._apply_sparse_duplicate_indices(gradient, variable)
        elif isinstance(variable, BaseResourceVariable):
            update = self._resource_apply_dense(gradient, variable)
        else:
            update = self._apply_dense(gradient, variable)
        if constraint is None:
            return update
        with control_dependencies([update]):
            return variable.assign(constraint(variable))

    # ------------------------------------------------------------------------------------------ slots

    def get_slot(self, var: Trained, name: str) -> Slot | None:
        """The slot of that name of a variable, or None."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        return sorted(self._slots)

    def variables(self) -> list[Slot]:
        """All that the optimizer keeps in the graph being built, by name."""
        graph = current_graph()
        kept: list[Slot] = [variable for (_, owner), variable in self._non_slots.items() if owner is graph]
        kept += [slot for slots in self._slots.values() for slot in slots.values() if slot.graph is graph]
        return sorted(kept, key=lambda variable: str(variable.name))

    def _zeros_slot(self, var: Trained, slot_name: str, op_name: str) -> Slot:
        return self._slot(var, slot_name, lambda: create_zeros_slot(var, op_name))

    def _get_or_make_slot(self, var: Trained, val: Tensor, slot_name: str, op_name: str) -> Slot:
        return self._slot(var, slot_name, lambda: create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self,
        var: Trained,
        initializer: InitializerLike,
        shape: ShapeLike,
        dtype: DTypeLike,
        slot_name: str,
        op_name: str,
    ) -> Slot:
        return self._slot(var, slot_name, lambda: create_slot_with_initializer(var, initializer, shape, dtype, op_name))

    def _slot(self, var: Trained, slot_name: str, create: Callable[[], Slot]) -> Slot:
        slots = self._slots.setdefault(slot_name, {})
        if var not in slots:
            slots[var] = create()
        return slots[var]

    def _create_non_slot_variable(self, initial_value: InitializerLike, name: str, colocate_with: Trained) -> Variable:
        """A variable of the optimizer as a whole, beside one of those it trains."""
        key = (name, colocate_with.graph)
        if key not in self._non_slots:
            with _colocated(colocate_with):
                self._non_slots[key] = Variable(
                    initial_value, name=name, trainable=False, use_resource=is_resource_variable(colocate_with)
                )
        return self._non_slots[key]

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Variable | None:
        return self._non_slots.get((name, graph or current_graph()))

    # ------------------------------------------------------------------------------------------ to override

    def _valid_dtypes(self) -> set[DType]:
        return {FLOAT16, BFLOAT16, FLOAT32, FLOAT64}

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            if tensor.dtype.base_dtype not in valid:
                raise InvalidArgumentError(
                    f"Invalid type {tensor.dtype.base_dtype} for {tensor.name}, expected: {sorted(map(str, valid))}."
                )

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Makes the slots that updates of these variables need."""

    def _prepare(self) -> None:
        """Makes tensors of the optimizer's numbers."""

    def _apply_dense(self, grad: Tensor, var: Variable) -> Update:
        raise NotImplementedError(f"{type(self).__name__} has no update of a reference variable by a dense gradient")

    def _resource_apply_dense(self, grad: Tensor, handle: BaseResourceVariable) -> Update:
        raise NotImplementedError(f"{type(self).__name__} has no update of a resource variable by a dense gradient")

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Update:
        raise NotImplementedError(f"{type(self).__name__} has no update of a reference variable by slices")

    def _resource_apply_sparse(self, grad: Tensor, handle: BaseResourceVariable, indices: Tensor) -> Update:
        raise NotImplementedError(f"{type(self).__name__} has no update of a resource variable by slices")

    def _apply_embedding(self, grad: IndexedSlices, var: EmbeddingVariable) -> Update:
        raise UnimplementedError(
            f'{type(self).__name__} cannot train the embedding variable "{var.op.name}": use the optimizer for '
            "gradient descent, Adagrad, AdagradDecay, Adam, AdamW, AdamAsync or Ftrl"
        )

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Update:
        values, indices = sum_equal_indices(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: BaseResourceVariable, indices: Tensor
    ) -> Update:
        values, distinct = sum_equal_indices(grad, indices)
        return self._resource_apply_sparse(values, handle, distinct)

    def _hash_table_apply_sparse_duplicate_indices(
        self, grad: Tensor, hash_table: HashTable, indices: Tensor
    ) -> Update:
        values, distinct = sum_equal_indices(grad, indices)
        return self._hash_table_apply_sparse(values, hash_table, distinct)

    def _hash_table_apply_sparse(self, grad: Tensor, hash_table: HashTable, indices: Tensor) -> Update:
        raise UnimplementedError(
            f'{type(self).__name__} cannot train the hash table "{hash_table.op.name}": use the optimizer for gradient '
            "descent, Momentum, Adagrad, AdagradDA, Adam, Adadelta, RMSProp, Ftrl, or a proximal one"
        )

    def _finish(self, update_ops: list[Update], name_scope: str) -> Operation:
        """One operation for all updates."""
        return group(*update_ops, name=name_scope)

    @staticmethod
    def _call_if_callable(param: Number) -> TensorLike:
        return param() if callable(param) else param


class FailedConstraintError(InvalidArgumentError, RuntimeError):
    """A constraint cannot be kept: the update touches only some rows of the variable."""


_colocated = colocate_with  # the method above has an argument of that name


class RuleOptimizer(Optimizer):
    """An optimizer that is a rule with slots and numbers.

    `_rule` names the op without its prefix ("Adagrad" of ApplyAdagrad, SparseApplyAdagrad, …); `_slot_arguments` says
    which slot each of its inputs is, `_number_arguments` which attribute of the optimizer holds each of its numbers.
    """

    _rule: ClassVar[str]
    _slot_arguments: ClassVar[Mapping[str, str]] = {}
    _number_arguments: ClassVar[Mapping[str, str]] = {}
    _flags: ClassVar[Mapping[str, str]] = {}
    _casts: ClassVar[bool] = True

    def _rule_for(self, var: Trained) -> str:
        return self._rule

    def _number(self, argument: str, var: Trained) -> Tensor:
        """A number of the rule, of the type of the variable."""
        value: Tensor = getattr(self, self._number_arguments[argument])
        return cast(value, var.dtype.base_dtype) if self._casts else value

    def _apply(self, prefix: str, var: Trained, gradient: Tensor, indices: Tensor | None) -> Any:
        spec = get_op(prefix + self._rule_for(var))
        is_resource = prefix not in ("Apply", "SparseApply")
        arguments: list[Any] = []
        for arg in spec.schema.inputs:
            if arg.name == "var":
                arguments.append(_handle(var) if is_resource else var)
            elif arg.name in self._slot_arguments:
                slot = self.get_slot(var, self._slot_arguments[arg.name])
                assert slot is not None
                arguments.append(_handle(slot) if is_resource else slot)
            elif arg.name in ("grad", "delta"):
                arguments.append(gradient)
            elif arg.name == "indices":
                arguments.append(indices)
            else:
                arguments.append(self._number(arg.name, var))
        flags = {flag: getattr(self, attribute) for flag, attribute in self._flags.items()}
        return spec(*arguments, use_locking=self._use_locking, **flags)

    def _apply_embedding(self, grad: IndexedSlices, var: EmbeddingVariable) -> Update:
        rule = self._rule_for(var)
        if find_op(f"KvResourceSparseApply{rule}") is None:
            return super()._apply_embedding(grad, var)
        counts = counts_of(grad.indices)
        spec = get_op(f"KvResourceSparseApply{rule}" + ("" if counts is None else "WithCounts"))
        arguments = [self._embedding_argument(arg.name, grad, var, counts) for arg in spec.schema.inputs]
        flags = {flag: getattr(self, name) for flag, name in self._flags.items() if flag in spec.schema.attr_by_name}
        return emit_operation(spec, *arguments, use_locking=self._use_locking, **flags)

    def _embedding_argument(
        self, argument: str, grad: IndexedSlices, var: EmbeddingVariable, counts: Tensor | None
    ) -> Tensor | None:
        if argument in ("grad", "indices"):
            return grad.values if argument == "grad" else grad.indices
        if argument == "indices_counts":
            return counts
        if argument == "global_step":
            assert self._embedding_step is not None  # `apply_gradients` has chosen one
            return cast(self._embedding_step, INT64)
        if argument == "var":
            return var.handle
        slot = self.get_slot(var, self._slot_arguments[argument]) if argument in self._slot_arguments else None
        return self._number(argument, var) if slot is None else _handle(slot)

    def _hash_table_apply_sparse(self, grad: Tensor, hash_table: HashTable, indices: Tensor) -> Update:
        if find_op(f"TensibleVariableApply{self._rule_for(hash_table)}") is None:
            return super()._hash_table_apply_sparse(grad, hash_table, indices)
        return operation_of(self._apply("TensibleVariableApply", hash_table, grad, indices))

    def _apply_dense(self, grad: Tensor, var: Variable) -> Update:
        return operation_of(self._apply("Apply", var, grad, None))

    def _resource_apply_dense(self, grad: Tensor, handle: BaseResourceVariable) -> Update:
        return operation_of(self._apply("ResourceApply", handle, grad, None))

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Update:
        return operation_of(self._apply("SparseApply", var, grad.values, grad.indices))

    def _resource_apply_sparse(self, grad: Tensor, handle: BaseResourceVariable, indices: Tensor) -> Update:
        return operation_of(self._apply("ResourceSparseApply", handle, grad, indices))


def sum_equal_indices(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Slices with rows of equal index added up."""
    distinct, positions = unique(indices)
    return unsorted_segment_sum(values, positions, shape_of(distinct)[0]), distinct


def _handle(variable: Slot) -> Tensor:
    assert isinstance(variable, BaseResourceVariable | HashTable)  # references are passed as they are
    return variable.handle


def _checked_slices(gradient: Gradient, variable: Trained) -> IndexedSlices:
    if isinstance(gradient, IndexedSlices):
        return gradient
    raise InvalidArgumentError(
        f'the gradient of "{variable.op.name}", a table by key, is a whole tensor, expected IndexedSlices: the rows '
        "that were looked up"
    )


def _as_gradient(gradient: Gradient | TensorLike | None) -> Gradient | None:
    if gradient is None or isinstance(gradient, Tensor | IndexedSlices):
        return gradient
    try:
        return convert(gradient)
    except (TypeError, ValueError):
        raise WrongTypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {gradient!r}"
        ) from None


def _checked_variable(variable: Trained) -> Trained:
    if isinstance(variable, Variable | HashTable):
        return variable
    raise WrongTypeError(f"Trying to optimize unsupported type {type(variable).__name__}: {variable!r}")
