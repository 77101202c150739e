"""Iterators over datasets: one-shot, initializable, reinitializable, feedable; and elements that may be missing.

A saver saves where an iterator is, so that training goes on in the middle of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import STRING, VARIANT
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.building import colocate_with, current_graph
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.functions import function_def, numbered_name
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.saveable import SaveableObject, SaveSpec
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.options import ExternalStatePolicy
from tensorkeep.tf1.datasets.structures import (
    Classes,
    Element,
    OptionalSpec,
    Shapes,
    Specs,
    Types,
    element_of,
    flat,
    flat_kinds,
    map_leaves,
    normalize_element,
    register_value,
    spec_classes,
    spec_of,
    spec_shapes,
    spec_types,
    specs_of,
    tensors_of,
)
from tensorkeep.tf1.functions.type_specs import TypeSpec

_MAKING_DATASETS = "Dataset"  # what ops that give datasets have in their names


class Iterator:
    """A place in a dataset. What `get_next` gives is another element in every run."""

    def __init__(
        self,
        iterator_resource: Tensor,
        initializer: Operation | None,
        output_types: Types,
        output_shapes: Shapes,
        output_classes: Classes | None,
    ) -> None:
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        self._specs = specs_of(output_types, output_shapes, output_classes)
        self._string_handle = emit("IteratorToStringHandle", iterator_resource)

    @classmethod
    def _of(cls, resource: Tensor, initializer: Operation | None, specs: Specs) -> Iterator:
        made = cls.__new__(cls)
        made._iterator_resource, made._initializer, made._specs = resource, initializer, specs
        made._string_handle = emit("IteratorToStringHandle", resource)
        return made

    @staticmethod
    def from_structure(
        output_types: Types,
        output_shapes: Shapes = None,
        shared_name: str | None = None,
        output_classes: Classes | None = None,
    ) -> Iterator:
        """An iterator for datasets of a structure, which `make_initializer` has begin in one of them."""
        specs = specs_of(output_types, output_shapes, output_classes)
        resource = emit("IteratorV2", container=b"", shared_name=(shared_name or "").encode(), **flat_kinds(specs))
        return Iterator._of(resource, None, specs)

    @staticmethod
    def from_string_handle(
        string_handle: TensorLike,
        output_types: Types,
        output_shapes: Shapes = None,
        output_classes: Classes | None = None,
    ) -> Iterator:
        """The iterator whose handle is fed, or whatever the string comes from."""
        specs = specs_of(output_types, output_shapes, output_classes)
        resource = emit("IteratorFromStringHandleV2", convert(string_handle, STRING), **flat_kinds(specs))
        return Iterator._of(resource, None, specs)

    @property
    def initializer(self) -> Operation:
        """The operation that makes it begin."""
        if self._initializer is None:
            raise InvalidArgumentError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Dataset, name: str | None = None) -> Operation:
        """An operation that makes it begin in a dataset of its structure."""
        ours, theirs = flat(self._specs), flat(dataset.element_spec)
        if len(ours) != len(theirs):
            raise InvalidArgumentError(
                f"Expected {len(ours)} components for each element, got a dataset of {len(theirs)}"
            )
        for mine, other in zip(ours, theirs, strict=True):
            if getattr(mine, "dtype", None) is not getattr(other, "dtype", None):
                raise WrongTypeError(
                    f"Expected output types {self.output_types!r} but got dataset with output types "
                    f"{dataset.output_types!r}."
                )
            if not mine.is_compatible_with(other):
                raise WrongTypeError(
                    f"Expected output shapes compatible with {self.output_shapes!r} but got dataset "
                    f"with output shapes {dataset.output_shapes!r}."
                )
        with colocate_with(self._iterator_resource):
            return emit_operation(
                "MakeIterator", dataset._variant_tensor, self._iterator_resource, name=name or "make_initializer"
            )

    def get_next(self, name: str | None = None) -> Any:
        """The next element; a run in which there is none raises OutOfRangeError."""
        with colocate_with(self._iterator_resource):
            found = emit_tensors("IteratorGetNext", self._iterator_resource, name=name, **flat_kinds(self._specs))
            return element_of(self._specs, found)

    def get_next_as_optional(self) -> Optional:
        """The next element, or that there is none."""
        with colocate_with(self._iterator_resource):
            variant = emit("IteratorGetNextAsOptional", self._iterator_resource, **flat_kinds(self._specs))
        return Optional(variant, self._specs)

    def string_handle(self, name: str | None = None) -> Tensor:
        """A string that stands for the iterator in a session, to be fed to a feedable one."""
        if name is None:
            return self._string_handle
        return emit("IteratorToStringHandle", self._iterator_resource, name=name)

    @property
    def element_spec(self) -> Specs:
        """The structure of its elements."""
        return self._specs

    @property
    def output_types(self) -> Types:
        """The types of an element's values, in its structure."""
        return spec_types(self._specs)

    @property
    def output_shapes(self) -> Shapes:
        """The shapes of an element's values, in its structure."""
        return spec_shapes(self._specs)

    @property
    def output_classes(self) -> Classes:
        """The classes of an element's values, in its structure."""
        return spec_classes(self._specs)


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """An iterator that begins in a dataset whenever its initializer is run."""
    _check_graph(dataset)
    specs = dataset.element_spec
    with colocate_with(dataset._variant_tensor):
        resource = emit("IteratorV2", container=b"", shared_name=(shared_name or "").encode(), **flat_kinds(specs))
        begin = emit_operation("MakeIterator", dataset._variant_tensor, resource)
        return Iterator._of(resource, begin, specs)


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """An iterator that goes through a dataset once, and needs no initializer.

    What makes the dataset is copied into a function, so it may use nothing that keeps a state or is fed.
    """
    _check_graph(dataset)
    graph, variant = current_graph(), dataset._variant_tensor
    operations = _made_by(variant)
    name = numbered_name("make_dataset", graph.functions).removeprefix("_")
    made = function_def(name, graph, [], [variant], operations=operations)
    graph.add_function(made)
    with colocate_with(variant):
        resource = emit("OneShotIterator", dataset_factory=FunctionRef(name), **flat_kinds(dataset.element_spec))
        return Iterator._of(resource, None, dataset.element_spec)


