"""What is installed here, for bug reports and for the curious."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from tensorkeep._version import __version__
from tensorkeep.native.library import native


@dataclass(frozen=True, slots=True)
class About:
    """Versions, and whether compiled code is in use: `native` tells, and `native_state` says why not."""

    version: str
    native: bool
    native_state: str
    numpy: str
    protobuf: str

    def __str__(self) -> str:
        return (
            f"tensorkeep {self.version}, NumPy {self.numpy}, protobuf {self.protobuf}; "
            f"native library: {self.native_state}"
        )


def about() -> About:
    """What this installation of tensorkeep is made of. Printed, it is one line."""
    found = native()
    return About(__version__, found.library is not None, found.state, np.__version__, _installed_version("protobuf"))


def _installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # put there by other means than an installer
        return "of unknown version"
