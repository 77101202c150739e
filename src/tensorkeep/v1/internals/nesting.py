"""What `tensorflow.python.util.nest` has besides `tf.nest`: structures that follow the form of another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.tf1.functions.structures import flatten, is_nested, map_structure, pack_sequence_as, parts_of


def is_sequence(seq: object) -> bool:
    """Whether a value is a structure rather than a leaf; the older name of `is_nested`."""
    return is_nested(seq)


is_nested_or_composite = is_sequence_or_composite = is_nested


def is_mapping(obj: object) -> bool:
    """Whether a value is a mapping."""
    return isinstance(obj, Mapping)


def flatten_up_to(shallow_tree: object, input_tree: object, check_types: bool = True) -> list[Any]:
    """The parts of a structure in the places where another one, of the same form as far as it goes, has leaves."""
    return [part for _, part in _pairs((), shallow_tree, input_tree)]


def flatten_with_tuple_paths(structure: object, expand_composites: bool = False) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of a structure, each with the keys and numbers that lead to it."""
    return list(_pairs((), structure, structure))


def flatten_with_joined_string_paths(
    structure: object, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """The leaves of a structure, each with the keys and numbers that lead to it as one text."""
    return [(separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure)]


def yield_flattened_up_to(shallow_tree: object, input_tree: object) -> Iterator[Any]:
    """`flatten_up_to`, one part at a time."""
    yield from flatten_up_to(shallow_tree, input_tree)


def assert_shallow_structure(shallow_tree: object, input_tree: object, check_types: bool = True) -> None:
    """Raises unless a structure has the form of another one, as far as that goes."""
    for _ in _pairs((), shallow_tree, input_tree):
        pass


def map_structure_up_to(shallow_tree: object, func: Callable[..., Any], *inputs: object, **kwargs: object) -> Any:
    """A structure of the form of `shallow_tree`, of the results of `func` on the parts that others have there."""
    columns = zip(*(flatten_up_to(shallow_tree, tree) for tree in inputs), strict=True)
    return pack_sequence_as(shallow_tree, [func(*parts) for parts in columns])


def map_structure_with_paths(func: Callable[..., Any], *structure: object, **kwargs: object) -> Any:
    """`map_structure` with a function that is told first where the leaves are, as one text."""
    paths = [path for path, _ in flatten_with_joined_string_paths(structure[0])]
    left = iter(paths)
    return map_structure(lambda *leaves: func(next(left), *leaves), *structure)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: object, **kwargs: object) -> Any:
    """`map_structure` with a function that is told first which keys and numbers lead to the leaves."""
    left = iter([path for path, _ in flatten_with_tuple_paths(structure[0])])
    return map_structure(lambda *leaves: func(next(left), *leaves), *structure)


def get_traverse_shallow_structure(traverse_fn: Callable[[Any], Any], structure: object) -> Any:
    """The form of a structure, as deep as a function says that it shall be gone into."""
    if not is_nested(structure) or not traverse_fn(structure):
        return False
    parts = parts_of(structure) or []
    inner = [get_traverse_shallow_structure(traverse_fn, part) for _, part in parts]
    return _like(structure, inner)


def flatten_dict_items(dictionary: Mapping[Any, Any]) -> dict[Any, Any]:
    """A dictionary whose keys, which may be structures, are taken apart together with their values."""
    if not isinstance(dictionary, Mapping):
        raise WrongTypeError(f"input must be a dictionary, got {type(dictionary).__name__}")
    found: dict[Any, Any] = {}
    for key, value in dictionary.items():
        pairs = list(zip(flatten(key), flatten_up_to(key, value), strict=True))
        if repeated := [name for name, _ in pairs if name in found]:
            raise InvalidArgumentError(f"Could not flatten dictionary: key {repeated[0]} is not unique.")
        found.update(pairs)
    return found


def _pairs(path: tuple[Any, ...], shallow: Any, deep: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The parts of one structure where another has leaves, with what leads to them."""
    mine = parts_of(shallow)
    if mine is None:
        yield path, deep
        return
    theirs = parts_of(deep)
    if theirs is None or len(theirs) != len(mine):
        raise WrongTypeError(
            f"If shallow structure is a sequence, input must also be a sequence of the same length: {shallow!r} is not "
            f"the form of {deep!r}"
        )
    for (key, inner), (_, part) in zip(mine, theirs, strict=True):
        yield from _pairs((*path, key), inner, part)


def _like(structure: Any, parts: Sequence[Any]) -> Any:
    """A container of the kind of another one, with other parts."""
    if isinstance(structure, Mapping):
        return type(structure)(zip(sorted(structure), parts, strict=True))  # type: ignore[call-arg]
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
