"""Op signatures: the text, the schema it states, and the OpDef both stand for.

    signature = Name "(" [args] ")" ["->" args] {";" (attr | flag)}
    args      = arg {"," arg}
    arg       = name ":" type ["::" full]            type = ["Ref" "("] [number "*"] element [")"]
    element   = data type | type attribute | list(type) attribute
    full      = WORD ["[" (full | "$" attr) {"," …} "]"]       TensorFlow's experimental full type, without TFT_
    attr      = name ":" kind [">=" minimum] ["=" default]
    kind      = word | "list" "(" word ")" | choices | "list" "(" choices ")"
    choices   = "{" value {"," value} "}" | numbertype | realnumbertype | quantizedtype
    flag      = stateful | commutative | aggregate | allows_uninitialized_input | distributed | deprecated N 'text'

The words are TensorFlow's own, so that a signature can be laid beside the original:

    MatMul(a: T, b: T) -> product: T; transpose_a: bool = false; T: {bfloat16, half, float}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.dtypes import ALL_DTYPES, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.messages.attrs import Attr, FunctionRef, decode_attr, encode_attr
from tensorkeep.proto.messages import FullTypeDef, FullTypeId, OpDef, TensorProto
from tensorkeep.proto.text import format_text, parse_text
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

FullType: TypeAlias = tuple[Any, ...]  # (word, parameter, …): a parameter is a FullType, or the name of an attribute


class Missing:
    """Stands in the place of a default where an attribute has none."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True)
class ArgSchema:
    """One input or output: a tensor, N tensors of one type, or one tensor per element of a list of types."""

    name: str
    dtype: DType | None = None
    type_attr: str = ""
    number_attr: str = ""
    type_list_attr: str = ""
    is_ref: bool = False
    full_type: FullType | None = None

    @property
    def is_list(self) -> bool:
        return bool(self.number_attr or self.type_list_attr)

    def __str__(self) -> str:
        element = self.type_list_attr or self.type_attr or (self.dtype.label if self.dtype else "?")
        text = f"{self.number_attr} * {element}" if self.number_attr else element
        text = f"Ref({text})" if self.is_ref else text
        full = f" :: {_format_full_type(self.full_type)}" if self.full_type else ""
        return f"{self.name}: {text}{full}"


@dataclass(frozen=True, slots=True)
class AttrSchema:
    """One attribute: the kind of its values, the default, and what limits them."""

    name: str
    kind: str
    default: Attr = MISSING
    minimum: int | None = None
    allowed: tuple[Attr, ...] = ()

    @property
    def has_default(self) -> bool:
        return self.default is not MISSING

    def check(self, value: Attr, op: str) -> Attr:
        """The value as the attribute keeps it; an error that names the op and the attribute if it may not be kept."""
        try:
            checked = _coerce(self.kind, value)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidArgumentError(
                f'attribute "{self.name}" of op {op} is of kind {self.kind}, and cannot be {value!r}: {error}'
            ) from None
        if self.allowed:
            for item in checked if isinstance(checked, tuple) else (checked,):
                if item not in self.allowed:
                    self._refuse(item, op)
        if self.minimum is not None:
            size = len(checked) if isinstance(checked, tuple) else checked
            if size < self.minimum:
                what = "length of attribute" if isinstance(checked, tuple) else "attribute"
                raise InvalidArgumentError(f'{what} "{self.name}" of op {op} is {size}, wanted at least {self.minimum}')
        return checked

    def _refuse(self, item: Attr, op: str) -> None:
        choices = ", ".join(_format_value(choice) for choice in self.allowed)
        raise InvalidArgumentError(
            f'attribute "{self.name}" of op {op} cannot be {_format_value(item)}: allowed are {choices}'
        )

    def __str__(self) -> str:
        kind = self.kind
        if self.allowed:
            choices = _ALIAS_OF.get(self.allowed) or "{" + ", ".join(map(_format_value, self.allowed)) + "}"
            kind = f"list({choices})" if kind.startswith("list(") else choices
        minimum = "" if self.minimum is None else f" >= {self.minimum}"
        default = "" if self.default is MISSING else f" = {_format_value(self.default)}"
        return f"{self.name}: {kind}{minimum}{default}"


