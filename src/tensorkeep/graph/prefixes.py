"""Names under a scope and without it: how what was exported finds its place in the graph it is imported into."""

from __future__ import annotations

import re


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """The name below a scope: "loc:@w" in "a" is "loc:@a/w", "^w" is "^a/w"."""
    if not import_scope:
        return name
    marker, rest = _split_sign(name)
    return f"{marker}{import_scope.removesuffix('/')}/{rest}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """The name without a scope in front of it, if it has that."""
    if not export_scope:
        return name
    pattern = r"([\^]|loc:@|^)" + export_scope.removesuffix("/") + r"[\/]+(.*)"
    return re.sub(pattern, r"\1\2", name, count=1)


def _split_sign(name: str) -> tuple[str, str]:
    """The sign that says what kind of reference a name is, and the name."""
    for marker in ("^", "loc:@"):
        if name.startswith(marker):
            return marker, name[len(marker) :]
    return "", name
