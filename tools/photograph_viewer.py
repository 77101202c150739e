"""Makes docs/images/view-*.png and report-*.png: the viewer and a report on a generated model, in a browser.

    python tools/photograph_viewer.py [folder]

Needs playwright (`pip install playwright`) and a Chromium, Debian's by default.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from playwright.sync_api import sync_playwright

import tensorkeep.v1 as tf
from tensorkeep.viewer.page import export_page
from tensorkeep.viewer.server import Server

CHROMIUM: Final = "/usr/bin/chromium"
IMAGES: Final = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDTH, HEIGHT = 1280, 860


def make_model(folder: Path) -> None:
    """A small network for pictures, trained by chance, with one layer that has gone wrong."""
    random = np.random.default_rng(7)

    def variable(name: str, *shape: int) -> Any:
        scale = np.float32(1 / np.sqrt(np.prod(shape[:-1]) or 1))
        return tf.get_variable(name, initializer=random.standard_normal(shape, dtype=np.float32) * scale)

    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
        x, depth = images, 1
        for number, width in enumerate((16, 32)):
            with tf.variable_scope(f"block_{number}"):
                x = tf.nn.conv2d(x, variable("kernel", 3, 3, depth, width), [1, 1, 1, 1], "SAME")
                x = tf.nn.relu(tf.nn.bias_add(x, variable("bias", width)))
                x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
            depth = width
        with tf.variable_scope("head"):
            flat = tf.reshape(x, [-1, 7 * 7 * depth])
            hidden = tf.nn.relu(tf.matmul(flat, variable("hidden/kernel", 7 * 7 * depth, 64)))
            dead = tf.get_variable("adapter/kernel", initializer=np.zeros((64, 64), np.float32))
            logits = tf.matmul(hidden + tf.matmul(hidden, dead), variable("kernel", 64, 10), name="logits")
            scores = tf.nn.softmax(logits, name="scores")
        session.run(tf.global_variables_initializer())
        signature = tf.saved_model.predict_signature_def({"images": images}, {"scores": scores})
        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save()


def photograph(browser: Any, address: str, target: Path, act: Callable[[Any], None], scheme: str = "light") -> None:
    """A view as a browser shows it, when it is as it shall be."""
    view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    view.goto(address)
    act(view)
    view.wait_for_timeout(600)
    view.screenshot(path=target)
    view.close()


def graph(view: Any) -> None:
    view.wait_for_selector("canvas.graph[data-ready][data-costs]")
    view.locator("input[type=search]").fill("block_0/Conv2D")
    view.locator(".result").first.click()
    view.locator(".panel").get_by_text("Attributes").wait_for()
    view.evaluate("tensorkeepGraph.renderer.look.bright = null, tensorkeepGraph.renderer.fit(0.72)")


def weights(view: Any) -> None:
    view.locator(".row.pick", has_text="block_0/kernel").click()
    view.locator(".panel").get_by_text("Filters, 16 of 16").wait_for()


def report(view: Any) -> None:
    view.wait_for_selector(".spark")
    view.locator(".row.pick", has_text="head/hidden/kernel").click()
    view.wait_for_selector(".map canvas")


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as play, chdir(Path(name)):
        make_model(Path("digits/1"))
        page = Path(name) / "report.html"
        page.write_text(export_page(["digits/1"]).text, encoding="utf-8")
        server = Server(["digits/1"])
        server.start()
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        photograph(browser, f"{server.address}#/0/graph", target / "view-graph.png", graph)
        photograph(browser, f"{server.address}#/0/weights", target / "view-weights.png", weights)
        for scheme in ("light", "dark"):
            photograph(browser, f"{page.as_uri()}#/0/weights", target / f"report-{scheme}.png", report, scheme)
        browser.close()
        server.close()


@contextmanager
def chdir(folder: Path) -> Iterator[None]:
    """Works in a folder, so that pictures have no paths of this machine in them."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    main()
