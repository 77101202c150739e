"""Variations of samples: calls of an op that nobody wrote down, drawn by chance from those that somebody did.

A variation keeps what makes a sample a call of its op, and changes one or two things: the values (ordinary ones, or the
awkward: not a number, infinity, minus zero, the ends of a type), the type, the shape of an input, the first dimension
of all of them to nothing, an attribute. Many are then no valid call any more, and both sides must refuse them.

The choice depends on the name of the op, the seed and the number of the variation, and on nothing else.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from tensorkeep.dtypes import DType, dtype_of_array
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.graph.registry.schema import AttrSchema, OpSchema
from tests.ops.sample import Sample, quantized

Chance: TypeAlias = np.random.Generator
Change: TypeAlias = Callable[[Sample, OpSchema, Chance], Sample | None]

ANY_TYPE = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "bool", "complex64")
TEXTS = (b"", b"a", b"A b", b" x ", b"-7", b"3.5", b"nan", b"\xff\x00", "\u00e9\u4e2d".encode(), b"a,b;c", b"0" * 40)


@dataclass(frozen=True)
class Variation:
    """A call of an op: its number among those drawn, what was changed, the call, and what is known of its shapes."""

    number: int
    label: str
    sample: Sample
    shapes: str


def variations(name: str, samples: Sequence[Sample], count: int, seed: int) -> list[Variation]:
    """So many variations of an op's samples, fewer where a draw changes nothing."""
    schema = get_op(name).schema
    usable = [sample for sample in samples if sample.oracle and not sample.fails and sample.inputs]
    if not usable:
        return []
    drawn = (_drawn(schema, usable, number, [seed, zlib.crc32(name.encode()), number]) for number in range(count))
    return [variation for variation in drawn if variation is not None]


def _drawn(schema: OpSchema, samples: list[Sample], number: int, seeds: list[int]) -> Variation | None:
    chance = np.random.default_rng(seeds)
    sample, labels = samples[chance.integers(len(samples))], []
    for change in chance.choice(np.array(CHANGES, object), size=chance.integers(1, 3), replace=False):
        changed = change(sample, schema, chance)
        if changed is not None:
            sample = changed
            labels.append(change.__name__)
    shapes = "known" if chance.random() < 0.3 else "nothing"
    return Variation(number, " and ".join(labels), sample, shapes) if labels else None


# ------------------------------------------------------------------------------------------------------ Values


def ordinary_values(sample: Sample, schema: OpSchema, chance: Chance) -> Sample | None:
    """Every input that holds data, drawn anew; of indices and sizes, one is moved by one."""
    scale = float(chance.choice([1e-3, 1.0, 1.0, 30.0]))
    return _mapped(sample, lambda at, array: _drawn_like(array, scale, _is_data(schema, at), chance))


def _drawn_like(array: Any, scale: float, is_data: bool, chance: Chance) -> Any:
    kind, shape = array.dtype, array.shape
    if kind == np.object_:
        return _objects([TEXTS[at] for at in chance.integers(len(TEXTS), size=array.size)], shape)
    if kind == np.bool_:
        return chance.random(shape) < 0.5
    if _is_whole(kind):
        if not is_data:
            return _with_elements(array, chance, lambda old: int(old) + int(chance.integers(-1, 2)))
        limits = ml_dtypes.iinfo(kind)
        low, high = max(int(limits.min), -12), min(int(limits.max), 12)
        return chance.integers(low, high, shape, endpoint=True).astype(kind)
    drawn = chance.standard_normal(shape) * scale
    if np.issubdtype(kind, np.complexfloating):
        drawn = drawn + 1j * chance.standard_normal(shape) * scale
    return drawn.astype(kind)


def awkward_values(sample: Sample, schema: OpSchema, chance: Chance) -> Sample | None:
    """A few elements of one input at the ends of its type, or no numbers at all."""
    places = [place for place in _places(sample) if _at(sample, place).size]
    if not places:
        return None
    place = places[chance.integers(len(places))]
    choices = _awkward(_plain(_at(sample, place)).dtype, _is_data(schema, place[0]))
    return _changed(
        sample, place, lambda array: _with_elements(array, chance, lambda _: choices[chance.integers(len(choices))])
    )


