"""Makes docs/images/report*.png: the page of `tensorkeep report` on a generated model, as a browser shows it.

    python tools/photograph_report.py [folder]

Needs playwright (`pip install playwright`) and a Chromium, Debian's by default.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
from playwright.sync_api import sync_playwright

import tensorkeep.v1 as tf
from tensorkeep.inspect.page import gather, html

CHROMIUM: Final = "/usr/bin/chromium"
IMAGES: Final = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDTH, HEIGHT = 1280, 1500


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


def photograph(page: Path, folder: Path) -> None:
    """The top of a page, on light and on dark ground."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
            view.goto(page.as_uri())
            view.locator("#scopes details").first.evaluate("item => item.open = true")
            view.screenshot(path=folder / f"report-{scheme}.png")
        browser.close()


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        model, page = Path(name) / "digits" / "1", Path(name) / "report.html"
        make_model(model)
        page.write_text(html(gather(str(model))).replace(name + "/", ""), encoding="utf-8")
        photograph(page, target)


if __name__ == "__main__":
    main()
