"""Writes the signatures of all TensorFlow ops that have no paragraph of their own to `graph/registry/known_ops.py`.

And, to `graph/registry/op_families.py`, in which file of `ops/` the paragraphs of the others are; to
`graph/registry/op_outputs.py`, how many tensors ops give.

    python tools/compile_known_ops.py

Needs TensorFlow. Run it when an op gains or loses its paragraph, or for a new TensorFlow.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import tensorkeep
from tensorkeep.graph.registry.opspec import registered_ops
from tensorkeep.graph.registry.schema import OpSchema
from tensorkeep.ops import every  # noqa: F401 - registers every op
from tensorkeep.proto.messages import OpList

PACKAGE = Path(tensorkeep.__file__).parent
TARGET = PACKAGE / "graph" / "registry" / "known_ops.py"
FAMILIES = PACKAGE / "graph" / "registry" / "op_families.py"
OUTPUTS = PACKAGE / "graph" / "registry" / "op_outputs.py"

LATER = ("_CopyFromGpuToHost", "_CopyFromHostToGpu")  # TensorFlow registers them when it first copies between devices

HEADER = '''"""The signatures of TensorFlow's ops that have no paragraph in `ops/`, one a line; a tool writes them.

They let any graph be imported with types; running such an op is an error that names it.
"""

KNOWN_OPS = r"""
'''

FAMILIES_HEADER = '''"""In which file of `ops/` the paragraph of an op is; a tool writes this."""

from typing import Final

OP_FAMILIES: Final = {
'''

OUTPUTS_HEADER = '''"""How many tensors an op of TensorFlow gives, if it is not one; a tool writes this.

Of each output that is a list, the attribute that says how many tensors it is; of all others the sum.
"""

from typing import Final

OUTPUT_COUNTS: Final = """
'''

# Which module is being executed when an op is registered. Without the package's own `__init__`, which may import ops.
RECORDING = """
import json, sys, types
package = types.ModuleType("tensorkeep")
package.__path__ = [sys.argv[1]]
sys.modules["tensorkeep"] = package
from tensorkeep.graph.registry import opspec
class Recorder(dict):
    families = {}
    def __setitem__(self, name, spec):
        super().__setitem__(name, spec)
        frame = sys._getframe(1)
        while frame.f_code.co_name != "<module>":
            frame = frame.f_back
        self.families.setdefault(frame.f_globals["__name__"].removeprefix("tensorkeep.ops."), []).append(name)
opspec._REGISTRY = Recorder()
import tensorkeep.ops.every
opspec.registered_ops()
json.dump(Recorder.families, sys.stdout)
"""


def op_families() -> dict[str, list[str]]:
    """The names of the ops in each file of `ops/`."""
    done = subprocess.run([sys.executable, "-c", RECORDING, str(PACKAGE)], capture_output=True, text=True, check=True)
    return {family: sorted(names) for family, names in sorted(json.loads(done.stdout).items())}


def render_families(families: dict[str, list[str]]) -> str:
    parts = [FAMILIES_HEADER]
    for family, names in families.items():
        lines = textwrap.wrap(" ".join(names), 112, break_long_words=False, break_on_hyphens=False)
        parts.append("".join([f'    "{family}": """\n', *(f"        {line}\n" for line in lines), '    """,\n']))
    return "".join([*parts, "}\n"])


def tensorflow_op_list() -> OpList:
    """Every op that the installed TensorFlow registers, in the order of their names, without those of its own tests.

    Which files of TensorFlow are loaded by then decides whether the ops of its tests are there at all, so they are
    loaded on purpose, and left out by the names that they are called by.
    """
    from tensorflow.python.client import pywrap_tf_session
    from tensorflow.python.framework import test_ops

    called = inspect.getsource(test_ops)
    tested = set(re.findall(r'_apply_op_helper\(\s*"([^"]+)"', called))
    assert {"Attr", "RefIn", "TwoIntInputs"} <= tested, "TensorFlow's module of test ops has another form"
    listed = OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    kept = {proto.name: proto for proto in listed.op if proto.name not in tested and proto.name not in LATER}
    return OpList(op=[kept[name] for name in sorted(kept)])


def render(op_list: OpList, without: set[str]) -> str:
    lines = [str(OpSchema.of_op_def(proto)) for proto in op_list.op if proto.name not in without]
    return HEADER + "\n".join(sorted(lines)) + '\n"""\n'


def render_outputs(op_list: OpList) -> str:
    lines = []
    for proto in op_list.op:
        lists = [attr for arg in proto.output_arg if (attr := arg.number_attr or arg.type_list_attr)]
        single = len(proto.output_arg) - len(lists)
        if lists or single != 1:
            lines.append(" ".join([proto.name, *([str(single)] if single else []), *lists]))
    return OUTPUTS_HEADER + "\n".join(sorted(lines)) + '\n"""\n'


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    op_list = tensorflow_op_list()
    text = render(op_list, set(registered_ops()))
    TARGET.write_text(text, encoding="utf-8")
    OUTPUTS.write_text(render_outputs(op_list), encoding="utf-8")
    families = op_families()
    FAMILIES.write_text(render_families(families), encoding="utf-8")
    print(f"{FAMILIES.name}: {sum(map(len, families.values()))} ops in {len(families)} files")
    print(f"{TARGET.name}: {text.count(chr(10)) - 6} signatures, {len(text) // 1024} KiB")


if __name__ == "__main__":
    main()
