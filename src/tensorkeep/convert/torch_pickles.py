"""The pickles of PyTorch's files, read without running them.

A pickle is a program for a small machine that may call anything in Python. This is a machine of that kind which calls
nothing: it knows the few functions by which PyTorch rebuilds tensors, notes what they would make, and refuses all
others by name.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final, cast

from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError, PermissionDeniedError, UnimplementedError
from tensorkeep.io.files.filesystem import RandomAccessFile

_MOST_NAMES: Final = 1_000_000
_DEEPEST: Final = 32
_MOST_OPCODES: Final = 10_000_000
_MOST_LETTERS: Final = 1 << 28  # of all names together
_MOST_BITS: Final = 128  # of a number; the magic one of PyTorch's old files has 77
_WINDOW: Final = 1 << 16

STORAGES: Final[Mapping[str, str]] = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
"""The types of PyTorch's storages."""
UNTYPED: Final = "UntypedStorage"
DTYPES: Final[Mapping[str, str]] = {
    name: name
    for name in (
        *STORAGES.values(),
        *("uint16", "uint32", "uint64"),
        *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"),
    )
}
"""PyTorch's names of types, by TensorFlow's."""


@dataclass(frozen=True)
class Name:
    """Something of Python, by name only."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True)
class Storage:
    """The bytes that tensors are views of."""

    key: str
    dtype: DType | None
    """The type of its elements; None if it has bytes only."""
    count: int


@dataclass(frozen=True)
class PickledTensor:
    """A tensor as PyTorch would rebuild it."""

    storage: Storage
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DType


class Cursor:
    """Bytes, or a file, to read pickles from, one after the other. A file may shrink meanwhile, so it is not mapped."""

    def __init__(self, data: memoryview | RandomAccessFile) -> None:
        self._file = None if isinstance(data, memoryview) else data
        self._window = data if isinstance(data, memoryview) else memoryview(b"")
        self._size = len(data) if isinstance(data, memoryview) else data.size
        self._start = self._at = 0

    def read(self, size: int) -> bytes:
        end = min(self._at + size, self._size)
        if self._file is not None and not self._start <= self._at <= end <= self._start + len(self._window):
            self._window = self._file.read(self._at, min(max(size, _WINDOW), self._size - self._at))
            self._start = self._at
        found = bytes(self._window[self._at - self._start : end - self._start])
        self._at += len(found)
        return found

    def readline(self) -> bytes:
        line = bytearray()
        while piece := self.read(64):
            end = piece.find(b"\n")
            if end >= 0:
                self._at -= len(piece) - end - 1
                return bytes(line + piece[: end + 1])
            line += piece
        return bytes(line)

    def tell(self) -> int:
        return self._at


def read_pickle(cursor: Cursor, what: str) -> Any:
    """What a pickle describes: Python's simple values and containers, storages, tensors and names."""
    machine = _Machine(what)
    try:
        for number, (opcode, argument, _) in enumerate(pickletools.genops(cast("IO[bytes]", cursor))):
            if number > _MOST_OPCODES:
                raise DataLossError(f"{what} is a pickle of more than {_MOST_OPCODES} steps")
            if opcode.name == "STOP":
                return machine.pop()
            machine.step(opcode.name, argument)
    except (ValueError, IndexError, KeyError, TypeError, UnicodeDecodeError, OverflowError) as error:
        if isinstance(error, DataLossError | PermissionDeniedError | UnimplementedError):
            raise
        raise DataLossError(f"{what} is a damaged pickle: {type(error).__name__}: {error}") from None
    raise DataLossError(f"{what} is a pickle that does not end")


