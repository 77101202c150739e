"""Chains of element-wise operations that go over a product's rows as soon as these are computed.

A product that is larger than the caches would otherwise be written to memory, read again for the bias, the scale and
the activation that follow it, and written once more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.native.chains import Chain
from tensorkeep.native.layers import place_of


class Finish:
    """What is done to a product: a chain, of which it is one of the inputs."""

    def __init__(self, chain: Chain, place: int, others: Sequence[Any], seen: Callable[[Array], Array]) -> None:
        """`others` are the inputs but for that at `place`; `seen` gives a view of the product as the chain sees it."""
        self._chain = chain
        self._place = place
        self._others = others
        self._seen = seen

    def after(self, seen: Callable[[Array], Array]) -> Finish:
        """The same for what is first seen in another way."""
        return Finish(self._chain, self._place, self._others, lambda product: self._seen(seen(product)))

    def bound(self, product: Array, columns: int) -> BoundFinish | None:
        """The same for a product that will be written to an array in C order, in rows of so many columns.

        None if it has to be done afterwards: nothing has been touched.
        """
        arrays = [value if type(value) is np.ndarray else np.asarray(value) for value in self._others]
        if any(not array.flags.aligned for array in arrays):
            return None
        out = self._seen(product)
        if type(out) is not np.ndarray or out.size != product.size or place_of(out) != place_of(product):
            return None
        arrays = [np.ascontiguousarray(array) if array.ndim else array for array in arrays]
        arrays.insert(self._place, out)
        found = self._chain.finish_numbers(arrays, out, columns)
        return None if found is None else BoundFinish(out, *found)


class BoundFinish:
    """A chain with all its inputs. The result lies where the product does."""

    def __init__(self, result: Array, numbers: Array, kept: object) -> None:
        self.result = result
        """The product, which is to become the result, seen with its shape."""
        self.address = place_of(numbers)
        """Of the numbers of Finish in products.h."""
        self._kept = numbers, kept
