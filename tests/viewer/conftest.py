"""One browser, one server and one set of models for all tests of the viewer."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tensorkeep.viewer.server import Server
from tests.support.golden import golden
from tests.viewer.worlds import layered_graph, write_graph, write_run, write_sounds, write_tables

CHROMIUM = Path("/usr/bin/chromium")
_REFUSED = "status of 422"  # a question that cannot be answered: the page tells why


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """A browser for all tests of this folder. What drives it keeps an event loop running, so it ends with them."""
    if not CHROMIUM.exists():
        pytest.skip(f"there is no browser {CHROMIUM} (Debian's package chromium)")
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("playwright is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield found
        found.close()


@dataclass(frozen=True)
class World:
    """What the tests look at, by name, with the server that shows it."""

    server: Server
    folder: Path
    numbers: dict[str, int]

    def address(self, name: str, view: str, given: str = "") -> str:
        return f"{self.server.address}#/{self.numbers[name]}/{view}{given}"


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    (folder / "run").mkdir()
    half = folder / "half"
    shutil.copytree(golden("g30_keras_conv_bn") / "model", half)
    data = half / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:2000])
    (folder / "note.txt").write_text("only a text\n")
    paths = {
        "conv": golden("g30_keras_conv_bn") / "model",
        "lstm": golden("g31_keras_lstm") / "model",
        "run": write_run(folder / "run"),
        "tables": write_tables(folder / "recommender"),
        "graph": write_graph(folder / "layers.pb", layered_graph(40, 8)),
        "half": half,
        "sounds": write_sounds(folder / "sounds"),
        "text": folder / "note.txt",
    }
    server = Server([str(path) for path in paths.values()])
    server.start()
    yield World(server, folder, {name: number for number, name in enumerate(paths)})
    server.close()


@pytest.fixture
def opened(browser: Any, world: World) -> Iterator[Callable[..., Any]]:
    """Opens a view; every error, refused script, dialog and request to elsewhere is a failure."""
    contexts: list[Any] = []
    troubles: list[str] = []

    def open_view(name: str, view: str, given: str = "", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: None if _REFUSED in message.text else troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda sent: None if _is_ours(sent.url, world) else troubles.append(sent.url))
        page.goto(world.address(name, view, given))
        page.wait_for_selector(f'[data-view="{view}"]')
        return page

    yield open_view
    for context in contexts:
        context.close()
    assert troubles == []


def _is_ours(url: str, world: World) -> bool:
    return url.startswith((f"http://127.0.0.1:{world.server.port}/", "blob:", "data:"))
