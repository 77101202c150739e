"""Summaries beside TensorFlow's: the same nodes, the same messages, the same pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.proto.messages import Summary
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.data import summaries
from tests.interop.programs import Built, build, our_names

Program = Callable[[Any], Any]
OURS = our_names(summary=summaries)

PROGRAMS: dict[str, Program] = {
    "scalar": lambda tf: tf.summary.scalar("loss", tf.constant(0.5)),
    "names": lambda tf: [tf.summary.scalar("a b:c", 1.0), tf.summary.scalar("a b:c", 2.0, family="f x")],
    "scopes": lambda tf: scoped(tf),
    "histogram": lambda tf: tf.summary.histogram("h", tf.constant([1.0, -2.0, 3.5]), family="f"),
    "audio": lambda tf: tf.summary.audio("s", tf.constant(np.zeros((1, 4, 2), np.float32)), 8000.0, max_outputs=1),
    "text": lambda tf: tf.summary.text("t", tf.constant(["x", "y"])),
    "tensor": lambda tf: tf.summary.tensor_summary("t", tf.constant([1, 2]), "about", display_name="shown"),
    "merge": lambda tf: tf.summary.merge([tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)], name="both"),
    "merge all": lambda tf: (tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2), tf.summary.merge_all())[-1],
    "collections": lambda tf: collected(tf),
}


def scoped(tf: Any) -> Any:
    with tf.name_scope("outer"):
        return [tf.summary.scalar("x", 1.0), tf.summary.histogram("x", [1.0], family="f")]


def collected(tf: Any) -> Any:
    tf.summary.scalar("a", 1.0)
    tf.summary.scalar("b", 2.0, collections=["mine"])
    return tf.summary.merge_all("mine")


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_summaries_are_tensorflows(name: str) -> None:
    build(PROGRAMS[name], OURS).expect_same_values()


def pictures(built: Built) -> tuple[list[Any], list[Any]]:
    """The images of both summaries: tag, sizes, pixels."""
    ((ours, theirs),) = built.run()
    found: list[list[Any]] = []
    for text in (ours, theirs):
        values = Summary.FromString(text).value
        found.append(
            [(v.tag, v.image.height, v.image.width, v.image.colorspace, v.image.encoded_image_string) for v in values]
        )
    return found[0], found[1]


IMAGES = {
    "bytes": np.arange(2 * 3 * 4 * 3, dtype=np.uint8).reshape(2, 3, 4, 3),
    "positive": np.linspace(0, 9, 48, dtype=np.float32).reshape(4, 3, 4, 1),
    "negative": np.linspace(-3, 9, 48, dtype=np.float64).reshape(1, 3, 4, 4),
    "halves": np.linspace(-3, 2, 36).reshape(1, 3, 4, 3).astype(np.float16),
    "zeros": np.zeros((1, 2, 2, 1), np.float32),
    "not finite": np.array([[[[1.0], [np.nan]], [[np.inf], [-2.0]]]], np.float32),
    "none": np.zeros((0, 2, 2, 1), np.float32),
}


@pytest.mark.parametrize("name", sorted(IMAGES))
@pytest.mark.parametrize("most", [1, 3])
def test_pictures_are_tensorflows(name: str, most: int) -> None:
    built = build(lambda tf: tf.summary.image("i", tf.constant(IMAGES[name]), max_outputs=most), OURS)
    ours, theirs = pictures(built)
    assert ours == theirs


def test_pictures_of_another_shape_are_refused() -> None:
    for shape in ((1, 2, 2), (1, 2, 2, 2)):
        with building(Graph()) as graph:
            made = summaries.image("i", np.zeros(shape, np.float32))
        with pytest.raises(InvalidArgumentError, match="must be 4-D with last dim 1, 3, or 4"):
            Session(graph).run(made)


def test_merging_nothing_gives_nothing() -> None:
    with building(Graph()):
        assert summaries.merge_all() is None


def test_text_must_be_strings() -> None:
    with building(Graph()), pytest.raises(InvalidArgumentError, match="to have dtype string"):
        summaries.text("t", summaries.scalar("a", 1.0).op.inputs[1])


def written(tf: Any, folder: Path) -> Any:
    """The values that operations write to a file, as a graph of either builds them."""
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as session:
        writer = raw.SummaryWriter(shared_name="shared", container="")
        at = {"writer": writer, "step": tf.constant(3, tf.int64)}
        create = raw.CreateSummaryFileWriter(
            writer=writer, logdir=str(folder), max_queue=1, flush_millis=1, filename_suffix=".s"
        )
        add = [
            raw.WriteScalarSummary(tag="scalar", value=np.float64(2.5), **at),
            raw.WriteScalarSummary(tag="whole", value=np.int64(7), **at),
            raw.WriteHistogramSummary(tag="values", values=np.array([1.0, -2.0, 3.5], np.float32), **at),
            raw.WriteImageSummary(
                tag="image", tensor=np.array([0.5, np.nan, 1.0, 0.0] * 2, np.float32).reshape(2, 2, 2, 1),
                bad_color=np.array([255, 0, 0, 255], np.uint8), max_images=1, **at,
            ),
            raw.WriteAudioSummary(
                tag="sound", tensor=np.ones((1, 8), np.float32), sample_rate=8000.0, max_outputs=2, **at
            ),
            raw.WriteSummary(tag="tensor", tensor=np.array([1, 2], np.int32), summary_metadata=b"", **at),
            raw.WriteSummary(tag="text", tensor=np.array([b"a"], object), summary_metadata=b"", **at),
        ]  # fmt: skip
        session.run(create)
        for item in add:
            session.run(item)
        session.run(raw.CloseSummaryWriter(writer=writer))
    (file,) = folder.iterdir()
    return [(event.step, str(event.summary)) for event in tensorkeep.v1.train.summary_iterator(str(file))]


def test_written_summaries_are_those_of_tensorflow(tmp_path: Path) -> None:
    theirs = pytest.importorskip("tensorflow").compat.v1
    ours, expected = written(tensorkeep.v1, tmp_path / "ours"), written(theirs, tmp_path / "theirs")
    assert len(ours) == 8
    for (step, found), (wanted_step, wanted) in zip(ours, expected, strict=True):
        assert step == wanted_step
        if "encoded_image_string" not in wanted:  # zlib may pack a picture otherwise
            assert found == wanted
