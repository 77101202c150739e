"""What the flags of a command line say, as values: names in lists, limits of a run, policies of a scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.machine.resources import available_memory
from tensorkeep.runtime.limits import Limits
from tensorkeep.saved_model.files.layout import read_file
from tensorkeep.saved_model.scan.report import ScanPolicy

Number = TypeVar("Number", int, float)

DEFAULT_LIMITS: Final = Limits(seconds=300.0, steps=10_000_000)
"""Besides these, the memory that is free when the run begins."""


def limits_of_texts(
    seconds: str | None,
    memory: str | None,
    steps: str | None,
    size_of: Callable[[str], int] = int,
    *,
    limits_memory: bool = True,
) -> Limits:
    """The limits that flags say, each a number or "none"; where a flag is not given (None), the default limit. With
    `limits_memory` false, memory has none by default.
    """
    return Limits(
        DEFAULT_LIMITS.seconds if seconds is None else _number(seconds, float, "seconds"),
        (available_memory() if limits_memory else None) if memory is None else _number(memory, size_of, "memory"),
        DEFAULT_LIMITS.steps if steps is None else _number(steps, int, "steps"),
    )


def _number(text: str, kind: Callable[[str], Number], what: str) -> Number | None:
    if text == "none":
        return None
    try:
        return kind(text)
    except ValueError:
        raise InvalidArgumentError(f"the limit of {what} is a number or none, got {text!r}") from None


def split_names(text: str | None) -> list[str]:
    """The names in a list separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def split_tags(text: str) -> list[str]:
    """The tags of a meta graph, separated by commas; there must be one."""
    tags = split_names(text)
    if not tags:
        raise InvalidArgumentError("tag_set must contain at least one non-empty item.")
    return tags


def scan_policy(allow: str | None, allow_ops: str | None, fs: FileSystem = FILES) -> ScanPolicy:
    """A policy by lists of names, separated by commas. `allow_ops` may be @FILE, a list with remarks after `#`."""
    return ScanPolicy.of(split_names(allow), _only(allow_ops, fs))


def _only(text: str | None, fs: FileSystem) -> list[str] | None:
    """The ops that a flag allows, in a list or in a file (@FILE) with commas or white space between them; None if there
    is no flag.
    """
    if text is None or not text.startswith("@"):
        return None if text is None else split_names(text)
    lines = read_file(text[1:], fs).decode("utf-8", "replace").splitlines()
    return split_names(",".join(",".join(line.partition("#")[0].split()) for line in lines))
