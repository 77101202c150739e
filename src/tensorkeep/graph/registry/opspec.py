"""Ops: one object each, holding all that is known of it.

    matmul = op(
        "MatMul(a: T, b: T) -> product: T",
        "transpose_a: bool = false",
        "transpose_b: bool = false",
        "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}",
    )

    @matmul.shape
    def matmul_shape(a, b, *, transpose_a, transpose_b): ...        # tensors in, Shape out

    @matmul.kernel
    def matmul_kernel(a, b, *, transpose_a, transpose_b): ...       # arrays in, array out

    @matmul.gradient
    def matmul_gradient(op, dy): ...                                # adds nodes, returns one gradient per input

Shape rules and kernels get one argument per input of the signature (a list where the signature has one), and by
keyword those attributes that they name. They return one value per output; with several outputs a tuple, and a list in
the place of an output that is a list. Calling the spec adds an operation to the graph being built.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from inspect import unwrap
from typing import Any, Final, TypeAlias, TypeVar

from tensorkeep.dtypes import DType, make_dtype
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError, UnimplementedError, WrongTypeError
from tensorkeep.graph.building import add, check_name, colocate_with, graph_of, unique_name
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import Attr
from tensorkeep.graph.messages.full_types import has_full_types, write_full_types
from tensorkeep.graph.registry.capabilities import (
    Capability,
    capabilities_of_op,
    capabilities_with,
    state_capabilities,
    tensorflow_ops,
)
from tensorkeep.graph.registry.known_ops import KNOWN_OPS
from tensorkeep.graph.registry.schema import ArgSchema, OpSchema, parse_schema
from tensorkeep.proto.messages import NodeDef, OpDef
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

ShapeRule: TypeAlias = Callable[..., Any]
Kernel: TypeAlias = Callable[..., Any]
GradientRule: TypeAlias = Callable[..., Any]
Function = TypeVar("Function", bound=Callable[..., Any])

MOST_OUTPUTS: Final = 1 << 20  # of one operation; a number in a file that asks for more means harm
UNKNOWN_DTYPE: Final = make_dtype(0, "unknown", "invalid", "object", "", 0)


class OpSpec:
    """An op: signature, shape rule, kernel, gradient."""

    def __init__(self, signature: Sequence[str] | OpSchema) -> None:
        if isinstance(signature, OpSchema):
            self._parts: Sequence[str] = ()
            self.__dict__["schema"] = signature
            self.name = signature.name
        else:
            self._parts = signature
            self.name = signature[0].partition("(")[0].strip()
        self.shape_rule: ShapeRule | None = None
        self.shape_rule_takes_operation = False
        self.kernel_function: Kernel | None = None
        self.kernel_takes_context = False
        self.kernel_defers = False  # whether results may be promises, see runtime/resources.py
        self.kernel_takes_deferred = False
        self.finishing_kernel: Kernel | None = None  # see `finishing`
        self.finishing_measured = 0
        self.finishing_joins = False
        self.comparing_kernel: Kernel | None = None  # see `comparing`
        self.kernel_lasts = False  # whether it gives the same resource in every run, until that is deleted
        self.kernel_looks_for: tuple[str, ...] = ()  # ops of which the context has what runs after it
        self.gradient_rule: GradientRule | None = None
        self.is_differentiable: bool | None = None  # None: nobody has said

    @cached_property
    def schema(self) -> OpSchema:
        return parse_schema(*self._parts)

    @property
    def is_opaque(self) -> bool:
        """Whether nothing is known of the op but its name."""
        return False

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the op does besides computing, whatever its attributes."""
        return capabilities_of_op(self.name)

    # -------------------------------------------------------------------------------- the paragraph's parts

    def shape(self, rule: Function) -> Function:
        """Decorates the shape rule: tensors by position, attributes by keyword, Shape or Shapes out."""
        self.shape_rule = rule
        self._shape_attrs = keyword_names(rule)
        return rule

    def operation_shape(self, rule: Function) -> Function:
        """Decorates a shape rule that needs more than inputs and attributes: the operation in, Shapes out."""
        self.shape_rule = rule
        self.shape_rule_takes_operation = True
        return rule

    def kernel(self, function: Function) -> Function:
        """Decorates the kernel of an op that only computes: arrays by position, attributes by keyword."""
        self.kernel_function = function
        return function

    def stateful_kernel(self, function: Function) -> Function:
        """Decorates a kernel that needs more than its inputs: its first argument is the KernelContext."""
        self.kernel_function = function
        self.kernel_takes_context = True
        return function

    def finishing(self, function: Function, *, measured: int = 0, joins: bool = False) -> Function:
        """Decorates what computes the op and has a chain of element-wise operations go over the result meanwhile.

        Arguments are those of the kernel, and `finish` (`native.finishing.Finish`). What comes out is the chain's
        result; None where the kernel and then the chain have to be run one after the other, or to say what is wrong.
        It is called only if the input number `measured` is large enough to be worth it. If it `joins`, the first
        argument may be a tuple of arrays that are to be joined along the last axis.
        """
        self.finishing_kernel = function
        self.finishing_joins = joins
        self.finishing_measured = measured
        return function

    def comparing(self, function: Function) -> Function:
        """Decorates what computes the op, of float32, and compares the result with something: it gives truths, and the
        numbers themselves may be stored nowhere.

        Arguments are those of the kernel, then what they are compared with, and by keyword `comparison`, the function
        of NumPy that compares.
        """
        self.comparing_kernel = function
        return function

    def gradient(self, rule: Function) -> Function:
        """Decorates the gradient: the operation and the gradients of its outputs in, those of its inputs out."""
        self.gradient_rule = rule
        self.is_differentiable = True
        return rule

    # ------------------------------------------------------------------------------------------ outputs

    def output_dtypes(self, op: Operation) -> list[DType]:
        """The types of an operation's outputs, by its attributes."""
        dtypes: list[DType] = []
        for arg in self.schema.outputs:
            if arg.type_list_attr:
                found = list(op.attr(arg.type_list_attr) or ())
            else:
                one = arg.dtype or op.attr(arg.type_attr) or UNKNOWN_DTYPE
                count = op.attr(arg.number_attr) if arg.number_attr else 1
                if count > MOST_OUTPUTS:
                    raise InvalidArgumentError(
                        f'{self.name}: attribute "{arg.number_attr}" asks for {count} outputs, of which an operation '
                        f"has {MOST_OUTPUTS} at most"
                    )
                found = [one] * count
            dtypes.extend([dtype.ref for dtype in found] if arg.is_ref else found)
        return dtypes

    def infer(self, op: Operation) -> None:
        """Finds the static shapes of an operation's outputs."""
        rule = self.shape_rule
        if rule is None:
            for tensor in op.outputs:
                tensor._shape = UNKNOWN_SHAPE
            return
        try:
            if self.shape_rule_takes_operation:
                result = rule(op)
            else:
                arguments = group(self.schema.inputs, op.inputs, op.attr) if self.has_list_inputs else op.inputs
                result = rule(*arguments, **{name: op.attr(name) for name in self._shape_attrs})
        except BaseException:
            for tensor in op.outputs:
                tensor._shape = UNKNOWN_SHAPE
            raise
        outputs = op.outputs
        if len(outputs) == 1 and isinstance(result, Shape):
            outputs[0]._shape = result
            return
        shapes = flatten(result)
        assert len(shapes) == len(outputs), f"the shape rule of {self.name} gave {len(shapes)} of {len(outputs)} shapes"
        for tensor, shape in zip(outputs, shapes, strict=True):
            tensor._shape = shape

    @cached_property
    def _has_full_types(self) -> bool:
        return has_full_types(self.schema)

    def write_full_types(self, attr: Callable[[str], Attr], node: NodeDef) -> None:
        """Writes into a node what the op says of its outputs beyond their types, unless the node says it already."""
        if self._has_full_types and not node.HasField("experimental_type"):
            write_full_types(self.schema, attr, node.experimental_type)

    @cached_property
    def has_list_inputs(self) -> bool:
        return any(arg.is_list for arg in self.schema.inputs)

    @cached_property
    def has_list_outputs(self) -> bool:
        return any(arg.is_list for arg in self.schema.outputs)

    @cached_property
    def _result_type(self) -> Any:
        names = [arg.name for arg in self.schema.outputs]
        return namedtuple(self.name.replace(">", "_"), names, rename=True)  # an op may have a name in a name space

    def results(self, op: Operation) -> Any:
        """What a call of the op gives: the operation if it has no outputs, else its outputs by the signature."""
        schema = self.schema
        if not op.outputs:
            return op
        grouped = group(schema.outputs, op.outputs, op.attr) if self.has_list_outputs else op.outputs
        return grouped[0] if len(schema.outputs) == 1 else self._result_type(*grouped)

    # ------------------------------------------------------------------------------------------- calling

    def __call__(self, *args: Any, name: str | None = None, **keywords: Any) -> Any:
        """Adds an operation of this op to the graph being built, making tensors of its arguments where needed."""
        schema = self.schema
        values = self._bind(args, keywords)
        graph = graph_of(_flat_values(values))
        name = name or self.name
        if name.endswith("/"):
            scope = name[:-1]
        else:
            check_name(name, graph.scopes.name)
            scope = unique_name(name, graph)
        old, graph.scopes.name = graph.scopes.name, scope
        try:
            attrs: dict[str, Attr] = {}
            inputs: list[Tensor] = []
            for arg, value in zip(schema.inputs, values, strict=True):
                if arg.is_list:
                    inputs.extend(self._convert_list(arg, value, attrs, keywords))
                else:
                    inputs.append(self._convert_one(arg, value, attrs, keywords, schema))
            self._complete(attrs, keywords)
            # What a branch or loop adds for the operation is named below it.
            op = self._add_near_references(inputs, attrs, f"{scope}/", graph)
        finally:
            graph.scopes.name = old
        return self.results(op)

    @cached_property
    def _ref_positions(self) -> tuple[int, ...]:
        return tuple(i for i, arg in enumerate(self.schema.inputs) if arg.is_ref)

    def _add_near_references(self, inputs: list[Tensor], attrs: dict[str, Attr], name: str, graph: Graph) -> Operation:
        """Adds the operation; what changes a variable goes where the variable goes."""
        if not self._ref_positions:
            return add(self, inputs, attrs, name, graph)
        with ExitStack() as stack:
            for tensor in [inputs[i] for i in self._ref_positions if i < len(inputs)]:
                stack.enter_context(colocate_with(tensor, graph=graph))
            return add(self, inputs, attrs, name, graph)

    def _bind(self, args: Sequence[Any], keywords: dict[str, Any]) -> list[Any]:
        """The values of the inputs, given by position or name; takes them out of `keywords`."""
        inputs = self.schema.inputs
        if len(args) > len(inputs):
            raise WrongTypeError(f"{self.name} takes {len(inputs)} inputs, got {len(args)}: {self.schema}")
        values = list(args)
        for arg in inputs[len(args) :]:
            if arg.name not in keywords:
                raise WrongTypeError(f'{self.name} is missing its input "{arg.name}": {self.schema}')
            values.append(keywords.pop(arg.name))
        return values

    def _convert_one(
        self, arg: ArgSchema, value: Any, attrs: dict[str, Attr], keywords: dict[str, Any], schema: OpSchema
    ) -> Tensor:
        attr = arg.type_attr
        wanted = arg.dtype
        preferred: DType | None = None
        if attr:
            wanted = attrs.get(attr)
            if wanted is None and keywords.get(attr) is not None:
                wanted = DType.of(keywords[attr])
            if wanted is None and schema.attr_by_name[attr].has_default:
                preferred = schema.attr_by_name[attr].default
                value = self._by_itself(arg, value, schema.attr_by_name[attr].allowed)
        tensor = self._convert(arg, value, wanted, preferred, attrs)
        if attr:
            found = tensor.dtype.base_dtype
            if attr not in attrs:
                self._check_allowed(arg, attr, found)
                attrs[attr] = found
        return tensor

    @staticmethod
    def _by_itself(arg: ArgSchema, value: Any, allowed: Sequence[DType]) -> Any:
        """The value converted to a tensor without a wished type, if the type that this gives is allowed; otherwise the
        value as it is.
        """
        if not allowed or isinstance(value, Tensor):
            return value
        try:
            tensor = convert(value, None, arg.name, arg.is_ref)
        except TypeError:
            return value
        return tensor if tensor.dtype.base_dtype in allowed else value

    def _convert(
        self, arg: ArgSchema, value: Any, wanted: DType | None, preferred: DType | None, attrs: Mapping[str, Attr]
    ) -> Tensor:
        if isinstance(value, Tensor):
            if wanted is not None and value.dtype is not wanted and value.dtype.base_dtype is not wanted.base_dtype:
                raise self._mismatch(arg, value, wanted, attrs)
            tensor = value
        else:
            try:
                tensor = convert(value, wanted, arg.name, arg.is_ref, preferred)
            except WrongTypeError:
                raise
            except (TypeError, ValueError) as error:
                if wanted is not None and getattr(value, "dtype", None) is not None:
                    raise self._mismatch(arg, value, wanted, attrs) from None
                if wanted is None:
                    raise
                raise WrongTypeError(
                    f"Expected {wanted} passed to parameter '{arg.name}' of op '{self.name}', got {value!r} of type "
                    f"'{type(value).__name__}' instead. Error: {error}"
                ) from None
        if arg.is_ref and not tensor.dtype.is_ref:
            raise WrongTypeError(
                f"'{self.name}' Op requires that input '{arg.name}' be a mutable tensor (e.g.: a tf.Variable)"
            )
        return tensor

    def _mismatch(self, arg: ArgSchema, value: Any, wanted: DType, attrs: Mapping[str, Attr]) -> TensorKeepError:
        found = DType.of(value.dtype).base_dtype
        if arg.type_attr and arg.type_attr in attrs:
            other = next(other.name for other in self.schema.inputs if other.type_attr == arg.type_attr)
            return WrongTypeError(
                f"Input '{arg.name}' of '{self.name}' Op has type {found} that does not match type {wanted} of "
                f"argument '{other}'."
            )
        return WrongTypeError(
            f"Input '{arg.name}' of '{self.name}' Op has type {found} that does not match expected type of {wanted}."
        )

    def _check_allowed(self, arg: ArgSchema, attr: str, found: DType) -> None:
        allowed = self.schema.attr_by_name[attr].allowed
        if allowed and found not in allowed:
            raise WrongTypeError(
                f"Value passed to parameter '{arg.name}' of op {self.name} has DataType {found} not in list of allowed "
                f"values: {', '.join(map(str, allowed))}"
            )

    def _convert_list(
        self, arg: ArgSchema, values: Any, attrs: dict[str, Attr], keywords: dict[str, Any]
    ) -> list[Tensor]:
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise WrongTypeError(f"Expected list for '{arg.name}' argument to '{self.name}' Op, not {values!r}.")
        values = list(values)
        if arg.type_list_attr:
            return self._convert_mixed(arg, values, attrs, keywords)
        wanted = arg.dtype
        if arg.type_attr:
            wanted = attrs.get(arg.type_attr)
            if wanted is None and keywords.get(arg.type_attr) is not None:
                wanted = DType.of(keywords[arg.type_attr])
            if wanted is None:
                known = (getattr(value, "dtype", None) for value in values)
                wanted = next((DType.of(dtype).base_dtype for dtype in known if isinstance(dtype, DType)), None)
        tensors: list[Tensor] = []
        for i, value in enumerate(values):
            named = ArgSchema(f"{arg.name}_{i}", type_attr=arg.type_attr, is_ref=arg.is_ref)
            tensor = self._convert_listed(named, value, wanted, arg)
            wanted = wanted or tensor.dtype.base_dtype
            tensors.append(tensor)
        count = attrs.get(arg.number_attr)
        if count is not None and count != len(tensors):
            raise InvalidArgumentError(
                f"List argument '{arg.name}' to '{self.name}' Op with length {len(tensors)} must match length {count} "
                "of the other list arguments"
            )
        attrs[arg.number_attr] = len(tensors)
        if arg.type_attr and wanted is not None and arg.type_attr not in attrs:
            self._check_allowed(arg, arg.type_attr, wanted)
            attrs[arg.type_attr] = wanted
        return tensors

    def _convert_listed(self, named: ArgSchema, value: Any, wanted: DType | None, arg: ArgSchema) -> Tensor:
        try:
            return self._convert(named, value, wanted, None, {})
        except WrongTypeError as error:
            raise WrongTypeError(
                f"Tensors in list passed to '{arg.name}' of '{self.name}' Op must all be of one type: {error}"
            ) from None

    def _convert_mixed(
        self, arg: ArgSchema, values: list[Any], attrs: dict[str, Attr], keywords: dict[str, Any]
    ) -> list[Tensor]:
        told = attrs.get(arg.type_list_attr) or keywords.get(arg.type_list_attr)
        dtypes: Sequence[Any] = [None] * len(values) if told is None else [DType.of(dtype) for dtype in told]
        if len(dtypes) != len(values):
            raise InvalidArgumentError(
                f"'{arg.name}' of '{self.name}' Op has {len(values)} values, but its types are {len(dtypes)}"
            )
        tensors = [
            self._convert(ArgSchema(f"{arg.name}_{i}", is_ref=arg.is_ref), value, dtype, None, {})
            for i, (value, dtype) in enumerate(zip(values, dtypes, strict=True))
        ]
        attrs[arg.type_list_attr] = tuple(tensor.dtype.base_dtype for tensor in tensors)
        return tensors

    def _complete(self, attrs: dict[str, Attr], keywords: dict[str, Any]) -> None:
        """Adds the attributes that the inputs do not tell: given, or by default."""
        schema = self.schema
        for attr in schema.attrs:
            if attr.name in attrs:
                if (count := attrs[attr.name]) is not None and attr.minimum is not None:
                    attr.check(count, self.name)
                keywords.pop(attr.name, None)
                continue
            value = keywords.pop(attr.name, None)
            if value is not None:
                attrs[attr.name] = attr.check(value, self.name)
            elif attr.has_default:
                attrs[attr.name] = attr.default
            else:
                raise WrongTypeError(f'op {self.name} needs a value for its attribute "{attr.name}": {schema}')
        if keywords:
            raise WrongTypeError(f"{self.name} has no input or attribute named {', '.join(sorted(keywords))}: {schema}")

    def __repr__(self) -> str:
        return f"<op {self.name}>"


