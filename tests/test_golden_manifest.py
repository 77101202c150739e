"""The golden files are the ones that TensorFlow wrote, down to the last byte."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.support.golden import ROOT, cases

MANIFEST: dict[str, Any] = json.loads((ROOT / "MANIFEST.json").read_text(encoding="utf-8"))


def files_on_disk(case: str) -> set[str]:
    folder = ROOT / case
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_the_cases_are_those_of_the_manifest() -> None:
    assert sorted(MANIFEST["cases"]) == sorted(path.name for path in ROOT.iterdir() if path.is_dir())
    assert sorted(MANIFEST["cases"]) == list(cases())


def test_nothing_but_the_manifest_lies_beside_the_cases() -> None:
    assert [path.name for path in ROOT.iterdir() if not path.is_dir()] == ["MANIFEST.json"]


@pytest.mark.parametrize("case", MANIFEST["cases"])
def test_a_case_holds_exactly_the_listed_files(case: str) -> None:
    assert files_on_disk(case) == set(MANIFEST["cases"][case]["files"])


@pytest.mark.parametrize("case", MANIFEST["cases"])
def test_every_file_has_the_listed_size_and_hash(case: str) -> None:
    for name, listed in MANIFEST["cases"][case]["files"].items():
        data = (ROOT / case / name).read_bytes()
        assert {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} == listed, f"{case}/{name}"


@pytest.mark.parametrize("case", MANIFEST["cases"])
def test_the_size_of_a_case_is_the_sum_of_its_files(case: str) -> None:
    listed = MANIFEST["cases"][case]
    assert listed["bytes"] == sum(file["size"] for file in listed["files"].values())


def test_the_total_is_the_sum_of_the_cases() -> None:
    assert MANIFEST["total_bytes"] == sum(case["bytes"] for case in MANIFEST["cases"].values())
