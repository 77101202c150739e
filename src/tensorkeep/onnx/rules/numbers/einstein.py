"""Sums of products by Einstein's notation.

    "abc,cde->abde"     MatMul with the second as one matrix, and its columns set out again
    "aecd,abcd->acbe"   MatMul of a batch of matrices, one turned
    "ab,ab->ab"         ONNX's Einsum, which ONNX Runtime computes several times slower

What is a product of matrices, or of batches of them, becomes MatMul with the transposes that it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.complex_numbers import complex_of_parts, part
from tensorkeep.onnx.rules.numbers.elementwise import computed_in
from tensorkeep.onnx.rules.numbers.matrices import product, product_of_parts
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Dims, Term


@rule("Einsum", takes_complex=True)
def einsum(to: OnnxGraph, inputs: list[Term], *, equation: bytes) -> Term:
    """A sum of products. Labels that the result has twice, which would fill a diagonal, ONNX has not."""
    text = equation.decode()
    result = text.partition("->")[2].replace("...", "")
    if len(set(result)) < len(result):
        to.refuse(f'the result of "{text}" has a label twice')
    if not inputs[0].is_complex:
        return _einsum(to, inputs, text)
    if len(inputs) == 2:
        return product_of_parts(to, inputs[0], inputs[1], lambda x, y: _einsum(to, [x, y], text))
    parts = [_einsum(to, [part(to, inputs[0], which)], text) for which in (0, 1)]
    return complex_of_parts(to, parts[0], parts[1], inputs[0].dtype)


def _einsum(to: OnnxGraph, inputs: list[Term], text: str) -> Term:
    named = _named_equation(inputs, text)
    if named is not None and len(inputs) == 2:
        found = _by_matrices(to, inputs[0], inputs[1], named)
        if found is not None:
            return found
    own = inputs[0].dtype
    wide = computed_in(to, "Einsum", own)
    dims = None if named is None else named.dims_of_result(inputs)
    inputs = _with_equal_ellipses(to, inputs, text)
    return to.cast(to.node("Einsum", *[to.cast(term, wide) for term in inputs], dims=dims, equation=text), own)


# ---------------------------------------------------------------------------------------------------- Labels


@dataclass(frozen=True)
class _Equation:
    """A label for every axis of the inputs, ellipses included, and of the result."""

    inputs: tuple[str, ...]
    result: str

    def dims_of_result(self, terms: Sequence[Term]) -> Dims:
        """The sizes of the result's axes, as far as they are known."""
        sizes: dict[str, int | None] = {}
        for labels, term in zip(self.inputs, terms, strict=True):
            for label, size in zip(labels, term.dims or (), strict=True):
                if sizes.get(label) in (None, 1):
                    sizes[label] = size if size != 1 or label not in sizes else sizes[label]
        return tuple(sizes[label] for label in self.result)


def _named_equation(inputs: Sequence[Term], text: str) -> _Equation | None:
    """The equation with letters in the place of ellipses; None if the number of axes is not known."""
    left, _, right = text.partition("->")
    free = [letter for letter in ascii_letters if letter not in text]
    labels = left.split(",")
    under = []
    for term, item in zip(inputs, labels, strict=True):
        if term.dims is None:
            return None
        under.append(len(term.dims) - len(item) + 3 if "..." in item else 0)
    most = max(under)
    if most > len(free):
        return None
    letters = "".join(free[:most])
    filled = (item.replace("...", letters[most - count :]) for item, count in zip(labels, under, strict=True))
    return _Equation(tuple(filled), right.replace("...", letters))


def _with_equal_ellipses(to: OnnxGraph, inputs: list[Term], text: str) -> list[Term]:
    """The inputs with axes of size 1 where an ellipsis stands for fewer axes than that of the other input."""
    labels = text.partition("->")[0].split(",")
    if len(inputs) < 2 or not all("..." in item for item in labels):
        return inputs
    under = [to.known_rank(term) - len(item) + 3 for term, item in zip(inputs, labels, strict=True)]
    starts = [item.index("...") for item in labels]
    return [
        to.unsqueeze(term, list(range(start, start + max(under) - count)))
        for term, start, count in zip(inputs, starts, under, strict=True)
    ]


# ---------------------------------------------------------------------------------------------------- Matrices


def _by_matrices(to: OnnxGraph, a: Term, b: Term, equation: _Equation) -> Term | None:
    """The sum as a product of matrices; None if it is none."""
    (first, second), result = equation.inputs, equation.result
    if any(len(set(labels)) < len(labels) for labels in (first, second)) or not result:
        return None
    if any(label not in second + result for label in first) or any(label not in first + result for label in second):
        return None
    if result[-1] in first and result[-1] not in second:  # the columns come from the second
        a, b, first, second = b, a, second, first
    both = [label for label in first if label in second]
    common = "".join(label for label in both if label not in result)
    batch = "".join(label for label in result if label in both)
    rows = "".join(label for label in result if label in first and label not in second)
    columns = "".join(label for label in result if label in second and label not in first)
    if not (common and rows and columns):
        return None
    if batch and (len(common), len(rows), len(columns)) != (1, 1, 1):
        return None
    left = _arranged_axes(to, a, first, batch + rows, common)
    right = _arranged_axes(to, b, second, batch, common, columns)
    if left is None or right is None:
        return None
    widths = [size for label in columns if (size := b.size(second.index(label))) is not None]
    if len(columns) > 1 and len(widths) < len(columns):
        return None
    found = product(to, left, right)
    if len(columns) > 1:
        found = to.reshape(found, [*[0] * len(rows), *widths])
        found.dims = (*(left.dims or ())[:-1], *widths)
    return to.transpose(found, [(batch + rows + columns).index(label) for label in result])


def _arranged_axes(to: OnnxGraph, term: Term, labels: str, *groups: str) -> Term | None:
    """A value with its axes in the order of some labels, those of each group but the first made one axis."""
    wanted = "".join(groups)
    merged = [[term.size(labels.index(label)) for label in group] for group in groups[1:]]
    turned = [labels.index(label) for label in wanted]
    if all(len(group) == 1 for group in groups[1:]):
        return to.transpose(term, turned)
    if any(None in sizes for sizes in merged):
        return None
    sizes = [prod(size for size in group if size is not None) for group in merged]
    found = to.transpose(term, turned)
    kept = (found.dims or ())[: len(groups[0])]
    if found.array is not None:
        return to.reshape(found, [*(size or 0 for size in kept), *sizes])
    found = to.reshape(found, [*[0] * len(kept), *sizes])
    found.dims = (*kept, *sizes)
    return found