def _awkward(kind: Any, is_data: bool) -> tuple[Any, ...]:
    """Awkward values of a type; of indices and sizes none that could ask for more memory than there is."""
    if kind == np.object_:
        return TEXTS
    if kind == np.bool_:
        return (True, False)
    if _is_whole(kind):
        limits = ml_dtypes.iinfo(kind)
        small = (int(limits.min), 0, 1, 2, 5, 100, *((-1, -2, -100) if limits.min else ()))
        return (*small, int(limits.max), int(limits.max) - 1) if is_data else small
    tiny, huge = _finfo(kind)
    return (np.nan, np.inf, -np.inf, -0.0, 0.0, tiny, -tiny, huge, -huge, 1.0, -1.0, 0.5, 2.5)


def _finfo(kind: Any) -> tuple[float, float]:
    """The smallest normal and the largest number of a type with a fraction."""
    limits = ml_dtypes.finfo(dtype_of_array(np.dtype(kind)).real_dtype.array_dtype)
    return float(limits.tiny), float(limits.max)


# ------------------------------------------------------------------------------------------------- Types and shapes


def other_type(sample: Sample, schema: OpSchema, chance: Chance) -> Sample | None:
    """Another type that the signature allows, in every input that has it."""
    attrs = [attr for attr in schema.attrs if attr.kind == "type"]
    if not attrs:
        return None
    attr = attrs[chance.integers(len(attrs))]
    allowed = [DType.of(item) for item in attr.allowed or ANY_TYPE]
    dtype = allowed[chance.integers(len(allowed))]
    if attr.name not in schema.inferred_attrs:
        return replace(sample, attrs={**sample.attrs, attr.name: dtype.name})
    if any(arg.type_attr == attr.name and arg.is_ref for arg in schema.inputs):
        return None
    typed = [at for at, arg in enumerate(schema.inputs) if arg.type_attr == attr.name]
    return _mapped(sample, lambda at, array: _cast(array, dtype) if at in typed else array, marked=dtype, only=typed)


def _cast(array: Any, dtype: DType) -> Any:
    if dtype.is_object:
        if array.dtype == object:
            return array
        return _objects([str(item).encode() for item in array.reshape(-1).tolist()], array.shape)
    if array.dtype == object:
        array = np.arange(array.size, dtype=np.float64).reshape(array.shape) - 1
    target = dtype.array_dtype
    with np.errstate(all="ignore"):
        if _is_whole(target) and not _is_whole(array.dtype) and array.dtype != bool:
            return np.nan_to_num(array.astype(np.complex128).real * 4).astype(np.int64).astype(target)
        wide = array.astype(np.complex128) if not dtype.is_complex else array
        return (wide if dtype.is_complex or not np.iscomplexobj(wide) else wide.real).astype(target)


def nothing_first(sample: Sample, schema: OpSchema, chance: Chance) -> Sample | None:
    """No element along the first dimension: of the first input, and mostly of all others that are as long."""
    arrays = {place: _at(sample, place) for place in _places(sample)}
    lead = next((array.shape[0] for array in arrays.values() if array.ndim), None)
    if lead is None:
        return None
    together = chance.random() < 0.7
    first = next(place for place, array in arrays.items() if array.ndim)
    for place, array in arrays.items():
        if array.ndim and array.shape[0] == lead and (together or place == first):
            sample = _changed(sample, place, lambda old: old[:0])
    return sample


def other_shape(sample: Sample, schema: OpSchema, chance: Chance) -> Sample | None:
    """One input with a dimension more, less, or of another size."""
    places = [place for place in _places(sample) if _at(sample, place).ndim]
    if not places:
        return None
    place = places[chance.integers(len(places))]
    shapings: tuple[Callable[[Any], Any], ...] = (
        lambda array: array[:1],
        lambda array: array[..., :1],
        lambda array: array[0] if len(array) else array,
        lambda array: array[None],
        lambda array: array[..., None],
        lambda array: array[1:],
        lambda array: np.concatenate([array, array[:1]]),
        lambda array: array[..., :0],
        lambda array: np.swapaxes(array, 0, -1),
    )
    return _changed(sample, place, shapings[chance.integers(len(shapings))])