def _check_graph(dataset: Dataset) -> None:
    if dataset._variant_tensor.graph is not current_graph():
        raise InvalidArgumentError(
            f"The graph {current_graph()} of the iterator is different from the graph "
            f"{dataset._variant_tensor.graph} the dataset was created in: build both in one"
        )


def _made_by(tensor: Tensor) -> list[Operation]:
    """The operations that a dataset is made by, all that they need among them, in their order."""
    found: dict[Operation, None] = {}
    waiting = [tensor.op]
    while waiting:
        op = waiting.pop()
        if op in found:
            continue
        found[op] = None
        is_dataset = _MAKING_DATASETS in op.type
        if not is_dataset and (op.spec.schema.is_stateful or op.type.startswith("Placeholder")) and op.type != "Assert":
            raise InvalidArgumentError(
                "Failed to create a one-shot iterator for a dataset. `Dataset.make_initializable_iterator()` is more "
                f"general: Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
                if op.spec.schema.is_stateful
                else "Failed to create a one-shot iterator for a dataset. `Dataset.make_initializable_iterator()` is "
                f"more general: Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value."
            )
        if any(item.dtype.is_ref for item in op.inputs):
            raise InvalidArgumentError(
                "Failed to create a one-shot iterator for a dataset: it uses a variable. "
                "`Dataset.make_initializable_iterator()` is more general."
            )
        waiting.extend(item.op for item in op.inputs)
        waiting.extend(op.control_inputs)
    return sorted(found, key=lambda op: op.index)


# -------------------------------------------------------------------------------------------------- Types and the like