@dataclass(frozen=True)
class OpSchema:
    """The signature of an op: what an OpDef says without its prose."""

    name: str
    inputs: tuple[ArgSchema, ...] = ()
    outputs: tuple[ArgSchema, ...] = ()
    attrs: tuple[AttrSchema, ...] = ()
    is_stateful: bool = False
    is_commutative: bool = False
    is_aggregate: bool = False
    allows_uninitialized_input: bool = False
    is_distributed_communication: bool = False
    deprecation: tuple[int, str] | None = None

    @cached_property
    def attr_by_name(self) -> dict[str, AttrSchema]:
        return {attr.name: attr for attr in self.attrs}

    @cached_property
    def counts(self) -> frozenset[str]:
        """The attributes that say how many tensors there are in a list."""
        return frozenset(arg.number_attr for arg in (*self.inputs, *self.outputs) if arg.number_attr)

    @cached_property
    def inferred_attrs(self) -> frozenset[str]:
        """The attributes that the inputs determine: their types and counts."""
        names = (name for arg in self.inputs for name in (arg.type_attr, arg.number_attr, arg.type_list_attr))
        return frozenset(name for name in names if name)

    def __str__(self) -> str:
        outputs = f" -> {', '.join(map(str, self.outputs))}" if self.outputs else ""
        head = f"{self.name}({', '.join(map(str, self.inputs))}){outputs}"
        flags = [word for word, field in _FLAGS.items() if getattr(self, field)]
        if self.deprecation:
            flags.append(f"deprecated {self.deprecation[0]} {_quote(self.deprecation[1].encode())}")
        return "; ".join([head, *map(str, self.attrs), *flags])

    def to_op_def(self) -> OpDef:
        """The OpDef, as TensorFlow strips it: no summary, no descriptions."""
        proto = OpDef(name=self.name)
        for args, target in ((self.inputs, proto.input_arg), (self.outputs, proto.output_arg)):
            for arg in args:
                _fill_arg(target.add(), arg)
        for attr in self.attrs:
            _fill_attr(proto.attr.add(), attr)
        for field in _FLAGS.values():
            if getattr(self, field):
                setattr(proto, field, True)
        if self.deprecation:
            proto.deprecation.version, proto.deprecation.explanation = self.deprecation
        return proto

    @classmethod
    def of_op_def(cls, proto: OpDef) -> OpSchema:
        deprecation = (proto.deprecation.version, proto.deprecation.explanation)
        return cls(
            proto.name,
            tuple(map(_arg_of, proto.input_arg)),
            tuple(map(_arg_of, proto.output_arg)),
            tuple(map(_attr_of, proto.attr)),
            deprecation=deprecation if proto.HasField("deprecation") else None,
            **{field: bool(getattr(proto, field)) for field in _FLAGS.values()},
        )


_FLAGS: Final = {
    "stateful": "is_stateful",
    "commutative": "is_commutative",
    "aggregate": "is_aggregate",
    "allows_uninitialized_input": "allows_uninitialized_input",
    "distributed": "is_distributed_communication",
}


def _labels(text: str) -> tuple[DType, ...]:
    return tuple(map(DType.of, text.split()))


_ALIASES: Final[dict[str, tuple[DType, ...]]] = {
    "numbertype": _labels(
        "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 quint16 uint16 "
        "complex128 half uint32 uint64"
    ),
    "realnumbertype": _labels("float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"),
    "quantizedtype": _labels("qint8 quint8 qint32 qint16 quint16"),
}
_ALIAS_OF: Final = {types: alias for alias, types in _ALIASES.items()}
_LABELS: Final = {dtype.label: dtype for dtype in ALL_DTYPES}


