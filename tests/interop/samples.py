"""Random tensors, names and partitions, the same for the same seed.

TENSORKEEP_SEED=1 (or any other number) gives all tests other tensors to work on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from tensorkeep import DType, TensorSlice
from tests.interop.tensorflow_oracle import (
    STORABLE,
    V1_STORABLE,
    Array,
    Stored,
    Tensor,
    Variable,
    in_parts,
)

OTHER_SEED = int(os.environ.get("TENSORKEEP_SEED", "0"))

ODD_NAMES = [
    *("A", "a", "a.b", "a/b", "a b", " ", "-", ".", "..", "/", "//a", "a//b", "0", "100%", "[a]", "a*?b", "{a}"),
    *("a\\b", "a'b", 'a"b', "a\tb", "a\nb", "a:0", "a,b", "\x01", "a\x01", "\x7f", "ä", "漢/字", "😀", "\U0010ffff"),
    *("checkpoint", "-0", "a-00000-of-00001", "model/.ATTRIBUTES/VARIABLE_VALUE", "x" * 300, "prefix/" * 40),
]
BYTES_NAMES = ["a\0b", "\0a", "\0", "\udcff", "\udcff\udcff", "a\udcff", "\udc80/\udcfe"]
"""Names that V2 checkpoints can hold and that are no decent text: with NULs, and with bytes that are not UTF-8."""

STEPS = ("model", "layer_0", "layer_1", "layer_10", "dense", "kernel", "bias", "Adam", "Adam_1", "moving_mean")

PARTITIONERS = [
    tf.compat.v1.fixed_size_partitioner(3),
    tf.compat.v1.fixed_size_partitioner(2, axis=1),
    tf.compat.v1.fixed_size_partitioner(1),
    tf.compat.v1.variable_axis_size_partitioner(64),
    tf.compat.v1.variable_axis_size_partitioner(96, axis=1, max_shards=4),
    tf.compat.v1.min_max_variable_partitioner(4, axis=0, min_slice_size=32),
]
# The types of variables in graphs, for which TensorFlow has all that initialising, saving and restoring take.
VARIABLES = [dtype for dtype in STORABLE if not dtype.quantized and dtype.number < 24]
V1_VARIABLES = [dtype for dtype in VARIABLES if dtype in V1_STORABLE]
# Those of variables outside of graphs.
EAGER_VARIABLES = [dtype for dtype in STORABLE if not dtype.quantized and not dtype.name.endswith("fnuz")]


class Samples:
    """A source of random things."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng((OTHER_SEED, *seed))

    def below(self, limit: int) -> int:
        return int(self.rng.integers(limit))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def choice(self, options: Sequence[object]) -> object:
        return options[self.below(len(options))]

    def dtype(self, among: Sequence[DType] = STORABLE) -> DType:
        return among[self.below(len(among))]

    def shape(self, least_rank: int = 0, largest: int = 7, least: int = 0) -> tuple[int, ...]:
        """Mostly small ranks, and now and then an empty one."""
        rank = least_rank + int(self.rng.choice(5, p=[0.15, 0.25, 0.35, 0.15, 0.1]))
        return tuple(least if self.chance(0.05) else 1 + self.below(largest) for _ in range(rank))

    def array(self, dtype: DType, shape: tuple[int, ...]) -> Array:
        """Any bits the type can have, NaNs of all kinds among them."""
        if dtype.is_object:
            array = np.empty(shape, dtype=object)
            lengths = self.rng.choice(
                [0, 1, 3, 20, 127, 128, 300], size=array.size, p=[0.2, 0.2, 0.2, 0.2, 0.1, 0.05, 0.05]
            )
            array[...] = np.array([self.rng.bytes(n) for n in lengths] + [None], dtype=object)[:-1].reshape(shape)
            return array
        if dtype.name == "bool":
            return np.asarray(self.rng.integers(2, size=shape)).astype(np.bool_)
        raw = self.rng.integers(256, size=(*shape, dtype.itemsize), dtype=np.uint8)
        if dtype.bits:
            raw &= np.uint8((1 << dtype.bits) - 1)
        if dtype.array_dtype.kind in "iu" and self.chance(0.5):  # small numbers too, which are short in V1 files
            return self.rng.integers(-3 if dtype.array_dtype.kind == "i" else 0, 4, size=shape).astype(
                dtype.array_dtype
            )
        return raw.reshape(-1).view(dtype.array_dtype).reshape(shape)

    def tensor(self, among: Sequence[DType] = STORABLE, **shape: int) -> Tensor:
        dtype = self.dtype(among)
        return Tensor(dtype, self.array(dtype, self.shape(**shape)))

    def name(self, odd: Sequence[str] = ODD_NAMES) -> str:
        if odd and self.chance(0.3):
            return str(self.choice(odd))
        steps = [str(self.choice(STEPS)) for _ in range(1 + self.below(4))]
        return "/".join(steps) + (f"_{self.below(100)}" if self.chance(0.5) else "")

    def tensors(
        self, count: int, among: Sequence[DType] = STORABLE, odd: Sequence[str] = ODD_NAMES
    ) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        while len(found) < count:
            found.setdefault(self.name(odd), self.tensor(among))
        return found

    def parts(self, shape: Sequence[int]) -> list[TensorSlice]:
        """Slices that tile a shape, in any order, some spelled out and some not; one of them if it cannot be cut."""
        boxes = [tuple((0, size) for size in shape)]
        for _ in range(self.below(4) + 1):
            box = boxes.pop(self.below(len(boxes)))
            cuttable = [axis for axis, (start, stop) in enumerate(box) if stop - start > 1]
            if not cuttable:
                boxes.append(box)
                continue
            axis = cuttable[self.below(len(cuttable))]
            start, stop = box[axis]
            cut = start + 1 + self.below(stop - start - 1)
            boxes += [(*box[:axis], span, *box[axis + 1 :]) for span in ((start, cut), (cut, stop))]
        return [self._spelled(boxes[at], shape) for at in self.rng.permutation(len(boxes))]

    def part(self, shape: Sequence[int]) -> TensorSlice:
        """Any slice that is not empty, of a tensor that is not."""
        box = []
        for size in shape:
            start = self.below(size)
            box.append((start, start + 1 + self.below(size - start)))
        return self._spelled(tuple(box), shape)

    def _spelled(self, box: tuple[tuple[int, int], ...], shape: Sequence[int]) -> TensorSlice:
        all_of_it = [
            span == (0, size) and (size == 0 or self.chance(0.5)) for span, size in zip(box, shape, strict=True)
        ]
        return TensorSlice(
            tuple(None if whole else (start, stop - start) for whole, (start, stop) in zip(all_of_it, box, strict=True))
        )

    def pieces(self, tensors: dict[str, Tensor], partitioned: float = 0.4) -> list[Stored]:
        """The tensors as the inputs of a save operation: some in slices, all in any order."""
        found: list[Stored] = []
        for name, tensor in tensors.items():
            if tensor.array.ndim and self.chance(partitioned):
                found += in_parts(name, tensor, self.parts(tensor.array.shape))
            else:
                found.append(Stored(name, tensor, tensor.array.shape))
        return [found[at] for at in self.rng.permutation(len(found))]

    def laid_out(self, array: Array) -> Array:
        """The same array in other memory: backwards, transposed, with gaps, or of the other byte order."""
        way = self.below(5)
        if way == 0 and array.ndim:
            return array[::-1].copy()[::-1]
        if way == 1 and array.ndim:
            return np.asfortranarray(array)
        if way == 2 and array.ndim:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        if way == 3 and array.dtype.isbuiltin == 1:
            return array.astype(array.dtype.newbyteorder(">"))
        return array

    def variables(self, types: Sequence[DType], *, is_resource: bool = True) -> dict[str, Variable]:
        """Variables for a graph, on several devices, some of them partitioned; the first one is, in three."""
        found: dict[str, Variable] = {}
        for at in range(4 + self.below(6)):
            partitioned = at == 0 or self.chance(0.4)
            tensor = self.tensor(types, least_rank=2 * partitioned, least=int(partitioned), largest=3)
            if partitioned:  # a dimension must not be smaller than the number of parts it may be cut into
                tensor = Tensor(tensor.dtype, np.concatenate([np.concatenate([tensor.array] * 4)] * 4, axis=1))
            name = f"scope_{at % 3}/variable_{at}"
            partitioner = PARTITIONERS[self.below(len(PARTITIONERS)) if at else 0] if partitioned else None
            found[name] = Variable(tensor, partitioner, is_resource, self.below(3))
        return found