def get_output_types(dataset_or_iterator: Dataset | Iterator) -> Types:
    """The types of an element's values, in its structure."""
    return spec_types(dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Dataset | Iterator) -> Shapes:
    """The shapes of an element's values, in its structure."""
    return spec_shapes(dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Dataset | Iterator) -> Classes:
    """The classes of an element's values, in its structure."""
    return spec_classes(dataset_or_iterator.element_spec)


def get_structure(dataset_or_iterator: Dataset | Iterator) -> Specs:
    """The structure of the elements."""
    return dataset_or_iterator.element_spec


class NumpyIterator:
    """Raises: the values of a dataset as arrays need eager execution, and there are only graphs."""

    def __init__(self, dataset: Dataset) -> None:
        raise UnimplementedError("tf.data.NumpyIterator needs eager execution: run what an iterator's get_next() gives")


# ------------------------------------------------------------------------------------------------------------ Optionals


class Optional:
    """A value that may be missing."""

    def __init__(self, variant: Tensor, specs: Specs) -> None:
        self._variant_tensor = variant
        self._specs = specs

    @staticmethod
    def from_value(value: Element) -> Optional:
        """The optional that holds a structure of values."""
        element = normalize_element(value, "optional")
        return Optional(emit("OptionalFromValue", tensors_of(element)), map_leaves(spec_of, element))

    @staticmethod
    def empty(element_spec: Specs) -> Optional:
        """The optional that holds nothing, where a structure of these specs could be."""
        return Optional(emit("OptionalNone"), element_spec)

    @staticmethod
    def none_from_structure(value_structure: Specs) -> Optional:
        """The same as `empty`, under the name of TensorFlow 1.15."""
        return Optional.empty(value_structure)

    def has_value(self, name: str | None = None) -> Tensor:
        """A truth value: whether the optional holds something."""
        with colocate_with(self._variant_tensor):
            return emit("OptionalHasValue", self._variant_tensor, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """The value; a run in which it is missing raises InvalidArgumentError."""
        with colocate_with(self._variant_tensor):
            found = emit_tensors("OptionalGetValue", self._variant_tensor, name=name, **flat_kinds(self._specs))
            return element_of(self._specs, found)

    @property
    def element_spec(self) -> Specs:
        """The structure of the value."""
        return self._specs

    @property
    def value_structure(self) -> Specs:
        """The spec of the value, under the name of TensorFlow 1.15."""
        return self._specs

    @property
    def graph(self) -> Graph:
        return self._variant_tensor.graph

    @property
    def _type_spec(self) -> TypeSpec:
        return OptionalSpec(self._specs)


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element of an iterator, or that there is none."""
    return iterator.get_next_as_optional()


register_value(OptionalSpec, lambda spec, tensor: Optional(tensor, spec.element_spec))


class IteratorSaveable(SaveableObject):
    """An iterator as something that savers save. It must have been initialized when it is saved or restored."""

    def __init__(self, resource: Tensor, name: str, policy: ExternalStatePolicy = ExternalStatePolicy.FAIL) -> None:
        state = emit("SerializeIterator", resource, external_state_policy=int(policy))
        specs = [SaveSpec(state, "", f"{name}_STATE", VARIANT)]
        super().__init__(resource, specs, name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Operation:
        with colocate_with(self.op):
            return emit_operation("DeserializeIterator", self.op, restored_tensors[0])


def make_saveable_from_iterator(iterator: Iterator, external_state_policy: str | None = None) -> IteratorSaveable:
    """What a saver saves of an iterator; add it to the collection of saveable objects, or hand it to the saver."""
    policies = {None: ExternalStatePolicy.FAIL, "fail": ExternalStatePolicy.FAIL, "warn": ExternalStatePolicy.WARN}
    policy = policies.get(external_state_policy, ExternalStatePolicy.IGNORE)
    return IteratorSaveable(iterator._iterator_resource, iterator._iterator_resource.name, policy)
