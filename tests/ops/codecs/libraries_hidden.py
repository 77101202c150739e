"""Image files without the libraries that decode and encode them, though they are installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from tensorkeep.ops.codecs import _jpeg
from tensorkeep.ops.codecs import _libraries as libraries


@contextmanager
def libraries_hidden() -> Iterator[None]:
    """By NumPy alone: without the packages, and without our compiled code for JPEG."""
    with packages_hidden(), compiled_code_hidden():
        yield


@contextmanager
def packages_hidden() -> Iterator[None]:
    with mock.patch.multiple(
        libraries,
        simplejpeg=lambda: None,
        pillow=lambda: None,
        pillow_jpeg=lambda: None,
        pillow_webp=lambda: None,
    ):
        yield


@contextmanager
def compiled_code_hidden() -> Iterator[None]:
    with mock.patch.object(_jpeg, "has_jpeg_windows", return_value=False):
        yield