@dataclass
class _Machine:
    what: str
    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def pop(self) -> Any:
        if self.marks and len(self.stack) <= self.marks[-1]:
            raise IndexError("the stack is empty")
        return self.stack.pop()

    def popped(self) -> list[Any]:
        """All that lies above the last mark."""
        mark = self.marks.pop()
        found = self.stack[mark:]
        del self.stack[mark:]
        return found

    def step(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name]())
        elif name in _LITERALS:
            self.stack.append(self.literal(argument))
        elif name in _GETS:
            self.stack.append(self.memo[int(argument)])
        elif name in _PUTS:
            self.memo[int(argument)] = self.stack[-1]
        elif name in _ACTIONS:
            _ACTIONS[name](self, argument)
        elif name not in ("PROTO", "FRAME"):
            raise PermissionDeniedError(f"{self.what} has the step {name}, which no file of tensors needs")

    def literal(self, value: Any) -> Any:
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise DataLossError(f"{self.what} has a number of {value.bit_length()} bits")
        return value

    def memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def mark(self, _: Any) -> None:
        self.marks.append(len(self.stack))

    def tuple_of(self, count: int) -> None:
        found = [self.pop() for _ in range(count)]
        self.stack.append(tuple(reversed(found)))

    def set_items(self, pairs: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict) or len(pairs) % 2:
            raise DataLossError(f"{self.what} puts entries into something that is no dict")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            target[self.key(key)] = value

    def key(self, value: Any) -> Any:
        # A tuple in a tuple, and so on, would take all of the stack, or of time, before its hash is known.
        for item in value if isinstance(value, tuple) else (value,):
            if not isinstance(item, str | int | float | bytes | type(None)):
                raise DataLossError(f"{self.what} has a dict with {told_value(value)} for a key")
        return value

    def append(self, items: list[Any]) -> None:
        if not isinstance(self.stack[-1], list):
            raise DataLossError(f"{self.what} appends to something that is no list")
        self.stack[-1].extend(items)

    def name(self, module: str, name: str) -> None:
        self.stack.append(Name(module, name))

    def stack_global(self, _: Any) -> None:
        name, module = self.pop(), self.pop()
        if not isinstance(module, str) or not isinstance(name, str):
            raise DataLossError(f"{self.what} names something by {told_value(module)} and {told_value(name)}")
        self.name(module, name)

    def reduce(self, _: Any) -> None:
        arguments, function = self.pop(), self.pop()
        self.stack.append(self.call(function, arguments))

    def call(self, function: Any, arguments: Any) -> Any:
        made = _FUNCTIONS.get(str(function)) if isinstance(function, Name) else None
        if made is None:
            raise PermissionDeniedError(
                f"{self.what} calls {told_value(function)}, which makes no tensor; it was not called. Load the file "
                "where you trust it, and save its state_dict, which has tensors only"
            )
        if not isinstance(arguments, tuple):
            raise DataLossError(f"{self.what} calls {function} with {type(arguments).__name__}")
        return made(self, *arguments)

    def new_object(self, _: Any) -> None:
        self.pop()
        raise PermissionDeniedError(
            f"{self.what} makes an object of {told_value(self.pop())}, which is code; it was not made. Load the file "
            "where you trust it, and save its state_dict, which has tensors only"
        )

    def build(self, _: Any) -> None:
        state = self.pop()
        if not isinstance(self.stack[-1], dict) or not isinstance(state, dict | tuple):
            raise PermissionDeniedError(
                f"{self.what} sets the state of {type(self.stack[-1]).__name__}; only tensors are read"
            )  # of an OrderedDict these are attributes, such as `_metadata` of a state_dict

    def persistent(self, _: Any) -> None:
        found = self.pop()
        if not isinstance(found, tuple) or len(found) < 5 or found[0] != "storage" or not isinstance(found[1], Name):
            raise DataLossError(f"{self.what} speaks of {told_value(found)}, which is no storage")
        kind, key, count = found[1], found[2], found[4]
        if (kind.name not in STORAGES and kind.name != UNTYPED) or not kind.module.startswith("torch"):
            raise UnimplementedError(f"{self.what} has a storage of {kind}; known are {', '.join(STORAGES)}")
        if len(found) > 5 and found[5] is not None:
            raise UnimplementedError(f"{self.what} has a storage that is a view of another one; save it anew")
        if not isinstance(key, str) or type(count) is not int or count < 0:
            raise DataLossError(f"{self.what} has a storage {told_value(key)} of {told_value(count)} elements")
        dtype = None if kind.name == UNTYPED else DType.of(STORAGES[kind.name])
        self.stack.append(Storage(key, dtype, count))


def told_value(value: Any) -> str:
    """A value for a message. Of what holds others only a little: small in a pickle, it may be huge when spelled."""
    if isinstance(value, tuple | list) and all(isinstance(item, int | float | str | Name) for item in value[:8]):
        return f"[{', '.join(str(item)[:40] for item in value[:8])}{', …' if len(value) > 8 else ''}]"
    return type(value).__name__ if isinstance(value, tuple | list | dict) else str(value)[:100]


def _ordered_dict(machine: _Machine, pairs: Iterable[Any] = ()) -> dict[Any, Any]:
    return {machine.key(key): value for key, value in pairs}


