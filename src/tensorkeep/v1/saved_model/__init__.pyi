# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.saved_model.files.constants import (
    ASSETS_DIRECTORY, ASSETS_KEY, CLASSIFY_INPUTS, CLASSIFY_METHOD_NAME, CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES, DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB, DEFAULT_SERVING_SIGNATURE_DEF_KEY, GPU,
    LEGACY_INIT_OP_KEY, MAIN_OP_KEY, PREDICT_INPUTS, PREDICT_METHOD_NAME, PREDICT_OUTPUTS, REGRESS_INPUTS,
    REGRESS_METHOD_NAME, REGRESS_OUTPUTS, SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION, SERVING, TPU, TRAINING, VARIABLES_DIRECTORY, VARIABLES_FILENAME,
)
from tensorkeep.saved_model.files.signature_defs import (
    build_signature_def, classification_signature_def, is_valid_signature, predict_signature_def,
    regression_signature_def,
)
from tensorkeep.saved_model.files.tensor_info import build_tensor_info
from tensorkeep.tf1.saved_model.builder import main_op_with_restore
from tensorkeep.tf1.saved_model.object_exporting import SaveOptions
from tensorkeep.tf1.saved_model.object_tree import Asset
from tensorkeep.v1.saved_model import (
    builder, constants, loader, main_op, signature_constants, signature_def_utils, tag_constants, utils,
)
from tensorkeep.v1.stored.saved_models import (
    SavedModelBuilder as Builder, get_tensor_from_tensor_info, load, load_v2, maybe_saved_model_directory,
    maybe_saved_model_directory as contains_saved_model, save, simple_save,
)

__all__ = [
    "ASSETS_DIRECTORY", "ASSETS_KEY", "Asset", "Builder", "CLASSIFY_INPUTS", "CLASSIFY_METHOD_NAME",
    "CLASSIFY_OUTPUT_CLASSES", "CLASSIFY_OUTPUT_SCORES", "DEBUG_DIRECTORY", "DEBUG_INFO_FILENAME_PB",
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY", "GPU", "LEGACY_INIT_OP_KEY", "MAIN_OP_KEY", "PREDICT_INPUTS",
    "PREDICT_METHOD_NAME", "PREDICT_OUTPUTS", "REGRESS_INPUTS", "REGRESS_METHOD_NAME", "REGRESS_OUTPUTS",
    "SAVED_MODEL_FILENAME_PB", "SAVED_MODEL_FILENAME_PBTXT", "SAVED_MODEL_SCHEMA_VERSION", "SERVING", "SaveOptions",
    "TPU", "TRAINING", "VARIABLES_DIRECTORY", "VARIABLES_FILENAME", "build_signature_def", "build_tensor_info",
    "builder", "classification_signature_def", "constants", "contains_saved_model", "get_tensor_from_tensor_info",
    "is_valid_signature", "load", "load_v2", "loader", "main_op", "main_op_with_restore",
    "maybe_saved_model_directory", "predict_signature_def", "regression_signature_def", "save", "signature_constants",
    "signature_def_utils", "simple_save", "tag_constants", "utils",
]
