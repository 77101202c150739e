"""`tf.saved_model.save` and `load_v2`: models of objects."""

from __future__ import annotations

from typing import Any

from tensorkeep.tf1.saved_model.object_assets import Asset
from tensorkeep.tf1.saved_model.object_exporting import SaveOptions, save_objects_as_model
from tensorkeep.tf1.saved_model.object_loading import load_objects
from tensorkeep.v1.defaults import get_default_session
from tensorkeep.v1.sessions import core_session


def save(obj: Any, export_dir: str, signatures: Any = None, options: SaveOptions | None = None) -> None:
    """Saves an object with its variables and functions; variables have the values of the session in force."""
    session = core_session(get_default_session())
    save_objects_as_model(obj, export_dir, signatures, session=session, options=options or SaveOptions())


def load_v2(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """The objects of a model of TensorFlow 2, in the default graph."""
    return load_objects(export_dir, tags)


__all__ = ["Asset", "SaveOptions", "load_v2", "save"]