class OpaqueSpec(OpSpec):
    """An op of which only the name is known. Its operations have as many outputs as others take from them."""

    def __init__(self, name: str, output_count: int) -> None:
        super().__init__(OpSchema(name))
        self._output_count = output_count

    @property
    def is_opaque(self) -> bool:
        return True

    def output_dtypes(self, op: Operation) -> list[DType]:
        return [UNKNOWN_DTYPE] * self._output_count


def _flat_values(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value


def group(args: Sequence[ArgSchema], items: Sequence[Any], attr: Callable[[str], Attr]) -> list[Any]:
    """One entry per argument of a signature: an item, or the list of items of an argument that is a list."""
    grouped: list[Any] = []
    at = 0
    for arg in args:
        if arg.is_list:
            count = attr(arg.number_attr) if arg.number_attr else len(attr(arg.type_list_attr) or ())
            if arg.number_attr and arg.type_list_attr:
                count *= len(attr(arg.type_list_attr) or ())
            grouped.append(list(items[at : at + count]))
            at += count
        else:
            grouped.append(items[at])
            at += 1
    return grouped


def flatten(result: Any) -> list[Any]:
    """The values of one or several outputs, lists among them, one after the other."""
    if not isinstance(result, list | tuple):
        return [result]
    flat: list[Any] = []
    for item in result:
        if isinstance(item, list):
            flat.extend(item)
        else:
            flat.append(item)
    return flat


def takes_attributes(*names: str) -> Callable[[Function], Function]:
    """Decorates a kernel that takes these attributes, and maybe others, as what `**` stands for."""

    def decorate(function: Function) -> Function:
        function.attribute_names = names  # type: ignore[attr-defined]
        return function

    return decorate


def keyword_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's keyword-only parameters; a NumPy function has none that concern us."""
    given: tuple[str, ...] | None = getattr(function, "attribute_names", None)
    if given is not None:
        return given
    code = getattr(unwrap(function), "__code__", None)
    if code is None:
        return ()
    start = code.co_argcount
    return tuple(code.co_varnames[start : start + code.co_kwonlyargcount])


# ---------------------------------------------------------------------------------------------------- Registry

_REGISTRY: Final[dict[str, OpSpec]] = {}
_KNOWN: Final[dict[str, OpSpec]] = {}
_LOADERS: Final[list[Callable[[str | None], None]]] = []


def op(*signature: str, needs: Capability | Iterable[Capability] | None = None, kind: type[OpSpec] = OpSpec) -> OpSpec:
    """Registers an op by its signature. A name can be registered once. `kind` is what its paragraph is about.

    `needs` says what an op of one's own does besides computing; `()` is nothing. Without it nobody knows: sessions that
    allow no IO and loaded models refuse the op. What TensorFlow's ops do is in a table, `capabilities.py`.
    """
    spec = kind(signature)
    if spec.name in _REGISTRY:
        raise InvalidArgumentError(f"op {spec.name} is registered twice")
    state_capabilities(spec.name, needs)
    _REGISTRY[spec.name] = spec
    return spec


def registered_ops() -> Mapping[str, OpSpec]:
    """The ops that have a paragraph, by name."""
    for load in _LOADERS:
        load(None)
    return _REGISTRY


def _known_signatures() -> dict[str, str]:
    return {line.partition("(")[0]: line for line in KNOWN_OPS.splitlines() if line}


_SIGNATURES: Final[dict[str, str]] = {}


def load_ops_with(loader: Callable[[str | None], None]) -> None:
    """Has paragraphs imported when they are wanted: the loader is called with the name of an op, or None for all."""
    _LOADERS.append(loader)
    _KNOWN.clear()


def find_op(name: str) -> OpSpec | None:
    """The op of that name: one with a paragraph, one whose signature is known, or None."""
    found = _REGISTRY.get(name) or _KNOWN.get(name)
    if found is not None:
        return found
    for load in _LOADERS:
        load(name)
        if name in _REGISTRY:
            return _REGISTRY[name]
    if not _SIGNATURES:
        _SIGNATURES.update(_known_signatures())
    line = _SIGNATURES.get(name)
    if line is None:
        return None
    return _KNOWN.setdefault(name, OpSpec((line,)))


def spec_of_op_def(proto: OpDef) -> OpSpec:
    """A spec for an op that is known only by the OpDef that came with a graph."""
    return OpSpec(OpSchema.of_op_def(proto))


def get_op(name: str) -> OpSpec:
    """The op of that name; an error if there is none."""
    found = find_op(name)
    if found is None:
        raise NotFoundError(f"Op type not registered '{name}': neither TensorFlow nor this program defines such an op")
    return found


def not_differentiable(*specs: OpSpec) -> None:
    """Says that no gradient flows through these ops, which is not an error."""
    for spec in specs:
        spec.is_differentiable = False


def capabilities_of(op: Operation) -> frozenset[Capability]:
    """What an operation does besides computing, with its attributes; calling a function of its graph is nothing yet."""
    if op.type in op.graph.functions and op.type not in tensorflow_ops():
        return frozenset()
    return capabilities_with(op.type, op.attr)


def kernel_of(spec: OpSpec) -> Kernel:
    """The kernel of an op; an error that names it, and says what could provide one, if it has none."""
    if spec.kernel_function is None:
        known = f"`op('{spec.name}(...)')` before the import" if spec.is_opaque else f"`get_op({spec.name!r})`"
        if spec.name == "XlaCallModule":
            raise UnimplementedError(
                "op XlaCallModule cannot be run: it is a module of StableHLO, which JAX runs: `tensorkeep.to_jax`"
            )
        raise UnimplementedError(
            f"op {spec.name} cannot be run: tensorkeep has no kernel for it. "
            f"Give it one, by {known} and its `kernel`, or run this part of the graph elsewhere"
        )
    return spec.kernel_function
