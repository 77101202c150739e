"""Cells of recurrent networks: `tf.nn.rnn_cell`.

A cell makes an output and a new state of an input and a state. States are tensors, or structures of them, of the sizes
that `state_size` tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from tensorkeep.dtypes import FLOAT32, INT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, Structure, TensorLike
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, split, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import add, multiply, sigmoid, tanh
from tensorkeep.tf1.functions.structures import flatten, is_nested, map_structure
from tensorkeep.tf1.layers.arguments import ActivationLike, LayerOption, activation_of, initializer_of, known_dimension
from tensorkeep.tf1.layers.base import Layer, parts_of
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.variables.initializers import Constant, Zeros
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.partitioners import fixed_size_partitioner
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import get_variable_scope, variable_scope

Sizes: TypeAlias = "int | TensorShape | Sequence[Sizes]"
"""How wide a cell's outputs or states are: in the structure that these have."""
State: TypeAlias = "Tensor | Sequence[State]"
"""What a cell remembers from step to step."""


class CellLike(Protocol):
    """What networks need of a cell. It also makes its first state, by `get_initial_state` or `zero_state`."""

    @property
    def state_size(self) -> Sizes: ...

    @property
    def output_size(self) -> Sizes: ...

    def __call__(
        self, inputs: Structure, state: State, /, scope: str | VariableScope | None = None
    ) -> tuple[Any, Any]: ...


# ---------------------------------------------------------------------------------------------------- Sizes


def joined_shape(first: ShapeLike, second: ShapeLike) -> Tensor:
    """Two shapes, or sizes, or tensors of them, one after the other, as a tensor."""
    left, right = _shape_tensor(first), _shape_tensor(second)
    if left is None or right is None:
        raise InvalidArgumentError(f"Prefix or suffix can't be None. Received prefix = {first} and suffix = {second}")
    return concat((left, right), 0)


def joined_static_shape(first: ShapeLike, second: ShapeLike) -> list[int | None] | None:
    """What is known of `joined_shape` before running. As in TensorFlow, the parts of that shape are built here too."""
    _shape_tensor(first), _shape_tensor(second)
    left, right = (TensorShape(_known_value(value)) for value in (first, second))
    both = left.concatenate(right)
    return None if both.rank is None else both.as_list()


