"""Writes the signatures of all TensorFlow ops that have no paragraph of their own to `graph/known_ops.py`.

    python tools/compile_known_ops.py

Needs TensorFlow. Run it when an op gains or loses its paragraph, or for a new TensorFlow.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import tensorkeep
from tensorkeep.graph.opspec import registered_ops
from tensorkeep.graph.schema import OpSchema
from tensorkeep.ops import every  # noqa: F401 - registers every op
from tensorkeep.proto.messages import OpList

TARGET = Path(tensorkeep.__file__).parent / "graph" / "known_ops.py"

HEADER = '''"""The signatures of TensorFlow's ops that have no paragraph in `ops/`, one a line; a tool writes them.

They let any graph be imported with types; running such an op is an error that names it.
"""

KNOWN_OPS = r"""
'''


def tensorflow_op_list() -> OpList:
    """Every op that the installed TensorFlow registers."""
    from tensorflow.python.client import pywrap_tf_session

    return OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))


def render(op_list: OpList, without: set[str]) -> str:
    lines = [str(OpSchema.of_op_def(proto)) for proto in op_list.op if proto.name not in without]
    return HEADER + "\n".join(sorted(lines)) + '\n"""\n'


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    text = render(tensorflow_op_list(), set(registered_ops()))
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET.name}: {text.count(chr(10)) - 6} signatures, {len(text) // 1024} KiB")


if __name__ == "__main__":
    main()
