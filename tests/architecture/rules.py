"""Which folder of the source may do what, decided from the syntax alone.

A rule takes the modules of a tree and returns its violations, each as `file:line: what is wrong`. The syntax tells
what is written, not what happens: a name built at run time (`importlib`, `getattr`) goes unseen. Modules that are
named in full, in a table of names or for `later` and `import_module`, are seen.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from tests.support.effort import uncollected
from tests.support.syntax import statements_in

PACKAGE: Final = "tensorkeep"

# The layers, lowest first: a layer may import itself, those named beside it, and all that these may import.
STANDS_ON: Final[dict[str, tuple[str, ...]]] = {
    "_version": (),
    "_lazy": (),  # names of packages, and modules, when they are first used
    "errors": ("_lazy", "_version"),
    "dtypes": ("errors",),
    "shapes": ("dtypes",),
    "arrays": (),  # the type of an array; it imports NumPy, which those above do not
    "io": ("arrays", "shapes"),
    "native": ("io",),  # compiled code and what to do without it
    "_about": ("native",),
    "proto": ("native",),  # for varints, which its wire format shares with tables
    "table": ("proto",),
    # Two columns that do not know of each other: arrays on disk …
    "checkpoint": ("table",),
    "embedding": ("checkpoint",),
    "edit": ("embedding",),
    "devices": ("checkpoint",),  # tensors as arrays of other libraries, on their devices
    # … and graphs,
    "graph": ("proto",),
    "runtime": ("graph",),
    "metagraph": ("graph",),
    # which meet here.
    "ops": ("embedding", "runtime"),
    "saving": ("metagraph", "ops"),
    "onnx": ("ops",),  # graphs as ONNX models, and the engine that runs them by ONNX Runtime
    "jax": ("devices", "ops"),  # graphs as computations of JAX, and the engine that runs them on its devices
    "saved_model": ("saving", "onnx", "jax"),
    # TensorFlow 1's Python: functions, variables, layers, training. Nothing above this line knows of it.
    "tf1": ("saved_model",),
    "saved_model.layers": ("tf1",),
    "saved_model.export": ("saved_model.layers",),  # models made of functions that build graphs
    "convert": ("edit", "saved_model.export"),
    "inspect": ("edit", "saved_model"),
    "cluster": ("convert", "inspect"),  # jobs and tables on Ray
    "viewer": ("convert", "inspect"),  # pages for a browser, served or written; `tensorkeep.view` makes one
    "__init__": ("_about", "cluster", "convert", "devices", "edit", "inspect", "tf1", "viewer"),
    "serving": ("inspect",),  # a server of models; `tensorkeep serve` starts it
    "tools": ("__init__", "serving"),  # TensorFlow's own command-line programs, run as modules
    "v1": ("__init__", "tools"),
    "cli": ("__init__", "serving", "v1"),  # `tensorkeep run` runs programs that say `import tensorflow`
    "__main__": ("cli",),  # `python -m tensorkeep`
    "v1.__main__": ("cli",),  # `python -m tensorkeep.v1`
    "testing": ("__init__",),
}

_OPERATING_SYSTEM: Final = ("os", "io", "mmap", "pathlib", "shutil", "tempfile", "fcntl", "glob")
_NUMPY_FILE_ACCESS: Final = ("fromfile", "tofile", "memmap", "open_memmap")
_LOGGING_FUNCTIONS: Final = ("basicConfig", "captureWarnings", "disable", "setLoggerClass")
_LOGGER_METHODS: Final = ("addHandler", "removeHandler", "setLevel")
# What Python has only since 3.11 or later, of what is likely to be used.
_NEWER_THAN_3_10: Final = (
    "tomllib",
    "asyncio.TaskGroup", "asyncio.timeout", "asyncio.Runner",
    "contextlib.chdir",
    "copy.replace",
    "datetime.UTC",
    "enum.StrEnum", "enum.ReprEnum", "enum.EnumCheck", "enum.member", "enum.nonmember", "enum.verify",
    "hashlib.file_digest",
    "inspect.getmembers_static",
    "itertools.batched",
    "logging.getLevelNamesMapping", "logging.getHandlerByName",
    "math.cbrt", "math.exp2", "math.fma", "math.sumprod",
    "operator.call",
    "types.get_original_bases",
    "typing.LiteralString", "typing.Never", "typing.NotRequired", "typing.ReadOnly", "typing.Required", "typing.Self",
    "typing.TypeAliasType", "typing.TypeIs", "typing.TypeVarTuple", "typing.Unpack", "typing.assert_never",
    "typing.assert_type", "typing.dataclass_transform", "typing.get_protocol_members", "typing.is_protocol",
    "typing.override", "typing.reveal_type",
    "warnings.deprecated",
)  # fmt: skip
_NEWER_BUILTINS: Final = ("BaseExceptionGroup", "ExceptionGroup", "PythonFinalizationError")
_IMPORTING: Final = ("import_module", "later", "_import_module", "_later")
_FACADE_SIZE: Final = 10  # statements of a function
_AMBIENT_NAMES: Final = ("default_graph", "default_session")
# Half of all parts.
_NO_RULE: Final = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.Constant, ast.arguments)

_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _layer_of(name: str) -> str | None:
    """The layer that a module below the package is in: the longest that its name begins with."""
    parts = name.split(".")
    starts = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((start for start in starts if start in STANDS_ON), None)


@cache
def may_import(layer: str) -> frozenset[str]:
    """The layers that `layer` may import, itself among them."""
    return frozenset({layer}).union(*(may_import(below) for below in STANDS_ON[layer]))


@dataclass(frozen=True)
class Import:
    """One imported name, absolute and dotted: `from ..errors import DataLossError` in `io/` leads to
    tensorkeep.errors.DataLossError.
    """

    target: str
    line: int
    in_function: bool

    def is_of(self, *modules: str) -> bool:
        return any(self.target == module or self.target.startswith(f"{module}.") for module in modules)

    @property
    def layer(self) -> str | None:
        """The layer it leads to, or None if that lies outside the package. A name that is no layer is the API's."""
        package, _, rest = self.target.partition(".")
        if package != PACKAGE:
            return None
        return _layer_of(rest) or "__init__"


