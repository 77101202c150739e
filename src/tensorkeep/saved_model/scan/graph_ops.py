"""What the ops of a graph and of its functions do besides computing.

Every node of every function counts, whether or not anything is seen to call it: functions are reached by attributes,
gradients and objects too. What every model has to do is told from the rest by where it stands and by where its path
comes from: restoring its variables, saving them when asked, reading its assets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from tensorkeep.dtypes import STRING
from tensorkeep.graph.registry.capabilities import Capability, capabilities_of_node, tensorflow_ops
from tensorkeep.proto.messages import GraphDef, NodeDef
from tensorkeep.saved_model.scan.asset_paths import TOP, Origin, OwnFiles, Paths, Source, called_names
from tensorkeep.saved_model.scan.report import NOT_ALLOWED, Finding, Findings

_PATH_INPUTS: Final = {
    "ReadFile": (0,),
    "Restore": (0,),
    "RestoreSlice": (0,),
    "RestoreV2": (0,),
    "InitializeTableFromTextFile": (1,),
    "InitializeTableFromTextFileV2": (1,),
    "TextLineDataset": (0,),
    "TFRecordDataset": (0,),
    "TFRecordDatasetV2": (0,),
    "FixedLengthRecordDataset": (0,),
    "FixedLengthRecordDatasetV2": (0,),
    "WriteFile": (0,),
    "MatchingFiles": (0,),
    "MatchingFilesDataset": (0,),
    "CacheDataset": (1,),
    "CacheDatasetV2": (1,),
    "Save": (0,),
    "SaveSlices": (0,),
    "SaveV2": (0,),
    "MergeV2Checkpoints": (0, 1),  # what it moves away, and where it puts it
    "KvResourceImportV2": (0,),
    "KvResourceImportV3": (0,),
    "KvResourceIncrImport": (0,),
    "RestoreHashTable": (0,),
    "RestoreBloomFilter": (0,),
    "InitBlackList": (4,),
    "IncrRestore": (0,),
    "KvRebaseOnDelta": (0,),
    "SaveV3": (0,),
    "KvIncrSave": (0,),
    "IncrSave": (0,),
}
_IMPORTS: Final = ("KvResourceImportV2", "KvResourceImportV3", "KvResourceIncrImport", "IncrRestore", "KvRebaseOnDelta")
_TABLES: Final = ("RestoreHashTable", "RestoreBloomFilter")
_RESTORES: Final = frozenset(("Restore", "RestoreSlice", "RestoreV2", *_IMPORTS, *_TABLES))
_SAVES: Final = frozenset(("Save", "SaveSlices", "SaveV2", "SaveV3", "KvIncrSave", "IncrSave", "MergeV2Checkpoints"))
_AROUND_SAVES: Final = frozenset(
    ("NoOp", "Pack", "ShardedFilename", "ShardedFilespec", "KvBeginDelta", "KvForgetTouched", "KvRebaseOnDelta")
)
_CACHES: Final = frozenset(("CacheDataset", "CacheDatasetV2"))
_READS: Final = frozenset(_PATH_INPUTS) - _SAVES - _CACHES - {"WriteFile"}
_READING: Final = frozenset((Capability.READS_FILES,))
_FILES: Final = _READING | {Capability.WRITES_FILES}
_OF_A_SAVER: Final = frozenset(  # what the paths of savers begin with; "model" is what they have by default
    (Source(Origin.SAVER), Source(Origin.CALLER), Source(Origin.CONSTANT, "model"), Source(Origin.JOINED))
)


@dataclass(frozen=True)
class Entries:
    """Where running a graph begins: names of nodes and of functions.

    A loader feeds the path of the checkpoint to what restores, the paths of assets to what else it runs, and neither
    when the model is used.
    """

    saving: Sequence[str] = ()
    restoring: Sequence[str] = ()
    loading: Sequence[str] = ()
    loading_functions: Sequence[str] = ()
    using: Sequence[str] = ()
    using_functions: Sequence[str] = ()


@dataclass(frozen=True)
class Place:
    """Which graph of which file it is."""

    file: str
    part: str = ""

    def of(self, context: str, node: NodeDef) -> str:
        parts = [self.part, f"function {context}" if context != TOP else "", f'node "{node.name[:200]}"']
        return ", ".join(part for part in parts if part)


@dataclass
class GraphScan:
    """One graph, with what is known of the model around it."""

    graph_def: GraphDef
    place: Place
    found: Findings
    own: OwnFiles = field(default_factory=OwnFiles)
    entries: Entries = field(default_factory=Entries)

    def run(self) -> None:
        """Reports every node that does more than compute."""
        for context, body in self._bodies():
            for node in body:
                self.found.ops[node.op] += 1
                self._look_at(context, node)

    def _bodies(self) -> Iterator[tuple[str, Iterable[NodeDef]]]:
        yield TOP, self.graph_def.node
        for function in self.graph_def.library.function:
            yield function.signature.name, function.node_def

    def _look_at(self, context: str, node: NodeDef) -> None:
        is_call = node.op in self._functions and node.op not in tensorflow_ops()
        only = self.found.policy.only
        if only is not None and node.op not in only and not is_call:
            self._add(NOT_ALLOWED, context, node, f"{node.op} is not on the list of allowed ops")
        effects = frozenset[Capability]() if is_call else capabilities_of_node(node)
        if not effects:
            return
        sources = self._sources(context, node)
        reason, explained = self._reason(context, node, sources)
        if explained & effects:
            rule = min(explained & effects, key=lambda effect: effect.name).identifier
            self.found.account(self._finding(rule, context, node, f"{node.op} {reason}"))
        if only is not None and node.op in only:
            return
        for effect in sorted(effects - explained, key=lambda effect: effect.name):
            self._add(effect.identifier, context, node, _message(node, effect, sources))

    def _add(self, rule: str, context: str, node: NodeDef, message: str) -> None:
        self.found.add(self._finding(rule, context, node, message))

    def _finding(self, rule: str, context: str, node: NodeDef, message: str) -> Finding:
        where = self.place.of(context, node)
        return Finding(rule, node.op[:200], self.place.file, where, message, self._loaded.has(context, node.name))

    # ----------------------------------------------------------------------------------------------- its own files

    def _sources(self, context: str, node: NodeDef) -> frozenset[Source]:
        """What all paths begin with that a node is given."""
        inputs = [name for name in node.input if not name.startswith("^")]
        paths = [inputs[index] for index in _PATH_INPUTS.get(node.op, ()) if index < len(inputs)]
        fed = self._fed_origins(context, node)
        return frozenset[Source]().union(*(self._paths.sources(context, name, fed) for name in paths))

    def _fed_origins(self, context: str, node: NodeDef) -> frozenset[Origin]:
        """Which kinds of paths a loader feeds whenever a node runs."""
        without = {Origin.ASSET: self._without_asset_paths, Origin.SAVER: self._without_saver_path}
        return frozenset(origin for origin, reached in without.items() if not reached.has(context, node.name))

    def _reason(self, context: str, node: NodeDef, sources: frozenset[Source]) -> tuple[str, frozenset[Capability]]:
        """Why what a node does is harmless, in words ("" if it is not), and which of its capabilities that explains."""
        origins = {source.origin for source in sources}
        is_of_a_saver = bool(sources) and sources <= _OF_A_SAVER
        if node.op in _SAVES and is_of_a_saver and self._is_dormant(context, node) and node.name not in self._wanted:
            return "saves variables, which nothing does unless it is asked to", _FILES
        if node.op in _RESTORES and is_of_a_saver and self._is_dormant(context, node):
            return "restores variables, which nothing does unless it is asked to", _READING
        if node.op in _RESTORES and origins == {Origin.SAVER}:
            return "restores the model's variables", _READING
        if node.op in _READS and origins == {Origin.ASSET}:
            return "reads an asset of the model", _READING
        if node.op in _CACHES and sources == {Source(Origin.CONSTANT, "")}:
            return "keeps what it has read in memory", _FILES
        return "", frozenset()

    def _is_dormant(self, context: str, node: NodeDef) -> bool:
        """Whether neither loading nor using the model runs a node.

        A function is, if only the saver calls it: one that nobody is seen to call could be called by what is not seen.
        """
        if context == TOP:
            return node.name not in self._used.nodes
        return context in self._asked.functions and context not in self._used.functions

    @cached_property
    def _paths(self) -> Paths:
        return Paths(self.graph_def, self.own)

    @cached_property
    def _functions(self) -> frozenset[str]:
        return frozenset(function.signature.name for function in self.graph_def.library.function)

    @cached_property
    def _reach(self) -> _Reach:
        return _Reach(self.graph_def)

    @cached_property
    def _loaded(self) -> Reached:
        entries = self.entries
        return self._reach.of([*entries.restoring, *entries.loading], entries.loading_functions)

    @cached_property
    def _used(self) -> Reached:
        """What loading and using the model may run."""
        entries = self.entries
        functions = [*entries.loading_functions, *entries.using_functions, *self._reach.substitutes]
        return self._reach.of([*entries.restoring, *entries.loading, *entries.using], functions)

    @cached_property
    def _asked(self) -> Reached:
        """What runs when the model is saved, which only happens if a program asks for it."""
        return self._reach.of(self.entries.saving, ())

    @cached_property
    def _wanted(self) -> frozenset[str]:
        """The nodes that anything but a saver depends on."""
        others = [node.name for node in self.graph_def.node if not _is_of_a_saver(node)]
        return self._reach.of(others, ()).nodes

    @cached_property
    def _without_asset_paths(self) -> Reached:
        """What runs while no loader feeds the paths of assets."""
        return self._reach.of([*self.entries.restoring, *self.entries.using], ())

    @cached_property
    def _without_saver_path(self) -> Reached:
        """What runs while no loader feeds the path of the checkpoint."""
        return self._reach.of([*self.entries.loading, *self.entries.using], ())


def _message(node: NodeDef, effect: Capability, sources: frozenset[Source]) -> str:
    if effect is Capability.RUNS_UNKNOWN_CODE and node.op not in tensorflow_ops():
        return f"{node.op[:200]} is not an op of TensorFlow: nobody knows what it does"
    paths = sorted(source.text for source in sources if source.origin is Origin.CONSTANT)
    others = sorted(source.origin.value for source in sources if source.origin is not Origin.CONSTANT)
    listed = [*(repr(path) for path in paths[:3]), *others]
    return f"{node.op} {effect.value}" + (f": {', '.join(listed)}" if listed else "")


@dataclass(frozen=True)
class Reached:
    """What running something may run."""

    nodes: frozenset[str]
    functions: frozenset[str]

    def has(self, context: str, name: str) -> bool:
        """Whether it may run a node of the graph, or of a function."""
        return name in self.nodes if context == TOP else context in self.functions


class _Reach:
    """What the nodes of a graph depend on. Each question takes time in proportion to the graph, cycles or not."""

    def __init__(self, graph_def: GraphDef) -> None:
        self._nodes = {node.name: node for node in graph_def.node}
        self._functions = {function.signature.name: function for function in graph_def.library.function}
        self._calls: dict[str, frozenset[str]] = {}
        self.substitutes = frozenset(_substitutes(graph_def))

    def of(self, nodes: Iterable[str], functions: Iterable[str]) -> Reached:
        seen = {name for name in nodes if name in self._nodes}
        pending = list(seen)
        entered = set(functions)
        while pending:
            node = self._nodes[pending.pop()]
            entered |= called_names(node)
            for source in node.input:
                name = source.lstrip("^").partition(":")[0]
                if name in self._nodes and name not in seen:
                    seen.add(name)
                    pending.append(name)
        return Reached(frozenset(seen), self._called_by(entered))

    def _called_by(self, names: Iterable[str]) -> frozenset[str]:
        seen = {name for name in names if name in self._functions}
        pending = list(seen)
        while pending:
            new = self._calls_of(pending.pop()) - seen
            seen |= new
            pending.extend(new)
        return frozenset(seen)

    def _calls_of(self, name: str) -> frozenset[str]:
        if name not in self._calls:
            found: set[str] = set()
            for node in self._functions[name].node_def:
                found |= called_names(node)
            self._calls[name] = frozenset(item for item in found if item in self._functions)
        return self._calls[name]


def _is_of_a_saver(node: NodeDef) -> bool:
    """Whether a node saves, or does what stands around that: it passes names of files on, or waits."""
    if node.op == "Identity":
        return "T" in node.attr and node.attr["T"].type == STRING.number
    return node.op in _SAVES or node.op in _AROUND_SAVES


def _substitutes(graph_def: GraphDef) -> Iterator[str]:
    """The functions that run in the place of others, without a node that names them.

    They are gradients, and what TensorFlow's optimizer takes for another function of the same `api_implements`.
    """
    library = graph_def.library
    yield from (gradient.gradient_func for gradient in library.gradient)
    yield from (gradient.gradient_func for gradient in library.registered_gradients)
    yield from (function.signature.name for function in library.function if "api_implements" in function.attr)
