"""Summaries: what they hold, and where they are collected."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.graph.building import building, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.codecs.png import decode_png
from tensorkeep.proto.messages import Summary
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.data import summaries


def summary_of(make: Any) -> Any:
    with building(Graph()) as graph:
        made = make()
    return Summary.FromString(Session(graph).run(made)).value


def test_a_scalar_is_reported_under_its_scope() -> None:
    def make() -> Any:
        with name_scope("train"):
            return summaries.scalar("loss value", constant(0.5))

    (value,) = summary_of(make)
    assert (value.tag, value.simple_value) == ("train/loss_value", 0.5)


def test_histograms_count_what_lies_in_each_interval() -> None:
    (value,) = summary_of(lambda: summaries.histogram("h", [0.5, 0.5, -2.0, 0.0]))
    histogram = value.histo
    assert (histogram.min, histogram.max, histogram.num, histogram.sum, histogram.sum_squares) == (-2, 0.5, 4, -1, 4.5)
    assert sum(histogram.bucket) == 4
    assert max(histogram.bucket) == 2
    assert list(histogram.bucket_limit) == sorted(histogram.bucket_limit)


def test_pictures_are_png_files() -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(1, 2, 4, 3)
    (value,) = summary_of(lambda: summaries.image("i", pixels, max_outputs=1))
    png = value.image.encoded_image_string
    assert (value.tag, value.image.height, value.image.width, value.image.colorspace) == ("i/image", 2, 4, 3)
    np.testing.assert_array_equal(decode_png(png, 0, False), pixels[0])


def test_sounds_are_wav_files() -> None:
    sound = np.array([[[0.0, 1.0], [-1.0, 0.5]]], np.float32)
    (value,) = summary_of(lambda: summaries.audio("s", sound, 8000))
    wav = value.audio.encoded_audio_string
    assert (value.tag, value.audio.content_type, value.audio.length_frames) == ("s/audio/0", "audio/wav", 2)
    assert wav[:4] + wav[8:16] == b"RIFFWAVEfmt "
    assert np.frombuffer(wav[44:], "<i2").tolist() == [0, 32767, -32768, 16384]


def test_merging_takes_what_was_collected() -> None:
    with building(Graph()) as graph:
        first = summaries.scalar("a", 1.0)
        summaries.scalar("b", 2.0, collections=["mine"])
        text = summaries.text("t", constant(["x"]))
        merged = summaries.merge_all()
    assert get_collection(graph, GraphKeys.SUMMARIES) == [first, text]
    values = Summary.FromString(Session(graph).run(merged)).value
    assert [value.tag for value in values] == ["a", "t"]
    assert values[1].metadata.plugin_data.plugin_name == "text"
    assert list(values[1].tensor.string_val) == [b"x"]
