"""Image files without the libraries that decode and encode them, though they are installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from tensorkeep.ops.codecs import _libraries as libraries


@contextmanager
def libraries_hidden() -> Iterator[None]:
    with mock.patch.multiple(
        libraries,
        simplejpeg=lambda: None,
        pillow=lambda: None,
        pillow_jpeg=lambda: None,
        pillow_webp=lambda: None,
    ):
        yield
