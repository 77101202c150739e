"""Pages as one file, and in notebooks: complete in themselves, and safe whatever a model's names are."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorkeep as tk
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Graph
from tensorkeep.viewer.page import export_page, static_file
from tests.inspect.models import model_of
from tests.support.golden import golden
from tests.viewer.worlds import HOSTILE

ROOT = Path(__file__).resolve().parents[2]


class Page(HTMLParser):
    """What a browser sees of a page: elements, their attributes, and what is in scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.inside: dict[str, str] = {}
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._open = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        self.inside[self._open] = self.inside.get(self._open, "") + data


def page_on(names: list[str]) -> Page:
    return Page(export_page(["model"], fs=model_of(names, names[0])).text)


def test_a_page_is_complete_in_itself_and_may_fetch_nothing() -> None:
    text = export_page(["model"], fs=model_of(["w"])).text
    found = Page(text)
    assert not {"img", "iframe", "object", "embed", "base", "form"}.intersection(found.tags)
    assert [value for name, value in found.attributes if name in ("src", "href", "action", "srcset")] == ["data:,"]
    (policy,) = [value for name, value in found.attributes if name == "content" and value and "default-src" in value]
    assert "connect-src" not in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    for kind, inside in (("script-src", "app"), ("style-src", "style")):
        digest = base64.b64encode(hashlib.sha256(found.inside[inside].encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_only_text(name: str) -> None:
    plain, found = page_on(["w"]), page_on([name])
    assert found.tags == plain.tags
    answers = json.loads(found.inside["answers"])["answers"]
    assert answers['weights {"source":0}']["name"] == [name]


@given(st.text(min_size=1, max_size=30).filter(lambda name: "\0" not in name and "/" not in name))
def test_any_name_makes_a_sound_page(name: str) -> None:
    safe = name.encode("utf-8", "replace").decode()
    assert page_on([safe]).tags == page_on(["w"]).tags


def test_a_page_counts_what_is_in_it() -> None:
    page = export_page([str(golden("g30_keras_conv_bn") / "model")])
    assert (page.tensors, page.graphs, page.findings, page.left_out) == (12, 1, 0, [])


def test_a_page_on_something_damaged_is_a_page(tmp_path: Path) -> None:
    shutil.copytree(golden("g30_keras_conv_bn") / "model", tmp_path / "m")
    (tmp_path / "m" / "saved_model.pb").write_bytes(b"\x08\x01\x12\xff\xff")
    answers = json.loads(Page(export_page([str(tmp_path / "m")]).text).inside["answers"])["answers"]
    assert answers["sources {}"]["sources"][0]["error"]
    assert len(answers['weights {"source":0}']["name"]) == 12 or "error" not in answers['weights {"source":0}']


# ----------------------------------------------------------------------------------------------------------- notebooks


def test_a_notebook_shows_it_in_a_frame_that_reaches_nothing(tmp_path: Path) -> None:
    view = tk.view(golden("g30_keras_conv_bn") / "model")
    found = Page(view._repr_html_())
    assert found.tags == ["iframe"]
    attributes = dict(found.attributes)
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert attributes["srcdoc"] == view.html
    view.save(tmp_path / "v.html")
    assert (tmp_path / "v.html").read_text(encoding="utf-8") == view.html


def table() -> tk.EmbeddingTable:
    made = tk.EmbeddingTable(4)
    made.lookup_or_create(np.arange(7))
    return made


def test_what_is_open_or_in_memory_can_be_viewed() -> None:
    path = golden("g30_keras_conv_bn") / "model"
    with tk.load_saved_model(path) as model, tk.open_checkpoint(path) as reader:
        assert "12 tensors, 1 graph" in repr(tk.view(model))
        assert tk.view(reader)._exported.tensors > 10
    assert tk.view(table())._exported.tensors >= 2
    with tk.open_graph(golden("g21_meta_mlp_adam") / "mlp-4.meta") as graph:
        assert tk.view(graph)._exported.graphs == 1
        assert tk.view(graph.session.graph)._exported.graphs == 1
    assert tk.view(Graph())._exported.graphs <= 1
    with pytest.raises(InvalidArgumentError, match="int cannot be viewed"):
        tk.view(3)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------- what is built


def test_what_is_shipped_is_small() -> None:
    import gzip

    sizes = [len(gzip.compress(static_file(name))) for name in ("app.js", "app.css", "index.html")]
    assert sum(sizes) < 1_500_000


def node_is_there() -> str:
    """Why the page cannot be built here; empty if it can."""
    if shutil.which("node") is None:
        return "node is not installed"
    return "" if (ROOT / "web" / "node_modules" / "esbuild").is_dir() else "web/node_modules is not there: make web"


@pytest.mark.skipif(bool(node_is_there()), reason=node_is_there())
def test_what_is_shipped_is_what_the_source_builds(tmp_path: Path) -> None:
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=ROOT / "web", check=True, capture_output=True)
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert built == {name: static_file(name) for name in built}, '"make web" builds the page anew'
    assert set(built) == {"app.js", "app.css", "index.html", "LICENSES.txt"}


def test_versions_of_the_tool_chain_are_pinned() -> None:
    package: dict[str, Any] = json.loads((ROOT / "web" / "package.json").read_text())
    versions = {**package["dependencies"], **package["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    assert all("integrity" in item for path, item in lock["packages"].items() if path)
