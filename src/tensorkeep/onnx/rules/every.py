"""All rules: importing this makes them known."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

from tensorkeep.onnx import rules

for _module in walk_packages(rules.__path__, f"{rules.__name__}."):
    if _module.name != __name__:
        import_module(_module.name)