@dataclass(frozen=True)
class Module:
    """A parsed source file. `name` is dotted; a package's is that of its `__init__.py`."""

    name: str
    path: Path
    text: bytes

    @cached_property
    def tree(self) -> ast.Module:
        return self._parsed()

    def _parsed(self) -> ast.Module:
        with uncollected():
            return ast.parse(self.text, str(self.path))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every part of its syntax but what has no rule; going through the tree takes longer than looking at these."""
        return tuple(node for node in ast.walk(self.tree) if not isinstance(node, _NO_RULE))

    def mentions(self, names: Iterable[str]) -> bool:
        """Whether one of these dotted names may be in it: without its last word, it is not."""
        return any(name.rpartition(".")[2].encode() in self.text for name in names)

    @property
    def layer(self) -> str:
        name = self.name.partition(".")[2]
        return _layer_of(name) or name.partition(".")[0]

    @cached_property  # without the tree, which is large, unless something else has asked for it
    def imports(self) -> tuple[Import, ...]:
        return tuple(
            Import(target, node.lineno, in_function)
            for node, in_function in _statements_of(self.__dict__.get("tree") or self._parsed())
            if isinstance(node, ast.Import | ast.ImportFrom)
            for target in self._targets(node)
        )

    @cached_property
    def named_modules(self) -> tuple[Import, ...]:
        """The modules of ours that tables of names lead to, and those that are imported by their names."""
        quoted = any(f"{quote}{PACKAGE}.".encode() in self.text for quote in "\"'")
        named = [
            text
            for node in (self.nodes if quoted else ())
            for text in _texts_of_names(node)
            if isinstance(text.value, str) and text.value.startswith(f"{PACKAGE}.")
        ]
        return tuple(Import(str(text.value), text.lineno, in_function=False) for text in named)

    def _targets(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            parts = self.name.split(".")[: -node.level] if node.level else []
            source = ".".join([*parts, node.module] if node.module else parts)
            yield from (f"{source}.{alias.name}" for alias in node.names)

    def at(self, line: int, what: str) -> str:
        return f"{self.path}:{line}: {what}"


def load(source: Path, package: str = PACKAGE, mentioning: bytes = b"") -> tuple[Module, ...]:
    """Parses the files of the package that lies in the folder `source`; on request those with some text only."""
    texts = {path: path.read_bytes() for path in sorted((source / package).rglob("*.py"))}
    return tuple(
        Module(".".join(path.relative_to(source).with_suffix("").parts), path, text)
        for path, text in texts.items()
        if mentioning in text
    )


def _statements_of(node: ast.AST, in_function: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """The statements in a part of the syntax, those within others too, and whether a function has them."""
    for statement in statements_in(node):
        yield statement, in_function
        yield from _statements_of(statement, in_function or isinstance(statement, _Function))


def _texts_of_names(node: ast.AST) -> Iterator[ast.Constant]:
    """The texts in a part of the syntax that may be names of modules."""
    found: Iterable[ast.AST | None] = ()
    if isinstance(node, ast.Dict):
        found = node.keys
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _IMPORTING:
        found = node.args[:1]
    yield from (text for text in found if isinstance(text, ast.Constant))


Rule = Callable[[Sequence[Module]], list[str]]


def unlisted_layers(modules: Sequence[Module]) -> list[str]:
    unlisted = {module.layer: module for module in modules if module.layer not in STANDS_ON}
    return [module.at(1, f'"{layer}" is not in the table of layers') for layer, module in unlisted.items()]


def upward_imports(modules: Sequence[Module]) -> list[str]:
    return [
        module.at(found.line, f"{module.layer} must not import {found.layer} ({found.target})")
        for module in modules
        if module.layer in STANDS_ON
        for found in module.imports
        if found.layer is not None and found.layer not in may_import(module.layer)
    ]


def upward_names(modules: Sequence[Module]) -> list[str]:
    """Names and modules that come when they are first asked for are below, or in the package that offers them."""
    return [
        module.at(found.line, f"{module.layer} must not name {found.layer} ({found.target})")
        for module in modules
        for found in module.named_modules
        if found.layer not in may_import(module.layer) and not found.is_of(*_package_of(module))
    ]


def _package_of(module: Module) -> list[str]:
    """The package whose `__init__.py` a module is; nothing for others."""
    package, _, name = module.name.rpartition(".")
    return [package] if name == "__init__" else []


def imports_in_functions(modules: Sequence[Module]) -> list[str]:
    return [
        module.at(found.line, f"{found.target} is imported inside a function")
        for module in modules
        for found in module.imports
        if found.in_function and found.layer is not None
    ]


def star_imports(modules: Sequence[Module]) -> list[str]:
    return [
        module.at(found.line, f"{found.target} hides what is imported")
        for module in modules
        for found in module.imports
        if found.target.endswith(".*")
    ]


def file_access(modules: Sequence[Module]) -> list[str]:
    """Only `io/` opens files or names the operating system; the others are handed a file system."""
    violations = _imports_of(modules, _OPERATING_SYSTEM, allowed=("io", "testing"))
    for module, node in _nodes(modules, allowed=("io", "testing")):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            violations.append(module.at(node.lineno, "open() is called"))
        if isinstance(node, ast.Attribute) and node.attr in _NUMPY_FILE_ACCESS:
            violations.append(module.at(node.lineno, f"{node.attr} opens a file"))
    return violations


def protobuf_imports(modules: Sequence[Module]) -> list[str]:
    """Only `proto/` imports the protobuf runtime."""
    return _imports_of(modules, ("google.protobuf",), allowed=("proto",))


def ambient_defaults(modules: Sequence[Module]) -> list[str]:
    """Only `v1/` keeps ambient defaults.

    Looked for are the means to keep them (thread-locals, rebound globals, context variables called a default) and
    the two that TensorFlow has by name. A context variable without a default is explicit enough: unset, it raises.
    """
    violations = _imports_of(modules, ("threading.local",), allowed=("v1",))
    for module, node in _nodes(modules, allowed=("v1",)):
        if isinstance(node, ast.Global):
            violations.append(module.at(node.lineno, f"the global {', '.join(node.names)} is rebound"))
        elif _is_named(node, ("threading.local",)):
            violations.append(module.at(node.lineno, "threading.local keeps ambient state"))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and any(name in node.name for name in _AMBIENT_NAMES):
            violations.append(module.at(node.lineno, f"{node.name} is an ambient default"))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and "default" in (kept := _context_variable(node)):
            violations.append(module.at(node.lineno, f"the context variable {kept} is an ambient default"))
    return violations


def prints(modules: Sequence[Module]) -> list[str]:
    """Only `cli/` and `tools/` print. Asking whether something is one of Python's streams is not printing."""
    violations = _imports_of(modules, ("sys.stdout", "sys.stderr"), allowed=("cli", "tools"))
    compared = {
        id(part)
        for _, node in _nodes(modules, allowed=("cli", "tools"))
        if isinstance(node, ast.Compare)
        for part in node.comparators
    }
    for module, node in _nodes(modules, allowed=("cli", "tools")):
        if id(node) in compared:
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            violations.append(module.at(node.lineno, "print() is called"))
        if _is_named(node, ("sys.stdout", "sys.stderr")):
            violations.append(module.at(node.lineno, f"{ast.unparse(node)} is used"))
    return violations


