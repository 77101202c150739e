"""Variables that take their initial values from a checkpoint.

checkpoint_initializer                     RestoreV2          the tensor, or the part of it that the variable is
checkpoint_initializer/prefix, …           Const              the checkpoint, the name, the part
Assign                                     Assign             the variable's initializer from then on
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tensorkeep.checkpoint.describing import CheckpointDescription
from tensorkeep.checkpoint.finding.latest import checkpoint_named
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.building import device
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.ops.files.checkpoints import restore_v2
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.training.savers.embedding_initializing import embedding_shapes, initialize_from, slots_of_shards
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.hash_tables.saving import HashTableSaveable
from tensorkeep.tf1.variables.hash_tables.table import DistributedHashTable, HashTable
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.saveable import sorted_saveables
from tensorkeep.tf1.variables.store import variable_store
from tensorkeep.tf1.variables.variable import Variable

LOG: Final = logging.getLogger("tensorkeep")

Target: TypeAlias = str | Variable | PartitionedVariable | HashTable | DistributedHashTable | list[Any]
AssignmentMap: TypeAlias = Mapping[str, Target] | Iterable[tuple[str, Target]]
Shapes: TypeAlias = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Assignment:
    """A variable, or the parts of one, and the tensor that it is to begin as."""

    variables: tuple[Any, ...]
    is_whole: bool
    """Whether the variable is the tensor, rather than part of it."""
    tensor: str

    @property
    def name(self) -> str:
        return ",".join(variable.name for variable in self.variables)


def init_from_checkpoint(
    path: PathLike, assignment_map: AssignmentMap, *, reset_version: bool = False, fs: FileSystem = FILES
) -> None:
    """Lets variables of the graph being built take their initial values from a checkpoint, or the latest of a folder.

    The map, or list of pairs, says which tensor of the checkpoint goes where:

        "scope/": "other/"       each variable of the scope other takes the tensor of its name in scope
        "/": "other/"            … of its name at the root of the checkpoint
        "name": "other"          the variable that get_variable made under that name, in parts or not
        "name": variable         that variable
        "name": [part, …]        those parts of a variable

    Embedding variables and their slots go by the names of their variables. With `reset_version`, their keys count as
    updated at step 0. Hash tables go by their names as a whole; their slots begin anew.

    Nothing changes unless all of it can be done: every name that is missing, and every shape that does not fit, is
    named in one InvalidArgumentError. Values are read when the initializers run.
    """
    checkpoint = checkpoint_named(path, fs=fs)
    with CheckpointDescription.open(checkpoint, fs=fs) as reader:
        stored: Shapes = reader.shapes()
    shapes: Shapes = {**embedding_shapes(checkpoint, stored, fs), **stored}
    planned = planned_assignments(assignment_map, shapes, variable_store().variables, path_text(path))
    for assignment in planned:
        for variable in assignment.variables:
            if isinstance(variable, EmbeddingVariable):
                initialize_from(variable, checkpoint, assignment.tensor, reset_version)
            elif isinstance(variable, HashTable):
                _start_hash_table(variable, checkpoint, assignment.tensor)
            else:
                _set_initializer(variable, checkpoint, assignment)
        LOG.debug("Initialize variable %s from checkpoint %s with %s", assignment.name, path, assignment.tensor)


def planned_assignments(
    assignment_map: AssignmentMap, shapes: Shapes, store: Mapping[str, Any], where: str
) -> list[Assignment]:
    """What a map comes to, in order of the tensors' names; `where` is the checkpoint, for messages."""
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    planned: list[Assignment] = []
    problems: list[str] = []
    for tensor, target in sorted(pairs, key=lambda pair: pair[0]):
        for found in _assignments(tensor, target, shapes, store, where):
            problem = found if isinstance(found, str) else _misfit(found, shapes)
            if problem is not None:
                problems.append(problem)
            elif isinstance(found, Assignment):
                planned.append(found)
    if problems:
        raise InvalidArgumentError("\n".join(dict.fromkeys(problems)))
    return planned


def _assignments(
    tensor: str, target: Target, shapes: Shapes, store: Mapping[str, Any], where: str
) -> Iterator[Assignment | str]:
    """What one pair of a map comes to; text says what is wrong with it."""
    found = _variable(target, store) if isinstance(target, str) else _given_variables(target)
    if found is not None:
        if tensor not in shapes:
            yield f"Tensor {tensor} is not found in {where} checkpoint {dict(shapes)}"
        else:
            yield Assignment(*found, tensor)
        return
    assert isinstance(target, str)
    scope = target.rpartition("/")[0]
    if not tensor.endswith("/"):
        yield (
            f"Assignment map with scope only name {scope} should map to scope only {tensor}. Should be 'scope/': "
            "'other_scope/'."
        )
        return
    for name in _names_in(scope, store):
        wanted = _tensor_for(name, scope, tensor, target)
        if wanted not in shapes:
            yield f"Tensor {wanted} ({name[len(scope) + 1 :]} in {tensor}) is not found in {where} checkpoint"
            continue
        found = _variable(name, store)
        if found is not None:
            yield Assignment(*found, wanted)
    for name, variable in slots_of_shards(scope, store):
        wanted = _tensor_for(name, scope, tensor, target)
        if wanted in shapes:  # else the slot begins anew
            yield Assignment((variable,), True, wanted)


