"""Models on several devices: here there is one, so a model is its own replica."""

from __future__ import annotations

import warnings
from typing import Any

from tensorkeep.errors import InvalidArgumentError


def multi_gpu_model(model: Any, gpus: int | list[int], cpu_merge: bool = True, cpu_relocation: bool = False) -> Any:
    """The model itself: its batches are not cut, and the results are those of a model on several devices."""
    count = len(gpus) if isinstance(gpus, list | tuple) else gpus
    if count <= 1:
        raise InvalidArgumentError(
            f"For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`, not {gpus}"
        )
    warnings.warn(
        f"multi_gpu_model: there is one device, not {count}; the model is trained on it, its batches in one piece",
        stacklevel=2,
    )
    return model