def logging_configuration(modules: Sequence[Module]) -> list[str]:
    """Only `cli/` and `serving/` configure logging, and `v1/` where a program calls `tf.logging.set_verbosity`."""
    allowed = ("cli", "serving", "v1")
    functions = tuple(f"logging.{name}" for name in _LOGGING_FUNCTIONS)
    violations = _imports_of(modules, ("logging.config", "logging.handlers", *functions), allowed)
    for module, node in _nodes(modules, allowed):
        if _is_named(node, functions) or (isinstance(node, ast.Attribute) and node.attr in _LOGGER_METHODS):
            violations.append(module.at(node.lineno, f"{ast.unparse(node)} configures logging"))
    return violations


def private_modules(modules: Sequence[Module]) -> list[str]:
    """A module whose name begins with an underscore belongs to its folder: what others need has a name without one."""
    return [
        module.at(found.line, f"{found.target} belongs to {home}")
        for module in modules
        for found in module.imports
        if found.layer is not None and (home := _home_of_private(found.target)) and not _is_inside(module, home)
    ]


def _home_of_private(target: str) -> str | None:
    """The folder, dotted, of the first module on the way to a name that begins with an underscore; None without one."""
    parts = target.split(".")
    for place, part in enumerate(parts[:-1]):
        if part.startswith("_") and place > 1:  # those of the package itself are for all of it
            return ".".join(parts[:place])
    return None


