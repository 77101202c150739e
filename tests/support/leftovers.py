"""What tests leave where the program runs: nothing. New names there fail the run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
_OF_TOOLS: Final = {"build", "dist", "node_modules"}


def names_at_root() -> set[str]:
    """What lies in the topmost folder of the working tree; hidden names and those of tools are left out."""
    return {path.name for path in _ROOT.iterdir() if not path.name.startswith(".")} - _OF_TOOLS
