# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.numbers.signal import (
    fft, fft2d, fft3d, ifft, ifft2d, ifft3d, irfft, irfft2d, irfft3d, rfft, rfft2d, rfft3d,
)
from tensorkeep.tf1.functions.numbers.spectra import dct, idct

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "idct", "ifft", "ifft2d", "ifft3d", "irfft", "irfft2d", "irfft3d", "rfft",
    "rfft2d", "rfft3d",
]
