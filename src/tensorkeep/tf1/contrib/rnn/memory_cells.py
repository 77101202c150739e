"""The cell of a neural Turing machine: a controller that reads and writes a memory of vectors, where its heads point.

where a head points:  by content, as likely as exp(beta * cosine(key, vector)), mixed with where it pointed before,
                      shifted by a few places around the end, and sharpened by a power
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, ones_like, roll, split, squeeze, tile, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add, softmax, softplus
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import equal, exp, pow, sigmoid, sqrt, square, tanh
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.layers.arguments import known_dimension
from tensorkeep.tf1.layers.cells import CellLike, LayerRNNCell, State, check_cell
from tensorkeep.tf1.variables.initializers import Constant, GlorotUniform, TruncatedNormal

_SMALL: Final = 1e-8
"""What is added to lengths that are divided by."""
_BLANK: Final = 1e-6
"""What a memory holds where nothing was written."""


class NTMControllerState(NamedTuple):
    """What the cell remembers: the controller's state, what was read, where heads pointed, the memory, the step."""

    controller_state: Any
    read_vector_list: list[Any]
    w_list: list[Any]
    M: Any
    time: Any


class NTMCell(LayerRNNCell):
    """A controller with a memory of `memory_size` vectors: some heads read them, others write them.

    In the first step what was read, where heads point and the memory are variables; a state that says `time` 0 is one.
    """

    def __init__(
        self,
        controller: CellLike,
        memory_size: int,
        memory_vector_dim: int,
        read_head_num: int,
        write_head_num: int,
        shift_range: int = 1,
        output_dim: int | None = None,
        clip_value: float = 20,
        dtype: DTypeLike = FLOAT32,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        check_cell("NTM RNN controller cell", controller)
        if memory_size < 2 * shift_range + 1:
            raise InvalidArgumentError(
                f"memory_size={memory_size} is too small for shift_range={shift_range}: heads that move by that many "
                f"places need at least {2 * shift_range + 1}"
            )
        self.controller: Any = controller
        self.memory_size, self.memory_vector_dim = memory_size, memory_vector_dim
        self.read_head_num, self.write_head_num = read_head_num, write_head_num
        self.num_heads = read_head_num + write_head_num
        self.shift_range, self.output_dim, self.clip_value = shift_range, output_dim, clip_value
        self.num_parameters_per_head = memory_vector_dim + 2 * shift_range + 4
        self.total_parameter_num = (
            self.num_parameters_per_head * self.num_heads + memory_vector_dim * 2 * write_head_num
        )

    @property
    def state_size(self) -> NTMControllerState:
        return NTMControllerState(
            controller_state=self.controller.state_size,
            read_vector_list=[self.memory_vector_dim for _ in range(self.read_head_num)],
            w_list=[self.memory_size for _ in range(self.num_heads)],
            M=TensorShape([self.memory_size * self.memory_vector_dim]),
            time=TensorShape([]),
        )

    @property
    def output_size(self) -> Any:
        return self.output_dim

    def zero_state(self, batch_size: Tensor | int, dtype: DTypeLike) -> State:
        """The state before the first step."""
        return NTMControllerState(
            controller_state=self.controller.zero_state(batch_size, dtype),
            read_vector_list=[zeros([batch_size, self.memory_vector_dim], dtype) for _ in range(self.read_head_num)],
            w_list=[zeros([batch_size, self.memory_size], dtype) for _ in range(self.num_heads)],
            M=zeros([batch_size, self.memory_size, self.memory_vector_dim], dtype),
            time=0,
        )

    def build(self, input_shape: TensorShape) -> None:
        if self.output_dim is None:
            self.output_dim = known_dimension(input_shape, -1, "The last dimension of the inputs")
        controlled = self.controller.output_size
        seen = controlled + self.memory_vector_dim * self.read_head_num
        self._parameters = self._linear_map("parameters", controlled, self.total_parameter_num)
        self._output = self._linear_map("output", seen, self.output_dim)
        first = GlorotUniform()
        self._first_read = [
            self.add_weight(f"initial_read_vector_{i}", [1, self.memory_vector_dim], initializer=first)
            for i in range(self.read_head_num)
        ]
        self._first_addresses = [
            self.add_weight(f"initial_address_weights_{i}", [1, self.memory_size], initializer=first)
            for i in range(self.num_heads)
        ]
        blank = Constant(_BLANK, dtype=self._dtype)
        self._memory = self.add_weight("memory", [self.memory_size, self.memory_vector_dim], initializer=blank)
        self.built = True

    def _linear_map(self, name: str, size: int, output_size: int) -> tuple[Any, Any]:
        begin = TruncatedNormal(stddev=1.0 / math.sqrt(size))
        kernel = self.add_weight(f"{name}_kernel", [size, output_size], initializer=begin)
        return kernel, self.add_weight(f"{name}_bias", [output_size], initializer=Constant(0.0, dtype=self._dtype))

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        before: Any = state
        count = inputs.get_shape()[0].value or shape_of(inputs)[0]
        is_first = equal(before.time, 0)

        def chosen(first: Callable[[], list[Any]], later: Sequence[Any]) -> list[Any]:
            found = cond(is_first, lambda: [tile(item, [count, 1]) for item in first()], lambda: list(later))
            return found if isinstance(found, list) else [found]

        read = chosen(lambda: [tanh(vector) for vector in self._first_read], before.read_vector_list)
        controlled, controller_state = self.controller(concat([inputs, *read], axis=1), before.controller_state)
        parameters = self._clipped(bias_add(matmul(controlled, self._parameters[0]), self._parameters[1]))
        of_heads = self.num_parameters_per_head * self.num_heads
        addresses = chosen(lambda: [softmax(weights) for weights in self._first_addresses], before.w_list)
        memory: Any = cond(is_first, lambda: tile(expand_dims(self._memory, 0), [count, 1, 1]), lambda: before.M)
        heads = split(parameters[:, :of_heads], self.num_heads, axis=1)
        pointing = [self._point(head, memory, old) for head, old in zip(heads, addresses, strict=True)]
        read = [reduce_sum(expand_dims(where, 2) * memory, axis=1) for where in pointing[: self.read_head_num]]
        output = bias_add(matmul(concat([controlled, *read], axis=1), self._output[0]), self._output[1])
        written = self._write(memory, pointing[self.read_head_num :], parameters[:, of_heads:])
        new = NTMControllerState(controller_state, read, pointing, written, before.time + 1)
        return self._clipped(output), new

    def _clipped(self, values: Tensor) -> Tensor:
        return clip_by_value(values, -self.clip_value, self.clip_value)

    def _write(self, memory: Tensor, pointing: list[Tensor], parameters: Tensor) -> Tensor:
        """The memory after each head in turn has erased some of what it points at, and added to it."""
        if not pointing:
            return memory
        changes = split(parameters, 2 * self.write_head_num, axis=1)
        for where, erased, added in zip(pointing, changes[::2], changes[1::2], strict=True):
            rows = expand_dims(where, 2)
            kept = ones_like(memory) - matmul(rows, expand_dims(sigmoid(erased), 1))
            memory = memory * kept + matmul(rows, expand_dims(tanh(added), 1))
        return memory

    def _point(self, head: Any, memory: Tensor, before: Tensor) -> Tensor:
        """Where a head points: how much of each vector of the memory."""
        size, shift = self.memory_vector_dim, self.shift_range
        key, strength = tanh(head[:, :size]), softplus(head[:, size : size + 1])
        gate = sigmoid(head[:, size + 1 : size + 2])
        shifts: Any = softmax(head[:, size + 2 : size + 3 + 2 * shift])
        power = softplus(head[:, -1:]) + 1
        amplified = exp(strength * _cosines(memory, key))
        by_content = amplified / reduce_sum(amplified, axis=1, keepdims=True)
        mixed = gate * by_content + (1 - gate) * before
        # The weights of shifts are those of 0, 1, .. forwards, and then of the furthest .. 1 backwards.
        places = [*range(shift + 1), *range(-shift, 0)]
        moved = [shifts[:, i : i + 1] * roll(mixed, place, axis=1) for i, place in enumerate(places)]
        sharpened = pow(sum(moved[1:], moved[0]), power)
        return sharpened / reduce_sum(sharpened, axis=1, keepdims=True)


def _cosines(memory: Tensor, key: Tensor) -> Tensor:
    """How alike each vector of a memory and a key are."""
    column = expand_dims(key, 2)
    lengths = sqrt(reduce_sum(square(memory), axis=2, keepdims=True))
    length = sqrt(reduce_sum(square(column), axis=1, keepdims=True))
    return squeeze(matmul(memory, column) / (lengths * length + _SMALL), [2])
