"""Without gRPC installed, an error says how to get it."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from tensorkeep.serving.rpc import library


def test_a_missing_package_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)
    spec = importlib.util.spec_from_file_location("library_without_grpc", library.__file__)
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(ImportError, match=r'pip install "tensorkeep\[serve\]"'):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
