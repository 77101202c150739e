"""Every op: importing this makes each family be imported when a graph has an op of it.

Importing all families takes longer than running a small model does. `registered_ops()` imports them all.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Final

from tensorkeep import ops
from tensorkeep.graph.registry.op_families import OP_FAMILIES
from tensorkeep.graph.registry.opspec import load_ops_with

_FAMILY: Final = {name: family for family, names in OP_FAMILIES.items() for name in names.split()}


def load_op(name: str | None) -> None:
    """Imports the family of an op; all families if it is in no known one, or if no op is named."""
    family = None if name is None else _FAMILY.get(name)
    if family is None:
        _load_all()
    else:
        import_module(f"{ops.__name__}.{family}")


@cache
def _load_all() -> None:
    for module in walk_packages(ops.__path__, f"{ops.__name__}."):
        if not module.name.rpartition(".")[2].startswith("_"):
            import_module(module.name)


load_ops_with(load_op)
