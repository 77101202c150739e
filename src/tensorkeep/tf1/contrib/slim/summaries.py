"""Summaries of tensors by their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, add_to_collection
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.control.logging import Print
from tensorkeep.tf1.functions.data.summaries import histogram, image, scalar
from tensorkeep.tf1.functions.nn.activations import zero_fraction


def _name(tensor: Any, name: str | None, prefix: str | None, postfix: str | None = None) -> str:
    return "/".join(part for part in (prefix, name or tensor.op.name, postfix) if part)


def _printed_summary(summary: Tensor, tensor: Any, name: str) -> Tensor:
    """The summary, which also prints the tensor whenever it is run."""
    shown = Print(summary, [tensor], name)
    add_to_collection(current_graph(), GraphKeys.SUMMARIES, shown)
    return shown


def add_histogram_summary(tensor: TensorLike, name: str | None = None, prefix: str | None = None) -> Tensor:
    """A histogram of a tensor."""
    return histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(
    tensor: TensorLike, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Tensor:
    """A summary of a tensor of images, which also prints the tensor if that is asked for."""
    called = _name(tensor, name, prefix)
    summary = image(called, tensor, collections=[] if print_summary else None)
    return _printed_summary(summary, tensor, called) if print_summary else summary


def add_scalar_summary(
    tensor: TensorLike, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Tensor:
    """A summary of a tensor of one number, which also prints it if that is asked for."""
    called = _name(tensor, name, prefix)
    summary = scalar(called, tensor, collections=[] if print_summary else None)
    return _printed_summary(summary, tensor, called) if print_summary else summary


def add_zero_fraction_summary(
    tensor: TensorLike, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Tensor:
    """How many of the elements are zero."""
    called = _name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(zero_fraction(tensor), called, print_summary=print_summary)


def add_histogram_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Tensor]:
    """Summaries of tensors, a histogram of each."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Tensor]:
    """Summaries of tensors of images, one of each."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(
    tensors: Iterable[Any], prefix: str | None = None, print_summary: bool = False
) -> list[Tensor]:
    """Summaries of tensors of one number, one of each."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Tensor]:
    """For each how many of its elements are zero."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
