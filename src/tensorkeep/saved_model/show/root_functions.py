"""The functions of a model's root object as TensorFlow's command line lists them, from the messages alone."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from typing import Any, Final

from tensorkeep.dtypes import dtype_in_graph
from tensorkeep.errors import DataLossError, TensorKeepError
from tensorkeep.graph.registry.capabilities import tensorflow_ops
from tensorkeep.proto.messages import (
    FunctionDefLibrary,
    MetaGraphDef,
    SavedObjectGraph,
    StructuredValue,
    TensorShapeProto,
)
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.saved_model.load.loaded_names import loaded_names, loading_order

_DEEPEST: Final = 90


class Shown:
    """Something of TensorFlow that is only shown: by its type, as text, and among other things."""

    def __init__(self, type_name: str, text: str, inner: str | None = None) -> None:
        self.type_name = type_name
        self._text = text
        self._inner = text if inner is None else inner

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._inner


class ShownTensor(Shown):
    """The specification of a tensor, which has a name."""

    def __init__(self, name: str | None, text: str) -> None:
        super().__init__("TensorSpec", text)
        self.name = name


def functions_text(meta_graphs: list[MetaGraphDef]) -> str:
    """The text of all functions; empty if the model has no objects."""
    with_objects = [item for item in meta_graphs if item.HasField("object_graph_def")]
    if not with_objects:
        return ""
    start = "\nConcrete Functions:"
    meta_graph = with_objects[0]
    if _has_custom_ops(meta_graph.graph_def.library):
        return f"{start} N/A (could not be listed due to the existence of custom ops in the SavedModel)\n"
    try:
        return start + "".join(_function_texts(meta_graph))
    except (TensorKeepError, ValueError, IndexError):
        return f"{start} N/A (could not be listed due to unknown reasons)\n"


def root_functions(objects: SavedObjectGraph) -> dict[str, list[str]]:
    """The functions that hang from the root object by name, and the concrete functions of each."""
    found = {}
    for child in objects.nodes[0].children if objects.nodes else ():
        if not 0 <= child.node_id < len(objects.nodes):
            raise DataLossError(f"the object graph has {len(objects.nodes)} objects, but refers to {child.node_id}")
        item = objects.nodes[child.node_id]
        if item.WhichOneof("kind") == "function":
            found[child.local_name] = list(item.function.concrete_functions)
        elif item.WhichOneof("kind") == "bare_concrete_function":
            found[child.local_name] = [item.bare_concrete_function.concrete_function_name]
    return dict(sorted(found.items()))


def _has_custom_ops(library: FunctionDefLibrary) -> bool:
    known = tensorflow_ops()
    names = {function.signature.name for function in library.function}
    return any(node.op not in known and node.op not in names for item in library.function for node in item.node_def)


def _function_texts(meta_graph: MetaGraphDef) -> Iterator[str]:
    objects = meta_graph.object_graph_def
    functions = root_functions(objects)
    names = _names(meta_graph.graph_def.library, has_options=any(len(traces) > 1 for traces in functions.values()))
    for name, traces in functions.items():
        yield f"\n  Function Name: '{name}'\n"
        for number, trace in enumerate(sorted(traces, key=lambda item: names.get(item, item)), 1):
            signature = decode_structure(objects.concrete_functions[trace].canonicalized_input_signature)
            args, kwargs = signature if isinstance(signature, tuple) and len(signature) == 2 else ((), {})
            if args:
                yield f"    Option #{number}\n      Callable with:\n"
                yield from _arguments_text(args, "Argument")
            if kwargs:
                yield from _arguments_text(kwargs, "Named Argument")


def _names(library: FunctionDefLibrary, has_options: bool) -> dict[str, str]:
    """What options of functions are sorted by; DataLossError if TensorFlow could not load the functions at all."""
    return loaded_names(library) if has_options else dict.fromkeys(loading_order(library), "")


def _arguments_text(arguments: Any, kind: str) -> Iterator[str]:
    for number, item in enumerate(arguments, 1):
        yield f"        {kind} #{number}\n"
        if isinstance(item, str):
            yield f"          {item}\n"
        elif isinstance(item, ShownTensor):
            yield f"          {item.name}: {item!r}\n"
        elif isinstance(item, Mapping):
            pairs = "".join(f"'{key}': {_quoted_value(value)}, " for key, value in item.items())
            yield f"          DType: dict\n          Value: {{{pairs}\b\b}}\n"
        elif isinstance(item, list | tuple):
            values = "".join(f"{_quoted_value(value)}, " for value in item)
            yield f"          DType: {type(item).__name__}\n          Value: [{values}\b\b]\n"
        else:
            name = item.type_name if isinstance(item, Shown) else type(item).__name__
            yield f"          DType: {name}\n          Value: {item}\n"


def _quoted_value(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


# ---------------------------------------------------------------------------------------------------------- structures


def decode_structure(proto: StructuredValue, depth: int = 0) -> object:
    """A structure with TensorFlow's things in it as they are shown."""
    if depth > _DEEPEST:
        raise DataLossError(f"a structure is more than {_DEEPEST} levels deep")
    kind = proto.WhichOneof("kind")
    if kind is None or kind == "none_value":
        return None
    value = getattr(proto, kind)
    if kind == "list_value":
        return [decode_structure(item, depth + 1) for item in value.values]
    if kind == "tuple_value":
        return tuple(decode_structure(item, depth + 1) for item in value.values)
    if kind == "dict_value":
        return {key: decode_structure(item, depth + 1) for key, item in value.fields.items()}
    if kind == "named_tuple_value":
        name = value.name if value.name.isidentifier() and not iskeyword(value.name) else "Values"
        made: Any = namedtuple(name, [pair.key for pair in value.values], rename=True)  # type: ignore[misc]
        return made(*(decode_structure(pair.value, depth + 1) for pair in value.values))
    return _leaf(kind, value, depth)


