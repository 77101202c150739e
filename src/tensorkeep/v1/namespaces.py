"""The namespaces of `tf` as modules made of the tables, and what has to be there before any of their names is used.

A name is imported when it is first asked for. What others find by a registry is not: how operators treat ragged and
sparse tensors, how variable scopes make embedding variables and hash tables, how collections and ragged tensors are
stored in meta graphs.
That is installed here, so that a program gets the same graph whichever names it has used before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

from tensorkeep._lazy import later, made_module, on_first_use
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.registry.opspec import find_op
from tensorkeep.metagraph.collections import register_proto_function
from tensorkeep.proto.messages import SaverDef
from tensorkeep.tf1.functions.ragged import dispatch
from tensorkeep.tf1.saved_model import ragged_info
from tensorkeep.tf1.training.inputs import queue_runner
from tensorkeep.tf1.variables.embedding_variables import blocks as embedding_blocks
from tensorkeep.tf1.variables.embedding_variables import store as embedding_store
from tensorkeep.tf1.variables.hash_tables import lookup as hash_table_lookup
from tensorkeep.tf1.variables.hash_tables import store as hash_table_store
from tensorkeep.v1 import defaults
from tensorkeep.v1.absent import missing
from tensorkeep.v1.internals import private_names
from tensorkeep.v1.learning import keras_defaults
from tensorkeep.v1.op_functions import RawOp, function_of
from tensorkeep.v1.tables import ABOUT, SPACES

if TYPE_CHECKING:
    from tensorkeep.v1.programs import finding
    from tensorkeep.v1.stored import saving
else:  # a third of what all the rest takes
    finding = later("tensorkeep.v1.programs.finding")
    saving = later("tensorkeep.v1.stored.saving")

INSTALLED = (
    defaults,
    dispatch,
    embedding_blocks,
    embedding_store,
    hash_table_lookup,
    hash_table_store,
    keras_defaults,
    private_names,
    queue_runner,
    ragged_info,
)


def _saver_to_proto(saver: saving.Saver, export_scope: str | None = None) -> SaverDef | None:
    return saving.Saver.to_proto(saver, export_scope)


def _saver_from_proto(saver_def: SaverDef, import_scope: str | None = None) -> saving.Saver:
    return saving.Saver.from_proto(saver_def, import_scope)


register_proto_function(GraphKeys.SAVERS, SaverDef, _saver_to_proto, _saver_from_proto)


def offer(space: dict[str, object]) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Makes the namespaces below the package whose globals are given; its `__getattr__`, `__dir__` and `__all__`."""
    package = str(space["__name__"])
    for path in sorted(SPACES.keys() - {""}):
        parent, _, name = path.rpartition(".")
        home = vars(sys.modules[f"{package}.{parent}"]) if parent else space
        home[name] = sys.modules[f"{package}.{path}"] = _make_namespace(package, path)
    find, _, names = on_first_use(space, SPACES[""], otherwise=partial(_find_path, package))
    listed = sorted([*names, *_parts("")])
    return find, lambda: listed, listed


def _make_namespace(package: str, path: str) -> ModuleType:
    name, about, parts = f"{package}.{path}", f"`tf.{path}`: {ABOUT[path]}.", _parts(path)
    otherwise = _raw_op if path == "raw_ops" else partial(_find_path, name)
    made = made_module(name, about, SPACES[path], otherwise, is_package=bool(parts))
    vars(made)["__all__"] = sorted([*vars(made)["__all__"], *parts])
    return made


def _parts(path: str) -> list[str]:
    """The namespaces that are directly in one."""
    return [name.rpartition(".")[2] for name in SPACES if name and name.rpartition(".")[0] == path]


def _find_path(module: str, name: str) -> object:
    """A module of TensorFlow's that is no namespace, such as `tf.python`; AttributeError if there is none."""
    if name.startswith("__"):
        raise missing(module, name)
    path = finding.without_alias(".".join([*module.split(".")[2:], name]))
    if not finding.is_there(path):
        raise missing(module, name)
    return finding.module_at(path)


def _raw_op(name: str) -> RawOp:
    spec = None if name.startswith("_") else find_op(name)
    if spec is None:
        raise AttributeError(f"module 'tensorkeep.v1.raw_ops' has no attribute {name!r}: TensorFlow has no such op")
    return function_of(spec)
