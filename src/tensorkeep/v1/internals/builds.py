"""How TensorFlow was built, as `build_info` and `sysconfig` tell it: for no accelerator."""

from __future__ import annotations

from typing import Final, NoReturn

from tensorkeep.errors import UnimplementedError

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
