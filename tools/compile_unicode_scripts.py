"""Writes the runs of scripts of `ops/text/_unicode_scripts.py` anew, by asking TensorFlow (ICU) for each character's.

    python tools/compile_unicode_scripts.py

Needs TensorFlow. Run it for a TensorFlow with a newer Unicode.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import tensorkeep

TARGET = Path(tensorkeep.__file__).parent / "ops" / "text" / "_unicode_scripts.py"
_LAST = 0x10FFFF


def tensorflow_scripts() -> list[int]:
    """The script of every character, from U+0000 on."""
    import tensorflow as tf

    found: list[int] = tf.strings.unicode_script(list(range(_LAST + 1))).numpy().tolist()
    return found


def render(scripts: Iterable[int], module: str) -> str:
    """The text of the module, with the runs of these scripts in the place of those that it had."""
    runs = " ".join(f"{len(list(run)):x}:{script}" for script, run in groupby(scripts))
    text, count = re.subn(
        r'(?<=_RUNS: Final = """\n).*?(?=\n""")', "\n".join(textwrap.wrap(runs, 114)), module, flags=re.DOTALL
    )
    assert count == 1, f"{TARGET} has no table of runs"
    return text


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    text = render(tensorflow_scripts(), TARGET.read_text("utf-8"))
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET.name}: {text.count(':')} runs")


if __name__ == "__main__":
    main()
