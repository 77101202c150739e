# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.saved_model.files.signature_defs import (
    build_signature_def, classification_signature_def, is_valid_signature, predict_signature_def,
    regression_signature_def,
)
from tensorkeep.v1.stored.saved_models import MethodNameUpdater

__all__ = [
    "MethodNameUpdater", "build_signature_def", "classification_signature_def", "is_valid_signature",
    "predict_signature_def", "regression_signature_def",
]
