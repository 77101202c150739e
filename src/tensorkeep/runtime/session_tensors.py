"""Tensors that a session keeps between runs, and the handles by which later runs find them.

    handle = name of the operation that kept it ; number ; device

A handle can be fed wherever its tensor could be. What nobody has a handle of any more is forgotten, ten tensors at a
time, as TensorFlow does: programs also hold on to the text of a handle alone, for a while.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import RESOURCE, VARIANT, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError

DEVICE: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
_FORGOTTEN_AT_ONCE: Final = 10
_MISSING: Final = "it was deleted, or another session keeps it"


class TensorHandle(bytes):
    """What stands for a tensor that a session keeps. In graphs it is the bytes of its text."""

    _store: SessionTensors
    _is_collected: bool

    @property
    def handle(self) -> str:
        """Its text, which `get_session_tensor` takes, and which is fed to the placeholder that this makes."""
        return self.decode()

    def __str__(self) -> str:
        return self.handle

    def eval(self) -> Any:
        """The value of the tensor."""
        self._check_collected()
        value = self._store.find(self)[0]
        return value.copy()[()] if isinstance(value, np.ndarray) else value

    def value_as(self, dtype: DType) -> object:
        """The value, to be fed to a tensor of a type."""
        value, kept = self._store.find(self)
        if kept is not dtype:
            raise InvalidArgumentError(
                f"the handle {self} stands for a tensor of {kept.name}, and is fed to one of {dtype.name}: to a "
                "placeholder of get_session_tensor feed the text of the handle, its attribute `handle`"
            )
        return value

    def delete(self) -> None:
        """Has the session forget the tensor."""
        self._check_collected()
        self._is_collected = False
        self._store.delete(self)

    def get_raw_handle(self) -> str:
        """Its text; the tensor is then kept until `delete_session_tensor` is run, or the session closed."""
        self._is_collected = False
        return self.handle

    def _check_collected(self) -> None:
        if not self._is_collected:
            raise WrongTypeError(f"Persistent tensor {self} may have already been deleted.")

    def __del__(self) -> None:
        if self._is_collected:
            self._store.forget_later(bytes(self))


class SessionTensors:
    """The tensors that a session keeps, by their handles."""

    def __init__(self) -> None:
        self._values: dict[bytes, tuple[Any, DType]] = {}
        self._numbers = count()
        self._dead: list[bytes] = []

    def __len__(self) -> int:
        return len(self._values)

    def keep(self, name: str, value: object, dtype: DType) -> TensorHandle:
        """Keeps a copy of a value, since what is fed may be changed by its owner after the run."""
        handle = TensorHandle(f"{name};{next(self._numbers)};{DEVICE}".encode())
        handle._store, handle._is_collected = self, True
        kept = value if dtype is RESOURCE or dtype is VARIANT else np.array(value, dtype.array_dtype)
        self._values[bytes(handle)] = kept, dtype
        return handle

    def find(self, handle: bytes) -> tuple[Any, DType]:
        """The value and the type of a tensor. The value is not to be changed."""
        found = self._values.get(bytes(handle))
        if found is None:
            raise InvalidArgumentError(
                f"The tensor with handle '{_text(handle)}' is not in the session store: {_MISSING}"
            )
        return found

    def delete(self, handle: bytes) -> None:
        """Forgets a tensor."""
        if self._values.pop(bytes(handle), None) is None:
            raise InvalidArgumentError(
                f"Failed to delete a tensor with handle '{_text(handle)}' in the session store: {_MISSING}"
            )

    def forget_later(self, handle: bytes) -> None:
        """Forgets a tensor together with others. It may be called at any time, by any thread, and takes no lock."""
        self._dead.append(handle)
        if len(self._dead) >= _FORGOTTEN_AT_ONCE:
            dead, self._dead = self._dead, []
            for each in dead:
                self._values.pop(each, None)

    def cancel(self) -> None:
        """Forgets all: the session is closed."""
        self._values.clear()


def _text(handle: bytes) -> str:
    return handle.decode(errors="replace")
