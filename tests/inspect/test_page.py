"""The page of a report: complete in itself, and safe whatever a model's names are."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.embedding.stored.writing import table_tensors
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.inspect.page import gather, html
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tests.inspect.models import model_of

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></script><b>",
    "' onmouseover='alert(1)",
    "<!--",
    "a&lt;b",
    "\u202egnp.exe",
]
_VOID = {"meta", "input", "link", "img", "br", "wbr"}


class Page(HTMLParser):
    """What a browser sees of a page: elements, their attributes, and the text of those that are shown."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in _VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] not in ("script", "style"):
            self.texts.append(data)


def test_a_page_is_complete_in_itself() -> None:
    text = html(gather("model", fs=model_of(["w"])))
    found = Page(text)
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"}.intersection(found.tags)
    assert not [name for name, _ in found.attributes if name in ("src", "href", "action", "srcset")]
    assert set(re.findall(r"https?://[^\"' <]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert "url(" not in text
    assert "@import" not in text


def test_a_page_may_fetch_nothing() -> None:
    found = Page(html(gather("model", fs=model_of(["w"]))))
    (policy,) = [value for name, value in found.attributes if name == "content" and value and "default-src" in value]
    assert policy.split("; ")[0] == "default-src 'none'"
    assert "connect-src" not in policy
    assert "https:" not in policy


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_only_text(name: str) -> None:
    plain = Page(html(gather("model", fs=model_of(["w"], "s"))))
    found = Page(html(gather("model", fs=model_of([name], name))))
    assert found.tags.count("script") == plain.tags.count("script") == 1
    assert "img" not in found.tags
    assert not [key for key, _ in found.attributes if key.startswith("on")]
    assert any(name.replace("\u202e", "\\u202e") in text for text in found.texts)
    assert not any("\u202e" in text for text in found.texts)


@given(st.text(min_size=1, max_size=30).filter(lambda name: "\0" not in name and "/" not in name))
def test_any_name_makes_a_sound_page(name: str) -> None:
    safe = name.encode("utf-8", "replace").decode()
    plain, found = (Page(html(gather("model", fs=model_of([item], item)))) for item in ("w", safe))
    assert found.tags == plain.tags


def test_every_tensor_is_in_the_table_with_its_numbers() -> None:
    text = html(gather("model", fs=model_of(["a/w", "b"])))
    assert '<td class="name">a/<wbr>w</td><td>float32</td><td>[6]</td><td data-v="6">6</td>' in text
    assert text.count('<svg class="hist"') == 2
    assert '<b class="good">healthy</b> 0 errors, 0 warnings' in text


def test_what_is_wrong_is_told() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("m", {"w": np.array([1, np.nan, np.inf]), "x": np.zeros((3, 3)), "y": np.ones(100)}, fs=fs)
    data = bytearray(fs.open("m.data-00000-of-00001").read(0, fs.open("m.data-00000-of-00001").size))
    data[-1] ^= 1
    atomic_write(fs, "m.data-00000-of-00001", bytes(data))
    text = html(gather("m", fs=fs))
    assert '<b class="bad">not fit for use</b> 3 errors, 1 warning' in text
    for word in ("damaged", "not a number", "infinite", "all zero"):
        assert f"<td>{word}</td>" in text
    assert '<td colspan="9" class="bad">damaged</td>' in text


def test_a_graph_alone_has_a_page_too() -> None:
    fs = model_of(["x"])
    data = gather("model/saved_model.pb", fs=fs)
    assert data.listing is None
    text = html(data)
    assert "<h2>Graph serve</h2><p>1 node, 0 functions" in text
    assert 'id="tensors"' not in text


def test_progress_is_told_to_its_end() -> None:
    told: list[tuple[int, int]] = []
    gather("model", progress=lambda done, total: told.append((done, total)), fs=model_of(["w"]))
    assert told[-1][0] == told[-1][1]
    assert [done / total for done, total in told] == sorted(done / total for done, total in told)


def test_embedding_tables_are_told_with_their_keys() -> None:
    table = EmbeddingTable(4)
    table.lookup_or_create(np.arange(7))
    fs = MemoryFileSystem()
    save_checkpoint("m", table_tensors("user", table.snapshot()), fs=fs)
    page = html(gather("m", fs=fs))
    assert "<h2>Embedding tables</h2><table><tr><td>user</td><td>7 keys</td></tr></table>" in page
