"""Nested structures of values: flat lists of their leaves, and back.

    structure = leaf | list | tuple | named tuple | mapping | view of a mapping | attrs class      of structures

Mappings are walked in the order of their keys, views such as `weights.values()` in their own. With `expand_composites`,
values made of several tensors are structures too: their parts are the leaves.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, MappingView, Sequence, ValuesView
from typing import Any

from tensorkeep.dtypes import RESOURCE
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor


def is_nested(value: object) -> bool:
    """Whether a value is a structure rather than a leaf."""
    return isinstance(value, list | tuple | Mapping | MappingView) or _is_attrs(value)


def flatten(structure: object, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure in order; a leaf alone is a list of itself."""
    parts = _parts(structure, expand_composites)
    if parts is None:
        return [structure]
    return [leaf for part in parts for leaf in flatten(part, expand_composites)]


def pack_sequence_as(structure: object, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """A structure of the same form that has other leaves."""
    count = len(flatten(structure, expand_composites))
    if not isinstance(flat_sequence, list | tuple):
        raise WrongTypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    if count != len(flat_sequence):
        raise InvalidArgumentError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had {len(flat_sequence)} items. "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack_leaves(structure, iter(flat_sequence), expand_composites)


def map_structure(func: Callable[..., Any], *structure: object, expand_composites: bool = False) -> Any:
    """A structure of the results of `func` on corresponding leaves."""
    for other in structure[1:]:
        assert_same_structure(structure[0], other, expand_composites=expand_composites)
    columns = zip(*(flatten(item, expand_composites) for item in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in columns], expand_composites)


def variables_read(structure: object) -> Any:
    """The structure with what resource variables hold, as read here, in their places."""
    return map_structure(lambda value: convert(value) if _is_resource_variable(value) else value, structure)


def _is_resource_variable(value: Any) -> bool:
    if isinstance(value, Tensor):
        return False
    handle = getattr(value, "handle", None)
    return isinstance(handle, Tensor) and handle.dtype is RESOURCE and hasattr(value, "read_value")


def assert_same_structure(
    nest1: object, nest2: object, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises if two structures differ in form, or with `check_types` in the types of their containers."""
    try:
        _assert_same(nest1, nest2, check_types, expand_composites)
    except InvalidArgumentError as error:
        raise type(error)(
            f"The two structures don't have the same nested structure.\n\nFirst structure: {nest1!r}\n\n"
            f"Second structure: {nest2!r}\n\nMore specifically: {error}"
        ) from None


def _is_attrs(value: Any) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


def _parts(value: Any, expand_composites: bool) -> list[Any] | None:
    """What a structure directly consists of; None for a leaf."""
    if isinstance(value, list | tuple | KeysView | ValuesView | ItemsView):
        return list(value)
    if isinstance(value, Mapping):
        return [value[key] for key in _sorted_keys(value)]
    if _is_attrs(value):
        return [getattr(value, attribute.name) for attribute in type(value).__attrs_attrs__]
    if not expand_composites:
        return None
    if isinstance(value, IndexedSlices):
        parts = [value.values, value.indices]
        return parts if value.dense_shape is None else [*parts, value.dense_shape]
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return None


def parts_of(structure: object) -> list[tuple[Any, Any]] | None:
    """What a structure directly consists of, with the keys, names or numbers of the parts; None for a leaf."""
    parts = _parts(structure, False)
    if parts is None:
        return None
    if isinstance(structure, Mapping):
        return list(zip(_sorted_keys(structure), parts, strict=True))
    names = getattr(structure, "_fields", None) or range(len(parts))
    return list(zip(names, parts, strict=True))


def _sorted_keys(value: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        raise WrongTypeError(f"the keys of {value!r} cannot be sorted, so the order of its leaves is open") from None


def _pack_leaves(structure: Any, leaves: Iterator[Any], expand_composites: bool) -> Any:
    parts = _parts(structure, expand_composites)
    if parts is None:
        return next(leaves)
    packed = [_pack_leaves(part, leaves, expand_composites) for part in parts]
    kind = type(structure)
    if isinstance(structure, Mapping):
        by_key = dict(zip(_sorted_keys(structure), packed, strict=True))
        results = {key: by_key[key] for key in structure}
        factory = getattr(structure, "default_factory", None)
        return kind(factory, results) if factory is not None else kind(results)
    if hasattr(kind, "_fields") or _is_attrs(structure) or isinstance(structure, IndexedSlices | SparseTensor):
        return kind(*packed)
    return list(packed) if isinstance(structure, MappingView) else kind(packed)


def _assert_same(first: Any, second: Any, check_types: bool, expand_composites: bool) -> None:
    mine, theirs = _parts(first, expand_composites), _parts(second, expand_composites)
    if mine is None and theirs is None:
        return
    if mine is None or theirs is None:
        nested, leaf = (second, first) if mine is None else (first, second)
        raise InvalidArgumentError(f'Substructure "{nested!r}" is a sequence, while substructure "{leaf!r}" is not')
    if check_types and not _same_kind(first, second):
        raise WrongTypeError(
            f"The two namedtuples or containers don't have the same sequence type. First structure has type "
            f"{type(first).__name__}, while second structure has type {type(second).__name__}"
        )
    if isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) != set(second):
        raise InvalidArgumentError(
            f"The two dictionaries don't have the same set of keys. First structure has keys {sorted(first)}, "
            f"while second structure has keys {sorted(second)}"
        )
    if len(mine) != len(theirs):
        raise InvalidArgumentError(
            "The two structures don't have the same number of elements. "
            f"First structure has {len(mine)} elements, second structure has {len(theirs)}"
        )
    for a, b in zip(mine, theirs, strict=True):
        _assert_same(a, b, check_types, expand_composites)


def _same_kind(first: Any, second: Any) -> bool:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return True
    if hasattr(first, "_fields") and hasattr(second, "_fields"):
        return type(first).__name__ == type(second).__name__ and first._fields == second._fields
    return type(first) is type(second)


__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as", "parts_of"]
