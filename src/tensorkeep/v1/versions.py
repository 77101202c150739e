"""The TensorFlow whose Python this is, the last of TensorFlow 1: its version, its build, and its missing binary.

It is built for no accelerator. What would be compiled against TensorFlow or loaded into it is refused with a word.
Graphs say themselves which version they are of.
"""

from __future__ import annotations

from typing import Final, NoReturn

from tensorkeep.errors import UnimplementedError
from tensorkeep.io.files.filesystem import PathLike, path_text

VERSION: Final = "1.15.5"
GIT_VERSION: Final = "v1.15.5"
KERAS_VERSION: Final = "2.2.4-tf"
"""The version of Keras that TensorFlow 1.15 has."""

is_cuda_build: Final = False
is_rocm_build: Final = False
cuda_build_info: Final[dict[str, str]] = {}
build_info: Final[dict[str, object]] = {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}
CXX11_ABI_FLAG: Final = 0
MONOLITHIC_BUILD: Final = 0


def _nothing_to_compile() -> NoReturn:
    raise UnimplementedError(
        "there is no TensorFlow here to compile ops against: ops of one's own are written in Python"
    )


get_include = get_lib = get_compile_flags = get_link_flags = _nothing_to_compile


def load_op_library(library_filename: PathLike) -> NoReturn:
    """Raises: compiled ops are made for TensorFlow's own binary."""
    raise UnimplementedError(
        f'"{path_text(library_filename)}" holds compiled ops, which only TensorFlow\'s own binary can load. An op of '
        "one's own is written in Python here: tensorkeep.graph.registry.opspec; or let tf.py_func call what computes it"
    )


load_library = load_file_system_library = load_op_library
