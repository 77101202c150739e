"""Packages whose names are imported when they are first asked for: what nobody asks for costs nothing."""

from collections.abc import Callable, Collection, Mapping
from importlib import import_module


def on_first_use(
    space: dict[str, object], names: Mapping[str, str], modules: Collection[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package whose globals are given.

    `names` has, by module below the package, the names that are taken from it, with blanks between them. `modules` are
    those that are names themselves.
    """
    package = str(space["__name__"])
    homes = {name: module for module, listed in names.items() for name in listed.split()}

    def find(name: str) -> object:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        space[name] = getattr(import_module(f"{package}.{homes[name]}"), name)
        return space[name]

    return find, lambda: sorted({*space, *homes})


__all__ = ["on_first_use"]
