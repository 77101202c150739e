"""Rules by name: how TensorFlow and PyTorch lay out the same layers."""

from __future__ import annotations

import re
from typing import Final

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.objects.reader import VARIABLE_VALUE
from tensorkeep.convert.lstm import (
    KerasLstmToTorch,
    TensorFlowLstmToTorch,
    TorchLstmToKeras,
    TorchLstmToTensorFlow,
)
from tensorkeep.convert.norms import NormsToTensorFlow, NormsToTorch
from tensorkeep.convert.rules import (
    AnyRule,
    AveragesAsVariables,
    FirstOf,
    Fitting,
    LeaveOut,
    Preset,
    Rename,
    WithoutAverages,
    WithoutOptimizer,
)
from tensorkeep.convert.steps import Insert, Merge, Remove, Split, Transpose
from tensorkeep.edit.names import RenamePattern
from tensorkeep.errors import NotFoundError

_SCOPE: Final = r"((?:.*[/.])?)"
_KERNEL: Final = r"(kernel|weights?)"
_TURNED: Final = (Transpose((1, 0)),)
_TO_OIHW: Final = {3: Transpose((2, 1, 0)), 4: Transpose((3, 2, 0, 1)), 5: Transpose((4, 3, 0, 1, 2))}
_TO_HWIO: Final = {3: Transpose((2, 1, 0)), 4: Transpose((2, 3, 1, 0)), 5: Transpose((2, 3, 4, 1, 0))}
_DEPTHWISE_TO_TORCH: Final = (Transpose((2, 3, 0, 1)), Merge(0), Insert(1))
_EMBEDDING: Final = r"(?i)embed"
_DOTS: Final = Rename(RenamePattern("/", "."))
_SLASHES: Final = Rename(RenamePattern(r"\.", "/"))


def depthwise_to_tensorflow(multiplier: int = 1) -> Fitting:
    """Depthwise kernels of PyTorch, [C M, 1, H, W], as TensorFlow's, [H, W, C, M]. The file does not say what M is."""
    steps = (Remove(1), Split(0, multiplier), Transpose((2, 3, 0, 1)))
    return Fitting(rf"{_SCOPE}depthwise[/.]weight", r"\1depthwise_kernel", steps, rank=4)


_TO_TORCH: Final = FirstOf(
    (
        KerasLstmToTorch(),
        TensorFlowLstmToTorch(),
        Fitting(rf"{_SCOPE}depthwise_{_KERNEL}", r"\1depthwise/weight", _DEPTHWISE_TO_TORCH, rank=4),
        Fitting(rf"{_SCOPE}pointwise_{_KERNEL}", r"\1pointwise/weight", (_TO_OIHW[4],), rank=4),
        *(Fitting(rf"{_SCOPE}{_KERNEL}", r"\1weight", (step,), rank) for rank, step in _TO_OIHW.items()),
        Fitting(rf"{_SCOPE}kernel", r"\1weight", _TURNED, 2),
        Fitting(rf"{_SCOPE}weights?", r"\1weight", _TURNED, 2, unless=_EMBEDDING),
        Fitting(rf"{_SCOPE}(embeddings|embedding_weights)", r"\1weight", rank=2),
        Fitting(rf"{_SCOPE}biases", r"\1bias", rank=1),
        NormsToTorch(),
    )
)
_TO_TENSORFLOW: Final = FirstOf(
    (
        TorchLstmToTensorFlow(),
        NormsToTensorFlow(),
        depthwise_to_tensorflow(),
        Fitting(rf"{_SCOPE}pointwise[/.]weight", r"\1pointwise_kernel", (_TO_HWIO[4],), rank=4),
        *(Fitting(rf"{_SCOPE}weight", r"\1kernel", (step,), rank) for rank, step in _TO_HWIO.items()),
        Fitting(rf"{_SCOPE}weight", r"\1kernel", _TURNED, 2, unless=_EMBEDDING),
        Fitting(rf"{_SCOPE}weight", r"\1embeddings", rank=2),
    )
)