def _known_value(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    found = constant_value(value)
    return None if found is None else found.reshape(-1).tolist()


def _shape_tensor(value: Any) -> Any:
    if not isinstance(value, Tensor):
        shape = TensorShape(value)
        return constant(shape.plain.as_tuple(), dtype=INT32) if shape.is_fully_defined() else None
    rank = value.static_shape.rank
    if rank not in (0, 1):
        raise InvalidArgumentError(f"a shape must be either a scalar or vector, but received tensor: {value}")
    return expand_dims(value, 0) if rank == 0 else value


def check_cell(name: str, cell: object) -> None:
    """Raises unless an argument is like a cell."""
    problems = [f"'{wanted}' property is missing" for wanted in ("output_size", "state_size") if not _has(cell, wanted)]
    if not (_has(cell, "get_initial_state") or _has(cell, "zero_state")):
        problems.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        problems.append("is not callable")
    if problems:
        raise WrongTypeError(f"The argument '{name}' ({cell}) is not an RNNCell: {', '.join(problems)}.")


def _has(cell: Any, name: str) -> bool:
    try:
        getattr(cell, name)
    except AttributeError:
        return False
    except NotImplementedError:
        return True
    return True


def _check_dtypes(*values: Any) -> None:
    for dtype in values:
        if dtype is not None and not (dtype.is_floating or dtype.is_complex):
            raise InvalidArgumentError(f"RNN cell only supports floating point inputs, but received dtype: {dtype}")


# ---------------------------------------------------------------------------------------------------- Cells


class RNNCell(Layer):
    """The base of cells: override `state_size`, `output_size` and `call(inputs, state)`.

    Variables that `call` gets are the cell's.
    """

    # Cells of programs do not all call our constructor, and are asked for their variables: they have none of their own.
    trainable: bool = True
    _trainable_weights: Any = ()
    _non_trainable_weights: Any = ()

    _own_scope: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Layer:
        """A cell of the same settings that has not been called: its variables are those of the scope that calls it.

        A decoder that copies the cell for its encoder may be built once more for sequences of another length.
        """
        memo[id(self._own_scope)] = None
        made = super().__deepcopy__(memo)
        made._forget_calls()
        return made

    @property
    def state_size(self) -> Sizes:
        raise UnimplementedError("Abstract method")

    @property
    def output_size(self) -> Sizes:
        raise UnimplementedError("Abstract method")

    def __call__(self, inputs: Structure, state: State, scope: str | VariableScope | None = None) -> tuple[Any, Any]:
        if scope is not None:
            with variable_scope(scope, custom_getter=self._kept_variable) as opened:
                scoped: tuple[Any, Any] = super().__call__(inputs, state, scope=opened)
                return scoped
        if self._own_scope is None:
            self._own_scope = variable_scope(get_variable_scope(), custom_getter=self._kept_variable)
        with self._own_scope:
            found: tuple[Any, Any] = super().__call__(inputs, state)
            return found

    def _kept_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        trained = set(map(id, get_collection(current_graph(), GraphKeys.TRAINABLE_VARIABLES)))
        for part in parts_of(variable):
            if all(part is not other for other in self.weights):
                self._keep(part, id(part) in trained)
        return variable

    def get_initial_state(
        self, inputs: TensorLike | None = None, batch_size: Tensor | int | None = None, dtype: DTypeLike | None = None
    ) -> State:
        """Zeros, for a batch of the size and type given or that inputs have."""
        if inputs is not None:
            inputs = convert(inputs, name="inputs")
            known = inputs.get_shape()[0].value
            told = (_known_value(batch_size) or [None])[0] if isinstance(batch_size, Tensor) else batch_size
            if batch_size is not None and known != told:
                raise InvalidArgumentError(
                    "batch size from input tensor is different from the input param. Input tensor batch: "
                    f"{known}, batch_size: {batch_size}"
                )
            if dtype is not None and inputs.dtype is not DType.of(dtype):
                raise InvalidArgumentError(
                    f"dtype from input tensor is different from the input param. Input tensor dtype: {inputs.dtype}, "
                    f"dtype: {dtype}"
                )
            batch_size, dtype = known or shape_of(inputs)[0], inputs.dtype
        if batch_size is None or dtype is None:
            raise InvalidArgumentError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Tensor | int, dtype: DTypeLike) -> State:
        """A state of zeros for a batch of that size."""

        def zero(size: Any) -> Any:
            made = zeros(joined_shape(batch_size, size), dtype=dtype)
            made.set_shape(joined_static_shape(batch_size, size))
            return made

        with name_scope(f"{type(self).__name__}ZeroState"):
            states: State = map_structure(zero, self.state_size)
            return states


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as layers do."""

    def __call__(
        self, inputs: Structure, state: State, scope: str | VariableScope | None = None, *args: object, **kwargs: object
    ) -> tuple[Any, Any]:
        found: tuple[Any, Any] = Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)
        return found


class _UnitsCell(LayerRNNCell):
    """What the cells below share: units, an activation, inputs that are rows."""

    def __init__(self, num_units: int, activation: Any, reuse: bool | None, **kwargs: Any) -> None:
        super().__init__(_reuse=reuse, **dict[str, Any](kwargs))
        _check_dtypes(self._dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation: Any = activation_of(activation) if activation else tanh

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def _input_depth(self, input_shape: TensorShape) -> int:
        _check_dtypes(self._dtype)
        return known_dimension(input_shape, -1, "The last dimension of the inputs to an RNN cell")


class BasicRNNCell(_UnitsCell):
    """output = new state = activation(W [inputs, state] + b)"""

    def __init__(
        self,
        num_units: int,
        activation: ActivationLike = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype, **dict[str, Any](kwargs))

    def build(self, input_shape: TensorShape) -> None:
        depth = self._input_depth(input_shape)
        self._kernel = self.add_weight("kernel", [depth + self._num_units, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=Zeros(dtype=self._dtype))
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        _check_dtypes(inputs.dtype, *(item.dtype for item in flatten(state)))
        gates = matmul(concat([inputs, state], 1), self._kernel)
        output = self._activation(bias_add(gates, self._bias))
        return output, output


class GRUCell(_UnitsCell):
    """A gated recurrent unit."""

    def __init__(
        self,
        num_units: int,
        activation: ActivationLike = None,
        reuse: bool | None = None,
        kernel_initializer: InitializerLike = None,
        bias_initializer: InitializerLike = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype, **dict[str, Any](kwargs))
        self._kernel_initializer = initializer_of(kernel_initializer)
        self._bias_initializer = initializer_of(bias_initializer)

    def build(self, input_shape: TensorShape) -> None:
        depth, units = self._input_depth(input_shape), self._num_units
        kernel, bias = self._kernel_initializer, self._bias_initializer
        ones = bias or Constant(1.0, dtype=self._dtype or FLOAT32)
        self._gate_kernel = self.add_weight("gates/kernel", [depth + units, 2 * units], initializer=kernel)
        self._gate_bias = self.add_weight("gates/bias", [2 * units], initializer=ones)
        self._candidate_kernel = self.add_weight("candidate/kernel", [depth + units, units], initializer=kernel)
        self._candidate_bias = self.add_weight("candidate/bias", [units], initializer=bias or Zeros(dtype=self._dtype))
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        _check_dtypes(inputs.dtype, *(item.dtype for item in flatten(state)))
        gates = bias_add(matmul(concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        reset, update = split(value=sigmoid(gates), num_or_size_splits=2, axis=1)
        kept = reset * state
        candidate = bias_add(matmul(concat([inputs, kept], 1), self._candidate_kernel), self._candidate_bias)
        new = self._activation(candidate)
        output = update * state + (1 - update) * new
        return output, output


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: its memory `c`, and its last output `h`."""

    c: Any
    h: Any

    @property
    def dtype(self) -> DType:
        if self.c.dtype != self.h.dtype:
            raise WrongTypeError(f"Inconsistent dtypes for internal state: {self.c.dtype} vs {self.h.dtype}")
        dtype: DType = self.c.dtype
        return dtype


