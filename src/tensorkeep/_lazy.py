"""Names and modules that are imported when they are first asked for: what nobody asks for costs nothing.

A package offers names of other modules by a table, in its `__init__.py`:

    NAMES = {
        "tensorkeep.edit.values": "cast set_tensors",
        "tensorkeep.graph.pruning": "prune=extract_sub_graph",
        "tensorkeep.edit": "plan",
    }
    __getattr__, __dir__, __all__ = on_first_use(globals(), NAMES)

A row has the names that are taken from a module, with blanks between them; `prune=extract_sub_graph` is called `prune`
here and `extract_sub_graph` there. In the row of the package itself stand those of its own modules that it offers.
`tools/write_stubs.py` writes the stubs by which editors and type checkers know the names.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType

_NAMELESS = ".<locals>.function"
_PROVIDED: dict[str, str] = {}

Table = Mapping[str, str]
"""By module, the names that are taken from it."""


def entries(table: Table) -> Iterator[tuple[str, str, str]]:
    """What a table says of each name: the name, the module it is taken from, and what it is called there."""
    for module, row in table.items():
        for entry in row.split():
            name, _, source = entry.partition("=")
            yield name, module, source or name


def some_of(table: Table, names: str) -> dict[str, str]:
    """The rows of a table with some of its names, which must all be there."""
    wanted, found = set(names.split()), dict[str, str]()
    for name, module, source in entries(table):
        if name in wanted:
            wanted.discard(name)
            word = name if name == source else f"{name}={source}"
            found[module] = f"{found[module]} {word}" if module in found else word
    if wanted:
        raise LookupError(f"not in the table: {', '.join(sorted(wanted))}")
    return found


def on_first_use(
    space: dict[str, object],
    table: Table,
    modules: Iterable[str] = (),
    otherwise: Callable[[str], object] | None = None,
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of the module whose globals are given, which offers what a table says.

    What was found stays in the globals. `modules` are those below it that can be reached without being in `__all__`.
    What else is asked for is looked up by `otherwise`, each time; it raises AttributeError where there is nothing.
    """
    package = str(space["__name__"])
    homes = {name: (module, source) for name, module, source in entries(table)}
    homes.update((name, (package, name)) for name in modules)

    def find(name: str) -> object:
        if name in homes:
            module, source = homes[name]
            is_below = module == package
            found = import_module(f"{module}.{source}") if is_below else getattr(import_module(module), source)
            space[name] = _with_kept_name(found, module, source)
            return found
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)

    return find, lambda: sorted({*space, *homes}), sorted(name for name, _, _ in entries(table))


def _with_kept_name(value: object, module: str, name: str) -> object:
    """A value. A function that another one has made is called as it is kept: programs print, register and pickle it."""
    if isinstance(value, FunctionType):
        if value.__qualname__.endswith(_NAMELESS):
            value.__name__ = name
        if getattr(sys.modules.get(value.__module__), value.__qualname__, None) is not value:
            value.__module__, value.__qualname__ = module, name
    return value


def made_module(
    name: str, about: str, table: Table, otherwise: Callable[[str], object] | None = None, *, is_package: bool = False
) -> ModuleType:
    """A module without a file, which offers what a table says. It is for the caller to put it where it is found."""
    made = ModuleType(name, about)
    made.__spec__ = ModuleSpec(name, None, is_package=is_package)
    made.__package__ = name if is_package else name.rpartition(".")[0]
    if is_package:
        made.__path__ = []
    space = vars(made)
    space["__getattr__"], space["__dir__"], space["__all__"] = on_first_use(space, table, otherwise=otherwise)
    return made


_MARK = "tensorkeep:"


def package_path(path: str) -> list[str]:
    """The `__path__` of a package without a folder, by which it is known under any name: `tensorkeep:keras`."""
    return [f"{_MARK}{path}"]


def below_package(package: Iterable[str], name: str) -> str | None:
    """The path of a module in a package whose `__path__` is given; None if that is another kind of package."""
    marked = next((item for item in package if item.startswith(_MARK)), None)
    return None if marked is None else f"{marked.removeprefix(_MARK)}.{name}"


def provide(word: str, module: str) -> None:
    """Says which module does what lower layers call by a word: they may not name what stands above them."""
    _PROVIDED[word] = module


def provided_module(word: str) -> ModuleType:
    """The module that was said to do it, imported now."""
    return import_module(_PROVIDED[word])


def later(name: str) -> ModuleType:
    """A module in the place of another one, which is imported when something of it is first asked for."""

    def find(wanted: str) -> object:
        value = vars(made)[wanted] = getattr(import_module(name), wanted)
        return value

    made = made_module(name, f"{name}, imported when it is used", {}, find)
    return made
