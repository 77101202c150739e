"""What is sent: the files of the page as they were built, and answers as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from tensorkeep.io.showing.json_values import json_value


def static_file(name: str) -> bytes:
    """A file of the page, as it was built."""
    return files("tensorkeep.viewer").joinpath("static", name).read_bytes()


def answer_text(value: Mapping[str, Any]) -> str:
    """An answer as JSON. Numbers that are not finite are texts."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:  # most answers have none, and going through large ones takes time
        return json.dumps(json_value(value), allow_nan=False, separators=(",", ":"))