# ---------------------------------------------------------------------------------------------------- Values


def _string(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise TypeError("expected text or bytes")


def _integer(value: Any) -> int:
    if isinstance(value, float | np.floating):
        raise TypeError("expected a whole number")
    number = int(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError("it does not fit into 64 bits")
    return number


def _boolean(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise TypeError("expected True or False")


def _float32(value: Any) -> float:
    return float(np.float32(value))


def _tensor(value: Any) -> TensorProto:
    if isinstance(value, TensorProto):
        return value
    raise TypeError("expected a TensorProto")


def _function(value: Any) -> FunctionRef:
    if isinstance(value, FunctionRef):
        return value
    if isinstance(value, str):
        return FunctionRef(value)
    raise TypeError("expected a function of the graph")


_COERCIONS: Final[dict[str, Callable[[Any], Attr]]] = {
    "string": _string,
    "int": _integer,
    "float": _float32,
    "bool": _boolean,
    "type": DType.of,
    "shape": Shape.of,
    "tensor": _tensor,
    "func": _function,
}


def _coerce(kind: str, value: Attr) -> Attr:
    if kind.startswith("list("):
        if isinstance(value, str | bytes) or not isinstance(value, Iterable):
            raise TypeError("expected a list")
        return tuple(map(_COERCIONS[kind[5:-1]], value))
    return _COERCIONS[kind](value)


def _quote(text: bytes) -> str:
    return "'" + text.decode("latin-1").encode("unicode_escape").decode().replace("'", "\\'") + "'"


def _format_value(value: Attr) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_format_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return _quote(value)
    if isinstance(value, float):
        return str(np.float32(value))
    if isinstance(value, DType):
        return value.label
    if isinstance(value, Shape):
        return "shape" if value.dims is None else str(value).replace(",", ", ")
    if isinstance(value, TensorProto):
        return "tensor " + _quote(format_text(value).encode())
    return str(value)


# ---------------------------------------------------------------------------------------------------- OpDef


def _fill_arg(proto: OpDef.ArgDef, arg: ArgSchema) -> None:
    proto.name = arg.name
    if arg.dtype:
        proto.type = arg.dtype.number
    proto.type_attr, proto.number_attr, proto.type_list_attr = arg.type_attr, arg.number_attr, arg.type_list_attr
    proto.is_ref = arg.is_ref
    if arg.full_type:
        _fill_full_type(proto.experimental_full_type, arg.full_type)


def _arg_of(proto: OpDef.ArgDef) -> ArgSchema:
    return ArgSchema(
        proto.name,
        DType.of(_number_label(proto.type)) if proto.type else None,
        proto.type_attr,
        proto.number_attr,
        proto.type_list_attr,
        proto.is_ref,
        _full_type_of(proto.experimental_full_type) if proto.HasField("experimental_full_type") else None,
    )


_BY_NUMBER: Final = {dtype.number: dtype.label for dtype in ALL_DTYPES}


def _number_label(number: int) -> str:
    return _BY_NUMBER[number]


def _fill_attr(proto: OpDef.AttrDef, attr: AttrSchema) -> None:
    proto.name, proto.type = attr.name, attr.kind
    if attr.default is not MISSING:
        proto.default_value.CopyFrom(encode_attr(attr.default))
    if attr.minimum is not None:
        proto.has_minimum, proto.minimum = True, attr.minimum
    if attr.allowed:
        proto.allowed_values.CopyFrom(encode_attr(attr.allowed))


def _allowed_values(value: Attr) -> tuple[Attr, ...]:
    """The allowed values of an attribute as a tuple: a graph may give several, a single one without a list, or none."""
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _attr_of(proto: OpDef.AttrDef) -> AttrSchema:
    return AttrSchema(
        proto.name,
        proto.type,
        decode_attr(proto.default_value) if proto.HasField("default_value") else MISSING,
        proto.minimum if proto.has_minimum else None,
        _allowed_values(decode_attr(proto.allowed_values)) if proto.HasField("allowed_values") else (),
    )


def _fill_full_type(proto: FullTypeDef, full_type: FullType) -> None:
    word, *parameters = full_type
    proto.type_id = FullTypeId.Value(f"TFT_{word}")
    for parameter in parameters:
        if isinstance(parameter, str):
            proto.args.add(type_id=FullTypeId.TFT_VAR, s=parameter)
        else:
            _fill_full_type(proto.args.add(), parameter)


def _full_type_of(proto: FullTypeDef) -> FullType:
    if proto.type_id == FullTypeId.TFT_VAR:
        return ("VAR", proto.s)
    parameters = (arg.s if arg.type_id == FullTypeId.TFT_VAR else _full_type_of(arg) for arg in proto.args)
    return (FullTypeId.Name(proto.type_id).removeprefix("TFT_"), *parameters)


def _format_full_type(full_type: FullType) -> str:
    word, *parameters = full_type
    inside = ", ".join(f"${item}" if isinstance(item, str) else _format_full_type(item) for item in parameters)
    return f"{word}[{inside}]" if parameters else str(word)


# ---------------------------------------------------------------------------------------------------- Parsing

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<number>-?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf|nan)(?![A-Za-z_]))"
    r"|(?P<word>[A-Za-z_][A-Za-z_0-9>]*)"
    r"|(?P<mark>->|::|>=|[()\[\]{}:;,=*?$]))"
)