def _is_inside(module: Module, folder: str) -> bool:
    return module.name.startswith(f"{folder}.")


def thick_facade(modules: Sequence[Module]) -> list[str]:
    """A function of `v1/` translates words and leaves the meaning to the core: it is short, and uses what is public."""
    violations = []
    for module in modules:
        if module.layer != "v1":
            continue
        for found in module.imports:
            if found.layer not in (None, "_lazy") and any(part.startswith("_") for part in found.target.split(".")):
                violations.append(module.at(found.line, f"{found.target} is private"))
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (size := _statements(node)) > _FACADE_SIZE:
                what = f"{node.name} has {size} statements, of at most {_FACADE_SIZE}: its meaning belongs to the core"
                violations.append(module.at(node.lineno, what))
    return violations


def _statements(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The statements of a function, those inside others included, but not its docstring."""
    count = sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1
    return count - (ast.get_docstring(function, clean=False) is not None)


def newer_python(modules: Sequence[Module]) -> list[str]:
    """Nothing needs a Python newer than the oldest that is promised, 3.10. The syntax is ruff's to check."""
    violations = _imports_of(modules, _NEWER_THAN_3_10, allowed=())
    for module, node in _nodes(modules, allowed=()):
        if _is_named(node, _NEWER_THAN_3_10):
            violations.append(module.at(node.lineno, f"{ast.unparse(node)} is newer than Python 3.10"))
        if isinstance(node, ast.Name) and node.id in _NEWER_BUILTINS:
            violations.append(module.at(node.lineno, f"{node.id} is newer than Python 3.10"))
    return violations


def tensorflow_imports(modules: Sequence[Module]) -> list[str]:
    return _imports_of(modules, ("tensorflow", "keras", "tensorboard"), allowed=())


def _imports_of(modules: Sequence[Module], names: Collection[str], allowed: Iterable[str]) -> list[str]:
    return [
        module.at(found.line, f"{found.target} is imported")
        for module in modules
        if module.layer not in allowed and module.mentions(names)
        for found in module.imports
        if found.is_of(*names)
    ]


def _nodes(modules: Sequence[Module], allowed: Iterable[str]) -> Iterator[tuple[Module, ast.AST]]:
    return ((module, node) for module in modules if module.layer not in allowed for node in module.nodes)


def _is_named(node: ast.AST, names: Collection[str]) -> bool:
    """Whether a part of the syntax is one of these dotted names, of two words each."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return f"{node.value.id}.{node.attr}" in names


def _context_variable(node: ast.Assign | ast.AnnAssign) -> str:
    """Both names of the context variable that the statement makes, in lower case; empty if it makes none."""
    if not isinstance(node.value, ast.Call) or "ContextVar" not in ast.unparse(node.value.func):
        return ""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return " ".join(ast.unparse(part) for part in [*targets, *node.value.args[:1]]).lower()
