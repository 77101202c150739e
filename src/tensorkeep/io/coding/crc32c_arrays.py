"""Masked checksums (see crc32c.py), many at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tensorkeep.io.coding.crc32c import MASK_DELTA


def unmask_array(masked: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """`unmask` of every element."""
    rotated = masked - np.uint32(MASK_DELTA)
    return (rotated >> np.uint32(17)) | (rotated << np.uint32(15))


def mask_array(crc: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """`mask` of every element."""
    return ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(MASK_DELTA)
