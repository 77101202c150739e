"""SignatureDef: inputs and outputs of a model under names, and the way in which a server is to call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.proto.messages import DataType, SignatureDef, TensorInfo
from tensorkeep.saved_model.files.constants import (
    CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES,
    INIT_OP_SIGNATURE_KEY,
    PREDICT_METHOD_NAME,
    REGRESS_INPUTS,
    REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS,
    SUPERVISED_EVAL_METHOD_NAME,
    SUPERVISED_TRAIN_METHOD_NAME,
    TRAIN_OP_SIGNATURE_KEY,
)
from tensorkeep.saved_model.files.tensor_info import (
    build_tensor_info,
    build_tensor_info_from_op,
    get_element_from_tensor_info,
)

Tensors = Mapping[str, Any]


class InvalidTensorInfoError(InvalidArgumentError, AssertionError):
    """A signature has an input or output that says too little of itself. TensorFlow asserts that none does."""


class ReservedSignatureError(InvalidArgumentError, KeyError):
    """A signature has a name that means something else."""


# ------------------------------------------------------------------------------------------------------------- building


def build_signature_def(
    inputs: Mapping[str, TensorInfo] | None = None,
    outputs: Mapping[str, TensorInfo] | None = None,
    method_name: str | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> SignatureDef:
    """A signature of these parts; `defaults` are constants for inputs that may be left out."""
    signature = SignatureDef()
    for key, info in (inputs or {}).items():
        signature.inputs[key].CopyFrom(info)
    for key, info in (outputs or {}).items():
        signature.outputs[key].CopyFrom(info)
    if method_name is not None:
        signature.method_name = method_name
    for key, default in (defaults or {}).items():
        if getattr(getattr(default, "op", None), "type", None) != "Const":
            raise InvalidArgumentError(
                f"Unable to convert object {default!s} of type {type(default)} to TensorProto. The default of "
                f"{key!r} must be a constant"
            )
        signature.defaults[key].CopyFrom(default.op.attr("value"))
    return signature


def predict_signature_def(inputs: Tensors, outputs: Tensors) -> SignatureDef:
    """A signature with any inputs and outputs."""
    return build_signature_def(
        _infos(inputs, "Prediction `inputs` cannot be None or empty."),
        _infos(outputs, "Prediction `outputs` cannot be None or empty."),
        PREDICT_METHOD_NAME,
    )


def classification_signature_def(examples: Tensor, classes: Tensor | None, scores: Tensor | None) -> SignatureDef:
    """A signature from serialized examples to classes, to scores, or to both."""
    if examples is None:
        raise InvalidArgumentError("Classification `examples` cannot be None.")
    if not isinstance(examples, Tensor):
        raise InvalidArgumentError(
            f"Classification `examples` must be a string Tensor. Found `examples` of type {type(examples)}."
        )
    if classes is None and scores is None:
        raise InvalidArgumentError("Classification `classes` and `scores` cannot both be None.")
    inputs = _typed_info(
        examples, DataType.DT_STRING, "Classification input tensors must be of type string. Found tensors"
    )
    outputs = {}
    if classes is not None:
        what = "Classification classes must be of type string Tensor. Found tensors"
        outputs[CLASSIFY_OUTPUT_CLASSES] = _typed_info(classes, DataType.DT_STRING, what)
    if scores is not None:
        what = "Classification scores must be a float Tensor. Found tensors"
        outputs[CLASSIFY_OUTPUT_SCORES] = _typed_info(scores, DataType.DT_FLOAT, what)
    return build_signature_def({CLASSIFY_INPUTS: inputs}, outputs, CLASSIFY_METHOD_NAME)


def regression_signature_def(examples: Tensor, predictions: Tensor) -> SignatureDef:
    """A signature from serialized examples to numbers."""
    if examples is None:
        raise InvalidArgumentError("Regression `examples` cannot be None.")
    if not isinstance(examples, Tensor):
        raise InvalidArgumentError(
            f"Expected regression `examples` to be of type Tensor. Found `examples` of type {type(examples)}."
        )
    if predictions is None:
        raise InvalidArgumentError("Regression `predictions` cannot be None.")
    inputs = _typed_info(examples, DataType.DT_STRING, "Regression input tensors must be of type string. Found tensors")
    outputs = _typed_info(
        predictions, DataType.DT_FLOAT, "Regression output tensors must be of type float. Found tensors"
    )
    return build_signature_def({REGRESS_INPUTS: inputs}, {REGRESS_OUTPUTS: outputs}, REGRESS_METHOD_NAME)


def supervised_train_signature_def(
    inputs: Tensors, loss: Tensors | None, predictions: Tensors | None = None, metrics: Tensors | None = None
) -> SignatureDef:
    """A signature of training."""
    return _supervised_signature(SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(
    inputs: Tensors, loss: Tensors | None, predictions: Tensors | None = None, metrics: Tensors | None = None
) -> SignatureDef:
    """A signature of evaluation."""
    return _supervised_signature(SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def _supervised_signature(method_name: str, inputs: Tensors, *outputs: Tensors | None) -> SignatureDef:
    infos = {key: build_tensor_info(tensor) for group in outputs for key, tensor in (group or {}).items()}
    return build_signature_def(_infos(inputs, f"{method_name} `inputs` cannot be None or empty."), infos, method_name)


def _infos(tensors: Tensors | None, complaint: str) -> dict[str, TensorInfo]:
    if not tensors:
        raise InvalidArgumentError(complaint)
    return {key: build_tensor_info(tensor) for key, tensor in tensors.items()}


def _typed_info(tensor: Any, wanted: int, complaint: str) -> TensorInfo:
    info = build_tensor_info(tensor)
    if info.dtype != wanted:
        raise InvalidArgumentError(f"{complaint} of type {info.dtype} ({tensor.dtype.name}).")
    return info


# ----------------------------------------------------------------------------------------------------------- operations


def op_signature_def(op: Operation, key: str) -> SignatureDef:
    """A signature whose one output is an operation."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(
    signature_def: SignatureDef, key: str, graph: Graph, import_scope: str | None = None
) -> Tensor | Operation:
    """The operation of a graph that such a signature names."""
    try:
        return get_element_from_tensor_info(signature_def.outputs[key], graph, import_scope)
    except KeyError as error:
        raise NotFoundError(
            f'The key "{key}" could not be found in the graph. Please make sure the SavedModel was created by the '
            "internal _SavedModelBuilder. If you are using the public API, please make sure the SignatureDef in the "
            f'SavedModel does not contain the key "{key}". ({error})'
        ) from error


