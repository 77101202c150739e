"""`tf.audio` beside TensorFlow's: the same nodes for the same program text, and the same numbers."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import tensorflow as tf

from tensorkeep.v1 import audio as our_audio
from tests.interop.programs import build, our_names
from tests.ops.samples.codecs.audio import SOUND, WAV

OURS = our_names(audio=our_audio)


def test_files_are_read_and_written_by_the_same_nodes() -> None:
    def program(tf: Any) -> Any:
        sound = tf.audio.decode_wav(WAV)
        part = tf.audio.decode_wav(WAV, desired_channels=1, desired_samples=5, name="part")
        written = tf.audio.encode_wav(SOUND, 8000)
        again = tf.audio.encode_wav(sound.audio, sound.sample_rate, name="again")
        return [sound.audio, sound.sample_rate, part.audio, written, again]

    build(program, OURS).expect_same_values()


@pytest.mark.parametrize("name", our_audio.__all__)
def test_signatures_are_tensorflows(name: str) -> None:
    found, wanted = (inspect.signature(getattr(module, name)).parameters for module in (our_audio, tf.compat.v1.audio))
    assert {key: value.default for key, value in found.items()} == {key: value.default for key, value in wanted.items()}
