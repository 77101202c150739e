"""Plans as Python functions: one line per operation.

    def run(f0, f1):                            # feeds
        v2 = k0(f0, c0, transpose_a=a0)         # a kernel; constants and attributes are names of the function's module
        del f0
        v3 = v2 + f1                            # a kernel that is an operator
        while True:                             # a loop: its variables, its condition, its body
            v4 = v3 < c1
            if not v4:
                break
            v3 = v3 + c2
        return (v3,)

Written-out code is the fastest interpreter there is for a graph: what remains per operation is the call of its kernel.
Nodes that only pass a value on are not written: their outputs are other words for their inputs. Values are dropped
after their last use, and element-wise results take the place of an input that ends there. The line on which a run
fails tells the operation. Control flow that is not made of branches and loops is run by `frames`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, TracebackType
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.errors import PermissionDeniedError
from tensorkeep.graph.attrs import FunctionRef
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.opspec import Capability, flatten, group, kernel_of, keyword_names
from tensorkeep.runtime.allocation import check_allocation
from tensorkeep.runtime.blocks import Arm, Block, Choice, Loop, LoopVariable, Step, Steps, Structure, structure
from tensorkeep.runtime.context import KernelContext, Surroundings
from tensorkeep.runtime.failures import explained, no_value
from tensorkeep.runtime.frames import TokenMachine
from tensorkeep.runtime.lifetimes import Lifetimes
from tensorkeep.runtime.liveness import UnstructuredError
from tensorkeep.runtime.plan import CONTROL_FLOW, Plan
from tensorkeep.runtime.resources import dereference
from tensorkeep.shapes import Shape

_SMALL: Final = 16  # elements; values known to be smaller are dropped when the run ends

_PASSES_ON: Final = frozenset(
    ("Identity", "StopGradient", "PreventGradient", "PlaceholderWithDefault", "RefIdentity", *CONTROL_FLOW)
)
_OF_SHAPES: Final = frozenset(("Shape", "ShapeN", "Size", "Rank", "VariableShape"))  # known without their inputs
_MAKES_NEW: Final = frozenset(("MatMul", "BiasAdd", "Relu"))  # besides NumPy's own: their results are new arrays
_NOTHING: Final = frozenset(("NoOp", "ControlTrigger"))
_PLACEHOLDERS: Final = frozenset(("Placeholder", "PlaceholderV2"))

# Kernels that are operators of Python. Between NumPy's scalars an operator is ten times as fast as the function, and
# loops count with scalars.
_OPERATORS: Final[dict[Any, str]] = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
    np.logical_and: "&",
    np.logical_or: "|",
    np.negative: "-",
    np.logical_not: "~",
}
_UPDATES_IN_PLACE: Final = ("Assign", "Apply", "SparseApply", "Scatter", "CountUpTo")
_OUT_BY_NAME: Final = frozenset((np.maximum, np.minimum))  # NumPy takes no third argument of these by position
_ON_BOOLS: Final = frozenset(("&", "|", "~"))


def _variable_of(reference: Tensor) -> Operation:
    """The variable that a reference leads to, through all that passes references on."""
    while reference.op.inputs and reference.op.inputs[0].dtype.is_ref:
        reference = reference.op.inputs[0]
    return reference.op


def as_strings(value: Any) -> Any:
    """String values as arrays of bytes objects, which NumPy gives up whenever a result is a scalar."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value
    if isinstance(value, tuple):
        return tuple(map(as_strings, value))
    if isinstance(value, list):
        return list(map(as_strings, value))
    if isinstance(value, bytes):
        array = np.empty((), object)
        array[()] = value
        return array
    return value


def dead(index: int) -> None:
    raise no_value(index)