# ----------------------------------------------------------------------------------------------------------- validation


def is_valid_signature(signature_def: SignatureDef | None) -> bool:
    """Whether TensorFlow Serving can serve a signature."""
    return signature_def is not None and any(is_valid(signature_def) for is_valid in _SERVABLE)


def _is_valid_predict(signature: SignatureDef) -> bool:
    return signature.method_name == PREDICT_METHOD_NAME and bool(signature.inputs) and bool(signature.outputs)


def _is_valid_regression(signature: SignatureDef) -> bool:
    return (
        signature.method_name == REGRESS_METHOD_NAME
        and set(signature.inputs) == {REGRESS_INPUTS}
        and signature.inputs[REGRESS_INPUTS].dtype == DataType.DT_STRING
        and set(signature.outputs) == {REGRESS_OUTPUTS}
        and signature.outputs[REGRESS_OUTPUTS].dtype == DataType.DT_FLOAT
    )


def _is_valid_classification(signature: SignatureDef) -> bool:
    wanted = {CLASSIFY_OUTPUT_CLASSES: DataType.DT_STRING, CLASSIFY_OUTPUT_SCORES: DataType.DT_FLOAT}
    return (
        signature.method_name == CLASSIFY_METHOD_NAME
        and set(signature.inputs) == {CLASSIFY_INPUTS}
        and signature.inputs[CLASSIFY_INPUTS].dtype == DataType.DT_STRING
        and bool(signature.outputs)
        and all(wanted.get(key) == info.dtype for key, info in signature.outputs.items())
    )


_SERVABLE: Final[tuple[Callable[[SignatureDef], bool], ...]] = (
    _is_valid_classification,
    _is_valid_regression,
    _is_valid_predict,
)


def check_signatures(signatures: Mapping[str, SignatureDef]) -> None:
    """Sees that signatures can be saved: their tensors have names and dtypes, and their own names are free."""
    for signature in signatures.values():
        for info in [*signature.inputs.values(), *signature.outputs.values()]:
            check_tensor_info(info)
    if INIT_OP_SIGNATURE_KEY in signatures:
        raise ReservedSignatureError(
            f'SignatureDef map key "{INIT_OP_SIGNATURE_KEY}" is reserved for initialization. Please use a different '
            "key."
        )
    if TRAIN_OP_SIGNATURE_KEY in signatures:
        raise ReservedSignatureError(
            f'SignatureDef map key "{TRAIN_OP_SIGNATURE_KEY}" is reserved for the train op. Please use a different key.'
        )


def check_tensor_info(info: TensorInfo | None) -> None:
    """Sees that a TensorInfo names something and has a dtype."""
    if info is None:
        raise InvalidTensorInfoError(
            "All TensorInfo protos used in the SignatureDefs must have the name and dtype fields set."
        )
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        raise InvalidTensorInfoError(
            f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must have one of the "
            "'encoding' fields (e.g., name or coo_sparse) set."
        )
    if encoding == "composite_tensor":
        for component in info.composite_tensor.components:
            check_tensor_info(component)
    elif info.dtype == DataType.DT_INVALID:
        raise InvalidTensorInfoError(
            f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must have the dtype field "
            "set."
        )
