"""Makes the files of this folder by PyTorch itself: `python make.py`, where it is installed.

They are kept because PyTorch is too large (several hundred megabytes) to be installed for the tests.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import torch

HERE = Path(__file__).parent


def tensors() -> OrderedDict[str, torch.Tensor]:
    weight = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    whole = torch.arange(24, dtype=torch.int64).reshape(2, 3, 4)
    return OrderedDict(
        weight=weight,
        transposed=weight.t(),
        parameter=torch.nn.Parameter(torch.tensor([1.5, -2.0])),
        rows=whole[1:, 1:],
        every_second=whole[0, 0, ::2],
        permuted=whole.permute(2, 0, 1),
        expanded=torch.tensor([7, 8], dtype=torch.int16).unsqueeze(0).expand(3, 2),
        scalar=torch.tensor(3),
        empty=torch.zeros(0, 4),
        bfloat16=torch.tensor([1.0, 2.5], dtype=torch.bfloat16),
        float16=torch.tensor([1.0, 2.5], dtype=torch.float16),
        float64=torch.tensor([1.0, 2.5], dtype=torch.float64),
        float8_e4m3fn=torch.tensor([1.0, 2.5]).to(torch.float8_e4m3fn),
        float8_e5m2=torch.tensor([1.0, 2.5]).to(torch.float8_e5m2),
        uint8=torch.tensor([1, 255], dtype=torch.uint8),
        uint16=torch.tensor([1, 65535], dtype=torch.uint16),
        int8=torch.tensor([1, -128], dtype=torch.int8),
        int32=torch.tensor([1, -(2**31)], dtype=torch.int32),
        bool=torch.tensor([True, False]),
        complex64=torch.tensor([1 + 2j]),
        complex128=torch.tensor([1 + 2j], dtype=torch.complex128),
    )


def main() -> None:
    torch.save(tensors(), HERE / "zip.pt")
    torch.save(tensors(), HERE / "legacy.pt", _use_new_zipfile_serialization=False)
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 2), torch.nn.BatchNorm2d(2))
    training = {"epoch": 3, "lr": 0.5, "done": False, "name": "run", "model": model.state_dict(), "steps": [1, 2]}
    torch.save(training, HERE / "training.pt")
    torch.save(model, HERE / "whole_model.pt")
    torch.save({"sparse": torch.eye(2).to_sparse()}, HERE / "sparse.pt")


if __name__ == "__main__":
    main()
