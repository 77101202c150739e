"""The lines of operations that are computed together: one call, and beside it what does them one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import keyword_names
from tensorkeep.native.chains import Chain
from tensorkeep.runtime.fusions.attending import Attention, find_attentions
from tensorkeep.runtime.fusions.cell_calls import CellCall, CellCode, code_of_cells
from tensorkeep.runtime.fusions.cells import Cells
from tensorkeep.runtime.fusions.dilating import Dilation, find_dilations
from tensorkeep.runtime.fusions.finishing import SMALLEST, Finished, FinishedFinder, FinishedProduct, View, of_joined
from tensorkeep.runtime.fusions.flattening import Flattening, find_flattenings
from tensorkeep.runtime.fusions.fusing import Group, find_groups
from tensorkeep.runtime.fusions.lookups import Joining, find_joinings
from tensorkeep.runtime.fusions.masks import Mask, find_masks
from tensorkeep.runtime.fusions.normalizing import Moments, find_moments
from tensorkeep.runtime.fusions.row_sums import RowSum, find_row_sums
from tensorkeep.runtime.fusions.summing import LoopSum, Sum, find_loop_sums, find_sums
from tensorkeep.runtime.kernels import Kernels
from tensorkeep.runtime.plans.blocks import Block, Choice, Loop
from tensorkeep.runtime.plans.names import Names
from tensorkeep.runtime.plans.operation_lines import Lines, OperationLines


class FusedLines:
    """Finds what is computed together in a plan, and writes it."""

    def __init__(self, names: Names, kernels: Kernels, lines: Lines, operations: OperationLines) -> None:
        self._names = names
        self._values = names.values
        self._lifetimes = names.lifetimes
        self._kernels = kernels
        self._lines = lines
        self._operations = operations
        self._groups: dict[Operation, Group] = {}  # by their roots
        self._flattenings: dict[Operation, Flattening] = {}  # by their roots
        self._moments: dict[Operation, Moments] = {}  # by their means
        self._dilations: dict[Operation, Dilation] = {}  # by their convolutions
        self._joinings: dict[Operation, Joining] = {}  # by what joins
        self._attentions: dict[Operation, Attention] = {}  # by their last products
        self._masks: dict[Operation, Mask] = {}  # by their comparisons
        self._sums: dict[Operation, Sum] = {}  # by what adds
        self._loop_sums: dict[Operation, LoopSum] = {}  # by what adds
        self._cells: dict[Operation, tuple[Cells, CellCode]] = {}  # by their first operations
        self._finished: dict[Operation, Finished] = {}  # by the roots of their groups
        self._row_sums: dict[Operation, RowSum] = {}  # by what sums
        self._grouped: set[Operation] = set()

    @property
    def keeps_matrices(self) -> bool:
        """Whether anything uses `packs`, in which matrices are kept from round to round of a loop."""
        return any(cells.keeps_matrices for cells, _ in self._cells.values())

    def find(self, block: Block, arranged: Sequence[tuple[Cells, Block]] = ()) -> None:
        """Finds what is computed together, and keeps what it uses until then. Cells have been found already."""
        for each in find_moments(block, self._names):
            self._moments[each.mean] = each
            self._grouped.update((each.mean, each.squares, each.variance))
            self._names.large.discard(self._values[each.squares.outputs[0]])
        for dilation, at in find_dilations(block, self._names):
            self._dilations[dilation.convolution] = dilation
            self._take(dilation.ops)
            self._keep([dilation.ops[0].inputs[0]], block, at)
        for flattening in find_flattenings(block, self._names):
            self._flattenings[flattening.ops[-1]] = flattening
            self._take(flattening.ops)
        for joining, at in find_joinings(block, self._names, self._flattenings):
            self._joinings[joining.ops[-1]] = joining
            for op in joining.ops:
                self._flattenings.pop(op, None)
            self._take(joining.ops)
            self._keep(joining.inputs, block, at)
        for attention, at in find_attentions(block, self._names):
            self._attentions[attention.ops[-1]] = attention
            self._take(attention.ops)
            self._keep(attention.inputs, block, at)
        for mask, at in find_masks(block, self._names):
            self._masks[mask.comparison] = mask
            self._take(mask.ops)
            self._keep(mask.inputs, block, at)
        for cells, _ in arranged:
            self._take_cells(cells)
        for found_sum, at in find_sums(block, self._names, frozenset(self._grouped)):
            self._sums[found_sum.ops[-1]] = found_sum
            self._take(found_sum.ops)
            self._keep(found_sum.inputs, block, at)
        self._find_loop_sums(block)
        groups = find_groups(block, self._names, frozenset(self._grouped))
        for found, home, at in groups:
            self._groups[found.ops[-1]] = found
            self._take(found.ops)
            self._keep(found.inputs, home, at)
        self._find_finished(groups)
        taken = self._grouped.difference(self._groups).union(self._finished)
        for row_sum, at in find_row_sums(block, groups, self._names, frozenset(taken)):
            self._row_sums[row_sum.sum] = row_sum
            del self._groups[row_sum.group.ops[-1]]
            self._take((row_sum.group.ops[-1], row_sum.sum))
            self._keep(row_sum.inputs, block, at)

    def _find_loop_sums(self, block: Block) -> None:
        for item in block.items:
            if isinstance(item, Choice):
                self._find_loop_sums(item.then)
                self._find_loop_sums(item.otherwise)
            elif isinstance(item, Loop):
                for found, at in find_loop_sums(item, self._names, frozenset(self._grouped)):
                    self._loop_sums[found.ops[-1]] = found
                    self._take(found.ops)
                    self._keep(found.inputs, item.body, at)
                for part in (item.header, item.body, item.after):
                    self._find_loop_sums(part)

    def summed_by(self, loop: Loop) -> list[str]:
        """The names of a loop's variables that are sums, which are yet to be finished when it is over."""
        sums = {found.variable for found in self._loop_sums.values()}
        totals = (variable.merge.outputs[0] for variable in loop.variables)
        return [self._values[total] for total in totals if total in sums]

    def _take_cells(self, cells: Cells) -> None:
        code = None if self._grouped.intersection(cells.ops) else code_of_cells(cells.ops, self._names)
        if code is None:
            return
        ops = [op for op in cells.ops if op not in self._names.silent]
        self._cells[ops[0]] = cells, code
        self._grouped.update(cells.ops)
        self._names.large.difference_update(self._inner_names(ops, code))

    def _inner_names(self, ops: Sequence[Operation], code: CellCode) -> list[str]:
        made = dict.fromkeys(self._values[tensor] for op in ops for tensor in op.outputs)
        return [name for name in made if name not in code.outputs]

    def _find_finished(self, groups: Sequence[tuple[Group, Block, int]]) -> None:
        by_result = {dilation.ops[-1]: dilation for dilation in self._dilations.values()}
        finder = FinishedFinder(self._names, by_result, frozenset(self._grouped))
        for group, home, at in groups:
            each = finder.find(group, home, at)
            if each is not None:
                self._finished[group.ops[-1]] = each
                self._dilations.pop(each.product, None)
                self._grouped.update(each.inner)
                self._names.large.difference_update(self._values[op.outputs[0]] for op in each.inner)
                self._keep(each.inputs, home, at)

    def _take(self, ops: Sequence[Operation]) -> None:
        """Notes that operations are computed together: nothing but the last one's result has a name that is seen."""
        self._grouped.update(ops)
        self._names.large.difference_update(self._values[op.outputs[0]] for op in ops[:-1])

    def _keep(self, tensors: Sequence[Tensor], block: Block, at: int) -> None:
        """Keeps values until an item of a block has run."""
        for tensor in tensors:
            if self._values[tensor][0] not in "cr":
                self._lifetimes.extend(self._values[tensor], block, 2 * at + 1)

    def write(self, op: Operation, block: Block) -> bool:
        """Writes what an operation is part of, where it is the one that stands for it; whether it is part of any."""
        if op in self._finished:
            self._write_finished(self._finished[op], block)
        elif op in self._groups:
            self._write_group(self._groups[op], block)
        elif op in self._row_sums:
            self._write_row_sum(self._row_sums[op], block)
        elif op in self._cells:
            self._write_cells(*self._cells[op], block)
        elif op in self._joinings:
            self._write_together(self._joinings[op], self._joinings[op].applied(), block)
        elif op in self._attentions:
            self._write_together(self._attentions[op], self._attentions[op].applied(), block)
        elif op in self._masks:
            self._write_mask(self._masks[op])
        elif op in self._sums:
            found = self._sums[op]
            self._write_together(found, found.applied(self._kernels.of(found.ops[0])), block)
        elif op in self._loop_sums:
            self._write_loop_sum(self._loop_sums[op], block)
        elif op in self._moments:
            self._write_moments(self._moments[op], block)
        elif op in self._dilations:
            self._write_dilation(self._dilations[op], block)
        elif op in self._flattenings:
            self._write_flattening(self._flattenings[op], block)
        return op in self._grouped

    def _write_group(self, elements: Group, block: Block) -> None:
        """Writes a call of the library for element-wise operations, and beside it what does them one by one."""
        root = elements.ops[-1]
        names = [self._values[tensor] for tensor in elements.inputs]
        reusable = [at for at, name in enumerate(names) if self._is_last_seen(name, elements, block)]
        chain = elements.chain(reusable)
        result = self._values[root.outputs[0]]
        call = f"{self._names.name('k', chain)}({', '.join(names)})"
        self._lines.write(f"{result} = {call}{self._if_worth_it(elements, chain)}", root)
        self._write_apart(result, elements.ops, block)
        self._operations.fresh.add(result)

    def _if_worth_it(self, elements: Group, chain: Chain) -> str:
        """What asks whether arrays are large enough for a chain, where that is not known."""
        if elements.leading is None:
            return ""
        return f" if {self._values[elements.inputs[elements.leading]]}.size >= {chain.smallest} else None"

    def _write_row_sum(self, found: RowSum, block: Block) -> None:
        """One call for a group and the sum of its rows; the group, and then the sum, where that does not do."""
        chain = found.group.chain([])
        result = self._values[found.sum.outputs[0]]
        arguments = ", ".join([str(found.keeps_axis), *(self._values[tensor] for tensor in found.inputs)])
        call = f"{self._names.name('k', chain.row_sums)}({arguments})"
        self._lines.write(f"{result} = {call}{self._if_worth_it(found.group, chain)}", found.sum)
        self._lines.write(f"if {result} is None:")
        made = self._values[found.group.ops[-1].outputs[0]]
        with self._lines.indented():
            self._write_group(found.group, block)
            self._operations.write_step(found.sum, block)
            self._lines.write(f"del {made}")
        self._operations.fresh.difference_update((made, result))

    def _write_cells(self, cells: Cells, code: CellCode, block: Block) -> None:
        """One call for cells; the operations themselves where that does not do."""
        ops = [op for op in cells.ops if op not in self._names.silent]
        for op in ops:
            self._kernels.of(op)  # an error if it is not allowed
        call = self._names.name("k", CellCall(code))
        found = f"t{call[1:]}"
        self._lines.write(
            f"{found} = {call}({'packs' if cells.keeps_matrices else None}, {', '.join(code.inputs)})", ops[0]
        )
        self._lines.write(f"if {found} is None:")
        inner = self._inner_names(ops, code)
        with self._lines.indented():
            for op in ops:
                self._operations.write_step(op, block)
            if inner:
                self._lines.write(f"del {', '.join(inner)}")
        self._lines.write("else:")
        with self._lines.indented():
            self._lines.write(f"{''.join(f'{name}, ' for name in code.outputs)}= {found}")
        self._lines.write(f"del {found}")
        self._operations.fresh.difference_update(inner, code.outputs)

    def _write_finished(self, found: Finished, block: Block) -> None:
        """One call for a product and the group over it; the product, and then the group, where that does not do."""
        result = self._values[found.group.ops[-1].outputs[0]]
        arguments = [self._operations.argument(tensor, False) for tensor in found.inputs]
        call = f"{self._names.name('k', self._finished_product(found))}({', '.join(arguments)})"
        measured = arguments[found.product.spec.finishing_measured]
        self._lines.write(f"{result} = {call} if {measured}.size >= {SMALLEST} else None", found.product)
        self._lines.write(f"if {result} is None:")
        with self._lines.indented():
            if found.joining is not None:
                self._operations.write_step(found.joining, block)
            if found.dilation is not None:
                self._write_dilation(found.dilation, block)
            else:
                self._operations.write_step(found.product, block)
            for view in found.views:
                self._operations.write_step(view, block)
            self._write_group(found.group, block)
            made = [found.dilation.ops[-1] if found.dilation is not None else found.product, *found.views]
            made += [found.joining] if found.joining is not None else []
            names = list(dict.fromkeys(self._values[op.outputs[0]] for op in made))
            self._lines.write(f"del {', '.join(names)}")
        self._operations.fresh.difference_update(names)

    def _finished_product(self, found: Finished) -> FinishedProduct:
        kernel = found.product.spec.finishing_kernel
        assert kernel is not None
        for op in found.inner:
            self._kernels.of(op)  # an error if it is not allowed
        if found.dilation is None:
            kernel = partial(kernel, **self._attributes(found.product))
            kernel = kernel if found.joining is None else of_joined(kernel, len(found.joining.inputs) - 1)
        else:
            kernel = found.dilation.finished(kernel)
        views: list[View] = [(self._kernels.of(op), self._attributes(op), len(op.inputs) - 1) for op in found.views]
        return FinishedProduct(kernel, len(found.factors), views, found.group.chain([]), found.place)

    def _attributes(self, op: Operation) -> dict[str, Any]:
        return {name: op.attr(name) for name in keyword_names(self._kernels.of(op))}

    def _write_loop_sum(self, found: LoopSum, block: Block) -> None:
        """One call that adds to a sum in a loop; the product and the sum where that does not do."""
        product, root = found.ops
        result, total = self._values[root.outputs[0]], self._values[found.variable]
        arguments = ", ".join(self._operations.argument(tensor, False) for tensor in found.inputs)
        call = self._names.name("k", found.applied(self._kernels.of(product)))
        self._lines.write(f"{result} = {call}({arguments})", root)
        self._lines.write(f"if {result} is None:")
        with self._lines.indented():
            self._lines.write(f"{total} = finish_sum({total})")
            for op in found.ops:
                self._operations.write_step(op, block)
            self._lines.write(f"del {self._values[product.outputs[0]]}")
        self._operations.fresh.difference_update((self._values[product.outputs[0]], result))

    def _write_moments(self, found: Moments, block: Block) -> None:
        """One call for mean and variance; the operations themselves where that does not do."""
        mean, squares, variance = (self._values[op.outputs[0]] for op in (found.mean, found.squares, found.variance))
        self._lines.write(f"{mean}, {variance} = moments({self._values[found.mean.inputs[0]]})", found.mean)
        self._lines.write(f"if {mean} is None:")
        with self._lines.indented():
            for op in (found.mean, found.squares, found.variance):
                self._operations.write_step(op, block)
            self._lines.write(f"del {squares}")
        self._operations.fresh.difference_update((mean, squares, variance))

    def _write_dilation(self, found: Dilation, block: Block) -> None:
        """One call for a convolution by filters with gaps; the operations themselves where that does not do."""
        convolution, root = found.convolution, found.ops[-1]
        result = self._values[root.outputs[0]]
        images = self._operations.argument(found.ops[0].inputs[0], False)
        filters = self._operations.argument(convolution.inputs[1], False)
        kernel = self._names.name("k", found.applied(self._kernels.of(convolution)))
        self._lines.write(f"{result} = {kernel}({images}, {filters})", convolution)
        self._write_apart(result, found.ops, block)

    def _write_together(self, found: Joining | Attention | Sum, call: Callable[..., Any], block: Block) -> None:
        """One call for several operations, which takes what they take; the operations themselves where it cannot."""
        root = found.ops[-1]
        result = self._values[root.outputs[0]]
        arguments = ", ".join(self._operations.argument(tensor, False) for tensor in found.inputs)
        for op in found.ops:
            self._kernels.of(op)  # an error if it is not allowed
        self._lines.write(f"{result} = {self._names.name('k', call)}({arguments})", root)
        self._write_apart(result, found.ops, block)

    def _write_mask(self, mask: Mask) -> None:
        """One call that draws and compares."""
        draw, comparison = mask.ops
        kernel = draw.spec.comparing_kernel
        assert kernel is not None
        context = self._names.name("x", self._kernels.context(draw))
        arguments = ", ".join([context, *(self._operations.argument(tensor, False) for tensor in mask.inputs)])
        self._kernels.of(draw)  # an error if it is not allowed
        given = {name: draw.attr(name) for name in keyword_names(kernel) if name != "comparison"}
        call = self._names.name("k", mask.applied(self._kernels.of(comparison), given))
        self._lines.write(f"{self._values[comparison.outputs[0]]} = {call}({arguments})", draw)

    def _write_apart(self, result: str, ops: Sequence[Operation], block: Block) -> None:
        """The lines of operations, of which the last makes the result, for where there is none."""
        self._lines.write(f"if {result} is None:")
        with self._lines.indented():
            for op in ops:
                self._operations.write_step(op, block)
            made = [self._values[op.outputs[0]] for op in ops[:-1]]
            if made:
                self._lines.write(f"del {', '.join(made)}")
        self._operations.fresh.difference_update(made)

    def _write_flattening(self, found: Flattening, block: Block) -> None:
        """One call for the sizes and the reshape; the operations themselves where that does not do."""
        root = found.ops[-1]
        result, given = self._values[root.outputs[0]], self._values[root.inputs[0]]
        self._lines.write(f"{result} = flatten_array({given}, {found.sizes!r})", root)
        self._write_apart(result, found.ops, block)

    def _is_last_seen(self, name: str, elements: Group, block: Block) -> bool:
        """Whether a group may overwrite one of its inputs: an array of the same block that has no other use."""
        return (
            name in self._operations.fresh
            and self._lifetimes.uses.get(name) == elements.uses(name, self._names)
            and self._lifetimes.home(name) is block
        )
