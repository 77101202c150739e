"""The message files among the golden ones: which type each holds, and whether as bytes or as text."""

from __future__ import annotations

from tensorkeep.proto.messages import (
    CheckpointState,
    FingerprintDef,
    GraphDef,
    Message,
    MetaGraphDef,
    SavedModel,
    TrackableObjectGraph,
)
from tests.support.golden import ROOT

TEXT_TYPES: dict[str, type[Message]] = {
    "*/**/checkpoint": CheckpointState,
    "*/*.text.meta": MetaGraphDef,
    "*/**/graph.pbtxt": GraphDef,
    "*/object_graph.pbtxt": TrackableObjectGraph,
    "*/tower.pbtxt": MetaGraphDef,
}
BINARY_TYPES: dict[str, type[Message]] = {
    "*/**/*.meta": MetaGraphDef,
    "*/**/graph.pb": GraphDef,
    "*/**/frozen*.pb": GraphDef,
    "*/**/sub_*.pb": GraphDef,
    "*/model/saved_model.pb": SavedModel,
    "*/model/fingerprint.pb": FingerprintDef,
}


def text_files() -> list[tuple[str, type[Message]]]:
    """Paths below the golden folder, without the .pbtxt of a SavedModel: TensorFlow leaves its maps in hash order."""
    return _files(TEXT_TYPES)


def binary_files() -> list[tuple[str, type[Message]]]:
    """Paths below the golden folder."""
    texts = text_files()
    return [found for found in _files(BINARY_TYPES) if found not in texts]


def _files(types: dict[str, type[Message]]) -> list[tuple[str, type[Message]]]:
    return [
        (path.relative_to(ROOT).as_posix(), message_type)
        for pattern, message_type in types.items()
        for path in sorted(ROOT.glob(pattern))
    ]
