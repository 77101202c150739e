"""Every op: importing this imports each family, which registers its ops."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tensorkeep import ops

for _family in iter_modules(ops.__path__):
    if not _family.name.startswith("_"):
        import_module(f"{ops.__name__}.{_family.name}")
