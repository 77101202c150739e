"""Recurrent cells, under the names of TensorFlow 1's `tf.nn.rnn_cell`: one step of a recurrent network as a layer.

A cell is called with inputs and a state and gives an output and the next state. A state is a tensor or a structure of
tensors; `state_size` has the same structure, of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import md5
from itertools import count
from typing import Any, Final, NamedTuple

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.functions.array import concat, expand_dims, shape, split, zeros
from tensorkeep.functions.clipping import clip_by_value
from tensorkeep.functions.constants import constant
from tensorkeep.functions.linear_algebra import matmul
from tensorkeep.functions.math import add, divide, floor, multiply, sigmoid, tanh
from tensorkeep.functions.nn import bias_add, dropout
from tensorkeep.functions.random import random_uniform
from tensorkeep.functions.slicing import slice as slice_of
from tensorkeep.functions.structures import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as
from tensorkeep.functions.tensor_array import TensorArray
from tensorkeep.graph.building import device, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.layers.base import Layer
from tensorkeep.shapes import Shape
from tensorkeep.variables.initializers import Constant, Zeros
from tensorkeep.variables.partitioners import fixed_size_partitioner
from tensorkeep.variables.scope import get_variable_scope
from tensorkeep.variables.scopes import variable_scope

Function = Callable[..., Any]

_KERNEL: Final = "kernel"
_BIAS: Final = "bias"


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: its cell and its output."""

    c: Any
    h: Any

    @property
    def dtype(self) -> DType:
        if self.c.dtype != self.h.dtype:
            raise WrongTypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        found: DType = self.c.dtype
        return found


def check_cell(name: str, cell: Any) -> None:
    """Refuses what is not a cell."""
    missing = [f"'{what}' property is missing" for what in ("output_size", "state_size") if not hasattr(cell, what)]
    if not (hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state")):
        missing.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        missing.append("is not callable")
    if missing:
        raise WrongTypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")


# ---------------------------------------------------------------------------------------------------- Sizes


def joined_sizes(prefix: Any, suffix: Any) -> Tensor:
    """The sizes of a tensor of so many rows, each of a size; rows and size may be tensors."""
    return concat((_as_vector(prefix), _as_vector(suffix)), 0)


def _as_vector(sizes: Any) -> Tensor:
    if isinstance(sizes, Tensor):
        rank = sizes.static_shape.rank
        if rank == 0:
            return expand_dims(sizes, 0)
        if rank != 1:
            raise InvalidArgumentError(f"a size must be either a scalar or vector, but saw tensor: {sizes}")
        return sizes
    return constant(list(plain_shape(sizes).as_tuple()), INT32)


def joined_shape(prefix: Any, suffix: Any) -> Shape:
    """What is known before running of the shape that `joined_sizes` gives.

    TensorFlow makes the sizes once more to find it out, and leaves them in the graph; so do we.
    """
    for sizes in (prefix, suffix):
        if isinstance(sizes, Tensor) or plain_shape(sizes).is_fully_known:
            _as_vector(sizes)
    return known_sizes(prefix).concatenate(known_sizes(suffix))


def known_sizes(sizes: Any) -> Shape:
    if not isinstance(sizes, Tensor):
        return plain_shape(sizes)
    value = constant_value(sizes)
    if value is None:
        return Shape((None,)) if sizes.static_shape.rank == 0 else Shape(None)
    return Shape(tuple(int(size) for size in value.reshape(-1)))


def _zeros(size: Any, batch_size: Any, dtype: Any) -> Tensor:
    found = zeros(joined_sizes(batch_size, size), dtype=dtype)
    found.set_shape(joined_shape(batch_size, size))
    return found


# ---------------------------------------------------------------------------------------------------- Cells


class RNNCell(Layer):
    """What all cells are. Override `state_size`, `output_size` and `call(inputs, state)`."""

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **options: Any) -> None:
        super().__init__(trainable, name, dtype, **options)
        self._around: variable_scope | None = None

    def __call__(self, inputs: Any, state: Any, scope: Any = None, **keywords: Any) -> Any:
        if scope is not None:
            with variable_scope(scope) as entered:
                return super().__call__(inputs, state, scope=entered, **keywords)
        if self._around is None:
            self._around = variable_scope(get_variable_scope())
        with self._around:
            return super().__call__(inputs, state, **keywords)

    @property
    def state_size(self) -> Any:
        """The size of the state, or of each of its parts."""
        raise UnimplementedError(f"{type(self).__name__} does not say the size of its state")

    @property
    def output_size(self) -> Any:
        raise UnimplementedError(f"{type(self).__name__} does not say the size of its output")

    def build(self, input_shape: Any) -> None:
        pass

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """The state to begin with, of a batch as large as `inputs` or as told."""
        if inputs is not None:
            inputs = convert(inputs, name="inputs")
            known = inputs.static_shape[0]
            batch_size = shape(inputs)[0] if known is None else known
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise InvalidArgumentError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState"):
            return map_structure(lambda size: _zeros(size, batch_size, dtype), self.state_size)


