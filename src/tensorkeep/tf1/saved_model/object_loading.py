"""The objects of a model of TensorFlow 2 in a graph of one's own: `tf.saved_model.load_v2` where graphs are built.

Variables become variables of the graph being built, whose initializers restore them. Functions join its library, and a
call of one adds an operation. Tables are made when they are used, and filled by the graph's table initializers. What is
loaded can be saved again, unless it has tables.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.objects.reader import VARIABLE_VALUE, ObjectGraph
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.dtypes import dtype_in_graph
from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import emit_tensors
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, add_to_collection
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.messages.attrs import shape_of_proto
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.proto.messages import FunctionDef, MetaGraphDef, NameAttrList, SavedConcreteFunction
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.saved_model.files.completeness import open_complete
from tensorkeep.saved_model.files.layout import asset_files, asset_path, read_saved_model, variables_path
from tensorkeep.saved_model.files.structures import CompositeSpec, decode_structure
from tensorkeep.saved_model.load.function_library import FunctionLibrary
from tensorkeep.saved_model.load.model_loading import chosen_meta_graph
from tensorkeep.saved_model.load.object_graph import SavedObjects
from tensorkeep.saved_model.load.tensor_values import TensorSpec as StoredSpec
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.tracing import ConcreteFunction, Function, argument_names, outermost_graph
from tensorkeep.tf1.functions.structures import flatten, map_structure
from tensorkeep.tf1.functions.type_specs import TensorSpec
from tensorkeep.tf1.saved_model.object_tree import Asset
from tensorkeep.tf1.training.objects.trackable import AutoTrackable
from tensorkeep.tf1.variables.variable import Variable

_LIST: Final = "trackable_list_wrapper"
_DICT: Final = "trackable_dict_wrapper"
_TUPLE: Final = "trackable_tuple_wrapper"
_SIGNATURES: Final = "signature_map"


class RestoredObject(AutoTrackable):
    """An object of a model. Its attributes are what it had, among them its functions."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = vars(self).get("__call__")
        if own is None:
            raise WrongTypeError(f"the object cannot be called: it has {', '.join(sorted(vars(self))) or 'nothing'}")
        return own(*args, **kwargs)