def _leaf(kind: str, value: Any, depth: int) -> Any:
    if kind == "tensor_shape_value":
        return Shown("TensorShape", _shape_text(value), _shape_repr(value))
    if kind == "tensor_dtype_value":
        return Shown("DType", f"<dtype: {_dtype_name(value)!r}>", f"tf.{_dtype_name(value)}")
    if kind == "tensor_spec_value":
        name = value.name or None
        text = f"TensorSpec(shape={_shape_text(value.shape)}, dtype=tf.{_dtype_name(value.dtype)}, name={name!r})"
        return ShownTensor(name, text)
    if kind == "bounded_tensor_spec_value":
        return _bounded_spec(value)
    if kind == "type_spec_value":
        return _type_spec(value, depth)
    if kind in ("tensor_value", "numpy_value"):
        return Shown("ndarray", str(array_of_tensor(value)))
    return value


def _bounded_spec(value: Any) -> ShownTensor:
    name = value.name or None
    limits = f"minimum={array_of_tensor(value.minimum)!r}, maximum={array_of_tensor(value.maximum)!r}"
    start = f"BoundedTensorSpec(shape={_shape_text(value.shape)}, dtype=tf.{_dtype_name(value.dtype)}"
    return ShownTensor(name, f"{start}, name={name!r}, {limits})")


def _type_spec(value: Any, depth: int) -> Shown:
    name = value.type_spec_class_name.rpartition(".")[2] or "TypeSpec"
    return Shown(name, f"{name}{decode_structure(value.type_state, depth + 1)!r}")


def _dtype_name(number: int) -> str:
    return dtype_in_graph(number).name


def _sizes(shape: TensorShapeProto) -> list[int | None]:
    return [None if dim.size < 0 else dim.size for dim in shape.dim]


def _shape_text(shape: TensorShapeProto) -> str:
    return "<unknown>" if shape.unknown_rank else str(tuple(_sizes(shape)))


def _shape_repr(shape: TensorShapeProto) -> str:
    return f"TensorShape({None if shape.unknown_rank else _sizes(shape)})"
