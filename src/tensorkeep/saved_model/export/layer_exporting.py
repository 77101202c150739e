"""SavedModels of plain arrays: layers as values, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.saved_model.export.graph_exporting import from_function
from tensorkeep.saved_model.files.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING
from tensorkeep.saved_model.layers.combining import apply_layers, checked_layers, first_takes
from tensorkeep.saved_model.layers.weights import Layer
from tensorkeep.tf1.functions.arrays.shapes import identity


@dataclass(frozen=True)
class Input:
    """What a model takes: a tensor by name, of a type, and of a shape, whose unknown sizes, usually the batch, are
    None. Without a shape, what the first layer takes.
    """

    shape: Sequence[int | None] | None = None
    dtype: Any = np.float32
    name: str = "inputs"


_INPUT: Final = Input()


def from_layers(
    layers: Sequence[Layer],
    directory: PathLike,
    *,
    input: Input = _INPUT,
    outputs: str | Mapping[str, Sequence[Layer]] = "outputs",
    signature: str = DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    tags: Iterable[str] = (SERVING,),
    fs: FileSystem = FILES,
) -> str:
    """Writes layers, one after the other, as a SavedModel with one signature; gives the path of its file.

    The output has a name, or there are several: a dict of names, and of the layers that follow the others for each
    (none, for what the others gave). Weights are stored in the type of the tensors that they meet, the input's in the
    end: float32 unless `input` says otherwise. InvalidArgumentError says which layer does not fit what is before it.
    """
    chain = checked_layers(layers, "a model")
    ends = {outputs: ()} if isinstance(outputs, str) else dict(outputs)
    if not ends:
        raise InvalidArgumentError("a model has at least one output, got none")
    heads = {name: checked_layers(head, f'output "{name}"') for name, head in ends.items()}
    shape = input.shape if input.shape is not None else first_takes(chain)
    if shape is None:
        raise InvalidArgumentError(
            "the first layer does not say what shape it takes: say Input(shape=(None, ...)), with the batch first"
        )

    def build(**inputs: Tensor) -> dict[str, Tensor]:
        trunk = apply_layers(chain, inputs[input.name])
        return {
            name: identity(apply_layers(head, trunk, f'output "{name}", layer'), name=name)
            for name, head in heads.items()
        }

    return from_function(build, {input.name: (input.dtype, shape)}, directory, signature=signature, tags=tags, fs=fs)
