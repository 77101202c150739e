"""Modules of TensorFlow's paths, made of the table, what finds them for `import`, and what installs that.

A path is what stands below `tensorflow` in the name of a module: `python.framework.ops`. A namespace of `tensorkeep.v1`
is the module itself, under both names; the others are made here, once each, when they are first asked for:

    tensorflow, tensorflow.compat.v1, tensorflow_core     tensorkeep.v1
    tensorflow.nn                                         tensorkeep.v1.nn
    tensorflow.python.ops.array_ops                       a module made of its row in `paths`
    tensorflow.python.tpu.tpu_feed                        a module whose names all raise: we lack it
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final, NoReturn

from tensorkeep._lazy import Table, below_package, made_module, package_path
from tensorkeep.errors import FailedPreconditionError, UnimplementedError
from tensorkeep.v1.absent import advice, missing
from tensorkeep.v1.defaults import allow_own_python
from tensorkeep.v1.programs.paths import LACKING, LACKING_WHOLE, PATHS, SAME_AS
from tensorkeep.v1.tables import SPACES

ROOTS: Final = ("tensorflow", "tensorflow_core", "tensorflow_estimator")
"""The names of TensorFlow's packages."""

_FACADE: Final = "tensorkeep.v1"
_OWN_MODULES: Final = ("app", "flags", "logging", "resource_loader")
_ALL: Final = "*"


def path_of(name: str) -> str | None:
    """The path of a module that a program names; None if it is no module of TensorFlow's."""
    root, _, path = name.partition(".")
    if root not in ROOTS:
        return None
    return without_alias(path)


def without_alias(path: str) -> str:
    """The path under its own name: `compat.v1.nn` is `nn`, `python.keras.layers` is `keras.layers` (`SAME_AS`)."""
    while (shorter := _without_first_alias(path)) != path:
        path = shorter
    return path


def _without_first_alias(path: str) -> str:
    for start, same in SAME_AS.items():
        if path == start or path.startswith(f"{start}."):
            return f"{same}{path[len(start) :]}".strip(".")
    return path


def _with_packages(paths: Iterable[str]) -> frozenset[str]:
    """Paths, and those of the packages that they are in."""
    parts = (path.split(".") for path in paths)
    return frozenset(".".join(names[:length]) for names in parts for length in range(1, len(names) + 1))


_WITH_IMPORTS: Final = ("contrib.", "python.")
_IMPORTED: Final = ("python.ops", "python.framework", "python.training", "python.util", "python.layers")
"""Packages whose modules others import by their own names."""
_THERE: Final = _with_packages((*PATHS, *SPACES.keys() - {""}, *_OWN_MODULES))
_LACKING: Final = _with_packages(
    (*LACKING_WHOLE, *(f"{package}.{name}" for package, row in LACKING.items() for name in row.split()))
)


def is_there(path: str) -> bool:
    """Whether there is a module of that path here, with names of its own or with others below it."""
    return path in _THERE


def is_lacking(path: str) -> bool:
    """Whether TensorFlow 1 has a module of that path which is not here."""
    names = path.split(".")
    starts = (".".join(names[:length]) for length in range(1, len(names) + 1))
    return path not in _THERE and (
        path in _LACKING or any(start in LACKING_WHOLE and _may_be_in(start, path) for start in starts)
    )


_FOLDERS: Final = ("ops", "proto", "python")
_FILES: Final = [
    "keras.activations",
    "keras.backend",
    "keras.callbacks",
    "keras.constraints",
    "keras.initializers",
    "keras.losses",
    "keras.metrics",
    "keras.models",
    "keras.regularizers",
]


def _may_be_in(package: str, path: str) -> bool:
    """Whether TensorFlow may have a module of that path in a package.

    Packages of `contrib`, and modules that are files, have no modules beside their names, so that `pydoc.locate` finds
    none for a name it looks for in one after the other; names that look like classes are let through, for programs that
    import what they do not use.
    """
    if any(path.startswith(f"{file}.") for file in _FILES):
        return False
    name = path[len(package) + 1 :].partition(".")[0]
    is_here = package.startswith("contrib.") and package in _THERE
    return not (is_here and name and name not in _FOLDERS and not name[0].isupper())


def module_at(path: str) -> ModuleType | None:
    """The module of a path, always the same one; None if TensorFlow 1 has no such module either."""
    if not path or path in SPACES or path in _OWN_MODULES:
        return import_module(f"{_FACADE}.{path}".rstrip("."))
    if not is_there(path) and (not is_lacking(path) or _is_name(path)):
        return None
    return _make_module(path)


def _is_name(path: str) -> bool:
    """Whether a path is that of something in a module that is here, and so of no module, as for `pydoc.locate`."""
    parent, _, name = path.rpartition(".")
    return is_there(parent) and not isinstance(getattr(module_at(parent), name, sys), ModuleType)


@cache
def _make_module(path: str) -> ModuleType:
    name, table = f"{ROOTS[0]}.{path}", PATHS.get(path, {})
    named = {module: row for module, row in table.items() if row != _ALL}
    whole = [module for module, row in table.items() if row == _ALL]
    about = f"`{name}` of TensorFlow 1" + ("" if is_there(path) else ", which is not here: each of its names raises")
    made = made_module(name, f"{about}.", named, partial(_find_name, path, whole), is_package=True)
    made.__path__ = package_path(path)
    if whole:
        _list_names_late(made, whole)
    made.__class__ = _class_of(path, named)
    return made


