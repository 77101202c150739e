"""Samples of ops that parse Examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.proto.messages import Example, Feature
from tests.ops.sample import Sample, sample, strings

FLOATS, INTEGERS, TEXT = np.float32, np.int64, np.dtype(object)


def feature(values: Any) -> Feature:
    """A feature of the kind of its values; None is one without a list."""
    made = Feature()
    if values is None:
        return made
    items = np.asarray(values).reshape(-1).tolist()
    kind = np.asarray(values).dtype.kind
    if kind == "f":
        made.float_list.value.extend(items)
        made.float_list.SetInParent()
    elif kind in "iu":
        made.int64_list.value.extend(items)
        made.int64_list.SetInParent()
    else:
        made.bytes_list.value.extend(values)
        made.bytes_list.SetInParent()
    return made


def example(**features: Any) -> bytes:
    made = Example()
    for key, values in features.items():
        made.features.feature[key].CopyFrom(feature(values))
    return made.SerializeToString()


def unpacked(key: bytes, kind: int, values: bytes) -> bytes:
    """An example of one feature, whose list is given as bytes."""
    inner = field(kind, values)
    return field(1, field(1, field(1, key) + field(2, inner)))


def field(number: int, contents: bytes) -> bytes:
    assert len(contents) < 0x80
    return bytes([number << 3 | 2, len(contents)]) + contents


def texts(*items: bytes) -> Any:
    return strings(list(items)) if items else np.empty(0, object)


def keys(*names: bytes) -> list[Any]:
    return [strings(name) for name in names]


NOTHING = texts()
NONE: dict[str, Any] = {"sparse_types": [], "ragged_value_types": [], "ragged_split_types": [], "num_sparse": 0}
NO_FLOATS, NO_INTEGERS = np.empty(0, FLOATS), np.empty(0, INTEGERS)

FULL = example(f=[1.5, -2.0], i=[3, -4, 1 << 40], s=[b"x", b"", b"yz"], one=[7], name=[b"n"], mat=[1.0, 2.0, 3.0, 4.0])
BARE = example(one=[8], name=[b"m"], f=[0.0, float("inf")], mat=[0.0] * 4)
MIXED = example(i=NO_INTEGERS, s=None, f=[9.0, 8.0], one=[-1], name=[b""], mat=[5.0] * 4)
BATCH = texts(FULL, BARE, MIXED)
MANY = texts(*([FULL, BARE, MIXED, FULL] * 5))
TWICE = texts(FULL + BARE, *([MIXED] * 9))  # two examples in one: the later feature of a key counts

LOOSE = unpacked(b"i", 3, b"\x08\x05\x08\x96\x01") + unpacked(b"f", 2, b"\x0d\0\0\x80?\x0d\0\0\0@")
FOREIGN = b"\x10\x05" + BARE + b"\x19" + bytes(8) + b"\x25" + bytes(4) + b"\x32\x03abc"

DENSE_KEYS = (b"f", b"name", b"one")


def dense_inputs(serialized: Any, names: Any = NOTHING) -> tuple[Any, ...]:
    return serialized, names, [], keys(*DENSE_KEYS), [NO_FLOATS, NOTHING, NO_INTEGERS]


def dense_v2(serialized: Any, names: Any = NOTHING) -> tuple[Any, ...]:
    return serialized, names, NOTHING, texts(*DENSE_KEYS), NOTHING, [NO_FLOATS, NOTHING, NO_INTEGERS]


DENSE: dict[str, Any] = {"sparse_types": [], "dense_shapes": [[2], [], [1]]}
DENSE_V2: dict[str, Any] = {**NONE, "dense_shapes": [[2], [], [1]]}


def sparse_inputs(serialized: Any) -> tuple[Any, ...]:
    return serialized, NOTHING, keys(b"i", b"s", b"f", b"absent"), [], []


SPARSE: dict[str, Any] = {"sparse_types": [INTEGERS, TEXT, FLOATS, FLOATS], "dense_shapes": []}


def sparse_v2(serialized: Any) -> tuple[Any, ...]:
    return serialized, NOTHING, texts(b"i", b"s", b"f", b"absent"), NOTHING, NOTHING, []


SPARSE_V2: dict[str, Any] = {**NONE, "num_sparse": 4, **SPARSE}
VARYING_DEFAULTS = [FLOATS(-1), strings(b"pad"), INTEGERS(9)]
VARYING: dict[str, Any] = {**NONE, "dense_shapes": [[None, 2], [None], [None]]}


def varying_v2(serialized: Any) -> tuple[Any, ...]:
    return serialized, NOTHING, NOTHING, texts(b"f", b"s", b"i"), NOTHING, VARYING_DEFAULTS


DEFAULTS = [np.array([[1, 2], [3, 4]], FLOATS), texts(b"p", b"q", b"r"), np.array([5, 6, 7], INTEGERS)]
DEFAULTED: dict[str, Any] = {**NONE, "dense_shapes": [[2, 2], [3], [3]]}


def defaulted_v2(serialized: Any) -> tuple[Any, ...]:
    return serialized, NOTHING, NOTHING, texts(b"mat", b"s", b"i"), NOTHING, DEFAULTS


def ragged_v2(serialized: Any) -> tuple[Any, ...]:
    return serialized, NOTHING, NOTHING, NOTHING, texts(b"i", b"s", b"f"), []


RAGGED: dict[str, Any] = {
    **NONE,
    "ragged_value_types": [INTEGERS, TEXT, FLOATS],
    "ragged_split_types": [np.int32, np.int64, np.int64],
    "dense_shapes": [],
}
ONLY_F: dict[str, Any] = {**NONE, "dense_shapes": [[2]]}


def only_f(serialized: Any, default: Any = NO_FLOATS, names: Any = NOTHING, key: bytes = b"f") -> tuple[Any, ...]:
    return serialized, names, NOTHING, texts(key), NOTHING, [default]


WRONG = [
    texts(b"\x0a"),
    texts(b"junk"),
    texts(example(f=[1.0])),
    texts(example(f=[1.0, 2.0, 3.0])),
    texts(example(f=[1, 2])),
    texts(example(f=[b"a", b"b"])),
    texts(example(g=[1.0, 2.0])),
    texts(example(f=None)),
    texts(unpacked(b"f", 4, b"")),
    texts(unpacked(b"f", 2, b"\x0a\x08abc")),
    texts(unpacked(b"f", 2, b"\x08\x01")),
    texts(*([BARE] * 12), example(f=[1.0]), *([BARE] * 12)),
]
ACCEPTED = [BATCH, MANY, TWICE, NOTHING, texts(FOREIGN, BARE), texts(BARE + BARE, BARE)]

SAMPLES: dict[str, list[Sample]] = {
    "ParseExampleV2": [
        *(sample(*dense_v2(item), **DENSE_V2) for item in (*ACCEPTED, strings(FULL))),
        *(sample(*sparse_v2(item), **SPARSE_V2) for item in (*ACCEPTED, strings(FULL), strings(MIXED), strings(b""))),
        *(sample(*varying_v2(item), **VARYING) for item in (*ACCEPTED, strings(FULL), strings(MIXED))),
        *(
            sample(*defaulted_v2(item), gradient=False, **DEFAULTED)
            for item in (texts(FULL, example()), texts(*([FULL, BARE] * 6)), strings(FULL), strings(b""), NOTHING)
        ),
        *(sample(*ragged_v2(item), **RAGGED) for item in (*ACCEPTED, strings(FULL), strings(b""))),
        sample(*sparse_v2(texts(LOOSE, *([FULL] * 9))), **SPARSE_V2),
        sample(*sparse_v2(strings(LOOSE)), **SPARSE_V2),
        sample(*dense_v2(BATCH, texts(b"a", b"b", b"c")), **DENSE_V2),
        sample(*only_f(BATCH, np.ones(2, FLOATS)), **ONLY_F),
        sample(*only_f(texts(example(f=None)), np.ones(2, FLOATS)), **ONLY_F),
        *(sample(*only_f(item), fails=True, **ONLY_F) for item in WRONG),
        *(sample(*only_f(strings(item[0])), fails=True, **ONLY_F) for item in WRONG[:-1]),
        sample(*only_f(texts(BARE), np.ones(3, FLOATS)), fails=True, **ONLY_F),
        sample(*only_f(texts(BARE), names=texts(b"a", b"b")), fails=True, **ONLY_F),
        sample(*only_f(strings([[BARE]])), fails=True, **ONLY_F),
        sample(*only_f(texts(BARE)), fails=True, **{**ONLY_F, "dense_shapes": [[2, None]]}),
        sample(*only_f(texts(BARE)), fails=True, **{**ONLY_F, "dense_shapes": [None]}),
        sample(*varying_v2(texts(example(f=[1.0, 2.0, 3.0]))), fails=True, **VARYING),
        sample(*varying_v2(strings(example(f=[1.0, 2.0, 3.0]))), fails=True, **VARYING),
        sample(*sparse_v2(texts(example(i=[1.0]))), fails=True, **SPARSE_V2),
        sample(*sparse_v2(strings(example(i=[1.0]))), fails=True, **SPARSE_V2),
        sample(
            texts(BARE),
            NOTHING,
            NOTHING,
            texts(b"f", b"f"),
            NOTHING,
            [NO_FLOATS] * 2,
            fails=True,
            **NONE | {"dense_shapes": [[2], [2]]},
        ),
        sample(texts(BARE), NOTHING, NOTHING, NOTHING, NOTHING, [NO_FLOATS], fails=True, **ONLY_F),
    ],
    "ParseExample": [
        *(sample(*dense_inputs(item), **DENSE) for item in ACCEPTED),
        *(sample(*sparse_inputs(item), **SPARSE) for item in ACCEPTED),
        sample(*dense_inputs(BATCH, texts(b"a", b"b", b"c")), **DENSE),
        sample(
            BATCH, NOTHING, keys(b"i"), keys(b"f"), [np.ones(2, FLOATS)], sparse_types=[INTEGERS], dense_shapes=[[2]]
        ),
        sample(BATCH, NOTHING, [], keys(b"f"), [FLOATS(0)], sparse_types=[], dense_shapes=[[None]], gradient=False),
        sample(texts(b"\x0a"), NOTHING, keys(b"i"), [], [], sparse_types=[INTEGERS], dense_shapes=[], fails=True),
        sample(strings(FULL), NOTHING, keys(b"i"), [], [], sparse_types=[INTEGERS], dense_shapes=[], fails=True),
        sample(BATCH, NOTHING, keys(b"i"), [], [], sparse_types=[], dense_shapes=[], fails=True),
    ],
    "ParseSingleExample": [
        *(
            sample(
                strings(item),
                [np.zeros(2, FLOATS), NOTHING, INTEGERS(1)],
                num_sparse=2,
                sparse_keys=[b"i", b"s"],
                dense_keys=[b"f", b"name", b"none"],
                sparse_types=[INTEGERS, TEXT],
                dense_shapes=[[2], [1], []],
            )
            for item in (FULL, BARE, MIXED, FULL + BARE, FOREIGN)
        ),
        sample(
            strings(b""),
            [FLOATS(1)],
            num_sparse=0,
            sparse_keys=[],
            dense_keys=[b"f"],
            sparse_types=[],
            dense_shapes=[[None, 2]],
        ),
        *(
            sample(
                strings(item),
                [NO_FLOATS],
                num_sparse=0,
                sparse_keys=[],
                dense_keys=[b"f"],
                sparse_types=[],
                dense_shapes=[[2]],
                fails=True,
            )
            for item in (b"", b"\x0a", example(f=[1]), example(f=[1.0]))
        ),
        sample(
            texts(BARE), [], num_sparse=0, sparse_keys=[], dense_keys=[], sparse_types=[], dense_shapes=[], fails=True
        ),
    ],
}