class BasicLSTMCell(_UnitsCell):
    """A long short-term memory."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: ActivationLike = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype, **dict[str, Any](kwargs))
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Sizes:
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    def build(self, input_shape: TensorShape) -> None:
        depth, units = self._input_depth(input_shape), self._num_units
        self._kernel = self.add_weight("kernel", [depth + units, 4 * units])
        self._bias = self.add_weight("bias", [4 * units], initializer=Zeros(dtype=self._dtype))
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        _check_dtypes(inputs.dtype, *(item.dtype for item in flatten(state)))
        one = constant(1, dtype=INT32)
        c, h = state if self._state_is_tuple else split(value=state, num_or_size_splits=2, axis=one)
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=one)
        bias = constant(self._forget_bias, dtype=f.dtype)
        new_c = add(multiply(c, sigmoid(add(f, bias))), multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        return new_h, (LSTMStateTuple(new_c, new_h) if self._state_is_tuple else concat([new_c, new_h], 1))


class LSTMCell(_UnitsCell):
    """A long short-term memory that may have peepholes, clip its memory, and project its outputs."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: ActivationLike = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype, **dict[str, Any](kwargs))
        self._use_peepholes, self._cell_clip = use_peepholes, cell_clip
        self._initializer = initializer_of(initializer)
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._outputs = num_proj or num_units

    @property
    def state_size(self) -> Sizes:
        sizes = LSTMStateTuple(self._num_units, self._outputs)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Sizes:
        return self._outputs

    def build(self, input_shape: TensorShape) -> None:
        depth, units, initializer = self._input_depth(input_shape), self._num_units, self._initializer
        hidden = units if self._num_proj is None else self._num_proj
        self._kernel = self.add_weight(
            "kernel",
            [depth + hidden, 4 * units],
            initializer=initializer,
            partitioner=_shards(self._num_unit_shards),
        )
        self._bias = self.add_weight("bias", [4 * units], initializer=Zeros(dtype=self._dtype))
        if self._use_peepholes:
            self._w_f_diag: Any = self.add_weight("w_f_diag", [units], initializer=initializer)
            self._w_i_diag: Any = self.add_weight("w_i_diag", [units], initializer=initializer)
            self._w_o_diag: Any = self.add_weight("w_o_diag", [units], initializer=initializer)
        if self._num_proj is not None:
            self._proj_kernel = self.add_weight(
                "projection/kernel",
                [units, self._num_proj],
                initializer=initializer,
                partitioner=_shards(self._num_proj_shards),
            )
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        _check_dtypes(inputs.dtype, *(item.dtype for item in flatten(state)))
        if self._state_is_tuple:
            c_before, m_before = state
        else:
            hidden = self._num_units if self._num_proj is None else self._num_proj
            c_before = slice_of(state, [0, 0], [-1, self._num_units])
            m_before = slice_of(state, [0, self._num_units], [-1, hidden])
        gates = bias_add(matmul(concat([inputs, m_before], 1), self._kernel), self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            kept = sigmoid(f + self._forget_bias + self._w_f_diag * c_before) * c_before
            c = kept + sigmoid(i + self._w_i_diag * c_before) * self._activation(j)
        else:
            c = sigmoid(f + self._forget_bias) * c_before + sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            m = sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            m = matmul(m, self._proj_kernel)
            if self._proj_clip is not None:
                m = clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, (LSTMStateTuple(c, m) if self._state_is_tuple else concat([c, m], 1))


def _shards(count: int | None) -> Any:
    return None if count is None else fixed_size_partitioner(count)


class MultiRNNCell(RNNCell):
    """Cells one after another: the output of each is the input of the next."""

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise InvalidArgumentError("Must specify at least one cell for MultiRNNCell.")
        if not is_nested(cells):
            raise WrongTypeError(f"cells must be a list or tuple, but received: {cells}.")
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(is_nested(cell.state_size) for cell in cells):
            raise InvalidArgumentError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set. State sizes are: "
                f"{[cell.state_size for cell in cells]}"
            )

    @property
    def state_size(self) -> Sizes:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Sizes:
        size: Sizes = self._cells[-1].output_size
        return size

    @property
    def trainable_weights(self) -> list[Any]:
        found = [weight for cell in self._cells if isinstance(cell, Layer) for weight in cell.trainable_weights]
        return found if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        layers = [cell for cell in self._cells if isinstance(cell, Layer)]
        trained = [weight for cell in layers for weight in cell.trainable_weights]
        rest = [weight for cell in layers for weight in cell.non_trainable_weights]
        return rest if self.trainable else trained + rest

    def zero_state(self, batch_size: Tensor | int, dtype: DTypeLike) -> State:
        with name_scope(f"{type(self).__name__}ZeroState"):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def call(self, inputs: Structure, state: State) -> tuple[Any, State]:
        if self._state_is_tuple and not is_nested(state):
            raise InvalidArgumentError(
                f"Expected state to be a tuple of length {len(self._cells)}, but received: {state}"
            )
        at, states = 0, []
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    own = state[i]
                else:
                    own = slice_of(state, [0, at], [-1, cell.state_size])
                    at += cell.state_size
                inputs, new = cell(inputs, own)
                states.append(new)
        return inputs, (tuple(states) if self._state_is_tuple else concat(states, 1))


__all__ = [
    "BasicLSTMCell",
    "BasicRNNCell",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "MultiRNNCell",
    "RNNCell",
]
