"""SaverDefs: the messages that say what the operations of a saver are called, and their names under other scopes."""

from __future__ import annotations

from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.prefixes import prepend_name_scope, strip_name_scope
from tensorkeep.proto.messages import SaverDef

_NAMES: Final = ("filename_tensor_name", "save_tensor_name", "restore_op_name")


def check_saver_def(saver_def: Any) -> SaverDef:
    """Sees that a SaverDef is one, and names what a saver runs."""
    if not isinstance(saver_def, SaverDef):
        raise InvalidArgumentError(f"saver_def must be a saver_pb2.SaverDef: {saver_def}")
    for field in ("save_tensor_name", "restore_op_name"):
        if not getattr(saver_def, field):
            raise InvalidArgumentError(f"saver_def must specify the {field}: {saver_def}")
    return saver_def


def saver_def_below(saver_def: SaverDef, scope: str | None) -> SaverDef:
    """The same saver in a graph that was imported into a scope."""
    found = SaverDef.FromString(saver_def.SerializeToString())
    for field in _NAMES:
        setattr(found, field, prepend_name_scope(getattr(found, field), scope))
    return found


def saver_def_without(saver_def: SaverDef, scope: str | None) -> SaverDef | None:
    """The same saver in a graph that is exported from a scope; None if it is not in that scope."""
    if scope is None:
        return saver_def
    if not all(getattr(saver_def, field).startswith(scope) for field in _NAMES):
        return None
    found = SaverDef.FromString(saver_def.SerializeToString())
    for field in _NAMES:
        setattr(found, field, strip_name_scope(getattr(found, field), scope))
    return found
