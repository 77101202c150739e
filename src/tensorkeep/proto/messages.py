"""Message classes, and messages as bytes: what the rest of the package uses of protocol buffers.

The classes are TensorFlow's by name, field and number, and strangers to TensorFlow's own by identity: they live in a
private descriptor pool, so that both packages can be loaded in one process. Nested messages and enums are reached
through the class they belong to (`TensorShapeProto.Dim`), enum values through their enum (`DataType.DT_FLOAT`). An
`Any` is known to programs from protobuf's own pool, and to our messages from the private one.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from google.protobuf import any_pb2
from google.protobuf.message import DecodeError, EncodeError, Message

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.proto import _pool
from tensorkeep.proto._generated.checkpoint_pb2 import (
    BundleEntryProto,
    BundleHeaderProto,
    CheckpointState,
    RegisteredSaver,
    SavedSlice,
    SavedSliceMeta,
    SavedTensorSliceMeta,
    SavedTensorSlices,
    SaverDef,
    TrackableObjectGraph,
)
from tensorkeep.proto._generated.control_flow_pb2 import (
    CondContextDef,
    ControlFlowContextDef,
    QueueRunnerDef,
    ValuesDef,
    WhileContextDef,
)
from tensorkeep.proto._generated.error_codes_pb2 import Code
from tensorkeep.proto._generated.example_pb2 import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from tensorkeep.proto._generated.graph_debug_info_pb2 import GraphDebugInfo
from tensorkeep.proto._generated.graph_pb2 import (
    AttrValue,
    FullTypeDef,
    FullTypeId,
    FunctionDef,
    FunctionDefLibrary,
    GradientDef,
    GraphDef,
    NameAttrList,
    NodeDef,
    OpDef,
    OpDeprecation,
    OpList,
    RegisteredGradient,
)
from tensorkeep.proto._generated.meta_graph_pb2 import (
    AssetFileDef,
    CollectionDef,
    MetaGraphDef,
    SignatureDef,
    TensorInfo,
)
from tensorkeep.proto._generated.object_graph_pb2 import (
    CapturedTensor,
    FunctionSpec,
    SaveableObject,
    SavedAsset,
    SavedBareConcreteFunction,
    SavedConcreteFunction,
    SavedConstant,
    SavedFunction,
    SavedObject,
    SavedObjectGraph,
    SavedResource,
    SavedUserObject,
    SavedVariable,
)
from tensorkeep.proto._generated.saved_model_pb2 import FingerprintDef, SavedModel
from tensorkeep.proto._generated.structure_pb2 import (
    BoundedTensorSpecProto,
    DictValue,
    ListValue,
    NamedTupleValue,
    NoneValue,
    PairValue,
    StructuredValue,
    TensorSpecProto,
    TupleValue,
    TypeSpecProto,
)
from tensorkeep.proto._generated.summary_pb2 import (
    DataClass,
    Event,
    HistogramProto,
    LogMessage,
    SessionLog,
    SourceMetadata,
    Summary,
    SummaryDescription,
    SummaryMetadata,
    TaggedRunMetadata,
)
from tensorkeep.proto._generated.tensor_pb2 import (
    DataType,
    NamedTensorProto,
    ResourceHandleProto,
    SerializedDType,
    TensorProto,
    TensorShapeProto,
    TensorSliceProto,
    VariantTensorDataProto,
    VersionDef,
)
from tensorkeep.proto._generated.variable_pb2 import (
    SaveSliceInfoDef,
    VariableAggregation,
    VariableDef,
    VariableSynchronization,
)

__all__ = [
    "MOST_BYTES",
    "AssetFileDef",
    "AttrValue",
    "BoundedTensorSpecProto",
    "BundleEntryProto",
    "BundleHeaderProto",
    "BytesList",
    "CapturedTensor",
    "CheckpointState",
    "Code",
    "CollectionDef",
    "CondContextDef",
    "ControlFlowContextDef",
    "DataClass",
    "DataType",
    "DictValue",
    "Event",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FingerprintDef",
    "FloatList",
    "FullTypeDef",
    "FullTypeId",
    "FunctionDef",
    "FunctionDefLibrary",
    "FunctionSpec",
    "GradientDef",
    "GraphDebugInfo",
    "GraphDef",
    "HistogramProto",
    "Int64List",
    "ListValue",
    "LogMessage",
    "Message",
    "MessageType",
    "MetaGraphDef",
    "NameAttrList",
    "NamedTensorProto",
    "NamedTupleValue",
    "NodeDef",
    "NoneValue",
    "OpDef",
    "OpDeprecation",
    "OpList",
    "PairValue",
    "QueueRunnerDef",
    "RegisteredGradient",
    "RegisteredSaver",
    "ResourceHandleProto",
    "SaveSliceInfoDef",
    "SaveableObject",
    "SavedAsset",
    "SavedBareConcreteFunction",
    "SavedConcreteFunction",
    "SavedConstant",
    "SavedFunction",
    "SavedModel",
    "SavedObject",
    "SavedObjectGraph",
    "SavedResource",
    "SavedSlice",
    "SavedSliceMeta",
    "SavedTensorSliceMeta",
    "SavedTensorSlices",
    "SavedUserObject",
    "SavedVariable",
    "SaverDef",
    "SequenceExample",
    "SerializedDType",
    "SessionLog",
    "SignatureDef",
    "SourceMetadata",
    "StructuredValue",
    "Summary",
    "SummaryDescription",
    "SummaryMetadata",
    "TaggedRunMetadata",
    "TensorInfo",
    "TensorProto",
    "TensorShapeProto",
    "TensorSliceProto",
    "TensorSpecProto",
    "TrackableObjectGraph",
    "TupleValue",
    "TypeSpecProto",
    "ValuesDef",
    "VariableAggregation",
    "VariableDef",
    "VariableSynchronization",
    "VariantTensorDataProto",
    "VersionDef",
    "WhileContextDef",
    "is_any",
    "parse",
    "private_any",
    "public_any",
    "serialize",
]

MessageType = TypeVar("MessageType", bound=Message)

MOST_BYTES: Final = (1 << 31) - 1  # of a serialized message; protocol buffers know no larger ones
_ANY: Final = "google.protobuf.Any"
_Private: Any = getattr(_pool, "Any")  # noqa: B009 - made at run time


def parse(message_type: type[MessageType], data: bytes | memoryview, what: str) -> MessageType:
    """The message that `data` holds; DataLossError, beginning with `what`, if it holds none.

    Fields that the schema does not know are kept, and written again by `serialize`.
    """
    try:
        return message_type.FromString(bytes(data))
    except (DecodeError, RecursionError, ValueError) as error:
        name = message_type.DESCRIPTOR.name
        raise DataLossError(f"{what}: not a valid {name} ({len(data)} bytes): {error}") from error


def serialize(message: Message) -> bytes:
    """The bytes of `message`, with maps in a fixed order, so that equal messages give equal bytes.

    The order is that of protobuf's compiled runtime, and so of TensorFlow's own Python writers; `sorted` gives another.
    InvalidArgumentError if the message is larger than the format allows.
    """
    try:
        return message.SerializeToString(deterministic=True)
    except (EncodeError, ValueError) as error:
        name = message.DESCRIPTOR.name
        raise InvalidArgumentError(f"{name} cannot be serialized; is it larger than 2 GiB? ({error})") from error


def is_any(value: object) -> bool:
    """Whether a value is an Any, of whichever pool."""
    return getattr(getattr(type(value), "DESCRIPTOR", None), "full_name", None) == _ANY


def private_any(value: Any) -> Any:
    """An Any as our messages hold it. TypeError for what is none."""
    if not is_any(value):
        raise TypeError(f"expected a {_ANY}, got {value!r}")
    return _Private(type_url=value.type_url, value=value.value)


def public_any(value: Any) -> any_pb2.Any:
    """An Any as programs use it."""
    return any_pb2.Any(type_url=value.type_url, value=value.value)