class Program:
    """A compiled plan. Call it with the values of the feeds; it gives those of the fetches."""

    def __init__(self, function: Callable[..., Any], lines: dict[int, Operation], text: str = "") -> None:
        self._function = function
        self._lines = lines
        self._code: CodeType | None = getattr(function, "__code__", None)
        self.text = text

    def __call__(self, *feeds: Any) -> tuple[Any, ...]:
        try:
            return self._function(*feeds)  # type: ignore[no-any-return]
        except Exception as error:
            op = self._failed(error.__traceback__)
            if op is None:
                raise
            raise explained(error, op) from error

    def _failed(self, traceback: TracebackType | None) -> Operation | None:
        """The operation of this program, of the innermost call of it, that raised."""
        found = None
        while traceback is not None:
            if traceback.tb_frame.f_code is self._code:
                found = self._lines.get(traceback.tb_lineno)
            traceback = traceback.tb_next
        return found


class Compiler:
    """Writes the function for one plan."""

    def __init__(
        self,
        plan: Plan,
        surroundings: Surroundings,
        contexts: dict[Operation, KernelContext],
        allowed: frozenset[Capability],
    ) -> None:
        self._plan = plan
        self._surroundings = surroundings
        self._contexts = contexts
        self._allowed = allowed
        self._namespace: dict[str, Any] = {"dereference": dereference, "as_strings": as_strings, "dead": dead}
        self._values: dict[Tensor, str] = {}
        self._objects: dict[int, str] = {}
        self._held: list[Any] = []  # so that no two values share an id
        self._lines: list[str] = []
        self._ops_of_lines: dict[int, Operation] = {}
        self._indent = "    "
        self._fed = frozenset(plan.feeds)
        self._folds = all(tensor.op.type in _PLACEHOLDERS for tensor in plan.feeds)
        self._lifetimes = Lifetimes()
        self._ends: dict[tuple[Block, int], list[str]] = {}
        self._silent: set[Operation] = set()
        # Of reference variables, the values read so far: the name, that of the reference, and the block.
        self._reads: dict[Operation, list[tuple[str, str, Block]]] = {}
        self._fresh: set[str] = set()  # names of arrays that nothing else can see
        self._large: set[str] = set()
        self._ranks: dict[str, int] = {}  # likely ones, of names; what a loop carries is taken to keep its first rank
        self._scalars: dict[str, str] = {}  # of the names of constants without dimensions, those of NumPy's scalars

    def program(self) -> Program:
        try:
            found = structure(self._plan)
        except UnstructuredError:
            return Program(TokenMachine(self._plan, self._bound).run, {})
        return self._written(found)

    def _written(self, found: Structure) -> Program:
        plan = self._plan
        for i, tensor in enumerate(plan.feeds):
            self._define(tensor, f"f{i}", found.block, 0)
        self._lines.append(f"def run({', '.join(self._values[tensor] for tensor in plan.feeds)}):")
        self._name_items(found.block)
        for tensor, condition in zip(plan.fetches, found.fetches, strict=True):
            if condition is not None:
                self._lifetimes.keep(self._values[tensor])
                for predicate, _ in condition:
                    self._lifetimes.keep(self._values[predicate])
        self._ends = self._lifetimes.ends()
        self._write_block(found.block)
        for i, condition in enumerate(found.fetches):
            self._write_check(i, condition)
        if None not in found.fetches:
            results = "".join(f"{self._fetch(tensor)}, " for tensor in plan.fetches)
            self._write(f"return ({results})")
        text = "\n".join(self._lines)
        exec(compile(text, "<plan>", "exec"), self._namespace)
        return Program(self._namespace["run"], self._ops_of_lines, text)

    def _write_check(self, index: int, condition: Steps | None) -> None:
        """Fails for a fetched tensor that has no value in this run."""
        if condition is None:
            self._write(f"dead({index})")
        elif condition:
            self._write(f"if not ({self._test(condition)}): dead({index})")

    def _test(self, condition: Steps) -> str:
        return " and ".join(f"{'' if truth else 'not '}{self._values[predicate]}" for predicate, truth in condition)

    def _write(self, line: str, op: Operation | None = None) -> None:
        self._lines.append(self._indent + line)
        if op is not None:
            self._ops_of_lines[len(self._lines)] = op

    def _name(self, prefix: str, value: Any) -> str:
        """A name of the function's module for a value."""
        name = self._objects.get(id(value))
        if name is None:
            name = f"{prefix}{len(self._namespace)}"
            self._objects[id(value)] = name
            self._namespace[name] = value
        return name

    # ---------------------------------------------------------------------------------------------- names

    def _name_items(self, block: Block) -> None:
        """Gives every value made in a block its name, and notes where it is used."""
        for i, item in enumerate(block.items):
            at = 2 * i + 1
            if isinstance(item, Step):
                self._name_step(item.op, block, at)
            elif isinstance(item, Arm):
                self._name_arm(item, block, at)
            elif isinstance(item, Choice):
                self._use(item.predicate, block, at)
                self._name_items(item.then)
                self._name_items(item.otherwise)
            else:
                self._name_loop(item, block, at)

    def _name_step(self, op: Operation, block: Block, at: int) -> None:
        if op.type in _NOTHING or self._is_fed(op) or self._is_constant(op):
            self._silent.add(op)
            return
        if op.type in _PASSES_ON:
            source = op.inputs[0]
            if source.dtype.is_ref == op.outputs[0].dtype.is_ref:
                for tensor in op.outputs:
                    self._values.setdefault(tensor, self._values[source])
                self._silent.add(op)
                return
            self._use(source, block, at)
            self._define_all(op.outputs, block, at)
            return
        for tensor in op.inputs:
            self._use(tensor, block, at)
        for tensor in op.outputs:
            self._define(tensor, f"v{len(self._values)}", block, at, self._likely_rank(op))

    def _likely_rank(self, op: Operation) -> int | None:
        """The rank of an element-wise result, as far as the ranks of the inputs are known."""
        if not isinstance(op.spec.kernel_function, np.ufunc):
            return None
        ranks = [self._ranks.get(self._values[tensor]) for tensor in op.inputs]
        return None if None in ranks else max(rank for rank in ranks if rank is not None)

    def _name_arm(self, arm: Arm, block: Block, at: int) -> None:
        self._use(arm.merge.inputs[arm.index], block, at)
        for tensor in arm.merge.outputs:
            if tensor in self._values:
                self._lifetimes.define(self._values[tensor], block, at)
            else:
                self._define(tensor, f"v{len(self._values)}", block, at)

    def _name_loop(self, loop: Loop, block: Block, at: int) -> None:
        for variable in loop.variables:
            self._use(variable.start, block, at - 1)
            for predicate, _ in variable.condition:
                self._use(predicate, block, at)
            rank = self._ranks.get(self._values[variable.start])
            for tensor in variable.merge.outputs:
                self._define(tensor, f"v{len(self._values)}", block, at, rank)
        self._name_items(loop.header)
        self._use(loop.condition, loop.header, 2 * len(loop.header.items))
        self._name_items(loop.body)
        for variable in loop.variables:
            self._use(variable.following, loop.body, 2 * len(loop.body.items))
        self._name_items(loop.after)

    def _define_all(self, tensors: list[Tensor], block: Block, at: int) -> None:
        """One name for all: the outputs of a switch are the same value."""
        name = f"v{len(self._values)}"
        for tensor in tensors:
            self._define(tensor, name, block, at)

    def _define(self, tensor: Tensor, name: str, block: Block, at: int, rank: int | None = None) -> None:
        if tensor in self._values:  # fed: the value given wins over the one computed
            return
        self._values[tensor] = name
        self._lifetimes.define(name, block, at)
        if tensor.dtype.is_ref:
            return
        shape = tensor.static_shape
        rank = rank if shape.dims is None else len(shape.dims)
        if rank is not None:
            self._ranks[name] = rank
        count = shape.element_count()
        if rank != 0 and (count is None or count > _SMALL):
            self._large.add(name)

    def _use(self, tensor: Tensor, block: Block, at: int) -> None:
        name = self._values[tensor]
        if name[0] != "c":
            self._lifetimes.use(name, block, at)

    def _is_fed(self, op: Operation) -> bool:
        """Whether a placeholder is only there because something waits for it."""
        return op.type in _PLACEHOLDERS and op.outputs[0] in self._fed

    def _is_constant(self, op: Operation) -> bool:
        """Whether the operation's outputs are known now; if so they become names."""
        if op.type == "Const" or (self._folds and self._may_fold(op)):
            values = [constant_value(tensor) for tensor in op.outputs]
            if all(value is not None for value in values):
                for tensor, value in zip(op.outputs, values, strict=True):
                    assert value is not None
                    check_allocation(value.shape, value.dtype)  # one value may stand for all
                    if tensor not in self._values:
                        self._values[tensor] = self._constant(value)
                return True
        return False

    def _constant(self, value: Any) -> str:
        self._held.append(value)
        name = self._name("c", value)
        self._ranks[name] = value.ndim
        if value.ndim == 0 and value.dtype != object:
            scalar = value[()]
            self._held.append(scalar)
            self._scalars[name] = self._name("c", scalar)
        return name

    def _may_fold(self, op: Operation) -> bool:
        values = self._values
        if op.type not in _OF_SHAPES and not (op.inputs and all(values[tensor][0] == "c" for tensor in op.inputs)):
            return False
        return bool(op.outputs) and op.type not in CONTROL_FLOW and not any(t in values for t in op.outputs)

    # --------------------------------------------------------------------------------------------- blocks

    def _write_block(self, block: Block) -> None:
        for i, item in enumerate(block.items):
            if isinstance(item, Step):
                if item.op not in self._silent:
                    self._write_step(item.op, block)
                    self._write_reads_again(item.op, block, 2 * i + 1)
            elif isinstance(item, Arm):
                self._write_arm(item)
            elif isinstance(item, Choice):
                self._write_choice(item)
            else:
                self._write_loop(item, block, 2 * i)
            self._write_ends(block, 2 * i + 1)

    def _write_reads_again(self, op: Operation, block: Block, at: int) -> None:
        """After an update, what was read of a reference variable before is the new value.

        In TensorFlow both are the same memory, and programs rely on it: a constraint is applied to what was read
        before the step.
        """
        if not op.type.startswith(_UPDATES_IN_PLACE):
            return
        for tensor in op.inputs:
            if tensor.dtype.is_ref:
                for name, reference, home in self._reads.get(_variable_of(tensor), ()):
                    if home is block and self._lifetimes.is_wanted_after(name, block, at):
                        self._write(f"{name} = dereference({reference})", op)

    def _write_ends(self, block: Block, at: int) -> None:
        """Drops the values that are not needed after some place of a block."""
        names = [name for name in self._ends.get((block, at), ()) if name in self._large]
        here = [name for name in names if self._lifetimes.home(name) is block]
        if here:
            self._write(f"del {', '.join(here)}")
        elsewhere = [name for name in names if self._lifetimes.home(name) is not block]
        if elsewhere:  # made in an inner block, which may not have run
            self._write(f"{' = '.join(elsewhere)} = None")

    def _write_inner(self, block: Block) -> None:
        old = self._indent
        self._indent += " "
        start = len(self._lines)
        self._write_block(block)
        if len(self._lines) == start:
            self._write("pass")
        self._indent = old

    def _write_arm(self, arm: Arm) -> None:
        merge = arm.merge
        value, index = merge.outputs
        if value not in self._fed:
            self._write(f"{self._values[value]} = {self._argument(merge.inputs[arm.index], value.dtype.is_ref)}", merge)
        if self._is_wanted(index):
            self._write(f"{self._values[index]} = {self._index(arm.index)}", merge)

    def _is_wanted(self, tensor: Tensor) -> bool:
        return self._lifetimes.uses.get(self._values[tensor], 0) > 0 and tensor not in self._fed

    def _index(self, number: int) -> str:
        return self._scalars[self._constant(np.array(number, np.int32))]

    def _write_choice(self, choice: Choice) -> None:
        predicate = self._argument(choice.predicate, False)
        self._write(f"if {predicate}:", choice.predicate.op)
        self._write_inner(choice.then)
        self._write("else:")
        self._write_inner(choice.otherwise)
        if self._lines[-1].strip() == "pass":
            del self._lines[-2:]

    def _write_loop(self, loop: Loop, block: Block, at: int) -> None:
        counted = [variable for variable in loop.variables if self._is_wanted(variable.merge.outputs[1])]
        for variable in loop.variables:
            self._write(f"{self._values[variable.merge.outputs[0]]} = {self._start(variable)}", variable.merge)
        for variable in counted:
            self._write(f"{self._values[variable.merge.outputs[1]]} = {self._index(0)}")
        self._write_ends(block, at)
        self._write("while True:")
        old = self._indent
        self._indent += " "
        self._write_block(loop.header)
        self._write(f"if not {self._argument(loop.condition, False)}: break", loop.op)
        self._write_ends(loop.header, 2 * len(loop.header.items))
        self._write_block(loop.body)
        self._write_next(loop)
        for variable in counted:
            self._write(f"{self._values[variable.merge.outputs[1]]} = {self._index(1)}")
        self._write_ends(loop.body, 2 * len(loop.body.items))
        self._indent = old
        self._write_block(loop.after)

    def _start(self, variable: LoopVariable) -> str:
        """A loop variable's first value; a scalar as one of NumPy's."""
        value = variable.merge.outputs[0]
        start = self._argument(variable.start, value.dtype.is_ref)
        is_scalar = self._ranks.get(self._values[variable.start]) == 0
        if is_scalar and not value.dtype.is_object and not value.dtype.is_ref:
            start = self._scalars.get(start) or f"{start}[()]"
        return f"{start} if {self._test(variable.condition)} else None" if variable.condition else start

    def _following(self, variable: LoopVariable) -> str:
        """A loop variable's next value."""
        value = self._argument(variable.following, variable.merge.outputs[0].dtype.is_ref)
        return f"({value} if {self._test(variable.condition)} else None)" if variable.condition else value

    def _write_next(self, loop: Loop) -> None:
        """Gives loop variables their next values: one by one, or all at once where one's next is another."""
        names = [self._values[variable.merge.outputs[0]] for variable in loop.variables]
        values = [self._following(variable) for variable in loop.variables]
        moved = [(name, value) for name, value in zip(names, values, strict=True) if name != value]
        sources = {self._values[variable.following] for variable in loop.variables}
        if any(name in sources for name, value in moved):
            self._write(f"{', '.join(name for name, _ in moved)} = {', '.join(value for _, value in moved)}")
            return
        for name, value in moved:
            self._write(f"{name} = {value}")

    # ----------------------------------------------------------------------------------------- operations

    def _write_step(self, op: Operation, block: Block) -> None:
        if op.type in _PASSES_ON:
            self._write_read(op, block)
            return
        kernel = self._kernel(op)
        written = self._written_inline(op, kernel, block) or self._written_call(op, kernel)
        targets = self._targets(op)
        self._write(f"{targets} = {written}" if targets else written, op)
        makes_new = isinstance(kernel, np.ufunc) or op.type in _MAKES_NEW
        if makes_new and len(op.outputs) == 1 and op.outputs[0] not in self._fed:
            self._fresh.add(self._values[op.outputs[0]])

    def _write_read(self, op: Operation, block: Block) -> None:
        """Reads a reference variable. Outputs that are fed keep the values that they are given."""
        source = op.inputs[0]
        made = dict.fromkeys(self._values[tensor] for tensor in op.outputs if tensor not in self._fed)
        self._write(f"{' = '.join(made) or '_'} = dereference({self._values[source]})", op)
        reads = self._reads.setdefault(_variable_of(source), [])
        reads.extend((name, self._values[source], block) for name in made)

    def _kernel(self, op: Operation) -> Callable[..., Any]:
        needs = op.spec.needs
        if needs is not None and needs not in self._allowed:
            option = "allow_python" if needs is Capability.CALLS_PYTHON else "allow_io"
            raise PermissionDeniedError(
                f'operation "{op.name}" ({op.type}) {needs.value}, which this session does not allow: '
                f"the graph may come from a stranger. Make the session with {option}=True if you trust it"
            )
        return kernel_of(op.spec) if op.type not in op.graph.functions else self._called(op)

    def _written_call(self, op: Operation, kernel: Callable[..., Any]) -> str:
        arguments = self._arguments(op)
        if op.spec.kernel_takes_context:
            arguments.insert(0, self._name("x", self._context(op)))
        for name in keyword_names(kernel):
            arguments.append(f"{name}={self._attr(op, name)}")
        self._held.append(kernel)
        call = f"{self._name('k', kernel)}({', '.join(arguments)})"
        return f"as_strings({call})" if any(tensor.dtype is STRING for tensor in op.outputs) else call

    def _written_inline(self, op: Operation, kernel: Any, block: Block) -> str | None:
        """An element-wise operation that writes to an input's place, or as an operator."""
        if not isinstance(kernel, np.ufunc) or kernel.signature is not None or op.spec.kernel_takes_context:
            return None
        inputs = op.inputs
        if len(op.outputs) != 1 or kernel.nin != len(inputs) or inputs[0].dtype.is_object:
            return None
        arguments = [self._argument(tensor, False) for tensor in inputs]
        for i, tensor in enumerate(inputs):
            if self._is_replaceable(tensor, inputs[1 - i] if len(inputs) == 2 else None, op.outputs[0], block):
                out = "out=" if kernel in _OUT_BY_NAME else ""
                return f"{self._name('k', kernel)}({', '.join(arguments)}, {out}{arguments[i]})"
        operator = _OPERATORS.get(kernel)
        if operator is None or (operator in _ON_BOOLS and inputs[0].dtype.base_dtype.name != "bool"):
            return None
        if len(inputs) == 1:
            return f"{operator}{arguments[0]}"
        first, second = arguments
        if self._ranks.get(second, 0) == 0:  # between scalars NumPy's are the fastest, beside arrays they are not
            first = self._scalars.get(first, first)
        if self._ranks.get(first, 0) == 0:
            second = self._scalars.get(second, second)
        return f"{first} {operator} {second}"

    def _is_replaceable(self, tensor: Tensor, other: Tensor | None, output: Tensor, block: Block) -> bool:
        """Whether a result can be written where an input is: nobody else sees that, and it has the result's shape."""
        name = self._values[tensor]
        return (
            self._folds  # else what is fed may be of other shapes than the graph has been told
            and name in self._fresh
            and tensor.dtype is output.dtype
            and self._lifetimes.uses.get(name) == 1
            and self._lifetimes.home(name) is block
            and _covers(tensor.static_shape, None if other is None else other.static_shape)
        )

    def _attr(self, op: Operation, name: str) -> str:
        """An attribute as an argument: written out if it is a number, else a name that keeps it alive."""
        value = op.attr(name)
        if value is None or isinstance(value, bool | int | bytes):
            return repr(value)
        self._held.append(value)
        return self._name("a", value)

    def _called(self, op: Operation) -> Callable[..., Any]:
        """The kernel of a node that calls a function by having its name as op."""
        caller = self._surroundings.caller
        assert caller is not None
        function = caller.function(FunctionRef(op.type, dict(op.attrs)))
        spec = op.spec

        def call(*arguments: Any) -> Any:
            results = list(function(*flatten(list(arguments))))
            grouped = group(spec.schema.outputs, results, op.attr)
            return grouped[0] if len(grouped) == 1 else tuple(grouped)

        return call

    def _context(self, op: Operation) -> KernelContext:
        context = self._contexts.get(op)
        if context is None:
            context = self._contexts[op] = KernelContext(op.name, op.device, self._surroundings)
        return context

    def _arguments(self, op: Operation) -> list[str]:
        schema = op.spec.schema
        if not op.spec.has_list_inputs:
            return [self._argument(tensor, arg.is_ref) for tensor, arg in zip(op.inputs, schema.inputs, strict=True)]
        grouped = group(schema.inputs, op.inputs, op.attr)
        return [
            "[" + ", ".join(self._argument(tensor, arg.is_ref) for tensor in item) + "]"
            if arg.is_list
            else self._argument(item, arg.is_ref)
            for arg, item in zip(schema.inputs, grouped, strict=True)
        ]

    def _argument(self, tensor: Tensor, wants_ref: bool) -> str:
        name = self._values[tensor]
        return f"dereference({name})" if tensor.dtype.is_ref and not wants_ref else name

    def _targets(self, op: Operation) -> str:
        if not op.outputs:
            return ""
        names = ["_" if tensor in self._fed else self._values[tensor] for tensor in op.outputs]
        schema = op.spec.schema
        if op.spec.has_list_outputs:
            grouped = group(schema.outputs, names, op.attr)
            names = [f"[{', '.join(item)}]" if isinstance(item, list) else item for item in grouped]
        return names[0] if len(schema.outputs) == 1 else ", ".join(names)

    def _fetch(self, tensor: Tensor) -> str:
        name = self._values[tensor]
        return f"dereference({name})" if tensor.dtype.is_ref else name

    # -------------------------------------------------------------------------------------- bound kernels

    def _bound(self, op: Operation) -> Callable[[list[Any]], list[Any]]:
        """An operation as a function from the values of its inputs to those of its outputs."""
        if self._is_fed(op):
            return lambda _: [None]
        kernel = self._kernel(op)
        spec = op.spec
        keywords = {name: op.attr(name) for name in keyword_names(kernel)}
        first = [self._context(op)] if spec.kernel_takes_context else []
        makes_strings = any(tensor.dtype is STRING for tensor in op.outputs)
        reads = _reads(op)

        def call(values: list[Any]) -> list[Any]:
            read = [dereference(value) if reads[i] else value for i, value in enumerate(values)]
            arguments = group(spec.schema.inputs, read, op.attr) if spec.has_list_inputs else read
            results = kernel(*first, *arguments, **keywords)
            return flatten(as_strings(results) if makes_strings else results)

        return call


def _reads(op: Operation) -> list[bool]:
    """Which inputs are references of which the operation wants the values."""
    schema = op.spec.schema
    flags: list[bool] = []
    for arg, item in zip(schema.inputs, group(schema.inputs, op.inputs, op.attr), strict=True):
        flags.extend(tensor.dtype.is_ref and not arg.is_ref for tensor in (item if arg.is_list else (item,)))
    return flags


def _covers(shape: Shape, other: Shape | None) -> bool:
    """Whether an element-wise result of values of two shapes surely has the first one's. Scalars do not count."""
    dims = shape.dims
    if not dims:
        return False
    if other is None:
        return True
    others = other.dims
    if others is None or len(others) > len(dims):
        return False
    pairs = zip(reversed(dims), reversed(others), strict=False)
    return all(b == 1 or (b is not None and b == a) for a, b in pairs)


__all__ = ["Compiler", "Program", "as_strings"]
