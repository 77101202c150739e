"""What `tensorkeep.embedding` offers is what it lists, and comes when it is asked for."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from tensorkeep import embedding


@pytest.mark.parametrize("name", embedding.__all__)
def test_every_listed_name_exists_and_says_what_it_is(name: str) -> None:
    value = getattr(embedding, name)
    assert (inspect.getdoc(value) or "").strip()


def test_the_list_is_sorted() -> None:
    assert list(embedding.__all__) == sorted(set(embedding.__all__))


def test_nothing_heavy_is_imported() -> None:
    script = (
        "import sys, tensorkeep; from tensorkeep import embedding; embedding.look_up; embedding.export_parquet;"
        "print(sorted({'pyarrow', 'tensorflow', 'tensorkeep.graph.graph'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
