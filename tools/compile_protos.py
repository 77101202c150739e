"""Compiles the schemas in `tensorkeep/proto/schemas` to the modules in `tensorkeep/proto/_generated`.

    python tools/compile_protos.py            writes the modules
    python tools/compile_protos.py --check    changes nothing; exits with 1 if the modules are not what it would write

For development only: needs grpcio-tools, any release from 1.62 on. `protoc` compiles the descriptors and the stubs. The
modules are our own, not protoc's: they enter their messages in our private descriptor pool, and do not insist on a
version of the protobuf runtime, since the descriptors mean the same to all of them.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc

SOURCE_ROOT = Path(__file__).resolve().parent.parent / "src"
SCHEMAS = "tensorkeep/proto/schemas"
GENERATED = "tensorkeep/proto/_generated"
BYTES_PER_LINE = 60
STUB_IMPORTS = """\
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compile tensorkeep's protocol buffer schemas.")
    parser.add_argument("--check", action="store_true", help="report stale modules instead of writing them")
    options = parser.parse_args(arguments)
    wanted = generate_modules()
    folder = SOURCE_ROOT / GENERATED
    present = {path.name: path.read_text("utf-8") for path in folder.glob("*.py*") if path.is_file()}
    stale = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if options.check:
        for name in stale:
            print(f"{GENERATED}/{name} is not what tools/compile_protos.py writes", file=sys.stderr)
        return 1 if stale else 0
    folder.mkdir(exist_ok=True)
    for name in stale:
        if name in wanted:
            (folder / name).write_text(wanted[name], "utf-8")
        else:
            (folder / name).unlink()
    return 0


def generate_modules() -> dict[str, str]:
    """The wanted contents of the generated folder: file name to text."""
    with tempfile.TemporaryDirectory() as folder:
        run_protoc(Path(folder))
        files = FileDescriptorSet.FromString((Path(folder) / "descriptors").read_bytes()).file
        stubs = [(Path(folder) / SCHEMAS / f"{module_name(file.name)}.pyi").read_text("utf-8") for file in files]
    enums = sorted(set(re.findall(r"class (\w+)\(int, metaclass=", "".join(stubs))))
    modules = {"__init__.py": ""}
    for file, stub in zip(files, stubs, strict=True):
        modules[f"{module_name(file.name)}.py"] = header(file) + module_text(file)
        modules[f"{module_name(file.name)}.pyi"] = header(file) + stub_text(stub, enums)
    return modules


def run_protoc(output: Path) -> None:
    """Leaves the stubs and, in `descriptors`, the serialized FileDescriptorSet in a folder."""
    names = sorted(path.name for path in (SOURCE_ROOT / SCHEMAS).glob("*.proto"))
    well_known = resources.files("grpc_tools") / "_proto"
    command = ["protoc", f"-I{SOURCE_ROOT}", f"-I{well_known}", f"--pyi_out={output}"]
    command += [f"--descriptor_set_out={output / 'descriptors'}", *(f"{SCHEMAS}/{name}" for name in names)]
    if protoc.main(command):
        raise SystemExit("protoc rejected the schemas")


def module_text(file: FileDescriptorProto) -> str:
    # The imports are for their effect: a file must enter the pool after those it depends on.
    imports = [
        f"from tensorkeep.proto._generated import {module_name(name)} as _{module_name(name)}\n"
        for name in sorted(file.dependency)
        if name.startswith(SCHEMAS)
    ]
    serialized = file.SerializeToString(deterministic=True)
    literal = "".join(f"    {line!r}\n" for line in slices(serialized, BYTES_PER_LINE))
    return (
        "from tensorkeep.proto import _pool\n" + "".join(imports) + "\n"
        "DESCRIPTOR = _pool.define(\n" + literal.rstrip("\n") + ",\n    globals(),\n)\n"
    )


def stub_text(stub: str, enums: Sequence[str]) -> str:
    """The stub as any release of protoc should write it, with our imports and the types that strict checking needs."""
    stub = stub.replace("from tensorkeep.proto.schemas import", "from tensorkeep.proto._generated import")
    stub = re.sub(r"^from (typing|collections\.abc) import .*\n", "", stub, flags=re.MULTILINE)
    stub = stub.replace(": bool = ...", ": _Optional[bool] = ...")
    stub = stub.replace("_Mapping]", "_Mapping[str, object]]")
    # protoc says that a field of an enum type holds instances of the enum. It holds, and takes, any int.
    stub = re.sub(rf"(?<=[\[ ])[\w.]*\b({'|'.join(enums)})(?=[],\n])", "int", stub)
    return STUB_IMPORTS + stub


def header(file: FileDescriptorProto) -> str:
    return f"# Generated by tools/compile_protos.py from {file.name}. Do not edit.\n"


def module_name(schema: str) -> str:
    return f"{Path(schema).stem}_pb2"


def slices(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


if __name__ == "__main__":
    sys.exit(main())
