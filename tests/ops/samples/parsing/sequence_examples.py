"""Samples of ops that parse SequenceExamples."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.proto.messages import SequenceExample
from tests.ops.sample import Sample, sample, strings
from tests.ops.samples.parsing.examples import (
    FLOATS,
    INTEGERS,
    NO_FLOATS,
    NO_INTEGERS,
    NOTHING,
    TEXT,
    feature,
    keys,
    texts,
)


def sequence(context: dict[str, Any] | None = None, **lists: Any) -> bytes:
    made = SequenceExample()
    for key, values in (context or {}).items():
        made.context.feature[key].CopyFrom(feature(values))
    for key, rows in lists.items():
        target = made.feature_lists.feature_list[key]
        target.SetInParent()
        for row in rows:
            target.feature.add().CopyFrom(feature(row))
    return made.SerializeToString()


LONG = sequence(
    {"c": [1.5, 2.5], "n": [b"name"], "i": [1, -2, 3], "s": [b"a", b"bc"]},
    f=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    w=[[b"x"], [b"y", b"z"], None],
    k=[[1], [2]],
)
SHORT = sequence({"c": [0.0, -1.0], "n": [b"m"], "i": NO_INTEGERS}, f=[[7.0, 8.0]], w=[], k=[])
EMPTY = sequence({"c": [3.0, 4.0], "n": [b""], "s": None}, f=[], k=[[9]], w=[[b""], None, [b"q"] * 3])
BATCH = texts(LONG, SHORT, EMPTY)
MANY = texts(*([LONG, EMPTY, SHORT] * 4))
WRONG = [
    b"\x0a",
    b"\xff",
    b"",
    sequence({"c": [1.0], "n": [b"m"]}, f=[], k=[]),
    sequence({"c": [1, 2], "n": [b"m"]}, f=[], k=[]),
    sequence({"c": [1.0, 2.0], "n": [b"m"]}, k=[]),
    sequence({"c": [1.0, 2.0], "n": [b"m"]}, f=[[1.0]], k=[]),
    sequence({"c": [1.0, 2.0], "n": [b"m"]}, f=[[1, 2]], k=[]),
    sequence({"c": [1.0, 2.0], "n": [b"m"]}, f=[None], k=[]),
    sequence({"c": None, "n": [b"m"]}, f=[], k=[]),
    sequence({"c": [1.0, 2.0], "n": [b"m"], "i": [1.0]}, f=[], k=[]),
    sequence({"c": [1.0, 2.0], "n": [b"m"]}, f=[], k=[], w=[[1]]),
]

TYPES: dict[str, Any] = {
    "context_sparse_types": [INTEGERS, TEXT],
    "context_dense_shapes": [[2], []],
    "feature_list_dense_types": [FLOATS, INTEGERS],
    "feature_list_sparse_types": [TEXT],
    "feature_list_dense_shapes": [[2], [1]],
}
FIRST: dict[str, Any] = {
    **TYPES,
    "feature_list_dense_missing_assumed_empty": [b"k"],
    "context_sparse_keys": [b"i", b"s"],
    "context_dense_keys": [b"c", b"n"],
    "feature_list_sparse_keys": [b"w"],
    "feature_list_dense_keys": [b"f", b"k"],
    "Ncontext_sparse": 2,
    "Ncontext_dense": 2,
    "Nfeature_list_sparse": 1,
    "Nfeature_list_dense": 2,
}
SECOND: dict[str, Any] = {
    **TYPES,
    "Ncontext_sparse": 2,
    "Nfeature_list_sparse": 1,
    "Nfeature_list_dense": 2,
}
REQUIRED = [NO_FLOATS, NOTHING]


def second(serialized: Any, names: Any = NOTHING, defaults: Any = REQUIRED) -> tuple[Any, ...]:
    return (
        serialized,
        names,
        texts(b"i", b"s"),
        texts(b"c", b"n"),
        NOTHING,
        texts(b"w"),
        texts(b"f", b"k"),
        NOTHING,
        np.array([False, True]),
        defaults,
    )


def ragged(serialized: Any) -> tuple[Any, ...]:
    missing = np.empty(0, np.bool_)
    return (serialized, NOTHING, NOTHING, NOTHING, texts(b"i", b"s"), NOTHING, NOTHING, texts(b"w", b"k"), missing, [])


RAGGED: dict[str, Any] = {
    "context_ragged_value_types": [INTEGERS, TEXT],
    "context_ragged_split_types": [np.int32, np.int64],
    "feature_list_ragged_value_types": [TEXT, INTEGERS],
    "feature_list_ragged_split_types": [np.int64, np.int32],
}


def single(serialized: bytes, name: bytes = b"", defaults: Any = REQUIRED) -> tuple[Any, ...]:
    return (
        strings(serialized),
        texts(b"k"),
        keys(b"i", b"s"),
        keys(b"c", b"n"),
        keys(b"w"),
        keys(b"f", b"k"),
        defaults,
        strings(name),
    )


GIVEN = [np.array([0.5, 0.25], FLOATS), strings(b"d")]

SAMPLES: dict[str, list[Sample]] = {
    "ParseSequenceExample": [
        sample(BATCH, NOTHING, REQUIRED, **FIRST),
        sample(MANY, NOTHING, REQUIRED, **FIRST),
        sample(BATCH, texts(b"1", b"2", b"3"), REQUIRED, **FIRST),
        sample(texts(LONG, sequence(f=[])), NOTHING, GIVEN, **FIRST, gradient=False),
        sample(NOTHING, NOTHING, GIVEN, **FIRST, gradient=False),
        sample(NOTHING, NOTHING, REQUIRED, fails=True, **FIRST),
        sample(BATCH, texts(b"1"), REQUIRED, fails=True, **FIRST),
        *(sample(texts(item), NOTHING, REQUIRED, fails=True, **FIRST) for item in WRONG),
        *(sample(texts(SHORT, item), NOTHING, REQUIRED, fails=True, **FIRST) for item in WRONG),
        sample(BATCH, NOTHING, REQUIRED, fails=True, **{**FIRST, "context_sparse_keys": [b"i", b"c"]}),
        sample(BATCH, NOTHING, REQUIRED, fails=True, **{**FIRST, "feature_list_dense_shapes": [[None], [1]]}),
    ],
    "ParseSequenceExampleV2": [
        sample(*second(BATCH), **SECOND),
        sample(*second(MANY), **SECOND),
        sample(*second(strings(LONG)), **SECOND),
        sample(*second(strings(SHORT), strings(b"n")), **SECOND),
        sample(*second(strings(EMPTY)), **SECOND),
        sample(*second(BATCH, texts(b"1", b"2", b"3")), **SECOND),
        sample(*second(texts(sequence(f=[]), LONG), defaults=GIVEN), **SECOND, gradient=False),
        sample(*second(NOTHING, defaults=GIVEN), **SECOND, gradient=False),
        sample(*ragged(BATCH), **RAGGED),
        sample(*ragged(NOTHING), **RAGGED),
        sample(*ragged(strings(LONG)), **RAGGED, unspecified=(2, 3, 6, 7)),
        *(sample(*second(strings(item)), fails=True, **SECOND) for item in WRONG),
        *(sample(*second(texts(LONG, item)), fails=True, **SECOND) for item in WRONG),
    ],
    "ParseSingleSequenceExample": [
        *(sample(*single(item), **TYPES) for item in (LONG, SHORT, EMPTY)),
        sample(*single(sequence(f=[[1.0, 2.0]]), b"name", GIVEN), **TYPES, gradient=False),
        *(sample(*single(item), fails=True, **TYPES) for item in WRONG),
    ],
}