# The names of Google's BERT, and those of Hugging Face, which stand for the same with dots and another word or two.
_BERT_TRAINING: Final = LeaveOut(r".*/adam_[mv]|.*/Adam(_1)?|global_step|(.*/)?beta[12]_power")
_BERT_PARTS: Final = r"attention/self/(?:query|key|value)|(?:attention/output|intermediate|output)/dense"
_BERT_DENSE: Final = rf"(bert/encoder/layer/\d+/(?:{_BERT_PARTS})|bert/pooler/dense|cls/predictions/transform/dense)"
_BERT_NORM: Final = r"((?:bert/.*|cls/predictions/transform)/LayerNorm)"
_BERT_TABLE: Final = r"(bert/embeddings/(?:word|position|token_type)_embeddings)"
_BERT_TO_TORCH: Final = FirstOf(
    (
        Fitting(rf"{_BERT_DENSE}/kernel", r"\1/weight", _TURNED, 2),
        Fitting(rf"{_BERT_NORM}/gamma", r"\1/weight"),
        Fitting(rf"{_BERT_NORM}/beta", r"\1/bias"),
        Fitting(_BERT_TABLE, r"\1/weight", rank=2),
        Fitting(r"cls/predictions/output_bias", "cls/predictions/bias"),
        Fitting(r"cls/seq_relationship/output_weights", "cls/seq_relationship/weight"),
        Fitting(r"cls/seq_relationship/output_bias", "cls/seq_relationship/bias"),
        Fitting(r"cls/squad/output_weights", "qa_outputs/weight"),
        Fitting(r"cls/squad/output_bias", "qa_outputs/bias"),
        Fitting(r"output_weights", "classifier/weight"),
        Fitting(r"output_bias", "classifier/bias"),
    )
)
_BERT_TO_TENSORFLOW: Final = FirstOf(
    (
        LeaveOut(r"bert/embeddings/position_ids|cls/predictions/decoder/(weight|bias)"),
        Fitting(rf"{_BERT_DENSE}/weight", r"\1/kernel", _TURNED, 2),
        Fitting(rf"{_BERT_NORM}/weight", r"\1/gamma"),
        Fitting(rf"{_BERT_NORM}/bias", r"\1/beta"),
        Fitting(rf"{_BERT_TABLE}/weight", r"\1", rank=2),
        Fitting(r"cls/predictions/bias", "cls/predictions/output_bias"),
        Fitting(r"cls/seq_relationship/weight", "cls/seq_relationship/output_weights"),
        Fitting(r"cls/seq_relationship/bias", "cls/seq_relationship/output_bias"),
        Fitting(r"qa_outputs/weight", "cls/squad/output_weights"),
        Fitting(r"qa_outputs/bias", "cls/squad/output_bias"),
        Fitting(r"classifier/weight", "output_weights"),
        Fitting(r"classifier/bias", "output_bias"),
    )
)


def _layouts(steps: dict[int, Transpose]) -> tuple[Fitting, ...]:
    pattern = rf"{_SCOPE}((?:pointwise_)?(?:kernel|weights?))"
    return tuple(Fitting(pattern, r"\1\2", (step,), rank) for rank, step in steps.items())