class LayerRNNCell(RNNCell):
    """A cell that keeps its variables in a scope of its own, as layers do."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, **keywords: Any) -> Any:
        return Layer.__call__(self, inputs, state, scope=scope, **keywords)

    def _input_depth(self, input_shape: Any) -> int:
        depth = input_shape[-1].value if input_shape.rank is not None else None
        if depth is None:
            raise InvalidArgumentError(f"Expected inputs.shape[-1] to be known, saw shape: {input_shape}")
        return int(depth)


def _check_dtypes(*values: Any) -> None:
    for value in flatten(values):
        dtype = value.dtype.base_dtype
        if not (dtype.is_floating or dtype.is_complex):
            raise InvalidArgumentError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}")


class BasicRNNCell(LayerRNNCell):
    """activation([inputs, state] @ kernel + bias)"""

    def __init__(
        self,
        num_units: int,
        activation: Function | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **options)
        self._num_units = num_units
        self._activation = activation or tanh

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth, units = self._input_depth(input_shape), self._num_units
        self._kernel = self.add_weight(_KERNEL, [depth + units, units])
        self._bias = self.add_weight(_BIAS, [units], initializer=Zeros(dtype=self._dtype))

    def call(self, inputs: Any, state: Any, **keywords: Any) -> Any:
        _check_dtypes(inputs, state)
        output = self._activation(bias_add(matmul(concat([inputs, state], 1), self._kernel), self._bias))
        return output, output


class GRUCell(LayerRNNCell):
    """A gated recurrent unit: the state is kept or replaced, element by element, as a gate says."""

    def __init__(
        self,
        num_units: int,
        activation: Function | None = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **options)
        self._num_units = num_units
        self._activation = activation or tanh
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        units, dtype, given = self._num_units, self._dtype, self._bias_initializer
        depth = self._input_depth(input_shape) + units
        kernel = self._kernel_initializer
        self._gate_kernel = self.add_weight(f"gates/{_KERNEL}", [depth, 2 * units], initializer=kernel)
        ones = Constant(1.0, dtype=dtype) if given is None else given
        self._gate_bias = self.add_weight(f"gates/{_BIAS}", [2 * units], initializer=ones)
        self._candidate_kernel = self.add_weight(f"candidate/{_KERNEL}", [depth, units], initializer=kernel)
        nothing = Zeros(dtype=dtype) if given is None else given
        self._candidate_bias = self.add_weight(f"candidate/{_BIAS}", [units], initializer=nothing)

    def call(self, inputs: Any, state: Any, **keywords: Any) -> Any:
        _check_dtypes(inputs, state)
        gates = bias_add(matmul(concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        reset, update = split(sigmoid(gates), 2, axis=1)
        kept = reset * state
        candidate = bias_add(matmul(concat([inputs, kept], 1), self._candidate_kernel), self._candidate_bias)
        proposed = self._activation(candidate)
        output = update * state + (1 - update) * proposed
        return output, output


class BasicLSTMCell(LayerRNNCell):
    """A long short-term memory without peepholes, clipping or projection."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Function | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **options)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation or tanh

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth, units = self._input_depth(input_shape), self._num_units
        self._kernel = self.add_weight(_KERNEL, [depth + units, 4 * units])
        self._bias = self.add_weight(_BIAS, [4 * units], initializer=Zeros(dtype=self._dtype))

    def call(self, inputs: Any, state: Any, **keywords: Any) -> Any:
        _check_dtypes(inputs, state)
        one = constant(1, INT32)
        cell, output = state if self._state_is_tuple else split(state, 2, axis=one)
        gates = bias_add(matmul(concat([inputs, output], 1), self._kernel), self._bias)
        i, j, f, o = split(gates, 4, axis=one)
        forget_bias = constant(self._forget_bias, f.dtype)
        kept = multiply(cell, sigmoid(add(f, forget_bias)))
        cell = add(kept, multiply(sigmoid(i), self._activation(j)))
        output = multiply(self._activation(cell), sigmoid(o))
        return output, LSTMStateTuple(cell, output) if self._state_is_tuple else concat([cell, output], 1)


