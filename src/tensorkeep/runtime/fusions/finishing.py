"""Products that a bias, a scale, an activation or a sum follows: computed together while rows are in the cache.

    Relu(BiasAdd(Conv2D(images, filters), bias))                 a group of element-wise operations over a product
    Reshape(MatMul(x, weights), sizes) + bias                    or over a view of one
    Relu(BiasAdd(Conv2D(Concat(x, y), filters), bias))           or over one of images whose channels come from several

The product is computed where the root of the group stands: so nothing that changes state may lie between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.native.chains import Chain
from tensorkeep.native.finishing import Finish
from tensorkeep.runtime.fusions.dilating import Dilation
from tensorkeep.runtime.fusions.fusing import Group, changes_state
from tensorkeep.runtime.plans.blocks import Block, Step
from tensorkeep.runtime.plans.makers import Makers
from tensorkeep.runtime.plans.names import Names

SMALLEST: Final = 1 << 13
"""Elements of the product's factor that its op has measured; with fewer, it is not worth the call."""
_VIEWS: Final = frozenset(("Reshape", "Squeeze", "ExpandDims"))
_UNFIT: Final = (TensorKeepError, ValueError, TypeError, IndexError, AttributeError)  # as the operations will say

Kernel = Callable[..., Any]
View = tuple[Kernel, Mapping[str, Any], int]  # a kernel, its attributes, and how many inputs it has besides


@dataclass(frozen=True, eq=False)
class Finished:
    """A group, the number of its input that is a product, what makes that, and the views between, in their order."""

    group: Group
    place: int
    product: Operation  # of a dilation, its convolution
    dilation: Dilation | None
    views: tuple[Operation, ...]
    joining: Operation | None = None  # which makes the product's first factor

    @property
    def factors(self) -> tuple[Tensor, ...]:
        if self.dilation is not None:
            return self.dilation.ops[0].inputs[0], self.product.inputs[1]
        if self.joining is not None:
            return *self.joining.inputs[:-1], *self.product.inputs[1:]
        return tuple(self.product.inputs)

    @property
    def inner(self) -> tuple[Operation, ...]:
        """The operations before the group, in their order."""
        joining = () if self.joining is None else (self.joining,)
        product = (self.product,) if self.dilation is None else self.dilation.ops
        return *joining, *product, *self.views

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What the call takes: the factors, what views take besides, what the group takes besides."""
        besides = [tensor for view in self.views for tensor in view.inputs[1:]]
        others = [tensor for at, tensor in enumerate(self.group.inputs) if at != self.place]
        return *self.factors, *besides, *others


class FinishedProduct:
    """Called with what `Finished.inputs` are, gives the result of the group; None if operations have to."""

    def __init__(self, kernel: Kernel, factors: int, views: Sequence[View], chain: Chain, place: int) -> None:
        self._kernel = kernel
        self._factors = factors
        self._views = tuple(views)
        self._chain = chain
        self._place = place

    def __call__(self, *arguments: Any) -> Any:
        at = self._factors
        views: list[tuple[Kernel, Mapping[str, Any], Sequence[Any]]] = []
        for kernel, attributes, count in self._views:
            views.append((kernel, attributes, arguments[at : at + count]))
            at += count

        def seen(product: Any) -> Any:
            for kernel, attributes, besides in views:
                product = kernel(product, *besides, **attributes)
            return product

        finish = Finish(self._chain, self._place, arguments[at:], seen)
        try:
            return self._kernel(*arguments[: self._factors], finish=finish)
        except _UNFIT:
            return None


def of_joined(kernel: Kernel, count: int) -> Kernel:
    """The kernel, for a first factor that is given as so many arrays in the place of one."""

    def joined(*factors: Any, finish: Finish) -> Any:
        return kernel(factors[:count], *factors[count:], finish=finish)

    return joined


class FinishedFinder:
    """Looks for products under the groups of a plan."""

    def __init__(self, names: Names, dilations: Mapping[Operation, Dilation], taken: frozenset[Operation]) -> None:
        """`dilations` by the operations that make their results; `taken` are operations that are computed otherwise."""
        self._names = names
        self._dilations = dilations
        self._taken = taken
        self._makers: dict[int, Makers] = {}

    def find(self, group: Group, home: Block, at: int) -> Finished | None:
        """What a group, whose root is item `at` of a block, can be computed with: the product that is made last."""
        if id(home) not in self._makers:
            self._makers[id(home)] = Makers(home, self._names)
        makers = self._makers[id(home)]
        found = [each for place in range(len(group.inputs)) if (each := self._under(group, place, makers)) is not None]
        found = [each for each in found if nothing_changes(home, makers.places[each.inner[0]], at)]
        return max(found, key=lambda each: makers.places[each.product], default=None)

    def _under(self, group: Group, place: int, makers: Makers) -> Finished | None:
        tensor = group.inputs[place]
        name = self._names.values[tensor]
        if self._names.lifetimes.uses.get(name) != group.uses(name, self._names) or name in self._names.deferred:
            return None
        views: list[Operation] = []
        maker = makers.maker(tensor)
        while maker is not None and maker.type in _VIEWS and maker not in self._taken:
            views.append(maker)
            maker = makers.sole_maker(maker.inputs[0])
        if maker is None:
            return None
        dilation = self._dilations.get(maker)
        if dilation is not None:
            return Finished(group, place, dilation.convolution, dilation, tuple(reversed(views)))
        if not self._is_product(maker):
            return None
        return Finished(group, place, maker, None, tuple(reversed(views)), self._joining(maker, makers))

    def _joining(self, product: Operation, makers: Makers) -> Operation | None:
        """What joins the first factor of a product along its last axis, if the product can do that meanwhile."""
        if not product.spec.finishing_joins:
            return None
        joining = makers.sole(product.inputs[0], "ConcatV2")
        if joining is None or joining in self._taken or joining.inputs[0].dtype is not FLOAT32:
            return None
        rank, axis = joining.outputs[0].static_shape.rank, constant_value(joining.inputs[-1])
        is_last = axis is not None and rank is not None and int(axis) in (-1, rank - 1)
        is_promised = any(self._names.values[tensor] in self._names.deferred for tensor in joining.inputs)
        return joining if is_last and not is_promised else None

    def _is_product(self, op: Operation) -> bool:
        if op.spec.finishing_kernel is None or op.type in op.graph.functions or op in self._taken:
            return False
        return all(
            (tensor.dtype is FLOAT32 or not tensor.dtype.is_ref)
            and self._names.values[tensor] not in self._names.deferred
            for tensor in op.inputs
        )


def nothing_changes(block: Block, begin: int, end: int) -> bool:
    """Whether no operation between two items of a block changes any state."""
    return all(isinstance(item, Step) and not changes_state(item.op) for item in block.items[begin:end])
