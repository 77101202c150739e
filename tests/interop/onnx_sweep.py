"""Signatures of exported models in ONNX Runtime, beside TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import keras
import ml_dtypes
import numpy as np
import onnxruntime as ort
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.dtypes import DType
from tests.interop.keras_sweep import Case, difference, endpoint_of, export, together
from tests.onnx.walking import from_onnx, to_onnx

# The largest error of an output, as a part of its largest element. ONNX Runtime has several functions in float32 alone,
# and adds in another order.
TOLERANCES: Final = {
    np.dtype(np.float64): 1e-6,
    np.dtype(np.complex128): 1e-6,
    np.dtype(np.float32): 1e-4,
    np.dtype(np.complex64): 1e-4,
    np.dtype(np.float16): 2.0**-8,
    np.dtype(ml_dtypes.bfloat16): 2.0**-6,
}


class InOnnxRuntime:
    """A model that was exported, to be called with arrays as TensorFlow's function is."""

    def __init__(self, path: Path, dtypes: Mapping[str, DType]) -> None:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        self._session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._dtypes = dtypes

    def __call__(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        taken = {item.name for item in self._session.get_inputs()}
        names = [item.name for item in self._session.get_outputs()]
        given = {name: to_onnx(_as_bytes(array), self._dtypes[name]) for name, array in arrays.items() if name in taken}
        found = self._session.run(names, given)
        plain = [name.removesuffix("_output") for name in names]  # where an output is called as an input is
        return {name: from_onnx(value, self._dtypes[name]) for name, value in zip(plain, found, strict=True)}


def _as_bytes(array: Any) -> Any:
    """An array in which text is bytes."""
    flat = [item.encode() if isinstance(item, str) else item for item in array.reshape(-1).tolist()]
    return np.array([*flat, None], object)[:-1].reshape(array.shape) if array.dtype == object else array


def in_onnx_runtime(model: tk.LoadedModel, signature: str, path: Path) -> InOnnxRuntime:
    """A signature of a model, exported and loaded."""
    tk.export_onnx(model, path, signature=signature, overwrite=True)
    part = model.signature_part(signature)
    return InOnnxRuntime(path, {name: tensor.dtype for name, tensor in {**part.inputs, **part.outputs}.items()})


def expect_agreement(
    cases: Iterable[Case],
    folder: Path,
    refused: Mapping[str, str],
    stateful: Iterable[str] = (),
    random: Iterable[str] = (),
) -> None:
    """Every case gives in ONNX Runtime what it gives in TensorFlow, but those that are refused, for the reason given.

    Some files are right, and ONNX Runtime does not run them on a CPU: the reason is that it has no implementation.
    A file keeps nothing from one run to the next: of what is stateful, the first run is compared.
    Random numbers are others in ONNX: of what is random, the shapes are compared.
    """
    keras.utils.set_random_seed(1)
    found, once, drawn = list(cases), set(stateful), set(random)
    assert {case.name for case in found} >= {*refused, *once, *drawn}
    alone = [case for case in found if case.name in {*refused, *once, *drawn}]
    groups = [*together(case for case in found if case not in alone), *((case,) for case in alone)]
    functions = export(groups, folder / "model")
    lines: list[str] = []
    with tk.load_saved_model(folder / "model") as model:
        for group in groups:
            name = endpoint_of(group)
            try:
                ours = in_onnx_runtime(model, name, folder / "model.onnx")
            except Exception as error:  # ours, or one of ONNX Runtime's, which have no class in common
                reason = refused.get(name)
                if reason is None or reason not in str(error):
                    lines.append(f"{name} is refused: {error}")
                continue
            if name in refused:
                lines.append(f"{name} is not refused any more")
            batches = [batch for batch in group[0].batches if batch]  # ONNX Runtime may not survive what is empty
            lines += _differences(group, functions[name], ours, batches[:1] if name in once else batches, name in drawn)
    assert not lines, "\n".join(lines)


def _differences(
    group: Sequence[Case], theirs: Any, ours: InOnnxRuntime, batches: Iterable[int], is_random: bool
) -> list[str]:
    lines = []
    for batch in batches:
        if batch in (*group[0].refused, *group[0].ours_alone):
            continue
        arrays = group[0].arrays(batch)
        wanted = {name: tensor.numpy() for name, tensor in theirs(*map(tf.constant, arrays.values())).items()}
        try:
            answer = ours(arrays)
        except Exception as error:
            lines.append(f"{endpoint_of(group)} at a batch of {batch}: {error}")
            continue
        if is_random:
            answer = {
                name: array if answer[name].shape == array.shape else answer[name] for name, array in wanted.items()
            }
        pairs = {name: difference(answer[name], array, TOLERANCES) for name, array in wanted.items()}
        lines += [f"{name} at a batch of {batch}: {line}" for name, line in pairs.items() if line]
    return lines