class CompositeFunction:
    """A function that takes or gives tensors of several parts, which are not passed to functions of a graph here."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise UnimplementedError(
            f"function '{self.name}' takes or gives sparse, ragged or other tensors of several parts; use "
            "tensorkeep.load_saved_model"
        )


class Signatures(dict[str, ConcreteFunction | CompositeFunction]):
    """The signatures of a model, by name: functions that take tensors by name and give dicts of them."""


class RestoredFunction(Function):
    """A function of a model: what it was traced for before it was saved, and nothing else."""

    def get_concrete_function(self, *args: object, **kwargs: object) -> ConcreteFunction:
        known = list(self.traces(outermost_graph(current_graph())).values())
        if not args and not kwargs and len(known) == 1:
            return known[0]
        given, named = self._bound_values(args, kwargs)
        for trace in known:
            if _fits(trace.arguments, given) and _fits(dict(trace.keywords), named):
                return trace
        options = "\n".join(f"  {trace.arguments}, {dict(trace.keywords)}" for trace in known)
        raise InvalidArgumentError(
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
            f"  {given}, {named}\nThere are:\n{options or '  none'}"
        )


def _fits(kinds: Any, values: Any) -> bool:
    wanted, given = flatten(kinds), flatten(values)
    return len(wanted) == len(given) and all(map(_is_of_kind, wanted, given))


def _is_of_kind(kind: Any, value: Any) -> bool:
    if not isinstance(kind, TensorSpec):
        return type(kind) is type(value) and bool(kind == value)
    if isinstance(value, TensorSpec):
        return kind.is_compatible_with(value)
    if isinstance(value, Tensor):
        return kind.dtype is value.dtype.base_dtype and kind.shape.is_compatible_with(value.shape)
    return value is not None and not isinstance(value, str | bool)


def load_objects(
    directory: PathLike, tags: Iterable[str] | str | None = None, *, fs: FileSystem = FILES
) -> RestoredObject:
    """The root of the objects of a model, in the graph being built.

    `signatures` is among its attributes. Run the initializers of variables and tables before you use what needs them.
    """
    folder = path_text(directory)
    meta_graph = chosen_meta_graph(read_saved_model(folder, fs), tags, folder)
    if not meta_graph.object_graph_def.nodes:
        raise UnimplementedError(
            f'"{folder}" is a model of TensorFlow 1, without objects: load it with tf.saved_model.load(session, tags, '
            "export_dir), or use tensorkeep.load_saved_model"
        )
    stored = _stored_objects(open_complete(meta_graph, folder, fs))
    try:
        root = _Loader(meta_graph, folder, stored).value(0)
    except RecursionError:
        raise DataLossError(f'"{folder}": its objects lead to each other in a chain that is too long') from None
    if not isinstance(root, RestoredObject):
        raise DataLossError(f'"{folder}": the root of the objects is a {type(root).__name__}')
    return root


def _stored_objects(variables: CheckpointReader | None) -> ObjectGraph | None:
    """The objects that variables of a model were saved for, as far as that is stored. Closes the variables."""
    if variables is None:
        return None
    with variables:
        return ObjectGraph.read(variables) if OBJECT_GRAPH_KEY in variables else None


class _Loader:
    def __init__(self, meta_graph: MetaGraphDef, folder: str, stored: ObjectGraph | None) -> None:
        self._meta_graph = meta_graph
        self._folder = folder
        self._objects = SavedObjects(meta_graph.object_graph_def)
        self._library = FunctionLibrary(meta_graph.graph_def)
        self._graph = current_graph()
        self._names = _import_functions(self._graph, self._library)
        self._keys: dict[int, Mapping[str, str]] = {} if stored is None else self._objects.stored_keys(stored)
        self._made: dict[int, Any] = {}
        self._handles: dict[int, Tensor] = {}
        self._making: set[int] = set()

    # ------------------------------------------------------------------------------------------------- objects

    def value(self, number: int) -> Any:
        """The object of that number, made once."""
        if number not in self._made:
            if number in self._making:
                raise DataLossError(f"object {number} is a part of itself")
            self._making.add(number)
            self._made[number] = self._make(number)
            if isinstance(self._made[number], RestoredObject):
                for name, child in self._objects.children[number].items():
                    setattr(self._made[number], name, self.value(child))
        return self._made[number]

    def _make(self, number: int) -> Any:
        kind = self._objects.kind(number)
        node = self._objects[number]
        if kind == "variable":
            return self._variable(number)
        if kind == "function":
            return self._function(number)
        if kind == "bare_concrete_function":
            name = node.bare_concrete_function.concrete_function_name
            return self._concrete(name) if self._is_plain(name) else CompositeFunction(name)
        if kind == "asset":
            return Asset(self._asset(node.asset.asset_file_def_index))
        if kind == "constant":
            return self._constant(node.constant.operation)
        if kind == "resource":
            return self._table(number)
        identifier = node.user_object.identifier if kind == "user_object" else ""
        return self._container(identifier, self._objects.children[number])

    def _container(self, identifier: str, children: Mapping[str, int]) -> Any:
        if identifier == _SIGNATURES:
            return Signatures({name: self.value(child) for name, child in children.items()})
        if identifier == _DICT:
            return {name: self.value(child) for name, child in children.items()}
        if identifier in (_LIST, _TUPLE):
            places = sorted((int(name), child) for name, child in children.items() if name.isdecimal())
            items = [self.value(child) for _, child in places]
            return items if identifier == _LIST else tuple(items)
        return RestoredObject()

    def _variable(self, number: int) -> Any:
        saved = self._objects[number].variable
        key = self._keys.get(number, {}).get(VARIABLE_VALUE)
        if key is None:
            raise DataLossError(f'"{self._folder}" has no value for the variable "{saved.name}"')
        dtype, shape = dtype_in_graph(saved.dtype), shape_of_proto(saved.shape)

        def restored() -> Tensor:
            (tensor,) = emit_tensors("RestoreV2", variables_path(self._folder), [key], [""], dtypes=[dtype])
            tensor.set_shape(shape)
            return tensor

        name = saved.name.partition(":")[0] or "Variable"
        return Variable(restored, saved.trainable, name=name, dtype=dtype, use_resource=True, validate_shape=False)

    def _asset(self, index: int) -> str:
        files = [item.filename for item in self._meta_graph.asset_file_def]
        if not 0 <= index < len(files):
            raise DataLossError(f"asset {index} is referred to, there are {len(asset_files(self._meta_graph))}")
        return asset_path(self._folder, files[index])

    def _constant(self, operation: str) -> Tensor:
        for node in self._meta_graph.graph_def.node:
            if node.name == operation and node.op == "Const":
                value = array_of_tensor(node.attr["value"].tensor, operation)
                return constant(value, dtype_in_graph(node.attr["dtype"].type))
        raise DataLossError(f'the graph has no constant "{operation}"')

    # ----------------------------------------------------------------------------------------------- functions

    def _function(self, number: int) -> RestoredFunction:
        node = self._objects[number].function
        made = RestoredFunction(_unavailable)
        spec = decode_structure(node.function_spec.fullargspec)
        made.python_function = _with_signature(spec)
        known = [self._concrete(name) for name in node.concrete_functions if self._is_plain(name)]
        made.traces(self._graph).update(enumerate(known))
        return made

    def _is_plain(self, name: str) -> bool:
        saved = self._saved(name)
        structures = (saved.canonicalized_input_signature, saved.output_signature)
        return not any(
            isinstance(leaf, CompositeSpec) for item in structures for leaf in flatten(decode_structure(item))
        )

    def _saved(self, name: str) -> SavedConcreteFunction:
        saved = self._objects.concrete_functions.get(name)
        if saved is None or name not in self._library.functions:
            raise DataLossError(f"function '{name}' is referred to, but is not there")
        return saved

    def _concrete(self, name: str) -> ConcreteFunction:
        saved = self._saved(name)
        decoded = map_structure(_as_spec, decode_structure(saved.canonicalized_input_signature))
        arguments, keywords = decoded if isinstance(decoded, tuple) and len(decoded) == 2 else ((), {})
        outputs = map_structure(_as_spec, decode_structure(saved.output_signature))
        specs = [leaf for leaf in flatten([arguments, keywords]) if isinstance(leaf, TensorSpec)]
        signature = inspect.Signature()
        return ConcreteFunction(
            self._names[name],
            tuple(self._captured(number) for number in saved.bound_inputs),
            tuple(arguments),
            keywords,
            outputs,
            tuple(specs),
            tuple(leaf for leaf in flatten(outputs) if isinstance(leaf, TensorSpec)),
            self._graph.functions[self._names[name]],
            argument_names(signature, tuple(arguments), keywords),
        )

    def _captured(self, number: int) -> Tensor:
        kind = self._objects.kind(number)
        found = self._table(number) if kind == "resource" else self.value(number)
        if isinstance(found, Tensor | Asset):
            return found if isinstance(found, Tensor) else found.asset_path
        if kind == "variable":
            handle: Tensor = found.handle
            return handle
        raise UnimplementedError(f"a function captures object {number}, a {kind or 'thing of no known kind'}")

    def _table(self, number: int) -> Tensor:
        """The handle of a table, which a function of the model makes, and another fills."""
        if number not in self._handles:
            creator, fill = (self._function_of(number, role) for role in ("_create_resource", "_initialize"))
            if creator is None:
                raise UnimplementedError(f"object {number} is a resource that no function makes")
            self._handles[number] = self._concrete(creator).call([])
            if fill is not None:
                filled = self._concrete(fill).call([])
                add_to_collection(self._graph, GraphKeys.TABLE_INITIALIZERS, flatten(filled)[0].op)
        return self._handles[number]

    def _function_of(self, number: int, role: str) -> str | None:
        """The name of the function that an object has under a name."""
        child = self._objects.children[number].get(role)
        if child is None:
            return None
        node = self._objects[child]
        names = [*node.function.concrete_functions, node.bare_concrete_function.concrete_function_name]
        return names[0] or None


def _unavailable(*args: Any, **kwargs: Any) -> Any:
    raise UnimplementedError("the Python text of a loaded function is not there: it is what it was traced for")


def _with_signature(spec: Any) -> Any:
    """A Python function that takes what a FullArgSpec says."""
    kinds = inspect.Parameter
    names = list(getattr(spec, "args", None) or ())
    defaults = list(getattr(spec, "defaults", None) or ())
    without = len(names) - len(defaults)
    parameters = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=kinds.empty if i < without else defaults[i - without])
        for i, name in enumerate(names)
    ]
    if getattr(spec, "varargs", None):
        parameters.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    only = getattr(spec, "kwonlydefaults", None) or {}
    parameters += [
        kinds(name, kinds.KEYWORD_ONLY, default=only.get(name, kinds.empty))
        for name in getattr(spec, "kwonlyargs", None) or ()
    ]
    if getattr(spec, "varkw", None):
        parameters.append(kinds(spec.varkw, kinds.VAR_KEYWORD))

    def function(*args: Any, **kwargs: Any) -> Any:
        return _unavailable(*args, **kwargs)

    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return function


def _as_spec(leaf: Any) -> Any:
    if isinstance(leaf, StoredSpec):
        return TensorSpec(leaf.shape.dims, leaf.dtype, leaf.name or None)
    return leaf


# --------------------------------------------------------------------------------------------------------- the library


def _import_functions(graph: Graph, library: FunctionLibrary) -> dict[str, str]:
    """Adds the functions of a model to a graph, under their names, or under others where these are taken."""
    names: dict[str, str] = {}
    taken = set(graph.functions)
    for name, function in library.functions.items():
        chosen, number = name, 0
        while chosen in taken and graph.functions.get(chosen) != function:
            number += 1
            chosen = f"{name}_{number}"
        names[name] = chosen
        taken.add(chosen)
    for name, function in library.functions.items():
        copy = FunctionDef()
        copy.CopyFrom(function)
        copy.signature.name = names[name]
        for node in copy.node_def:
            node.op = names.get(node.op, node.op)
            for value in node.attr.values():
                _rename(([value.func] if value.HasField("func") else []) + list(value.list.func), names)
        graph.add_function(copy)
    return names


def _rename(references: Sequence[NameAttrList], names: Mapping[str, str]) -> None:
    for reference in references:
        reference.name = names.get(reference.name, reference.name)
        for value in reference.attr.values():
            _rename(([value.func] if value.HasField("func") else []) + list(value.list.func), names)
