"""`tf.saved_model.signature_def_utils`."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.saved_model.edit.directory_edits import write_model_file
from tensorkeep.saved_model.edit.message_edits import replace_method_name
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.files.signature_defs import (
    build_signature_def,
    classification_signature_def,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)


class MethodNameUpdater:
    """Changes the method names of the signatures of a SavedModel in a directory."""

    def __init__(self, export_dir: PathLike) -> None:
        self._export_dir = export_dir
        self._saved_model = read_saved_model(export_dir)

    def replace_method_name(
        self, signature_key: str, method_name: str, tags: str | Sequence[str] | None = None
    ) -> None:
        """Changes it in the meta graph with these tags, or in all."""
        self._saved_model = replace_method_name(self._saved_model, signature_key, method_name, tags)

    def save(self, new_export_dir: PathLike | None = None) -> None:
        """Writes the model file: over the old one, or into another directory, which gets no variables."""
        write_model_file(self._saved_model, self._export_dir, new_export_dir or self._export_dir)


__all__ = [
    "MethodNameUpdater",
    "build_signature_def",
    "classification_signature_def",
    "is_valid_signature",
    "predict_signature_def",
    "regression_signature_def",
]
