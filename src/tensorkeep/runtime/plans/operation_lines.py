"""The lines of a function as it is written, and which operation each of them is of; and the lines that operations
become: a call of a kernel each, or an operator, and where their results go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import group, keyword_names
from tensorkeep.runtime.kernels import Kernels
from tensorkeep.runtime.plans.blocks import Block
from tensorkeep.runtime.plans.names import PASSES_ON, Names
from tensorkeep.shapes import Shape


class Lines:
    """Lines of Python, each indented as far as the block that it stands in."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.ops: dict[int, Operation] = {}
        """Operations by the numbers of their lines, from 1 on."""
        self._indent = "    "

    def begin(self, line: str) -> None:
        """The line that all others belong to."""
        self.written.append(line)

    def write(self, line: str, op: Operation | None = None) -> None:
        self.written.append(self._indent + line)
        if op is not None:
            self.ops[len(self.written)] = op

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Within, lines belong to the last one before."""
        old = self._indent
        self._indent += " "
        yield
        self._indent = old


# Besides NumPy's own: their results are new arrays …
_MAKES_NEW: Final = frozenset(
    ("MatMul", "BiasAdd", "Relu", "BatchMatMulV2", "Conv2D", "Conv2DBackpropInput", "DepthwiseConv2dNative", "Softmax")
)
_MAKES_ALL_NEW: Final = frozenset(("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"))
_IS_SEEN_ANEW: Final = frozenset(("Reshape", "ExpandDims", "Squeeze"))  # … and of these, views of their input

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


class OperationLines:
    """Writes operations one by one."""

    def __init__(self, names: Names, kernels: Kernels, lines: Lines) -> None:
        self._names = names
        self._values = names.values
        self._lifetimes = names.lifetimes
        self._fed = names.fed
        self._kernels = kernels
        self._lines = lines
        # Of reference variables, the values read so far: the name, that of the reference, and the block.
        self._reads: dict[Operation, list[tuple[str, str, Block]]] = {}
        self.fresh: set[str] = set()
        """Names of arrays that nothing else can see."""

    def write_step(self, op: Operation, block: Block) -> None:
        if op.type in PASSES_ON:
            self._write_read(op, block)
            return
        kernel = self._kernels.of(op)
        written = self._written_inline(op, kernel, block) or self._written_call(op, kernel)
        targets = self._targets(op)
        self._lines.write(f"{targets} = {written}" if targets else written, op)
        makes_new = isinstance(kernel, np.ufunc) or op.type in _MAKES_NEW or self._is_only_view(op, block)
        if (makes_new and len(op.outputs) == 1) or op.type in _MAKES_ALL_NEW:
            self.fresh.update(self._values[tensor] for tensor in op.outputs if tensor not in self._fed)

    def _is_only_view(self, op: Operation, block: Block) -> bool:
        """Whether a result is all that remains of an array that nothing else can see."""
        if op.type not in _IS_SEEN_ANEW:
            return False
        name = self._values[op.inputs[0]]
        is_last = self._lifetimes.uses.get(name) == 1 and self._lifetimes.home(name) is block
        return is_last and name in self.fresh

    def _write_read(self, op: Operation, block: Block) -> None:
        """Reads a reference variable. Outputs that are fed keep the values that they are given."""
        source = op.inputs[0]
        made = dict.fromkeys(self._values[tensor] for tensor in op.outputs if tensor not in self._fed)
        self._lines.write(f"{' = '.join(made) or '_'} = dereference({self._values[source]})", op)
        reads = self._reads.setdefault(_variable_of(source), [])
        reads.extend((name, self._values[source], block) for name in made)

    def _written_call(self, op: Operation, kernel: Callable[..., Any]) -> str:
        arguments = self._arguments(op)
        if op.spec.kernel_takes_context:
            arguments.insert(0, self._names.name("x", self._kernels.context(op)))
        for name in keyword_names(kernel):
            arguments.append(f"{name}={self._attr(op, name)}")
        call = f"{self._names.name('k', kernel)}({', '.join(arguments)})"
        return f"as_strings({call})" if any(tensor.dtype is STRING for tensor in op.outputs) else call

    def _written_inline(self, op: Operation, kernel: Any, block: Block) -> str | None:
        """An element-wise operation that writes to an input's place, or as an operator."""
        if not isinstance(kernel, np.ufunc) or kernel.signature is not None or op.spec.kernel_takes_context:
            return None
        inputs = op.inputs
        if len(op.outputs) != 1 or kernel.nin != len(inputs) or inputs[0].dtype.is_object:
            return None
        arguments = [self.argument(tensor, False) for tensor in inputs]
        for i, tensor in enumerate(inputs):
            if self._is_replaceable(tensor, inputs[1 - i] if len(inputs) == 2 else None, op.outputs[0], block):
                out = "out=" if kernel in _OUT_BY_NAME else ""
                return f"{self._names.name('k', kernel)}({', '.join(arguments)}, {out}{arguments[i]})"
        operator = _OPERATORS.get(kernel)
        if operator is None or (operator in _ON_BOOLS and inputs[0].dtype.base_dtype.name != "bool"):
            return None
        if len(inputs) == 1:
            return f"{operator}{arguments[0]}"
        first, second = arguments
        if self._names.ranks.get(second, 0) == 0:  # between scalars NumPy's are the fastest, beside arrays they are not
            first = self._names.scalars.get(first, first)
        if self._names.ranks.get(first, 0) == 0:
            second = self._names.scalars.get(second, second)
        return f"{first} {operator} {second}"

    def _is_replaceable(self, tensor: Tensor, other: Tensor | None, output: Tensor, block: Block) -> bool:
        """Whether a result can be written where an input is: nobody else sees that, and it has the result's shape."""
        name = self._values[tensor]
        return (
            self._names.folds  # else what is fed may be of other shapes than the graph has been told
            and name in self.fresh
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
        return self._names.name("a", value)

    def _arguments(self, op: Operation) -> list[str]:
        schema = op.spec.schema
        if op.spec.kernel_takes_deferred:
            return [
                self.argument(tensor, arg.is_ref, takes_deferred=True)
                for tensor, arg in zip(op.inputs, schema.inputs, strict=True)
            ]
        if not op.spec.has_list_inputs:
            return [self.argument(tensor, arg.is_ref) for tensor, arg in zip(op.inputs, schema.inputs, strict=True)]
        grouped = group(schema.inputs, op.inputs, op.attr)
        return [
            self._list_argument(item, arg.is_ref) if arg.is_list else self.argument(item, arg.is_ref)
            for arg, item in zip(schema.inputs, grouped, strict=True)
        ]

    def _list_argument(self, tensors: list[Tensor], wants_ref: bool) -> str:
        """Several tensors as one argument. Variables among them are read together."""
        reads = not wants_ref and sum(tensor.dtype.is_ref for tensor in tensors) > 1
        items = ", ".join(self.argument(tensor, wants_ref or (reads and tensor.dtype.is_ref)) for tensor in tensors)
        return f"dereferenced_values([{items}])" if reads else f"[{items}]"

    def argument(self, tensor: Tensor, wants_ref: bool, *, takes_deferred: bool = False) -> str:
        name = self._values[tensor]
        if name in self._names.deferred and not takes_deferred:
            return f"loaded_value({name})"
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

    def write_reads_again(self, op: Operation, block: Block, at: int) -> None:
        """After an update of a reference variable, writes lines that read it again, into the names of earlier reads.

        In TensorFlow both are the same memory, and programs rely on it: a constraint is applied to what was read
        before the step, and statistics are used that a branch has updated.
        """
        if not op.type.startswith(_UPDATES_IN_PLACE):
            return
        for tensor in op.inputs:
            if tensor.dtype.is_ref:
                for name, reference, home in self._reads.get(_variable_of(tensor), ()):
                    if self._lifetimes.is_wanted_after(name, home, block, at):
                        self._lines.write(f"{name} = dereference({reference})", op)


def _covers(shape: Shape, other: Shape | None) -> bool:
    """Whether broadcasting values of two shapes surely gives the first shape; not if that is a scalar's."""
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
