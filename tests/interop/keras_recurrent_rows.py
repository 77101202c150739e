"""Recurrent and preprocessing layers, and those that hold other layers: their rows of the sweep."""

from __future__ import annotations

import tempfile
from typing import Any

import keras
import tensorflow as tf

from tests.interop.keras_layer_rows import (
    BITS,
    FEATURES,
    IMAGE,
    PIXELS,
    STEPS,
    STEPS_MASK,
    WORDS,
    L,
    given,
    masked,
    row,
    rows,
)
from tests.interop.keras_sweep import below, between, chosen, floats

# Recurrent
STATEFUL = floats(3, 7, 4)
for _name in ("GRU", "LSTM", "SimpleRNN"):
    rows(
        _name,
        STEPS,
        given(3),
        given(3, return_sequences=True, go_backwards=True),
        given(3, return_sequences=True, return_state=True),
        given(3, activation="relu", use_bias=False, dropout=0.2, recurrent_dropout=0.2),
    )
    rows(
        _name,
        (STEPS, STEPS_MASK),
        given(3, go_backwards=True),
        given(3, return_sequences=True, zero_output_for_mask=True, return_state=True),
        call=masked,
    )
    rows(_name, STATEFUL, given(3, stateful=True), batches=(3, 3))
    rows(
        _name,
        (STEPS, *[floats(None, 3)] * (2 if _name == "LSTM" else 1)),
        given(3, return_sequences=True),
        call=lambda layer, x, *states: layer(x, initial_state=list(states)),
    )
    rows(
        f"{_name}Cell",
        (floats(None, 4), *[floats(None, 3)] * (2 if _name == "LSTM" else 1)),
        given(3),
        given(3, use_bias=False, activation="sigmoid"),
        call=lambda layer, x, *states: layer(x, list(states)),
    )
    row("RNN", STEPS, lambda n=_name: L.RNN(getattr(L, f"{n}Cell")(3), return_sequences=True))
rows("GRU", STEPS, given(3, reset_after=False, recurrent_activation="hard_sigmoid"))
rows("GRU", (floats(None, 3, 4), BITS(None, 3)), given(3, unroll=True), call=masked)
rows("LSTM", STEPS, given(3, unit_forget_bias=False, recurrent_activation="tanh"))

for _mode in ("concat", "sum", "mul", "ave", None):
    row("Bidirectional", STEPS, lambda m=_mode: L.Bidirectional(L.SimpleRNN(3, return_state=True), merge_mode=m))
row("Bidirectional", STEPS, lambda: L.Bidirectional(L.LSTM(3, return_sequences=True)))
row("Bidirectional", (STEPS, STEPS_MASK), lambda: L.Bidirectional(L.GRU(3, return_sequences=True)), masked)
row("RNN", (STEPS, STEPS_MASK), lambda: L.RNN([L.LSTMCell(3), L.GRUCell(4)], return_state=True), masked)
row("RNN", STEPS, lambda: L.RNN(L.StackedRNNCells([L.SimpleRNNCell(3), L.LSTMCell(2)]), go_backwards=True))
row(
    "StackedRNNCells",
    (floats(None, 4), floats(None, 3), floats(None, 2)),
    lambda: L.StackedRNNCells([L.GRUCell(3), L.SimpleRNNCell(2)]),
    lambda cell, x, *states: cell(x, list(states)),
)
for _rank, _shape in ((1, (6, 3)), (2, (5, 6, 3)), (3, (4, 3, 4, 2))):
    rows(
        f"ConvLSTM{_rank}D",
        floats(None, 3, *_shape),
        given(2, 2),
        given(2, 3, padding="same", return_sequences=True, return_state=True, activation="relu"),
        given(2, 2, strides=2, go_backwards=True, use_bias=False),
    )
rows("ConvLSTM2D", (floats(None, 3, 5, 6, 3), BITS(None, 3)), given(2, 2, dilation_rate=2), call=masked)
row("TimeDistributed", STEPS, lambda: L.TimeDistributed(L.Dense(3)))
row("TimeDistributed", floats(None, 3, 6, 5, 2), lambda: L.TimeDistributed(L.Conv2D(3, 2, strides=2)))
row("TimeDistributed", (STEPS, STEPS_MASK), lambda: L.TimeDistributed(L.Dense(3)), masked)