OBJECT_PATHS: Final = Preset(
    "object-paths",
    "tensors of an object-based checkpoint by the paths of their objects; the description of the objects is left out",
    (
        FirstOf(
            (
                LeaveOut(re.escape(OBJECT_GRAPH_KEY)),
                LeaveOut(r".*/\.ATTRIBUTES/OBJECT_CONFIG_JSON"),
                Fitting(rf"(.*)/\.ATTRIBUTES/{VARIABLE_VALUE}", r"\1"),
            )
        ),
    ),
)
_ALL: Final = (
    Preset(
        "dense-transpose",
        "kernels and weights of two axes, but for weights of embeddings, are transposed: [in, out] and [out, in]",
        (
            Fitting(rf"{_SCOPE}(kernel)", r"\1\2", _TURNED, 2),
            Fitting(rf"{_SCOPE}(weights?)", r"\1\2", _TURNED, 2, unless=_EMBEDDING),
        ),
    ),
    Preset(
        "hwio-to-oihw",
        "kernels of convolutions, of one, two or three dimensions: TensorFlow's order of axes becomes PyTorch's",
        _layouts(_TO_OIHW),
    ),
    Preset(
        "oihw-to-hwio",
        "kernels of convolutions, of one, two or three dimensions: PyTorch's order of axes becomes TensorFlow's",
        _layouts(_TO_HWIO),
    ),
    Preset(
        "depthwise-to-torch",
        "depthwise_kernel [H, W, C, M] becomes depthwise/weight [C M, 1, H, W]",
        (Fitting(rf"{_SCOPE}depthwise_{_KERNEL}", r"\1depthwise/weight", _DEPTHWISE_TO_TORCH, rank=4),),
    ),
    Preset(
        "depthwise-to-tensorflow",
        "depthwise/weight [C, 1, H, W] becomes depthwise_kernel [H, W, C, 1]; of others: depthwise_to_tensorflow(M)",
        (depthwise_to_tensorflow(),),
    ),
    Preset(
        "batch-norm-to-torch",
        "gamma, beta, moving_mean, moving_variance become weight, bias, running_mean, running_var",
        (NormsToTorch(),),
    ),
    Preset(
        "batch-norm-to-tensorflow",
        "weight, bias, running_mean, running_var of normalizations become gamma, beta, moving_mean, moving_variance",
        (NormsToTensorFlow(),),
    ),
    Preset(
        "lstm-to-torch",
        "LSTM cells of TensorFlow 1 (gates i c f o) become layers of PyTorch (i f g o), their forget bias of 1 added",
        (TensorFlowLstmToTorch(),),
    ),
    Preset(
        "lstm-to-tensorflow",
        "LSTM layers of PyTorch (gates i f g o) become cells of TensorFlow 1 (i c f o), less their forget bias of 1",
        (TorchLstmToTensorFlow(),),
    ),
    Preset("keras-lstm-to-torch", "LSTM layers of Keras become layers of PyTorch", (KerasLstmToTorch(),)),
    Preset("torch-lstm-to-keras", "LSTM layers of PyTorch become layers of Keras", (TorchLstmToKeras(),)),
    Preset(
        "moving-averages",
        "moving averages take the place of their variables; to be named before presets that change names and layouts",
        (AveragesAsVariables(),),
    ),
    Preset("without-optimizer", "what only training needs is left out", (WithoutOptimizer(),)),
    OBJECT_PATHS,
    Preset("dots", "names with dots: dense/kernel becomes dense.kernel", (_DOTS,)),
    Preset("slashes", "names with slashes: dense.kernel becomes dense/kernel", (_SLASHES,)),
    Preset(
        "tensorflow-to-torch",
        "dense layers, convolutions, LSTM, normalizations as PyTorch has them; names with dots; what a module has no "
        "place for is left out: state of optimizers, the global step, moving averages (but see moving-averages)",
        (WithoutOptimizer(), LeaveOut("global_step"), WithoutAverages(), _TO_TORCH, _DOTS),
    ),
    Preset(
        "torch-to-tensorflow",
        "dense layers, convolutions, LSTM, normalizations as TensorFlow has them; names with slashes",
        (_SLASHES, _TO_TENSORFLOW),
    ),
    Preset(
        "bert",
        "Google's BERT as Hugging Face names and lays it out; what only training needs is left out",
        (
            _BERT_TRAINING,
            Rename(RenamePattern(r"encoder/layer_(\d+)", r"encoder/layer/\1")),
            _BERT_TO_TORCH,
            _DOTS,
        ),
    ),
    Preset(
        "bert-to-tensorflow",
        "Hugging Face's BERT as Google named and laid it out; decoders that share the embeddings are left out",
        (
            _SLASHES,
            Rename(RenamePattern(r"LayerNorm/gamma\Z", "LayerNorm/weight")),
            Rename(RenamePattern(r"LayerNorm/beta\Z", "LayerNorm/bias")),
            _BERT_TO_TENSORFLOW,
            Rename(RenamePattern(r"encoder/layer/(\d+)", r"encoder/layer_\1")),
        ),
    ),
)
PRESETS: Final = {preset.name: preset for preset in _ALL}
"""All presets by name."""


def rule_of(given: str | AnyRule) -> AnyRule:
    """A rule, or the preset of that name."""
    if not isinstance(given, str):
        return given
    if given not in PRESETS:
        raise NotFoundError(f'there is no preset "{given}"; there are {", ".join(PRESETS)}')
    return PRESETS[given]
