# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.decoders import (
    BackupHandler, ItemHandler, ItemHandlerCallback, LookupTensor, SparseTensorHandler as SparseTensor,
    TFExampleDecoder, TFSequenceExampleDecoder, TensorHandler as Tensor,
)
from tensorkeep.tf1.contrib.slim.image_items import (
    BoundingBox, BoundingBoxSequence, Image, KeypointsSequence, NumBoxesSequence,
)

__all__ = [
    "BackupHandler", "BoundingBox", "BoundingBoxSequence", "Image", "ItemHandler", "ItemHandlerCallback",
    "KeypointsSequence", "LookupTensor", "NumBoxesSequence", "SparseTensor", "TFExampleDecoder",
    "TFSequenceExampleDecoder", "Tensor",
]
