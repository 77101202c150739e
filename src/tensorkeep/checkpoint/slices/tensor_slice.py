"""Slices: boxes within a tensor, as partitioned variables are stored and as parts of a tensor are asked for.

As text, and so in messages:  an item per dimension joined by ":", "-" for all of it or "start,length".
As a table key (see io/coding/ordered_code.py):

    slice key = number(0) string(name) number(rank) ( signed(start) signed(length) )*      all of it: start 0, length -1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.coding.ordered_code import encode_number, encode_signed, encode_string
from tensorkeep.proto.messages import TensorSliceProto

Extent = tuple[int, int] | None  # (start, length), or all of a dimension
Box = tuple[tuple[int, int], ...]  # per dimension (start, stop), within a tensor of known shape


class HashSlice(NamedTuple):
    """Which keys of DeepRec's hash table a slice has: from `begin`, so many, modulo `size`."""

    begin: int
    length: int
    size: int


@dataclass(frozen=True, slots=True)
class TensorSlice:
    """A box within a tensor: for each dimension a start and a length, or None for all of it."""

    extents: tuple[Extent, ...]
    keys: HashSlice | None = field(default=None, compare=False, repr=False)
    """Of a slice of a hash table: DeepRec takes no rows from a slice that does not say."""

    def __post_init__(self) -> None:
        for extent in self.extents:
            if extent is not None and not all(isinstance(number, int) for number in extent):
                raise InvalidArgumentError(f"slice {self.extents}: starts and lengths are integers, got {extent}")
            if extent is not None and (extent[0] < 0 or extent[1] < 0):
                raise InvalidArgumentError(f"slice {self.extents}: starts and lengths are 0 or more, got {extent}")

    @classmethod
    def whole(cls, rank: int) -> TensorSlice:
        return cls((None,) * rank)

    @classmethod
    def parse(cls, text: str) -> TensorSlice:
        """Reads "0,3:-": rows 0 to 2, all columns."""
        return cls(tuple(_parse_extent(item, text) for item in text.split(":"))) if text else cls(())

    @classmethod
    def of(cls, part: Part, shape: Sequence[int]) -> TensorSlice:
        """Takes a part as people write it: a TensorSlice, or Python slices (`np.s_[2:5, :]`) without a step."""
        if isinstance(part, TensorSlice):
            return part
        items = part if isinstance(part, tuple) else (part,)
        if len(items) > len(shape):
            raise InvalidArgumentError(f"{len(items)} slices for a tensor of shape {list(shape)}")
        extents: list[Extent] = []
        for item, size in zip(items, shape, strict=False):
            if not isinstance(item, slice) or item.step not in (None, 1):
                raise InvalidArgumentError(
                    f"a part is made of plain slices such as 3:8, without a step (for one index, 3:4); got {item!r}"
                )
            try:
                start, stop, _ = item.indices(size)
            except TypeError as error:
                raise InvalidArgumentError(f"{item!r}: {error}") from None
            extents.append(None if (start, stop) == (0, size) else (start, max(stop - start, 0)))
        return cls((*extents, *(None,) * (len(shape) - len(items))))

    @classmethod
    def from_proto(cls, message: TensorSliceProto) -> TensorSlice:
        extents: list[Extent] = []
        for extent in message.extent:
            if not extent.HasField("length"):
                extents.append(None)
            elif extent.start < 0 or extent.length < 0:
                raise DataLossError(f"slice with start {extent.start} and length {extent.length}: negative")
            else:
                extents.append((extent.start, extent.length))
        keys = HashSlice(message.hash_slice_begin, message.hash_slice_length, message.hash_slice_size)
        return cls(tuple(extents), keys if keys.size else None)

    def to_proto(self) -> TensorSliceProto:
        message = TensorSliceProto()
        for extent in self.extents:
            item = message.extent.add()
            if extent is not None:
                item.start, item.length = extent
        if self.keys is not None:
            message.hash_slice_begin, message.hash_slice_length, message.hash_slice_size = self.keys
        return message

    def __str__(self) -> str:
        return ":".join("-" if extent is None else f"{extent[0]},{extent[1]}" for extent in self.extents)

    def box(self, shape: Sequence[int]) -> Box:
        """The box in a tensor of that shape. InvalidArgumentError if it does not lie within."""
        if len(self.extents) != len(shape):
            raise InvalidArgumentError(
                f"slice {self} has {len(self.extents)} dimensions, the tensor has shape {list(shape)}"
            )
        box = tuple(
            (0, size) if extent is None else (extent[0], extent[0] + extent[1])
            for extent, size in zip(self.extents, shape, strict=True)
        )
        if any(stop > size for (_, stop), size in zip(box, shape, strict=True)):
            raise InvalidArgumentError(f"slice {self} reaches beyond the shape {list(shape)}")
        return box

    def is_whole(self, shape: Sequence[int]) -> bool:
        """Whether it covers a tensor of that shape, spelled out or not."""
        return self.box(shape) == whole_box(shape)


Part = TensorSlice | slice | tuple[slice, ...]


def _parse_extent(item: str, text: str) -> Extent:
    if item == "-":
        return None
    start, comma, length = item.partition(",")
    if not (comma and start.isdecimal() and length.isdecimal()):
        raise InvalidArgumentError(f'slice "{text}": expected "start,length" or "-" per dimension, got "{item}"')
    return int(start), int(length)


def slice_key(name: bytes, part: TensorSlice) -> bytes:
    """The table key under which a slice of a tensor is stored."""
    key = encode_number(0) + encode_string(name) + encode_number(len(part.extents))
    for extent in part.extents:
        start, length = (0, -1) if extent is None else extent
        key += encode_signed(start) + encode_signed(length)
    return key


def whole_box(shape: Sequence[int]) -> Box:
    """The box that is all of a tensor."""
    return tuple((0, size) for size in shape)


def box_shape(box: Box) -> tuple[int, ...]:
    return tuple(stop - start for start, stop in box)
