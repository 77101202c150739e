"""Signatures: named arrays in, named arrays out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import numpy as np

from tensorkeep.dtypes import STRING, DType, dtype_in_graph
from tensorkeep.errors import DataLossError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.messages.attrs import shape_of_proto
from tensorkeep.native.texts import JoinedTexts
from tensorkeep.proto.messages import SignatureDef, TensorInfo
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.saved_model.files.structures import CompositeSpec, decode_type_spec, sparse_spec
from tensorkeep.saved_model.load.tensor_values import TensorSpec, exact_arrays, fits_exactly, fitted_array, string_array
from tensorkeep.shapes import Shape

Spec: TypeAlias = TensorSpec | CompositeSpec
Run: TypeAlias = Callable[[list[Any]], Sequence[Any]]


@dataclass(frozen=True)
class RunOfTexts:
    """A run that takes the strings of some inputs as `JoinedTexts` too: which, by their numbers."""

    run: Run
    joined: frozenset[int]


@dataclass(frozen=True)
class SignatureSpec:
    """What a signature takes and gives, and the tensors of the graph that stand for it."""

    name: str
    method_name: str
    inputs: Mapping[str, Spec]
    outputs: Mapping[str, Spec]
    input_tensors: Mapping[str, tuple[str, ...]]
    output_tensors: Mapping[str, tuple[str, ...]]
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def flat_inputs(self) -> list[tuple[DType, Shape]]:
        """The type and shape that each tensor of the inputs is checked for, in the order of `input_tensors`."""
        specs = [
            component
            for spec in self.inputs.values()
            for component in (spec.components if isinstance(spec, CompositeSpec) else (spec,))
        ]
        return [(spec.dtype, spec.shape) for spec in specs]


def signature_spec(name: str, proto: SignatureDef) -> SignatureSpec:
    """A signature as its message has it, names in their order."""
    inputs = {key: _tensor(proto.inputs[key], f'input "{key}" of signature "{name}"') for key in sorted(proto.inputs)}
    outputs = {
        key: _tensor(proto.outputs[key], f'output "{key}" of signature "{name}"') for key in sorted(proto.outputs)
    }
    return SignatureSpec(
        name,
        proto.method_name,
        {key: spec for key, (spec, _) in inputs.items()},
        {key: spec for key, (spec, _) in outputs.items()},
        {key: names for key, (_, names) in inputs.items()},
        {key: names for key, (_, names) in outputs.items()},
        {key: array_of_tensor(proto.defaults[key], f'the default of "{key}"') for key in sorted(proto.defaults)},
    )


def _tensor(info: TensorInfo, what: str) -> tuple[Spec, tuple[str, ...]]:
    """What is known of an input or output, and the tensors that it is made of."""
    encoding = info.WhichOneof("encoding")
    if encoding == "coo_sparse":
        sparse = info.coo_sparse
        spec = sparse_spec(shape_of_proto(info.tensor_shape), dtype_in_graph(info.dtype))
        return spec, (sparse.indices_tensor_name, sparse.values_tensor_name, sparse.dense_shape_tensor_name)
    if encoding == "composite_tensor":
        composite = decode_type_spec(info.composite_tensor.type_spec)
        names = tuple(component.name for component in info.composite_tensor.components)
        if len(names) != len(composite.components):
            raise DataLossError(f"{what}: a {composite} of {len(names)} tensors, not {len(composite.components)}")
        return composite, names
    return TensorSpec(dtype_in_graph(info.dtype), shape_of_proto(info.tensor_shape)), (info.name,)


class Signature:
    """One thing that a model can do. Call it with an array for each input; it gives a dict of its outputs.

    Numbers and lists are taken for arrays. Values of another kind, shape or name than the signature says are refused,
    with all that is wrong and with what is accepted.
    """

    def __init__(self, spec: SignatureSpec, prepare: Callable[[SignatureSpec], Run | RunOfTexts]) -> None:
        self._spec = spec
        self._prepare = prepare
        self._run: Run | None = None
        self._joined: frozenset[int] = frozenset()
        self._plain = tuple(spec.inputs.items())
        self._exact = exact_arrays(spec.inputs)
        self._texts = [at for at, item in enumerate(spec.inputs.values()) if getattr(item, "dtype", None) is STRING]
        self._is_plain = not any(isinstance(item, CompositeSpec) for item in (*spec.inputs.values(),))
        self._gives_plain = not any(isinstance(item, CompositeSpec) for item in spec.outputs.values())
        self._output_names = tuple(spec.outputs)

    def __reduce__(self) -> NoReturn:
        raise WrongTypeError(
            f'the signature "{self.name}" cannot be pickled, as its model belongs to this process: pass on the '
            "directory of the model and the name, and load it there (load_saved_model)"
        )

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def method_name(self) -> str:
        """What a server may use it for: tensorflow/serving/predict and the like."""
        return self._spec.method_name

    @property
    def inputs(self) -> Mapping[str, Spec]:
        """What it takes, by name."""
        return self._spec.inputs

    @property
    def outputs(self) -> Mapping[str, Spec]:
        """What it gives, by name."""
        return self._spec.outputs

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The values of inputs that need not be given."""
        return self._spec.defaults

    def prepare(self) -> Run:
        """Makes ready what runs it, as the first call does otherwise."""
        if self._run is None:
            run = self._prepare(self._spec)
            if isinstance(run, RunOfTexts):
                self._joined, run = run.joined, run.run
            self._run = run
        return self._run

    def __call__(self, /, *unnamed: object, **values: object) -> dict[str, Any]:
        if unnamed:
            names = ", ".join(f"{name}=..." for name in self._spec.inputs)
            raise WrongTypeError(f"a signature takes its inputs by their names, {names or 'and this one takes none'}")
        run = self._run or self.prepare()
        results = run(self._arguments(values))
        if self._gives_plain:
            return dict(zip(self._output_names, results, strict=True))
        return self._packed_results(results)

    def _packed_results(self, results: Sequence[Any]) -> dict[str, Any]:
        parts = iter(results)
        found: dict[str, Any] = {}
        for name, spec in self._spec.outputs.items():
            if isinstance(spec, CompositeSpec):
                found[name] = spec.pack([next(parts) for _ in spec.components])
            else:
                found[name] = next(parts)
        return found

    def _arguments(self, values: Mapping[str, Any]) -> list[Any]:
        if self._exact is not None and len(values) == len(self._exact):
            arrays = []
            for name, dtype, rank, sizes in self._exact:  # of every call: `fits_exactly`, without calling anything
                array = values.get(name)
                if type(array) is not np.ndarray or array.dtype != dtype or array.ndim != rank:
                    break
                if sizes:
                    shape = array.shape
                    for axis, size in sizes:
                        if shape[axis] != size:
                            return self._converted_values(values)
                arrays.append(array)
            else:
                return self._encoded(arrays) if self._texts else arrays
            return self._converted_values(values)
        if self._is_plain and len(values) == len(self._plain):
            found = []
            for name, spec in self._plain:
                value = values.get(name)
                if not fits_exactly(spec, value):  # type: ignore[arg-type]
                    break
                found.append(value)
            else:
                return found
        return self._converted_values(values)

    def _encoded(self, arrays: list[Any]) -> list[Any]:
        """The same arrays, texts among them as bytes."""
        for at in self._texts:
            texts = JoinedTexts.of(arrays[at]) if at in self._joined else None
            if texts is not None:
                arrays[at] = texts
                continue
            try:
                arrays[at] = string_array(arrays[at])
            except InvalidArgumentError:
                given = [each.array() if isinstance(each, JoinedTexts) else each for each in arrays]
                return self._converted_values(dict(zip(self._spec.inputs, given, strict=True)))  # which names them all
        return arrays

    def _converted_values(self, values: Mapping[str, Any]) -> list[Any]:
        """The values as arrays; otherwise an error that says all that is wrong."""
        given = {**self._spec.defaults, **values}
        problems = [f'there is no input "{name}"' for name in values if name not in self.inputs]
        problems += [f'input "{name}" is missing' for name in self.inputs if name not in given]
        arrays: list[Any] = []
        for name, spec in self.inputs.items():
            if name in given:
                try:
                    arrays.extend(_flat(spec, given[name]))
                except InvalidArgumentError as error:
                    problems.append(f'input "{name}": {error}')
        if problems:
            raise InvalidArgumentError(
                f'signature "{self.name}": {"; ".join(problems)}. It takes {self._accepted_text()}'
            )
        return arrays

    def _accepted_text(self) -> str:
        listed = [
            f"{name}: {spec}{' (optional)' if name in self.defaults else ''}" for name, spec in self.inputs.items()
        ]
        return ", ".join(listed) or "nothing"

    def __repr__(self) -> str:
        outputs = ", ".join(f"{name}: {spec}" for name, spec in self.outputs.items())
        return f"<Signature {self.name}({self._accepted_text()}) -> {outputs or 'nothing'}>"


def _flat(spec: Spec, value: Any) -> list[Any]:
    if isinstance(spec, TensorSpec):
        return [fitted_array(spec, value)]
    parts = spec.parts(value)
    if parts is None:
        raise InvalidArgumentError(
            f"expected a {spec}, a tuple of {len(spec.components)} arrays, got {type(value).__name__}"
        )
    return [fitted_array(component, part) for component, part in zip(spec.components, parts, strict=True)]