def _class_of(path: str, named: Table) -> type[ModuleType]:
    if not is_there(path):
        return _LackingModule
    has_modules_of_these_names = any(is_there(f"{path}.{word}") for row in named.values() for word in row.split())
    return _NamesFirst if has_modules_of_these_names else ModuleType


def _list_names_late(made: ModuleType, whole: Sequence[str]) -> None:
    """Has `__all__` of a module that offers others whole be found out when `import *` asks for it."""
    own: list[str] = vars(made).pop("__all__")
    made.__dict__["__getattr__"] = partial(_find_public_names, own, whole, vars(made)["__getattr__"])


class _NamesFirst(ModuleType):
    """A package with names that modules below it have too: importing such a module does not replace the name.

    So in `contrib.framework.python.ops`, where `arg_scope` is the function.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self.__all__):
            super().__setattr__(name, value)


def _find_public_names(own: Sequence[str], whole: Sequence[str], find: Callable[[str], object], name: str) -> object:
    """`__all__` of a module that offers others whole, or what else it has. Names of Python are left out, such as
    `range` and `bool` of `tf`: few modules of TensorFlow's have them, and `import *` hides nothing.
    """
    if name != "__all__":
        return find(name)
    offered = {public for module in whole for public in _public_names(import_module(module))}
    return sorted((offered - vars(builtins).keys()).union(own))


def _public_names(module: ModuleType) -> list[str]:
    names: Iterable[str] = getattr(module, "__all__", None) or vars(module)
    return [name for name in names if not name.startswith("_")]


def _find_name(path: str, whole: Sequence[str], name: str) -> object:
    """What a module of TensorFlow's calls `name`; AttributeError if it is not here."""
    found = _ALL if name.startswith("__") else _found_name(path, whole, name)
    if found is not _ALL:
        return found
    if is_lacking(path) and advice(path) is None:
        raise AttributeError(f"tensorkeep has nothing of tensorflow.{path}, and so no {name!r}", name=name)
    raise missing(f"{ROOTS[0]}.{path}", name)


def _found_name(path: str, whole: Sequence[str], name: str) -> object:
    """A module below, something of the modules that one offers whole, or a module that it imports; else `_ALL`."""
    if is_there(below := f"{path}.{name}"):
        return module_at(below)
    for module in whole:
        found = getattr(import_module(module), name, _ALL)
        if found is not _ALL:
            return found
    return _imported_module(path, name) or _ALL


def _imported_module(path: str, name: str) -> ModuleType | None:
    """A module that TensorFlow's module of this path may have imported: programs take `rnn_cell_impl` from `rnn`."""
    if f"{path}.".startswith(_WITH_IMPORTS) and is_there(path):
        return next((module_at(f"{home}.{name}") for home in _IMPORTED if is_there(f"{home}.{name}")), None)
    return None


class _LackingModule(ModuleType):
    """A module, or anything below one, that TensorFlow has and we do not: what is done with it raises."""

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise _lacking(self.__name__)

    def __instancecheck__(self, instance: object) -> NoReturn:
        raise _lacking(self.__name__)

    def __mro_entries__(self, bases: tuple[object, ...]) -> NoReturn:
        raise _lacking(self.__name__)


def _lacking(name: str) -> UnimplementedError:
    instead = advice(name.partition(".")[2])
    return UnimplementedError(f"{name} is not here{f': {instead}' if instead else ''}")


class _Same(Loader):
    """Lets a module that there is already be found under another name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # which the machinery of `import` has put another one in the place of


_TENSORBOARD: Final = {
    "tensorboard": "contrib.tensorboard",
    "tensorboard.plugins": "contrib.tensorboard.plugins",
    "tensorboard.plugins.projector": "contrib.tensorboard.plugins.projector",
}


class TensorBoardFinder(MetaPathFinder):
    """Finds the part of TensorBoard that programs call, where TensorBoard itself is not installed: it is asked last."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        module = module_at(_TENSORBOARD[fullname]) if fullname in _TENSORBOARD else None
        return None if module is None else ModuleSpec(fullname, _Same(module), is_package=True)


class Finder(MetaPathFinder):
    """Finds TensorFlow's modules for `import`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        below = path_of(fullname)
        if below is None and path:  # `keras.backend`, where the program has put `tf.keras` under the name `keras`
            below = below_package(path, fullname.rpartition(".")[2])
        if below is None and fullname.startswith(f"{_FACADE}."):  # as in `from tensorflow.contrib import cudnn_rnn`
            below = without_alias(fullname[len(_FACADE) + 1 :])
            below = below if is_lacking(below) else None
        module = None if below is None else module_at(below)
        return None if module is None else ModuleSpec(fullname, _Same(module), is_package=True)


def install() -> None:
    """Has `tensorflow`, `tensorflow_core` and `tensorflow_estimator`, with all modules below them, be ours here.

    Sessions may then call the Python functions that the program itself has put into its graphs (`tf.py_func`,
    `Dataset.from_generator`). FailedPreconditionError if TensorFlow itself has been imported already.
    """
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    if real := [name for name in ROOTS if name in sys.modules]:
        raise FailedPreconditionError(
            f"{', '.join(real)} has been imported already, and is TensorFlow's own: call tensorkeep.v1.install() "
            "before anything imports it"
        )
    for path in SPACES.keys() - {""}:
        import_module(f"{_FACADE}.{path}").__path__ = package_path(path)
    sys.meta_path.insert(0, Finder())
    sys.meta_path.append(TensorBoardFinder())
    allow_own_python()