class _Parser:
    """Reads one signature, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise InvalidArgumentError(f'signature "{text}": cannot read on at "{text[at : at + 20]}"')
            self._tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
            at = match.end()
        self._at = 0

    def schema(self) -> OpSchema:
        name = self._word()
        inputs = self._inputs()
        outputs = self._args() if self._accept("->") else ()
        attrs: list[AttrSchema] = []
        flags: dict[str, Any] = {}
        while self._accept(";"):
            word = self._word()
            if self._accept(":"):
                attrs.append(self._attr(word))
            elif word == "deprecated":
                flags["deprecation"] = (int(self._next("number")), self._string().decode())
            elif word in _FLAGS:
                flags[_FLAGS[word]] = True
            else:
                self._fail(f'"{word}" is neither an attribute nor a flag')
        if self._at < len(self._tokens):
            self._fail("more than a signature")
        types = {attr.name: attr.kind for attr in attrs}
        return OpSchema(
            name,
            self._resolved_arguments(inputs, types),
            self._resolved_arguments(outputs, types),
            tuple(attrs),
            **flags,
        )

    def _inputs(self) -> tuple[ArgSchema, ...]:
        self._expect("(")
        if self._accept(")"):
            return ()
        args = self._args()
        self._expect(")")
        return args

    def _args(self) -> tuple[ArgSchema, ...]:
        args = [self._arg()]
        while self._accept(","):
            args.append(self._arg())
        return tuple(args)

    def _arg(self) -> ArgSchema:
        name = self._word()
        self._expect(":")
        element, number = self._word(), ""
        is_ref = element == "Ref"
        if is_ref:
            self._expect("(")
            element = self._word()
        if self._accept("*"):
            number, element = element, self._word()
        if is_ref:
            self._expect(")")
        full_type = self._full_type() if self._accept("::") else None
        return ArgSchema(name, type_attr=element, number_attr=number, is_ref=is_ref, full_type=full_type)

    def _resolved_arguments(self, args: Sequence[ArgSchema], kinds: dict[str, str]) -> tuple[ArgSchema, ...]:
        """The arguments, now that it is known which elements are attributes and of what kind."""
        return tuple(self._resolve(arg, kinds) for arg in args)

    def _resolve(self, arg: ArgSchema, kinds: dict[str, str]) -> ArgSchema:
        element = arg.type_attr
        dtype, type_attr, type_list_attr = None, "", ""
        if kinds.get(element) == "list(type)":
            type_list_attr = element
        elif element in kinds:
            type_attr = element
        elif element in _LABELS:
            dtype = _LABELS[element]
        else:
            self._fail(f'"{element}" is neither a data type nor an attribute')
        return ArgSchema(arg.name, dtype, type_attr, arg.number_attr, type_list_attr, arg.is_ref, arg.full_type)

    def _attr(self, name: str) -> AttrSchema:
        kind, allowed = self._kind()
        minimum = int(self._next("number")) if self._accept(">=") else None
        default = self._value(kind) if self._accept("=") else MISSING
        return AttrSchema(name, kind, default, minimum, allowed)

    def _kind(self) -> tuple[str, tuple[Attr, ...]]:
        if self._accept("{"):
            allowed = self._choices()
            return ("type" if isinstance(allowed[0], DType) else "string"), allowed
        word = self._word()
        if word in _ALIASES:
            return "type", _ALIASES[word]
        if word == "list" and self._accept("("):
            inner, allowed = self._kind()
            self._expect(")")
            return f"list({inner})", allowed
        if word not in _COERCIONS:
            self._fail(f'"{word}" is no kind of attribute')
        return word, ()

    def _choices(self) -> tuple[Attr, ...]:
        values = [self._choice()]
        while self._accept(","):
            values.append(self._choice())
        self._expect("}")
        return tuple(values)

    def _choice(self) -> Attr:
        kind, _ = self._tokens[self._at]
        return self._value("string" if kind == "string" else "type")

    def _value(self, kind: str) -> Attr:
        if kind.startswith("list("):
            return tuple(self._listed_values(lambda: self._value(kind[5:-1])))
        if kind == "shape":
            if self._accept("shape"):
                return UNKNOWN_SHAPE
            return Shape(tuple(self._listed_values(lambda: None if self._accept("?") else int(self._next("number")))))
        if kind == "tensor":
            self._expect("tensor")
            return parse_text(TensorProto, self._string().decode(), "the default of an attribute")
        if kind == "string":
            return self._string()
        _, token = self._tokens[self._at]
        self._at += 1
        if kind == "bool":
            return token == "true"
        return _COERCIONS[kind](token)

    def _listed_values(self, item: Callable[[], Any]) -> list[Any]:
        self._expect("[")
        items: list[Any] = []
        while not self._accept("]"):
            if items:
                self._expect(",")
            items.append(item())
        return items

    def _full_type(self) -> FullType:
        word = self._word()
        if not self._accept("["):
            return (word,)
        parameters: list[Any] = []
        while not self._accept("]"):
            if parameters:
                self._expect(",")
            parameters.append(self._word() if self._accept("$") else self._full_type())
        return (word, *parameters)

    def _string(self) -> bytes:
        body = self._next("string")[1:-1]
        return body.encode("latin-1").decode("unicode_escape").encode("latin-1")

    def _word(self) -> str:
        return self._next("word")

    def _next(self, wanted: str) -> str:
        kind, token = self._tokens[self._at] if self._at < len(self._tokens) else ("end", "the end")
        if kind != wanted:
            self._fail(f'expected a {wanted}, found "{token}"')
        self._at += 1
        return token

    def _accept(self, token: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at][1] == token
        self._at += found
        return found

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            found = self._tokens[self._at][1] if self._at < len(self._tokens) else "the end"
            self._fail(f'expected "{token}", found "{found}"')

    def _fail(self, why: str) -> None:
        raise InvalidArgumentError(f'signature "{self._text}": {why}')


def parse_schema(*parts: str) -> OpSchema:
    """The schema a signature states; its clauses may come as one text or one by one."""
    return _Parser("; ".join(parts)).schema()
