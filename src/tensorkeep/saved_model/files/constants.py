"""What TensorFlow calls the files, tags, signatures and collections of a SavedModel."""

from __future__ import annotations

from typing import Final

# ----------------------------------------------------------------------------------------------------------- directory

SAVED_MODEL_SCHEMA_VERSION: Final = 1
SAVED_MODEL_FILENAME_PB: Final = "saved_model.pb"
SAVED_MODEL_FILENAME_CPB: Final = "saved_model.cpb"
SAVED_MODEL_FILENAME_PBTXT: Final = "saved_model.pbtxt"
FINGERPRINT_FILENAME: Final = "fingerprint.pb"
VARIABLES_DIRECTORY: Final = "variables"
VARIABLES_FILENAME: Final = "variables"
ASSETS_DIRECTORY: Final = "assets"
EXTRA_ASSETS_DIRECTORY: Final = "assets.extra"
DEBUG_DIRECTORY: Final = "debug"
DEBUG_INFO_FILENAME_PB: Final = "saved_model_debug_info.pb"
WARMUP_FILENAME: Final = "tf_serving_warmup_requests"  # in the folder of extra assets

# --------------------------------------------------------------------------------------------------------- collections

ASSETS_KEY: Final = "saved_model_assets"
MAIN_OP_KEY: Final = "saved_model_main_op"
LEGACY_INIT_OP_KEY: Final = "legacy_init_op"
TRAIN_OP_KEY: Final = "saved_model_train_op"

# ---------------------------------------------------------------------------------------------------------------- tags

SERVING: Final = "serve"
TRAINING: Final = "train"
EVAL: Final = "eval"
GPU: Final = "gpu"
TPU: Final = "tpu"

# ---------------------------------------------------------------------------------------------------------- signatures

DEFAULT_SERVING_SIGNATURE_DEF_KEY: Final = "serving_default"
DEFAULT_TRAIN_SIGNATURE_DEF_KEY: Final = "train"
DEFAULT_EVAL_SIGNATURE_DEF_KEY: Final = "eval"
INIT_OP_SIGNATURE_KEY: Final = "__saved_model_init_op"
TRAIN_OP_SIGNATURE_KEY: Final = "__saved_model_train_op"

PREDICT_METHOD_NAME: Final = "tensorflow/serving/predict"
PREDICT_INPUTS: Final = "inputs"
PREDICT_OUTPUTS: Final = "outputs"

CLASSIFY_METHOD_NAME: Final = "tensorflow/serving/classify"
CLASSIFY_INPUTS: Final = "inputs"
CLASSIFY_OUTPUT_CLASSES: Final = "classes"
CLASSIFY_OUTPUT_SCORES: Final = "scores"

REGRESS_METHOD_NAME: Final = "tensorflow/serving/regress"
REGRESS_INPUTS: Final = "inputs"
REGRESS_OUTPUTS: Final = "outputs"

SUPERVISED_TRAIN_METHOD_NAME: Final = "tensorflow/supervised/training"
SUPERVISED_EVAL_METHOD_NAME: Final = "tensorflow/supervised/eval"
