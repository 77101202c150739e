"""Names in lists, as a command line has them."""

from __future__ import annotations

from tensorkeep.errors import InvalidArgumentError


def split_names(text: str | None) -> list[str]:
    """The names in a list separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def split_tags(text: str) -> list[str]:
    """The tags of a meta graph, separated by commas; there must be one."""
    tags = split_names(text)
    if not tags:
        raise InvalidArgumentError("tag_set must contain at least one non-empty item.")
    return tags