# Words and categories
VOCABULARY = ["red", "green", "blue"]
IDS = chosen(10, 20, 30, 40, dtype="int64")
for _mode in ("int", "one_hot", "multi_hot", "count"):
    rows("StringLookup", WORDS(None, 1), given(vocabulary=VOCABULARY, output_mode=_mode, num_oov_indices=2))
    rows("IntegerLookup", IDS(None, 1), given(vocabulary=[10, 20, 30], output_mode=_mode))
    rows(
        "StringLookup", WORDS(None, 4), given(vocabulary=VOCABULARY, output_mode=_mode if _mode != "one_hot" else "int")
    )
rows(
    "StringLookup",
    WORDS(None, 4),
    given(vocabulary=VOCABULARY, output_mode="tf_idf", idf_weights=[0.5, 0.25, 1.5]),
    given(vocabulary=VOCABULARY, mask_token="", num_oov_indices=3),
)
rows("IntegerLookup", IDS(None, 4), given(vocabulary=[10, 20, 30], output_mode="tf_idf", idf_weights=[0.5, 0.25, 1.5]))
rows("IntegerLookup", IDS(None, 4), given(vocabulary=[10, 20, 30], num_oov_indices=0, mask_token=40))
for _kind, _input in (("StringLookup", below(5)(None, 4)), ("IntegerLookup", below(5)(None, 4))):
    rows(_kind, _input, given(vocabulary=VOCABULARY if _kind[0] == "S" else [10, 20, 30], invert=True))
rows("CategoryEncoding", below(5)(None, 4), given(5), given(5, output_mode="count"))
rows("CategoryEncoding", below(5)(None, 1), given(5, output_mode="one_hot"))
rows(
    "CategoryEncoding",
    (below(5)(None, 4), floats(None, 4)),
    given(5, output_mode="count"),
    call=lambda layer, x, weights: layer(x, count_weights=weights),
)
rows("Discretization", FEATURES, given([-1.0, 0.0, 0.5]), given([-1.0, 0.0, 0.5], output_mode="multi_hot"))
rows("Discretization", floats(None, 1), given([-1.0, 0.0, 0.5], output_mode="one_hot"))
rows("Discretization", FEATURES, given([-1.0, 0.0, 0.5], output_mode="count"))
rows("Hashing", WORDS(None, 4), given(7), given(7, salt=[3, 4]), given(7, mask_value=""), given(7, output_mode="count"))
rows("Hashing", WORDS(None, 1), given(7, output_mode="one_hot", salt=133))
rows("Hashing", IDS(None, 4), given(7), given(7, salt=3, output_mode="multi_hot"))
rows(
    "HashedCrossing",
    (WORDS(None), IDS(None)),
    given(11),
    given(11, output_mode="one_hot"),
    call=lambda m, *x: m(x),
    refused=(0,),
)
SENTENCES = chosen("The red fox!", "", "a b c d e f g", "naïve Füchse, red.", "blue\tgreen\n")
TEXT_VOCABULARY = ["the", "red", "fox", "blue", "a", "the red", "red fox"]
rows(
    "TextVectorization",
    SENTENCES(None),
    given(vocabulary=TEXT_VOCABULARY),
    given(vocabulary=TEXT_VOCABULARY, output_sequence_length=4, standardize="lower"),
    given(vocabulary=TEXT_VOCABULARY, ngrams=2, output_mode="multi_hot"),
    given(vocabulary=TEXT_VOCABULARY, ngrams=(2,), output_mode="count", standardize="strip_punctuation"),
    given(vocabulary=["a", "b", "x"], split="character", output_sequence_length=6),
    given(vocabulary=TEXT_VOCABULARY[:3], output_mode="tf_idf", idf_weights=[0.3, 0.6, 0.9]),
    given(vocabulary=TEXT_VOCABULARY, ragged=True),
    given(vocabulary=TEXT_VOCABULARY, standardize=None, split=lambda x: tf.strings.split(x, ",")),
)
rows("TextVectorization", SENTENCES(None, 1), given(vocabulary=TEXT_VOCABULARY, output_sequence_length=3))


def ragged(layer: Any, x: Any, lengths: Any) -> Any:
    return layer(tf.RaggedTensor.from_tensor(x, lengths))


LENGTHS = below(5)(None, dtype="int64")
rows("StringLookup", (WORDS(None, 4), LENGTHS), given(vocabulary=VOCABULARY), call=ragged)
rows("IntegerLookup", (IDS(None, 4), LENGTHS), given(vocabulary=[10, 20, 30]), call=ragged)
rows("Hashing", (WORDS(None, 4), LENGTHS), given(7), call=ragged)

