"""Objects made of a name and the arguments that make them, and the other way round; and names that are numbered.

    {"class_name": "Dense", "config": {"units": 3}}      an object of a class
    "relu"                                                a function

Names are looked up among the objects of a program's own (`custom_object_scope`, `get_custom_objects`), those that a
caller gives, and those that Keras has. Layers, models and metrics without a name of their own are given that of their
class in small letters, with a number that is new in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from inspect import isclass, signature
from types import TracebackType
from typing import Any, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.tf1.keras.surroundings import known_custom_objects, surroundings
from tensorkeep.tf1.layers.base import name_counts, snake_case

Described: TypeAlias = str | dict[str, Any] | None
"""An object as it is stored: the name of a function, or the name of a class and what makes one of it."""


def get_custom_objects() -> dict[str, Any]:
    """The classes and functions of a program's own, by name: a dictionary that the program may change."""
    return surroundings().custom_objects


class CustomObjectScope:
    """`with CustomObjectScope({"Name": Class}):` inside, these names are known too."""

    def __init__(self, *args: Mapping[str, Any]) -> None:
        self.custom_objects = args
        self.backup: dict[str, Any] = {}

    def __enter__(self) -> CustomObjectScope:
        self.backup = dict(get_custom_objects())
        for objects in self.custom_objects:
            get_custom_objects().update(objects)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        get_custom_objects().clear()
        get_custom_objects().update(self.backup)


def custom_object_scope(*args: Mapping[str, Any]) -> CustomObjectScope:
    """`CustomObjectScope` as a function."""
    return CustomObjectScope(*args)


def serialize_keras_object(instance: object) -> Described:
    """An object as its name and its arguments; a function as its name."""
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        config = {}
        for key, item in instance.get_config().items():
            config[key] = _serialized_item(item)
        return class_and_config(type(instance).__name__, config)
    if hasattr(instance, "__name__"):
        name: str = instance.__name__
        return name
    raise InvalidArgumentError(
        f"Cannot serialize {instance!r}: it is no function, and its class has no method get_config"
    )


def _serialized_item(item: Any) -> Any:
    if isinstance(item, str) or isclass(item) or not hasattr(item, "get_config"):
        return item
    return serialize_keras_object(item)


def class_and_config(class_name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """The dictionary that is stored of an object: the name of its class, and its configuration."""
    return {"class_name": class_name, "config": config}


def deserialize_keras_object(
    identifier: object,
    module_objects: Mapping[str, Any] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """The object that a name, or a name with arguments, stands for; what is neither is given back as it is."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return _made_object(identifier, module_objects or {}, custom_objects or {}, printable_module_name)
    if isinstance(identifier, str):
        found = find_object(identifier, module_objects or {}, custom_objects or {}, printable_module_name, "function")
        return found() if isclass(found) else found
    return identifier


def _made_object(
    config: dict[str, Any], module_objects: Mapping[str, Any], custom_objects: Mapping[str, Any], what: str
) -> Any:
    if "class_name" not in config or "config" not in config:
        raise InvalidArgumentError(f"Improper config format: {config}. Expected the keys 'class_name' and 'config'")
    found = find_object(config["class_name"], module_objects, custom_objects, what)
    arguments = dict(config["config"])
    make = getattr(found, "from_config", None)
    if make is not None and "custom_objects" in signature(make).parameters:
        return make(arguments, custom_objects={**known_custom_objects(), **custom_objects})
    with custom_object_scope(custom_objects) if custom_objects else nullcontext():
        return found(**arguments) if make is None else make(arguments)


def find_object(
    name: str,
    module_objects: Mapping[str, Any],
    custom_objects: Mapping[str, Any],
    what: str,
    kind: str = "",
) -> Any:
    """What a name stands for; an error lists what is known."""
    for known in (custom_objects, known_custom_objects(), module_objects):
        if known.get(name) is not None:
            return known[name]
    raise InvalidArgumentError(
        f"Unknown {what}{f' {kind}' if kind else ''}: {name}. Give it by `custom_objects`, or within "
        f"`custom_object_scope`. Known: {', '.join(sorted(module_objects))}"
    )


def by_name_or_config(
    identifier: object, deserialize: Callable[[Any], Any], what: str, *, calls_classes: bool = True
) -> Any:
    """What `get` of a module does: None, a name, a name with arguments, a class or a function as itself."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize(identifier)
    if callable(identifier):
        return identifier() if calls_classes and isclass(identifier) else identifier
    raise InvalidArgumentError(f"Could not interpret {what} identifier: {identifier!r}")


def name_for(kind: type) -> str:
    """`Conv2D` as "conv2d"; a class whose name begins with an underscore is "private"."""
    name = snake_case(kind.__name__)
    return f"private{name}" if name.startswith("_") else name


def unique_object_name(name: str, *, zero_based: bool = False) -> str:
    """A name with a number after it: "dense_1", "dense_2"; zero-based "dense", "dense_1"."""
    counts = name_counts()
    number = counts.get(name, 0)
    counts[name] = number + 1
    if zero_based:
        return f"{name}_{number}" if number else name
    return f"{name}_{number + 1}"
