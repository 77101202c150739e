"""The page of a report in a real browser."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.inspect.page import gather, html
from tests.inspect.test_page import HOSTILE

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no browser {CHROMIUM} (Debian's package chromium)"),
    pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="playwright is not installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    tensors: dict[str, Any] = {f"layer_{at}/kernel": np.full((at, 2), at, np.float32) for at in (3, 1, 10, 2)}
    tensors |= {name.replace("/", "|"): np.ones(1, np.float32) for name in HOSTILE}
    tensors["long/" + "name_" * 60] = np.random.default_rng(0).standard_normal(1000)
    save_checkpoint(str(folder / "model"), tensors)
    path = folder / "report.html"
    path.write_text(html(gather(str(folder / "model"))), encoding="utf-8")
    return path


@pytest.fixture(params=["light", "dark"])
def view(browser: Any, stored: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page that is open, of which every request, error and remark of the browser is a failure."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme=request.param)
    opened = context.new_page()
    troubles: list[str] = []
    opened.on("console", lambda message: troubles.append(message.text))
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
    opened.on("request", lambda sent: troubles.append(sent.url) if sent.url != stored.as_uri() else None)
    opened.goto(stored.as_uri())
    yield opened
    context.close()
    assert troubles == []


def names(view: Any) -> list[str]:
    found: list[str] = view.locator("#tensors tbody tr:visible td:first-child").all_inner_texts()
    return found


def test_a_click_on_a_head_sorts_and_another_one_turns_it_round(view: Any) -> None:
    head = view.locator("#tensors th", has_text="elements")
    head.click()
    sizes = [int(text.replace(",", "")) for text in view.locator("#tensors tbody td:nth-child(4)").all_inner_texts()]
    assert sizes == sorted(sizes)
    assert head.get_attribute("aria-sort") == "ascending"
    head.click()
    sizes = [int(text.replace(",", "")) for text in view.locator("#tensors tbody td:nth-child(4)").all_inner_texts()]
    assert sizes == sorted(sizes, reverse=True)


def test_the_keyboard_sorts_too(view: Any) -> None:
    view.locator("#tensors th", has_text="name").press("Enter")
    found = view.locator("#tensors tbody td:first-child").all_text_contents()
    assert found == sorted(found)


def test_a_part_of_a_name_filters(view: Any) -> None:
    total = len(names(view))
    view.fill("#filter", "LAYER_1")
    assert sorted(names(view)) == ["layer_1/kernel", "layer_10/kernel"]
    assert view.inner_text("#shown") == f"2 of {total}"
    view.fill("#filter", "")
    assert len(names(view)) == total


def test_scopes_open(view: Any) -> None:
    first = view.locator("#scopes details").first
    assert not first.locator("div").first.is_visible()
    first.locator("summary").first.click()
    assert first.locator("div").first.is_visible()


def test_a_long_name_does_not_make_the_page_wider(view: Any) -> None:
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_picture_of_it_is_light_or_dark(view: Any, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    scheme = request.node.callspec.params["view"]
    target = tmp_path / f"report-{scheme}.png"
    view.screenshot(path=str(target), full_page=True)
    assert target.read_bytes().startswith(b"\x89PNG")
    ground = view.evaluate("getComputedStyle(document.body).backgroundColor")
    levels = [int(part) for part in ground.removeprefix("rgb(").removesuffix(")").split(",")]
    assert (sum(levels) > 600) == (scheme == "light")


def test_what_was_found_fits_a_narrow_window(browser: Any, tmp_path: Path) -> None:
    kernel = np.array([[1, np.nan], [np.inf, 2]], np.float32)
    save_checkpoint(str(tmp_path / "model"), {"scope/of/some/layer_1/kernel": kernel})
    (tmp_path / "r.html").write_text(html(gather(str(tmp_path / "model"))), encoding="utf-8")
    context = browser.new_context(viewport={"width": 400, "height": 800})
    view = context.new_page()
    view.goto((tmp_path / "r.html").as_uri())
    section = "document.getElementById('checks')"
    assert view.evaluate(f"{section}.scrollWidth <= {section}.clientWidth")
    context.close()
