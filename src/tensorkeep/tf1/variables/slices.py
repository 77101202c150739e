"""Where a variable lies in the whole that it is a part of. A checkpoint holds the whole under one name."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.scopes import prepend_name_scope, strip_name_scope
from tensorkeep.proto.messages import SaveSliceInfoDef


class SaveSliceInfo:
    """The name and shape of the whole, and the offset and shape of the part."""

    __slots__ = ("full_name", "full_shape", "var_full_name", "var_offset", "var_shape")

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
        var_full_name: str | None = None,
    ) -> None:
        """DeepRec's `var_full_name` is the name of the part itself; messages do not hold it."""
        proto = save_slice_info_def
        if proto is not None:
            full_name = prepend_name_scope(proto.full_name, import_scope)
            full_shape, var_offset, var_shape = list(proto.full_shape), list(proto.var_offset), list(proto.var_shape)
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_full_name = var_full_name
        self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """As checkpoint ops take it: "4 2 0,2:0,2 " is the first half of a 4 x 2 matrix."""
        full = "".join(f"{size} " for size in self.full_shape or ())
        pairs = zip(self.var_offset or (), self.var_shape or (), strict=True)
        return full + ":".join(f"{offset},{size}" for offset, size in pairs)

    @classmethod
    def from_spec(cls, spec: str) -> SaveSliceInfo:
        """The part that `spec` states; of no particular name."""
        if not spec:
            return cls()
        full, space, part = spec.rpartition(" ")
        if not space:
            raise InvalidArgumentError("Spec string must contain space-separated full_shape info.")
        pairs = [pair.split(",") for pair in part.split(":")]
        if any(len(pair) != 2 for pair in pairs):
            raise InvalidArgumentError("Spec string must contain comma-separated pairs of offsets and shapes.")
        return cls(
            full_shape=[_number(size, "full_shape must be a sequence of integers") for size in full.split()],
            var_offset=[_number(offset, "var_offset must be an integer") for offset, _ in pairs],
            var_shape=[_number(size, "var_shape must be an integer") for _, size in pairs],
        )

    def to_proto(self, export_scope: str | None = None) -> SaveSliceInfoDef | None:
        """The message, with names below `export_scope`; None if the whole is not in that scope."""
        name = self.full_name or ""
        if export_scope is not None and not name.startswith(export_scope):
            return None
        return SaveSliceInfoDef(
            full_name=strip_name_scope(name, export_scope),
            full_shape=self.full_shape or (),
            var_offset=self.var_offset or (),
            var_shape=self.var_shape or (),
        )


def _number(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidArgumentError(f"Spec string {what}. Found '{text}', which is not an integer.") from None
