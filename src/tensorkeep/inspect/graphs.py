"""What a graph consists of: its operations, its ends, and what takes space in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tensorkeep.checkpoint.finding.file_names import META_SUFFIX, index_path, meta_path, prefix_of_file
from tensorkeep.dtypes import dtype_of_number
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.inspect.listing import list_checkpoint
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.amounts import amount_of
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.proto.identification import FileKind, identify_proto, is_file_of_kind
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, SavedModel, parse
from tensorkeep.proto.text import parse_text
from tensorkeep.saved_model.files.layout import contains_saved_model, read_file, read_saved_model

_PLACEHOLDERS: Final = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")


@dataclass(frozen=True)
class End:
    """An input or an output of a signature, or of a graph."""

    name: str
    tensor: str
    dtype: str
    shape: str


@dataclass(frozen=True)
class GraphSummary:
    """What a graph consists of."""

    label: str
    """What tells it from other graphs of the same model: its tags, or nothing."""
    nodes: int
    """Operations, those in functions not counted."""
    functions: int
    ops: Mapping[str, int]
    """How often each op occurs, functions included; the most frequent first."""
    bytes_by_op: Mapping[str, int]
    """The bytes that the nodes of each op take, functions included; the largest first."""
    placeholders: Sequence[End]
    outputs: Sequence[str]
    """Operations whose results no other one takes."""
    signatures: Mapping[str, tuple[Sequence[End], Sequence[End]]] = field(default_factory=dict)
    """Inputs and outputs by key."""

    @property
    def nbytes(self) -> int:
        return sum(self.bytes_by_op.values())

    def _repr_html_(self) -> str:
        """What a notebook shows: how often each op occurs, and the bytes that its nodes take."""
        rows = [(op, count, self.bytes_by_op.get(op, 0)) for op, count in self.ops.items()]
        nodes, functions = amount_of(self.nodes, "operation"), amount_of(self.functions, "function")
        return html_table(f"Graph {self.label}: {nodes}, {functions}", ("op", "count", "bytes"), rows, len(rows))


def summarize_graphs(path: PathLike, *, fs: FileSystem = FILES) -> list[GraphSummary]:
    """The graphs at a path: of a SavedModel, a meta graph, a graph; of a checkpoint, the meta graph beside it."""
    return [summarize(*item) for item in read_graphs(path, fs=fs)]


def read_graphs(path: PathLike, *, fs: FileSystem = FILES) -> list[tuple[str, MetaGraphDef]]:
    """The graphs at a path, each with what tells it from the others. NotFoundError if there is none."""
    given = path_text(path)
    if contains_saved_model(given, fs):
        return _of_model(read_saved_model(given, fs))
    if fs.exists(given) and not fs.is_directory(given) and not _is_checkpoint_file(given, fs):
        return _of_file(given, fs)
    meta = meta_path(list_checkpoint(given, fs=fs).path)
    if not fs.exists(meta):
        raise NotFoundError(f'"{given}" has no graph: a checkpoint has one in the file "{meta}", which is not there')
    return _of_file(meta, fs)


def _is_checkpoint_file(path: str, fs: FileSystem) -> bool:
    """Whether it is a file of a checkpoint beside which a graph may lie; the graph itself is none."""
    if path.endswith(META_SUFFIX):
        return False
    prefix = prefix_of_file(path)
    if prefix is not None and fs.exists(index_path(prefix)):
        return True
    return is_file_of_kind(path, FileKind.CHECKPOINT_TABLE, fs)


def _of_model(model: SavedModel) -> list[tuple[str, MetaGraphDef]]:
    return [(",".join(item.meta_info_def.tags), item) for item in model.meta_graphs]


def _of_file(path: str, fs: FileSystem) -> list[tuple[str, MetaGraphDef]]:
    data = read_file(path, fs)
    found = identify_proto(data)

    def read(kind: Any) -> Any:
        return parse_text(kind, data, path) if found.is_text else parse(kind, data, path)

    if found.kind is FileKind.SAVED_MODEL:
        return _of_model(read(SavedModel))
    if found.kind is FileKind.META_GRAPH:
        return [("", read(MetaGraphDef))]
    if found.kind is FileKind.GRAPH:
        return [("", MetaGraphDef(graph_def=read(GraphDef)))]
    raise InvalidArgumentError(f'"{path}" is {found.kind.value}, which has no graph')


def summarize(label: str, meta_graph: MetaGraphDef) -> GraphSummary:
    """What a meta graph consists of."""
    graph = meta_graph.graph_def
    ops: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for node in _all_nodes(graph):
        ops[node.op] += 1
        sizes[node.op] += node.ByteSize()
    return GraphSummary(
        label,
        len(graph.node),
        len(graph.library.function),
        dict(ops.most_common()),
        dict(sizes.most_common()),
        [_placeholder(node) for node in graph.node if node.op in _PLACEHOLDERS],
        _outputs(graph),
        {
            key: (_ends(signature.inputs), _ends(signature.outputs))
            for key, signature in sorted(meta_graph.signature_def.items())
        },
    )


def _all_nodes(graph: GraphDef) -> Iterator[Any]:
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def


def _outputs(graph: GraphDef) -> list[str]:
    taken = {name.lstrip("^").partition(":")[0] for node in graph.node for name in node.input}
    return [node.name for node in graph.node if node.name not in taken and node.op not in ("NoOp", "Assign", "Const")]


def _placeholder(node: Any) -> End:
    attributes = node.attr
    shape = _shape(attributes["shape"].shape) if "shape" in attributes else "?"
    return End(node.name, f"{node.name}:0", _dtype(attributes["dtype"].type if "dtype" in attributes else 0), shape)


def _ends(ends: Any) -> list[End]:
    return [End(key, item.name, _dtype(item.dtype), _shape(item.tensor_shape)) for key, item in sorted(ends.items())]


def _dtype(number: int) -> str:
    try:
        return dtype_of_number(number).name
    except TensorKeepError:
        return "?"


def _shape(shape: Any) -> str:
    if shape.unknown_rank:
        return "?"
    return f"[{','.join('?' if dim.size < 0 else str(dim.size) for dim in shape.dim)}]"