def _tensor(
    machine: _Machine, storage: Any, start: Any, shape: Any, strides: Any, *rest: Any, dtype: DType | None = None
) -> PickledTensor:
    if not isinstance(storage, Storage):
        raise DataLossError(f"{machine.what} has a tensor without a storage")
    found = dtype or storage.dtype
    numbers = (start, *shape, *strides)
    if found is None or len(shape) != len(strides) or any(type(item) is not int or item < 0 for item in numbers):
        raise DataLossError(
            f"{machine.what} has a tensor {told_value(shape)} with strides {told_value(strides)} "
            f"from {told_value(start)}"
        )
    return PickledTensor(storage, start, tuple(shape), tuple(strides), found)


def _typed_tensor(machine: _Machine, storage: Any, start: Any, shape: Any, strides: Any, *rest: Any) -> PickledTensor:
    kind = rest[2] if len(rest) > 2 else None
    if not isinstance(kind, Name) or kind.module != "torch" or kind.name not in DTYPES:
        raise UnimplementedError(
            f"{machine.what} has a tensor of type {told_value(kind)}; known are {', '.join(DTYPES)}"
        )
    return _tensor(machine, storage, start, shape, strides, dtype=DType.of(DTYPES[kind.name]))


def _subclass(machine: _Machine, function: Any, kind: Any, arguments: Any, state: Any = None) -> Any:
    return machine.call(function, arguments)


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "collections.OrderedDict": _ordered_dict,
    "torch.Size": lambda machine, sizes=(): tuple(sizes),
    "torch.device": lambda machine, *parts: "device",
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _typed_tensor,
    "torch._utils._rebuild_parameter": lambda machine, data, *rest: data,
    "torch._utils._rebuild_parameter_with_state": lambda machine, data, *rest: data,
    "torch._tensor._rebuild_from_type_v2": _subclass,
}

_CONSTANTS: Final[Mapping[str, Callable[[], Any]]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
}
_LITERALS: Final = frozenset(
    (
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "STRING", "BINSTRING", "SHORT_BINSTRING"),
        *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
    )
)
_GETS: Final = frozenset(("GET", "BINGET", "LONG_BINGET"))
_PUTS: Final = frozenset(("PUT", "BINPUT", "LONG_BINPUT"))
_ACTIONS: Final[Mapping[str, Callable[[_Machine, Any], Any]]] = {
    "MARK": _Machine.mark,
    "POP": lambda machine, _: machine.pop(),
    "POP_MARK": lambda machine, _: machine.popped(),
    "MEMOIZE": _Machine.memoize,
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.popped())),
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "LIST": lambda machine, _: machine.stack.append(machine.popped()),
    "DICT": lambda machine, _: machine.stack.append(
        _ordered_dict(machine, zip(*[iter(machine.popped())] * 2, strict=True))
    ),
    "SETITEM": lambda machine, _: machine.set_items([machine.pop(), machine.pop()][::-1]),
    "SETITEMS": lambda machine, _: machine.set_items(machine.popped()),
    "APPEND": lambda machine, _: machine.append([machine.pop()]),
    "APPENDS": lambda machine, _: machine.append(machine.popped()),
    "GLOBAL": lambda machine, argument: machine.name(*argument.split(" ", 1)),
    "STACK_GLOBAL": _Machine.stack_global,
    "REDUCE": _Machine.reduce,
    "NEWOBJ": _Machine.new_object,
    "BUILD": _Machine.build,
    "BINPERSID": _Machine.persistent,
}


def leaves(value: Any, what: str) -> Iterator[tuple[str, Any]]:
    """All values inside a value that are not containers, each with the keys and numbers that lead to it, joined by
    dots.
    """
    stack: list[tuple[str, Any, int]] = [("", value, 0)]
    count = letters = 0
    while stack:
        path, found, depth = stack.pop()
        count += 1
        letters += len(path) * (len(found) + 1 if isinstance(found, dict | list | tuple) else 1)
        if count > _MOST_NAMES or depth > _DEEPEST or letters > _MOST_LETTERS:
            raise DataLossError(
                f"{what} holds more than {_MOST_NAMES} things, more than {_DEEPEST} deep, or with too long names"
            )
        if isinstance(found, dict):
            items: Iterable[tuple[Any, Any]] = list(found.items())
        elif isinstance(found, list | tuple):
            items = list(enumerate(found))
        else:
            yield path, found
            continue
        stack += [(f"{path}.{key}" if path else str(key), item, depth + 1) for key, item in reversed(list(items))]