# Numbers and sound
rows("Normalization", FEATURES, given(mean=2.0, variance=3.0), given(axis=None, mean=2.0, variance=3.0, invert=True))
rows("Normalization", IMAGE, given(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 3.0]))
rows("Rescaling", PIXELS, given(1 / 255), given([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]))
rows("Rescaling", below(256)(None, 4, 4, 3, dtype="uint8"), given(1 / 127.5, -1))
SOUND = floats(None, 400)
# Windows by name need SciPy, with which they are constants.
for _mode in ("log", "magnitude", "psd", "real", "imag", "angle", "stft"):
    rows("STFTSpectrogram", floats(None, 400, 1), given(_mode, frame_length=64, fft_length=128, window=None))
rows("STFTSpectrogram", floats(None, 400, 2), given(frame_length=50, frame_step=20, padding="same", window=None))
rows("STFTSpectrogram", floats(None, 400, 1), given(frame_length=64, expand_dims=True, scaling="spectrum", window=None))
rows(
    "MelSpectrogram",
    SOUND,
    given(64, 32, sequence_length=48, num_mel_bins=8),
    given(64, 32, num_mel_bins=8, power_to_db=False, window="hamming", max_freq=4000),
    ours_alone=(0,),
)

# Images
for _way in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5", "area"):
    rows("Resizing", PIXELS, given(7, 15, _way))
rows("Resizing", PIXELS, given(5, 6, antialias=True), given(9, 7, crop_to_aspect_ratio=True))
rows("Resizing", PIXELS, given(9, 7, pad_to_aspect_ratio=True, fill_value=3.0))
rows("Resizing", PIXELS, given(9, 7, data_format="channels_first"))
rows("CenterCrop", PIXELS, given(5, 6), given(14, 15))
rows("AutoContrast", PIXELS, given())
rows("ContrastLimitedAdaptiveHistogramEqualization", PIXELS, given())
rows("Equalization", PIXELS, given(), refused=(0,))
rows("Solarization", PIXELS, given(), given(0.2, 0.4))
BOXES = between(0, 9)(None, 3, 4)
rows(
    "MaxNumBoundingBoxes",
    (PIXELS, BOXES, below(4)(None, 3)),
    given(2, bounding_box_format="xyxy"),
    given(5, bounding_box_format="xyxy"),
    call=lambda layer, x, boxes, labels: layer({"images": x, "bounding_boxes": {"boxes": boxes, "labels": labels}}),
)


def at_inference(layer: Any, x: Any) -> Any:
    return layer(x, training=False)


RANDOM = {
    "AugMix": given(),
    "CutMix": given(),
    "MixUp": given(),
    "RandAugment": given(),
    "RandomBrightness": given(0.3),
    "RandomColorDegeneration": given(0.5),
    "RandomColorJitter": given((0, 255), 0.2, 0.2, 0.2, 0.2),
    "RandomContrast": given(0.3),
    "RandomCrop": given(6, 5),
    "RandomElasticTransform": given(),
    "RandomErasing": given(),
    "RandomFlip": given(),
    "RandomGaussianBlur": given(1.0, 3),
    "RandomGrayscale": given(),
    "RandomHue": given(0.2),
    "RandomInvert": given(),
    "RandomPerspective": given(),
    "RandomPosterization": given(3),
    "RandomRotation": given(0.2),
    "RandomSaturation": given(0.4),
    "RandomSharpness": given(0.5),
    "RandomShear": given(0.2, 0.2),
    "RandomTranslation": given(0.2, 0.2),
    "RandomZoom": given(0.2),
}
for _name, _arguments in RANDOM.items():
    rows(_name, PIXELS, _arguments, call=at_inference)
row("Pipeline", PIXELS, lambda: L.Pipeline([L.Rescaling(1 / 255), L.CenterCrop(6, 5), L.RandomFlip()]), at_inference)


def wrapped_model() -> Any:
    """A layer that computes what a SavedModel does, which is written first."""
    model = keras.Sequential([keras.Input((6,)), L.Dense(3, activation="relu")])
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)
        return L.TFSMLayer(folder, call_endpoint="serving_default")


row("TFSMLayer", FEATURES, wrapped_model)
