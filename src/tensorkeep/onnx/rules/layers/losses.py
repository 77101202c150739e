"""Losses that begin with a softmax, and the decoding of sequences of classes."""

from __future__ import annotations

from tensorkeep.dtypes import BOOL, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.layers.windows import widened_value
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term


@rule("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(to: OnnxGraph, features: Term, labels: Term) -> tuple[Term, Term]:
    """The loss of each row, and the gradient of its logits."""
    logits, targets = widened_value(to, features), widened_value(to, labels)
    log_chances = to.node("LogSoftmax", logits, axis=-1)
    loss = to.node("Neg", to.reduce("ReduceSum", to.node("Mul", targets, log_chances), [1]))
    gradient = to.node("Sub", to.node("Softmax", logits, axis=-1), targets)
    return to.cast(loss, features.dtype), to.cast(gradient, features.dtype)


@rule("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(to: OnnxGraph, features: Term, labels: Term) -> tuple[Term, Term]:
    """The same for labels that are the numbers of classes."""
    if to.model.is_for_engine and labels.array is None:
        to.refuse("ONNX takes a label of -1 for the last class, where it is an error")
    logits = widened_value(to, features)
    classes = to.shape(logits, 1)
    log_chances = to.node("LogSoftmax", logits, axis=-1)
    rows = to.unsqueeze(labels, [1])
    loss = to.node("Neg", to.squeeze(to.node("GatherElements", log_chances, rows, axis=1), [1]))
    one_hot = to.node(
        "OneHot", to.cast(labels, INT64), classes, to.constant([0, 1], logits.dtype), dtype=logits.dtype, axis=1
    )
    gradient = to.node("Sub", to.node("Softmax", logits, axis=-1), one_hot)
    return to.cast(loss, features.dtype), to.cast(gradient, features.dtype)


@rule("CTCGreedyDecoder")
def ctc_greedy_decoder(
    to: OnnxGraph, inputs: Term, sequence_length: Term, *, merge_repeated: bool, blank_index: int
) -> tuple[Term, Term, Term, Term]:
    """The best class of each step, without blanks and, if that is asked for, without repeats, as a sparse matrix."""
    if to.model.is_for_engine:
        to.refuse("ONNX does not fail for sequences that are longer than the steps")
    best = to.node("ArgMax", inputs, dtype=INT64, axis=2, keepdims=0)  # (steps, batch)
    steps, batch = to.shape(inputs, 0, 1), to.shape(inputs, 1, 2)
    count = to.squeeze(steps, [0])
    numbers = to.unsqueeze(to.node("Range", to.constant(0), count, to.constant(1)), [1])
    inside = to.node("Less", numbers, to.cast(sequence_length, INT64), dtype=BOOL)
    peaks = to.reduce("ReduceMax", inputs, [2])
    log_probability = to.node("Neg", to.reduce("ReduceSum", to.node("Where", inside, peaks, to.like(inputs, 0),
                                                                    dtype=inputs.dtype), [0]))  # fmt: skip
    blank = to.constant(blank_index) if blank_index >= 0 else to.node(
        "Add", to.squeeze(to.shape(inputs, 2, 3), [0]), to.constant(blank_index)
    )  # fmt: skip
    kept = to.node("And", inside, _differ(to, best, blank))
    if merge_repeated:
        none = to.node("Expand", to.constant([[-1]]), to.concat([to.constant([1]), batch], 0))
        before = to.concat([none, to.slice(best, [0], [-1], [0])], 0)
        kept = to.node("And", kept, _differ(to, best, before))
    by_row = to.transpose(kept, [1, 0])
    places = to.transpose(to.node("NonZero", by_row, dtype=INT64), [1, 0])  # (kept, 2): row and step
    values = to.node("GatherND", to.transpose(best, [1, 0]), places)
    ordinal = to.node("CumSum", to.cast(by_row, INT64), to.constant(1))
    at = to.node("Sub", to.node("GatherND", ordinal, places), to.constant(1))
    row = to.slice(places, [0], [1], [1])
    indices = to.concat([row, to.unsqueeze(at, [1])], 1)
    counts = to.reduce("ReduceSum", to.cast(by_row, INT64), [1])
    longest = to.reduce("ReduceMax", counts, [0], keepdims=True)
    return indices, values, to.concat([batch, longest], 0), to.unsqueeze(log_probability, [1])


def _differ(to: OnnxGraph, a: Term, b: Term) -> Term:
    return to.node("Not", to.node("Equal", a, b, dtype=BOOL))