def other_attribute(sample: Sample, schema: OpSchema, chance: Chance) -> Sample | None:
    """One attribute that the inputs do not determine, with another value of its kind."""
    attrs = [attr for attr in schema.attrs if attr.name not in schema.inferred_attrs | schema.counts]
    attrs = [attr for attr in attrs if attr.kind in ("bool", "int", "float", "string", "list(int)")]
    if not attrs:
        return None
    attr = attrs[chance.integers(len(attrs))]
    old = sample.attrs.get(attr.name, attr.default if attr.has_default else None)
    value = _other_value(attr, old, chance)
    return None if value is None else replace(sample, attrs={**sample.attrs, attr.name: value})


def _other_value(attr: AttrSchema, old: Any, chance: Chance) -> Any:
    if attr.allowed:
        item = attr.allowed[chance.integers(len(attr.allowed))]
        return None if attr.kind.startswith("list") else item
    match attr.kind:
        case "bool":
            return not old
        case "int" if old is not None and "seed" not in attr.name:
            return min(max(int(old) + int(chance.integers(-2, 3)), -(2**31)), 2**31 - 1)
        case "float" if old is not None:
            return float(chance.choice([0.0, -1.0, 1.0, 0.5, 10.0, float(old) * 2]))
        case "list(int)" if old:
            items = [int(item) for item in old]
            items[chance.integers(len(items))] += int(chance.choice([-1, 1]))
            return items
    return None


CHANGES: tuple[Change, ...] = (
    ordinary_values,
    awkward_values,
    other_type,
    nothing_first,
    other_shape,
    other_attribute,
)


# ------------------------------------------------------------------------------------------------------ Inputs

Place: TypeAlias = tuple[int, int | None]


def _places(sample: Sample) -> list[Place]:
    """Where the arrays of a sample are: the position of an input, and that within its list where it is one."""
    places: list[Place] = []
    for at, item in enumerate(sample.inputs):
        if isinstance(item, list):
            places += [(at, part) for part in range(len(item))]
        elif item is not None:
            places.append((at, None))
    return places


def _at(sample: Sample, place: Place) -> Any:
    item = sample.inputs[place[0]]
    return np.asarray(item if place[1] is None else item[place[1]])


def _changed(sample: Sample, place: Place, change: Callable[[Any], Any], marked: DType | None = None) -> Sample:
    """The sample with one array changed; `marked` is its new type, where that is another."""
    array = _at(sample, place)
    dtype = dtype_of_array(array.dtype)
    result = change(_plain(array))
    wanted = marked or dtype
    if wanted.quantized:
        result = quantized(result, wanted.name)
    inputs = list(sample.inputs)
    if place[1] is None:
        inputs[place[0]] = result
    else:
        inputs[place[0]] = [result if at == place[1] else part for at, part in enumerate(inputs[place[0]])]
    return replace(sample, inputs=tuple(inputs))


def _mapped(
    sample: Sample,
    change: Callable[[int, Any], Any],
    marked: DType | None = None,
    only: Sequence[int] | None = None,
) -> Sample:
    for place in _places(sample):
        if only is None or place[0] in only:
            sample = _changed(sample, place, lambda array, at=place[0]: change(at, array), marked)  # type: ignore[misc]
    return sample


def _plain(array: Any) -> Any:
    """Without the name of a quantised type."""
    return array[array.dtype.names[0]] if array.dtype.names else array


def _with_elements(array: Any, chance: Chance, value: Callable[[Any], Any]) -> Any:
    """A copy in which up to three elements are others."""
    result = np.array(array)
    if not result.size:
        return result
    with np.errstate(all="ignore"):
        for at in chance.integers(result.size, size=chance.integers(1, 4)):
            index = np.unravel_index(at, result.shape)
            new = value(result[index])
            if _is_whole(result.dtype):
                limits = ml_dtypes.iinfo(result.dtype)
                new = min(max(int(new), int(limits.min)), int(limits.max))
            result[index] = new
    return result


def _objects(items: list[bytes], shape: tuple[int, ...]) -> Any:
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def _is_data(schema: OpSchema, position: int) -> bool:
    """Whether an input holds numbers to compute with, rather than indices, sizes or axes."""
    arg = schema.inputs[position]
    if not arg.type_attr:
        return arg.dtype is not None and not arg.dtype.is_integer
    allowed = schema.attr_by_name[arg.type_attr].allowed
    return not allowed or any(not DType.of(item).is_integer for item in allowed) or len(allowed) > 3


def _is_whole(kind: Any) -> bool:
    dtype = dtype_of_array(np.dtype(kind))
    return dtype.is_integer
