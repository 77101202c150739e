"""Tests beside a live TensorFlow.

A test file here may import tensorflow at its top. Where TensorFlow is missing, the file is not imported and fails as
one item, so that agreement with TensorFlow is never taken for granted; TENSORKEEP_WITHOUT_TENSORFLOW=1 asks for the
rest of the tests, and turns that failure into a skip.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

# Read by TensorFlow when it is imported, which is later than this.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

_WITHOUT = "TENSORKEEP_WITHOUT_TENSORFLOW"


def _has_tensorflow() -> bool:
    return os.environ.get(_WITHOUT) != "1" and importlib.util.find_spec("tensorflow") is not None


@pytest.fixture(scope="session", autouse=True)
def _graphs_as_built() -> None:
    """TensorFlow runs graphs as they were built, unless the tests look deep: to rewrite one takes longer than to run it
    once, mostly. Whole programs, in processes of their own, and sessions with a configuration of their own have theirs
    rewritten at every depth.
    """
    if not _has_tensorflow():
        return
    import tensorflow as tf

    from tests.support.depth import depth

    if depth() != "deep":
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


class _Notice(pytest.Item):
    def runtest(self) -> None:
        if os.environ.get(_WITHOUT) == "1":
            pytest.skip(f"{_WITHOUT}=1: not compared with TensorFlow")
        pytest.fail(
            "TensorFlow is not installed, so nothing here can be compared with it. Install the test tools "
            f'(pip install -e ".[test]"), or set {_WITHOUT}=1 to skip these tests.',
            pytrace=False,
        )

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.nodeid


class _UnimportedFile(pytest.File):
    def collect(self) -> Iterable[_Notice]:
        yield _Notice.from_parent(self, name="needs TensorFlow")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.File | None:
    return None if _has_tensorflow() else _UnimportedFile.from_parent(parent, path=module_path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.interop)
