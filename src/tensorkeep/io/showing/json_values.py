"""Values as JSON can have them: numbers that are not finite and text that is no text are spelled out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def json_value(value: Any) -> Any:
    """A value for JSON, which has no numbers that are not finite: these become "NaN", "Infinity" and "-Infinity"."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str):
        return text_bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, Mapping):
        return {json_value(key): json_value(item) for key, item in value.items()}
    return [json_value(item) for item in value] if isinstance(value, list | tuple) else value


def text_bytes(text: str) -> bytes:
    """Text as bytes. Those that were no text at first are as they were; half a pair, as JSON may have, is spelled."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")