class LSTMCell(LayerRNNCell):
    """A long short-term memory, with peepholes, clipping and a projection of the output if asked for."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Function | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **options)
        self._num_units, self._num_proj = num_units, num_proj
        self._use_peepholes = use_peepholes
        self._cell_clip, self._proj_clip = cell_clip, proj_clip
        self._initializer = initializer
        self._shards, self._proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation or tanh

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        depth, units, initializer = self._input_depth(input_shape), self._num_units, self._initializer
        self._kernel = self.add_weight(
            _KERNEL,
            [depth + self.output_size, 4 * units],
            initializer=initializer,
            partitioner=None if self._shards is None else fixed_size_partitioner(self._shards),
        )
        self._bias = self.add_weight(_BIAS, [4 * units], initializer=Zeros(dtype=self._dtype))
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_weight(f"w_{gate}_diag", [units], initializer=initializer) for gate in "fio"
            )
        if self._num_proj is not None:
            self._proj_kernel = self.add_weight(
                f"projection/{_KERNEL}",
                [units, self._num_proj],
                initializer=initializer,
                partitioner=None if self._proj_shards is None else fixed_size_partitioner(self._proj_shards),
            )

    def call(self, inputs: Any, state: Any, **keywords: Any) -> Any:
        _check_dtypes(inputs, state)
        if self._state_is_tuple:
            cell, output = state
        else:
            cell = slice_of(state, [0, 0], [-1, self._num_units])
            output = slice_of(state, [0, self._num_units], [-1, self.output_size])
        gates = bias_add(matmul(concat([inputs, output], 1), self._kernel), self._bias)
        i, j, f, o = split(gates, 4, axis=1)
        cell = self._next_cell(cell, i, j, f)
        if self._use_peepholes:
            output = sigmoid(o + self._w_o_diag * cell) * self._activation(cell)
        else:
            output = sigmoid(o) * self._activation(cell)
        if self._num_proj is not None:
            output = matmul(output, self._proj_kernel)
            if self._proj_clip is not None:
                output = clip_by_value(output, -self._proj_clip, self._proj_clip)
        return output, LSTMStateTuple(cell, output) if self._state_is_tuple else concat([cell, output], 1)

    def _next_cell(self, cell: Any, i: Any, j: Any, f: Any) -> Any:
        if self._use_peepholes:
            kept = sigmoid(f + self._forget_bias + self._w_f_diag * cell) * cell
            found = kept + sigmoid(i + self._w_i_diag * cell) * self._activation(j)
        else:
            found = sigmoid(f + self._forget_bias) * cell + sigmoid(i) * self._activation(j)
        return found if self._cell_clip is None else clip_by_value(found, -self._cell_clip, self._cell_clip)


# ---------------------------------------------------------------------------------------------------- Made of cells


class MultiRNNCell(RNNCell):
    """Cells one upon the other: each takes the output of the one before."""

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not is_nested(cells):
            raise WrongTypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if not cells:
            raise InvalidArgumentError("Must specify at least one cell for MultiRNNCell.")
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(is_nested(cell.state_size) for cell in cells):
            sizes = [cell.state_size for cell in cells]
            raise InvalidArgumentError(
                f"Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes are: {sizes}"
            )

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    @property
    def trainable_weights(self) -> list[Any]:
        return [weight for cell in self._cells for weight in cell.trainable_weights] if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        fixed = [weight for cell in self._cells for weight in cell.non_trainable_weights]
        return (
            fixed if self.trainable else [weight for cell in self._cells for weight in cell.trainable_weights] + fixed
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        if not self._state_is_tuple:
            with name_scope(f"{type(self).__name__}ZeroState"):
                return super().zero_state(batch_size, dtype)
        with name_scope(f"{type(self).__name__}ZeroState"):
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs: Any, state: Any, **keywords: Any) -> Any:
        at = 0
        states: list[Any] = []
        for number, cell in enumerate(self._cells):
            with variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    if not is_nested(state):
                        raise InvalidArgumentError(
                            f"Expected state to be a tuple of length {len(self._cells)}, but received: {state}"
                        )
                    current = state[number]
                else:
                    current = slice_of(state, [0, at], [-1, cell.state_size])
                    at += cell.state_size
                inputs, new_state = cell(inputs, current)
                states.append(new_state)
        return inputs, tuple(states) if self._state_is_tuple else concat(states, 1)


class _Wrapper(RNNCell):
    """A cell around another one."""

    def __init__(self, cell: Any, **options: Any) -> None:
        super().__init__(**options)
        check_cell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        return self.cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    @property
    def trainable_weights(self) -> list[Any]:
        return list(self.cell.trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        return list(self.cell.non_trainable_weights)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(f"{type(self).__name__}ZeroState"):
            return self.cell.zero_state(batch_size, dtype)


class ResidualWrapper(_Wrapper):
    """A cell whose inputs are added to its outputs."""

    def __init__(self, cell: Any, residual_fn: Function | None = None, **options: Any) -> None:
        super().__init__(cell, **options)
        self._residual_fn = residual_fn or _sums

    def __call__(self, inputs: Any, state: Any, scope: Any = None, **keywords: Any) -> Any:
        outputs, new_state = self.cell(inputs, state, scope=scope)
        return self._residual_fn(inputs, outputs), new_state


def _sums(inputs: Any, outputs: Any) -> Any:
    assert_same_structure(inputs, outputs)
    for first, second in zip(flatten(inputs), flatten(outputs), strict=True):
        if not first.static_shape.is_compatible(second.static_shape):
            raise InvalidArgumentError(f"Shapes {first.shape} and {second.shape} are incompatible")
    return map_structure(lambda first, second: first + second, inputs, outputs)


class DeviceWrapper(_Wrapper):
    """A cell whose operations are on a device."""

    def __init__(self, cell: Any, device: Any, **options: Any) -> None:
        super().__init__(cell, **options)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(f"{type(self).__name__}ZeroState"), device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None, **keywords: Any) -> Any:
        with device(self._device):
            return self.cell(inputs, state, scope=scope)


def _default_filter(part: Any) -> Any:
    """Which parts of a state are dropped out: not the cell of an LSTM, nor arrays."""
    if isinstance(part, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(part, TensorArray)


class DropoutWrapper(_Wrapper):
    """A cell with dropout of its inputs, states and outputs; with the same mask at every step if `variational`."""

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Function | None = None,
        **options: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **options)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise WrongTypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _default_filter
        self._seed = seed
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._noises: dict[str, Any] = {}
        if variational_recurrent:
            self._make_noises(input_size, dtype)

    def _make_noises(self, input_size: Any, dtype: Any) -> None:
        if dtype is None:
            raise InvalidArgumentError("When variational_recurrent=True, dtype must be provided")
        if _drops(self._input_keep_prob):
            if input_size is None:
                raise InvalidArgumentError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be "
                    "provided"
                )
            self._noises["input"] = self._noise("input", input_size, dtype)
        self._noises["state"] = self._noise("state", self.cell.state_size, dtype)
        self._noises["output"] = self._noise("output", self.cell.output_size, dtype)

    def _noise(self, what: str, sizes: Any, dtype: Any) -> Any:
        found = [
            random_uniform(
                concat(([1], list(TensorShape(size).as_list())), 0), seed=self._seed_of(what, number), dtype=dtype
            )
            for number, size in enumerate(flatten(sizes))
        ]
        return pack_sequence_as(sizes, found)

    def _seed_of(self, what: str, number: int) -> int | None:
        if self._seed is None:
            return None
        digest = md5(f"{self._seed}{what}_{number}".encode(), usedforsecurity=False).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def __call__(self, inputs: Any, state: Any, scope: Any = None, **keywords: Any) -> Any:
        if _drops(self._input_keep_prob):
            inputs = self._dropped("input", inputs, inputs, self._input_keep_prob)
        output, new_state = self.cell(inputs, state, scope=scope)
        if _drops(self._state_keep_prob):
            new_state = self._dropped("state", _flags(self._filter, new_state), new_state, self._state_keep_prob)
        if _drops(self._output_keep_prob):
            output = self._dropped("output", output, output, self._output_keep_prob)
        return output, new_state

    def _dropped(self, what: str, flags: Any, values: Any, keep_prob: Any) -> Any:
        numbers = count()

        def visit(flag: Any, value: Any, noise: Any) -> Any:
            if is_nested(flag):
                noises = flatten(noise) if is_nested(noise) else [noise] * len(flag)
                parts = [visit(*parts) for parts in zip(flatten(flag), _children(value, flag), noises, strict=False)]
                return pack_sequence_as(flag, parts)
            number = next(numbers)
            if flag is False:
                return value
            if noise is None:
                return dropout(value, rate=1.0 - keep_prob, seed=self._seed_of(what, number))
            kept = divide(value, keep_prob) * floor(keep_prob + noise)
            kept.set_shape(value.static_shape)
            return kept

        return visit(flags, values, self._noises.get(what))


def _children(value: Any, flag: Any) -> list[Any]:
    """The parts of a value, as deep as the flags go."""
    found: list[Any] = []
    for inner, part in zip(value, flag, strict=True):
        found.extend(_children(inner, part) if is_nested(part) else [inner])
    return found


def _flags(visitor: Function, structure: Any) -> Any:
    """Whether to drop out each part of a structure, asked from the outside in."""
    wanted = visitor(structure)
    if not is_nested(structure):
        return wanted
    if isinstance(wanted, bool):
        if not wanted:
            return False
        parts = [_flags(visitor, part) for part in structure]
    else:
        parts = [_flags(visitor, part) if flag else False for flag, part in zip(wanted, structure, strict=True)]
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)


def _probability(name: str, value: Any) -> Any:
    tensor = convert(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if not 0 <= known <= 1:
        raise InvalidArgumentError(f"Parameter {name} must be between 0 and 1: {known}")
    return float(known)


def _drops(keep_prob: Any) -> bool:
    return not isinstance(keep_prob, float) or keep_prob < 1


__all__ = [
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
]
