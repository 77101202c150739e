"""`tf.saved_model.loader`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.messages import MetaGraphDef
from tensorkeep.saved_model.files.layout import contains_saved_model
from tensorkeep.tf1.saved_model import session_loading
from tensorkeep.v1.sessions import core_session


def load(
    sess: Any, tags: Iterable[str], export_dir: PathLike, import_scope: str | None = None, **saver_kwargs: Any
) -> MetaGraphDef:
    """Loads the meta graph with these tags into a session and its graph, and gives it.

    It is that of the file, with attributes of its nodes that were left out because they are so by default.
    """
    return session_loading.load(core_session(sess), tags, export_dir, import_scope, **saver_kwargs)


def maybe_saved_model_directory(export_dir: PathLike) -> bool:
    """Whether a directory has the file of a SavedModel."""
    return contains_saved_model(export_dir)


__all__ = ["load", "maybe_saved_model_directory"]