Found: TypeAlias = tuple[tuple[Any, ...], bool]


def _given_variables(target: Any) -> Found:
    """Variables that were given themselves, and whether it is one whole variable."""
    if isinstance(target, Variable | HashTable):
        return (target,), True
    if isinstance(target, DistributedHashTable) or (
        isinstance(target, list) and target and all(isinstance(item, HashTable) for item in target)
    ):
        return tuple(target.partitions if isinstance(target, DistributedHashTable) else target), False
    if isinstance(target, list | PartitionedVariable) and all(isinstance(item, Variable) for item in target):
        parts = tuple(target)
        infos = [part._get_save_slice_info() for part in parts]
        names = [getattr(info, "full_name", None) for info in infos]
        if None in names:
            raise InvalidArgumentError(f"Slices must all be slices: {[part.name for part in parts]}")
        if other := [name for name in names if name != names[0]]:
            raise InvalidArgumentError(f"Slices must all be from the same tensor: {names[0]} != {other[0]}")
        return parts, False
    raise WrongTypeError(
        "An assignment map leads from names in a checkpoint to names of variables, variables or lists of their parts; "
        f"got {target!r}"
    )


def _variable(name: str, store: Mapping[str, Any]) -> Found | None:
    """The variable that get_variable made under a name, or its parts."""
    if name in store:
        return (store[name],), True
    for kind in ("part", "HashTable"):
        parts: list[Any] = []
        while (part := store.get(f"{name}/{kind}_{len(parts)}")) is not None:
            parts.append(part)
        if parts:
            return tuple(parts), False
    return None


def _names_in(scope: str, store: Mapping[str, Any]) -> list[str]:
    """The variables of a scope, all if it is empty; those that are in parts by the names of the wholes."""
    inside = [name for name in store if not scope or name.startswith(f"{scope}/")]
    return sorted(
        {
            table.distributed_name if isinstance(table := store[name], HashTable) else name.partition("/part_")[0]
            for name in inside
        }
    )


def _tensor_for(name: str, scope: str, tensor_scope: str, target: str) -> str:
    """The tensor for a variable when one scope is mapped to another."""
    rest = name[len(scope) :]
    if target != "/":
        rest = rest[1:]
    if tensor_scope != "/":
        rest = tensor_scope + rest
    return rest.removesuffix("/")


def _misfit(assignment: Assignment, shapes: Shapes) -> str | None:
    """How a tensor and the variables it is for do not fit; None if they do."""
    shape = list(shapes[assignment.tensor])
    for variable in assignment.variables:
        if isinstance(variable, EmbeddingVariable):
            continue  # rows of another width are cut or extended
        if isinstance(variable, HashTable):
            if variable.shape.as_list() != shape[1:]:
                return _shape_problem(variable.name, str(variable.shape), assignment.tensor, shape)
            continue
        info = None if assignment.is_whole else variable._get_save_slice_info()
        if info is not None and list(info.full_shape or ()) != shape:
            whole = tuple(info.full_shape or ())
            return _shape_problem(str(info.full_name), str(whole), assignment.tensor, shape)
        if assignment.is_whole and not variable.get_shape().is_compatible_with(shape):
            return _shape_problem(variable.name, str(variable.get_shape()), assignment.tensor, shape)
    return None


def _shape_problem(variable: str, variable_shape: str, tensor: str, shape: list[int]) -> str:
    return (
        f"Shape of variable {variable} ({variable_shape}) doesn't match with shape of tensor {tensor} ({shape}) from "
        "checkpoint reader."
    )


def _start_hash_table(table: HashTable, checkpoint: str, name: str) -> None:
    """Gives a part of a hash table an initializer that reads the keys and rows that a checkpoint holds of it."""
    if table.children:
        raise UnimplementedError(
            f'hash table "{table.name}" holds {len(table.children)} others, its children: restore them by a saver'
        )
    with device(table.device):
        prefix = constant(checkpoint, name="checkpoint")
        table.initializer = HashTableSaveable([table], [name]).restore([prefix], None)


def _set_initializer(variable: Variable, checkpoint: str, assignment: Assignment) -> None:
    """Gives a variable another initializer, which reads a tensor of a checkpoint."""
    info = None if assignment.is_whole else variable._get_save_slice_info()
    # Not with the variable but on the processor, where alone files can be read.
    with device(variable.device), device("/cpu:0"):
        (restored,) = restore_v2(
            checkpoint,
            [assignment.tensor],
            ["" if info is None else info.spec],
            dtypes=[variable.dtype.base_dtype],
            name="checkpoint_initializer",
        )
        (saveable,) = sorted_saveables([variable])
    variable._initializer_op = saveable.restore([restored], restored_shapes=None)
    restored.set_shape(variable.shape)
    variable._initial_value = restored
