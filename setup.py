"""What pyproject.toml cannot say: flags by compiler, what the wheel is for, and the README as others can show it."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

# Products and sums are never contracted, or results would depend on the processor, and differ from NumPy's.
_UNIX = [
    "-std=c++17",
    "-O3",
    "-g0",
    "-fvisibility=hidden",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
]
_FLAGS = {"msvc": ["/std:c++17", "/O2", "/EHsc", "/fp:precise"]}


class BuildLibrary(build_ext):
    """Builds a library that ctypes loads: no module of Python's, so nothing has to be exported for Python."""

    def build_extensions(self) -> None:
        for extension in self.extensions:
            extension.extra_compile_args = _FLAGS.get(self.compiler.compiler_type, _UNIX)
        super().build_extensions()

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return list(ext.export_symbols)


class Wheel(bdist_wheel):
    """A wheel for one platform and every version of Python: the library in it uses nothing of Python's."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


def description() -> str:
    """The README without what only a checkout shows: its pictures, and links to files that lie beside it."""
    text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    without_pictures = re.sub(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n?", "", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]*)\]\((?!https?:|#)[^)]*\)", r"\1", without_pictures)


setup(
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": Wheel},
    long_description=description(),
    long_description_content_type="text/markdown",
)
