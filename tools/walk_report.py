"""Prints the way of three requests through the source: the files that each crosses, in the order it meets them.

    python tools/walk_report.py [--files] [save answer restore ...]

The walks are those of ARCHITECTURE.md: an array saved as a checkpoint, a model loaded and asked, an embedding variable
restored. A file counts when one of its functions is called; being imported is not enough. It judges nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np

import tensorkeep
import tensorkeep.v1 as tf

_SOURCE: Final = f"{Path(tensorkeep.__file__).parent}/"


@dataclass
class Walk:
    """One stretch of the way: which files it crossed, in the order of their first call, and how many calls it took."""

    name: str
    files: dict[str, int] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return sum(self.files.values())


@contextmanager
def followed(walk: Walk) -> Iterator[None]:
    """Counts the calls of functions of the package while the block runs, by file."""

    def count(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_SOURCE) and code.co_name != "<module>":
            file = code.co_filename[len(_SOURCE) :]
            walk.files[file] = walk.files.get(file, 0) + 1

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


def save(folder: str) -> list[Walk]:
    """An array saved as a checkpoint."""
    walk = Walk("save_checkpoint")
    with followed(walk):
        tensorkeep.save_checkpoint(f"{folder}/model", {"dense/kernel": np.ones((3, 2), np.float32)})
    return [walk]


def answer(folder: str) -> list[Walk]:
    """A model loaded, and asked three times: the second question compiles nothing any more."""
    layers = tensorkeep.saved_model.layers
    weights = np.ones((3, 2), np.float32), np.zeros(2, np.float32)
    entry = tensorkeep.saved_model.Input(name="x")
    tensorkeep.saved_model.from_layers([layers.Dense(*weights)], f"{folder}/export", input=entry)
    loading, first, later = Walk("load_saved_model"), Walk("the first answer"), Walk("every later answer")
    with followed(loading):
        model = tensorkeep.load_saved_model(f"{folder}/export")
    signature = model.signatures["serving_default"]
    question = np.ones((1, 3), np.float32)
    with followed(first):
        signature(x=question)
    signature(x=question)
    with followed(later):
        signature(x=question)
    return [loading, first, later]


def restore(folder: str) -> list[Walk]:
    """An embedding variable restored by a saver."""
    with tf.Graph().as_default():
        table = tf.get_embedding_variable("table", embedding_dim=4)
        looked_up = tf.nn.embedding_lookup(table, tf.constant([1, 2, 3], tf.int64))
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(looked_up)
            saver.save(session, f"{folder}/model")
        walk = Walk("Saver.restore")
        with tf.Session() as session, followed(walk):
            saver.restore(session, f"{folder}/model")
    return [walk]


WALKS: Final[dict[str, Callable[[str], list[Walk]]]] = {"save": save, "answer": answer, "restore": restore}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Prints the files that three requests cross; a report, not a gate.")
    parser.add_argument("walks", nargs="*", metavar="walk", help=f"which of {', '.join(WALKS)} (default: all)")
    parser.add_argument("--files", action="store_true", help="name the files, in the order they are met")
    options: Any = parser.parse_args(arguments)
    for name in options.walks or WALKS:
        with tempfile.TemporaryDirectory() as folder:
            for walk in WALKS[name](folder):
                print(f"{walk.name}: {len(walk.files)} files, {walk.calls} calls")
                if options.files:
                    print("".join(f"    {file} ({calls})\n" for file, calls in walk.files.items()), end="")


if __name__ == "__main__":
    main()
