"""Element-wise operations that can be computed together, piece by piece, by the compiled library.

A group is what one operation, its root, is made of: element-wise operations of its shape whose results nothing else
uses. They run where the root runs: so nothing that changes state may lie between. Where the library cannot do it (other
shapes than expected, few elements) they run one by one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from tensorkeep.dtypes import BOOL, FLOAT32
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.native import layers
from tensorkeep.native.chains import SMALLEST, Chain, Instruction
from tensorkeep.native.chains import Operation as Element
from tensorkeep.runtime.plans.blocks import Arm, Block, Choice, Loop, PartCall, Step
from tensorkeep.runtime.plans.names import Names
from tensorkeep.shapes import Shape

ELEMENTS: Final = {
    "Add": Element.ADD,
    "AddV2": Element.ADD,
    "BiasAdd": Element.ADD,
    "Sub": Element.SUBTRACT,
    "Mul": Element.MULTIPLY,
    "RealDiv": Element.DIVIDE,
    "Maximum": Element.MAXIMUM,
    "Minimum": Element.MINIMUM,
    "SquaredDifference": Element.SQUARED_DIFFERENCE,
    "Neg": Element.NEGATE,
    "Relu": Element.RELU,
    "Relu6": Element.RELU6,
    "Sigmoid": Element.SIGMOID,
    "Tanh": Element.TANH,
    "Exp": Element.EXP,
    "Erf": Element.ERF,
    "Erfc": Element.ERFC,
    "Rsqrt": Element.RSQRT,
    "Sqrt": Element.SQRT,
    "Square": Element.SQUARE,
    "Abs": Element.ABS,
    "SigmoidGrad": Element.SIGMOID_GRADIENT,
    "TanhGrad": Element.TANH_GRADIENT,
    "ReluGrad": Element.RELU_GRADIENT,
}
_IN_GROUPS_ALONE: Final = {
    "LeakyRelu": Element.LEAKY_RELU,
    "LeakyReluGrad": Element.LEAKY_RELU_GRADIENT,
    "Select": Element.CHOOSE,
    "SelectV2": Element.CHOOSE,
    "Greater": Element.GREATER,
    "GreaterEqual": Element.GREATER_EQUAL,
    "Less": Element.LESS,
    "LessEqual": Element.LESS_EQUAL,
}
"""What takes a number besides its inputs, or truths, or makes these: groups can have them, and cells cannot."""
OF_EQUAL_SHAPES: Final = frozenset(("AddN", "SigmoidGrad", "TanhGrad", "ReluGrad", "LeakyReluGrad", "Select"))
"""What is not spread over the shape of another operand."""
_KNOWN_TO_BE_LARGE: Final = 1 << 14  # elements, beyond which nothing is asked of the arrays
_WITH_SLOPES: Final = frozenset(("LeakyRelu", "LeakyReluGrad"))
_POWERS: Final = {2.0: Element.SQUARE, 3.0: Element.CUBE}
_ONLY_READS: Final = frozenset(("ReadVariableOp", "VarHandleOp", "VariableV2", "Variable", "Placeholder", "Identity"))


@dataclass(frozen=True, eq=False)
class Group:
    """Operations in their order, the root last; what they use that others make, which numbers besides, and how."""

    ops: tuple[Operation, ...]
    inputs: tuple[Tensor, ...]
    constants: tuple[float, ...]
    instructions: tuple[Instruction, ...]
    leading: int | None  # the input that is likely to have the shape of the result; None if that is known to be large

    def uses(self, name: str, names: Names) -> int:
        """How often the group uses a value."""
        return sum(names.values[tensor] == name for op in self.ops for tensor in op.inputs)

    def chain(self, reusable: list[int]) -> Chain:
        return Chain(len(self.inputs), self.instructions, reusable, self.constants)


def find_groups(
    block: Block, names: Names, others: frozenset[Operation] = frozenset()
) -> list[tuple[Group, Block, int]]:
    """The groups of a block and of those inside it, and the number of each root's item; none without the library.

    `others` are operations that are computed otherwise.
    """
    if layers.functions() is None:
        return []
    found: list[tuple[Group, Block, int]] = []
    _search(block, names, found, others)
    return found


def _search(block: Block, names: Names, found: list[tuple[Group, Block, int]], others: frozenset[Operation]) -> None:
    steps: dict[int, Operation] = {}
    changes: list[int] = []  # how many items before each one may change state
    count = 0
    for at, item in enumerate(block.items):
        changes.append(count)
        if isinstance(item, Step):
            op = item.op
            if op in names.silent or op in others:
                continue
            if _is_element(op, names):
                steps[at] = op
            else:
                count += changes_state(op)
            continue
        count += 1
        if isinstance(item, Choice):
            _search(item.then, names, found, others)
            _search(item.otherwise, names, found, others)
        elif isinstance(item, Loop):
            for inner in (item.header, item.body, item.after):
                _search(inner, names, found, others)
        else:
            assert isinstance(item, Arm | PartCall)
    taken: set[int] = set()
    for at in reversed(steps):
        if at in taken:
            continue
        places = _grow_group(at, steps, taken, changes, names)
        group = _group([steps[place] for place in places], names)
        while group is None and len(places) > 1:
            places = places[1:]  # the first operations, on which others depend, are left to themselves
            group = _group([steps[place] for place in places], names)
        if group is not None:
            taken.update(places)
            found.append((group, block, at))


def _is_element(op: Operation, names: Names) -> bool:
    """Whether an operation can be in a group."""
    element = _element_in_groups(op)
    if element is None or op.type in op.graph.functions or op.outputs[0] in names.fed:
        return False
    if op.type == "BiasAdd" and op.attr("data_format") != b"NHWC":
        return False
    numbers = op.inputs[1:] if element is Element.CHOOSE else op.inputs
    if any(tensor.dtype is not FLOAT32 for tensor in numbers):
        return False
    if any(names.values[tensor] in names.deferred for tensor in op.inputs):
        return False
    if op.type in OF_EQUAL_SHAPES:
        first, *others = (tensor.static_shape.dims for tensor in op.inputs)
        if first is None or None in first or others != [first]:
            return False
    shape = op.outputs[0].static_shape
    size = shape.element_count()
    return bool(shape.dims) and op.outputs[0].dtype in (FLOAT32, BOOL) and (size is None or size >= SMALLEST)


def _element_in_groups(op: Operation) -> Element | None:
    return _IN_GROUPS_ALONE.get(op.type) or element_of(op)


def element_of(op: Operation) -> Element | None:
    """What an operation on numbers is in a chain, by its type; a power by its exponent, a sum if it has two terms."""
    if op.type == "AddN":
        return Element.ADD if len(op.inputs) == 2 else None
    if op.type != "Pow":
        return ELEMENTS.get(op.type)
    exponent = constant_value(op.inputs[1])
    return _POWERS.get(exponent.item()) if exponent is not None and exponent.ndim == 0 else None


def changes_state(op: Operation) -> bool:
    schema = op.spec.schema
    is_plain = not schema.is_stateful and not op.spec.kernel_takes_context
    return op.type not in _ONLY_READS and not (is_plain and not any(tensor.dtype.is_ref for tensor in op.inputs))


def _grow_group(root: int, steps: dict[int, Operation], taken: set[int], changes: list[int], names: Names) -> list[int]:
    """The places, in order, of all operations that can be in the group of a root: going backwards, those whose results
    only the group uses.
    """
    shape = steps[root].outputs[0].static_shape
    places = [root]
    used = Counter(names.values[tensor] for tensor in steps[root].inputs)
    for at in range(root - 1, -1, -1):
        op = steps.get(at)
        if op is None or at in taken:
            continue
        if changes[at] != changes[root]:
            break
        name = names.values[op.outputs[0]]
        is_inner = used[name] > 0 and used[name] == names.lifetimes.uses.get(name)
        if is_inner and _is_same_shape(op.outputs[0].static_shape, shape):
            places.append(at)
            used.update(names.values[tensor] for tensor in op.inputs)
    return places[::-1]


def _is_same_shape(shape: Shape, other: Shape) -> bool:
    """Whether shapes have the same dimensions, as far as these are known."""
    if shape.dims is None or other.dims is None or len(shape.dims) != len(other.dims):
        return False
    return all(a == b or a is None or b is None for a, b in zip(shape.dims, other.dims, strict=True))


def _group(ops: list[Operation], names: Names) -> Group | None:
    """The operations as a group; None if they use too much at a time."""
    made = {names.values[op.outputs[0]]: number for number, op in enumerate(ops)}
    inputs: dict[str, Tensor] = {}
    for op in ops:
        for tensor in _operands(op):
            if names.values[tensor] not in made:
                inputs.setdefault(names.values[tensor], tensor)
    numbers = {name: number for number, name in enumerate(inputs)}
    constants = tuple(dict.fromkeys(op.attr("alpha") for op in ops if op.type in _WITH_SLOPES))
    before = len(inputs) + len(constants)
    numbers.update((name, before + number) for name, number in made.items())
    instructions = []
    for op in ops:
        element = _element_in_groups(op)
        assert element is not None
        operands = [numbers[names.values[tensor]] for tensor in _operands(op)]
        if op.type in _WITH_SLOPES:
            operands.append(len(inputs) + constants.index(op.attr("alpha")))
        instructions.append(Instruction(element, tuple(operands), op.type == "BiasAdd"))
    shape = ops[-1].outputs[0].static_shape
    leading = _leading(list(inputs.values()), shape)
    is_known = leading is not None or (shape.element_count() or 0) >= _KNOWN_TO_BE_LARGE
    if not is_known or not Chain.fits(before, instructions):
        return None
    return Group(tuple(ops), tuple(inputs.values()), constants, tuple(instructions), leading)


def _operands(op: Operation) -> list[Tensor]:
    """What an instruction takes of an operation's inputs: of a power, not the exponent."""
    return op.inputs[:1] if op.type == "Pow" else op.inputs


def _leading(inputs: list[Tensor], shape: Shape) -> int | None:
    """The first input that seems to have the shape of the result."""
    return next((at for at, tensor in enumerate(inputs) if _is_same_shape(tensor.static_shape, shape)), None)
