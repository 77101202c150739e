"""The models that are served and their signatures, as pages and descriptions tell of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from tensorkeep.dtypes import DType
from tensorkeep.errors import TensorKeepError
from tensorkeep.proto.messages import SignatureDef, TensorInfo
from tensorkeep.saved_model.files.constants import INIT_OP_SIGNATURE_KEY
from tensorkeep.serving.models import ModelAsked, ModelOverview, Models, State

_MOST_VALUES: Final = 4096  # of an example
_METHODS: Final = {"tensorflow/serving/classify": "classify", "tensorflow/serving/regress": "regress"}


@dataclass(frozen=True, slots=True)
class End:
    """An input or output of a signature."""

    name: str
    type_name: str
    shape: tuple[int, ...] | None
    """-1 for any size; None for any shape."""

    @classmethod
    def of(cls, name: str, info: TensorInfo) -> End:
        shape = info.tensor_shape
        sizes = None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)
        return cls(name, DType.of(info.dtype).label if info.dtype else "?", sizes)

    @property
    def shape_text(self) -> str:
        if self.shape is None:
            return "any shape"
        return f"[{', '.join('?' if size < 0 else str(size) for size in self.shape)}]"

    def example(self, shape: Sequence[int]) -> Any:
        """A value of the type, in lists of a shape."""
        if shape:
            return [self.example(shape[1:])] * max(shape[0], 1)
        return {"string": "", "bool": False, "float": 0.5, "double": 0.5}.get(self.type_name, 0)


@dataclass(frozen=True, slots=True)
class ServedSignature:
    """A signature of a version."""

    name: str
    method: str
    """predict, classify or regress: how it is to be asked."""
    inputs: tuple[End, ...]
    outputs: tuple[End, ...]

    @classmethod
    def of(cls, name: str, signature: SignatureDef) -> ServedSignature:
        method = _METHODS.get(signature.method_name, "predict")
        return cls(name, method, _ends(signature.inputs), _ends(signature.outputs))

    def example_body(self) -> dict[str, Any] | None:
        """A body that could be sent; None if it were large."""
        if sum(prod(abs(size) or 1 for size in end.shape or ()) for end in self.inputs) > _MOST_VALUES:
            return None
        head: dict[str, Any] = {} if self.name == "serving_default" else {"signature_name": self.name}
        if self.method != "predict":
            return {**head, "examples": [{}]}
        have_rows = all(end.shape is None or end.shape[:1] == (-1,) for end in self.inputs)
        if not have_rows:
            return {**head, "inputs": {end.name: end.example(end.shape or ()) for end in self.inputs}}
        values = {end.name: end.example((end.shape or ())[1:]) for end in self.inputs}
        return {**head, "instances": [values if len(values) != 1 else next(iter(values.values()))]}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model with the signatures of its newest version that answers; none, if none does."""

    overview: ModelOverview
    version: int | None
    signatures: tuple[ServedSignature, ...]


def _ends(tensors: Any) -> tuple[End, ...]:
    return tuple(End.of(name, tensors[name]) for name in sorted(tensors))


def served_models(models: Models) -> list[ServedModel]:
    """All models, by name."""
    return [_served_model(models, overview) for overview in models.overview()]


def _served_model(models: Models, overview: ModelOverview) -> ServedModel:
    if all(status.state is not State.AVAILABLE for status in overview.versions):
        return ServedModel(overview, None, ())
    try:
        with models.hold(ModelAsked(overview.name)) as servable:
            found = servable.signature_defs
            names = sorted(name for name in found if name != INIT_OP_SIGNATURE_KEY)
            return ServedModel(
                overview, servable.version, tuple(ServedSignature.of(name, found[name]) for name in names)
            )
    except TensorKeepError:  # it went away meanwhile
        return ServedModel(overview, None, ())
