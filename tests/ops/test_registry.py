"""Every op that has a paragraph: it has samples, and its shape rule agrees with its kernel on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.registry.capabilities import Allowed, possible_capabilities
from tensorkeep.graph.registry.opspec import registered_ops
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.runtime.session import Session
from tensorkeep.testing.filesystems import Change, FileSystemWrapper
from tests.ops.sample import Sample, all_samples, shown_elsewhere
from tests.ops.walking import OneNode, import_all_ops

import_all_ops()


def test_every_op_with_a_kernel_has_samples_or_a_test_elsewhere() -> None:
    shown = set(all_samples()) | set(shown_elsewhere())
    missing = [name for name, spec in registered_ops().items() if spec.kernel_function and name not in shown]
    assert not [name for name in missing if not name.startswith("Test")]  # which other tests register for themselves


def test_samples_are_of_ops_that_exist() -> None:
    assert not (set(all_samples()) | set(shown_elsewhere())) - set(registered_ops())


def _run(name: str, sample: Sample) -> None:
    node = OneNode(name, sample)
    Session(node.graph).run(list(node.outputs) or node.node, node.feeds)


@pytest.mark.parametrize("name", sorted(all_samples()))
@pytest.mark.parametrize(
    "shapes", ["known", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("rank", "nothing"))]
)
def test_what_the_shape_rule_says_is_what_the_kernel_gives(name: str, shapes: str) -> None:
    for number, sample in enumerate(all_samples()[name]):
        if sample.fails:
            continue
        node = OneNode(name, sample, shapes)
        results = Session(node.graph).run(list(node.outputs), node.feeds)
        for tensor, result in zip(node.outputs, results, strict=True):
            dims, shape = tensor.static_shape.dims, np.shape(result)
            fits = dims is None or (
                len(dims) == len(shape) and all(a is None or a == b for a, b in zip(dims, shape, strict=True))
            )
            assert fits, f"sample {number}: the rule says {tensor.static_shape}, the kernel gave {shape}"


@pytest.mark.parametrize(
    "name", sorted(name for name, samples in all_samples().items() if any(s.fails for s in samples))
)
def test_bad_input_raises_one_of_our_errors(name: str) -> None:
    for sample in all_samples()[name]:
        if sample.fails:
            with pytest.raises(TensorKeepError):
                _run(name, sample)


_ONLY_COMPUTING = sorted(
    name
    for name, samples in all_samples().items()
    if not possible_capabilities(name) and not all(sample.fails for sample in samples)
)


class NoFiles(FileSystemWrapper):
    """Files that nobody may ask for."""

    def _change(self, change: Change, act: Callable[[], Any]) -> Any:
        raise AssertionError(f"changes files ({change}), and is said to do nothing but compute")

    def _look(self, action: str, path: str, act: Callable[[], Any]) -> Any:
        raise AssertionError(f"asks for files ({action} {path!r}), and is said to do nothing but compute")


def _printed(text: str) -> None:
    raise AssertionError(f"prints {text!r}, and is said to do nothing but compute")


@pytest.mark.parametrize("name", _ONLY_COMPUTING)
def test_an_op_that_only_computes_asks_for_no_files_and_prints_nothing(name: str) -> None:
    """A session that allows nothing and has no files runs it. What attributes can do more is held against these."""
    sample = next(sample for sample in all_samples()[name] if not sample.fails)
    node = OneNode(name, sample)
    files = NoFiles(MemoryFileSystem())
    with Session(node.graph, allowed=Allowed(), filesystem=files, write_line=_printed) as session:
        session.run(list(node.outputs) or node.node, node.feeds)
