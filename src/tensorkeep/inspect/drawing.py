"""Graphs as pictures: in Graphviz's language, and as SVG by a layout of our own.

Large graphs are drawn by their scopes: a scope is one box, as deep as fits.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from tensorkeep.inspect.inlining import VARIABLES, ShownNode, shown_nodes
from tensorkeep.proto.messages import GraphDef

_MOST: Final = 60  # boxes that a picture may have
_TOO_MANY: Final = 4  # times as many boxes as a picture may have
_DEEPEST: Final = 64  # levels of scopes that are told apart
_FEWER: Final = (48, 36, 24, 16, 12)
_WIDE: Final = 1500.0
_MOST_LETTERS: Final = 56  # of what is written in a box
_SAVING: Final = ("SaveV2", "RestoreV2", "Save", "SaveSlices", "Restore", "RestoreSlice")
_SMALL: Final = 8  # operations of a scope that needs no parts
_NOTABLE: Final = frozenset(
    (
        *("Conv1D", "Conv2D", "Conv3D", "Conv2DBackpropInput", "DepthwiseConv2dNative"),
        *("MatMul", "BatchMatMulV2", "Einsum", "While", "StatelessWhile", "If", "StatelessIf"),
        *("GatherV2", "ResourceGather", "KvResourceGather", "LookupTableFindV2"),
    )
)
"""Ops that say what a scope is for."""
_PER_LETTER, _HEIGHT, _GAP, _LAYER = 6.4, 28.0, 16.0, 64.0
_STYLE: Final = (
    ".tk-op{fill:#dbe7ff;stroke:#5b6b85}.tk-scope{fill:#e7f4e4;stroke:#5b6b85}.tk-edge{fill:none;stroke:#8a94a6}"
    ".tk-label{fill:#17202e}@media (prefers-color-scheme:dark){.tk-op{fill:#24385f;stroke:#6d82a8}"
    ".tk-scope{fill:#25412f;stroke:#6d9a7c}.tk-edge{stroke:#6b7688}.tk-label{fill:#e6ebf3}}"
)


@dataclass(frozen=True)
class Box:
    """An operation, or all operations of a scope."""

    name: str
    label: str
    count: int
    """How many operations it stands for."""


@dataclass(frozen=True)
class Picture:
    """Boxes, and which leads to which."""

    boxes: Mapping[str, Box]
    edges: Mapping[tuple[str, str], int]
    """By box and box, how many tensors go from the one to the other."""


def picture(graph: GraphDef, most: int = _MOST) -> Picture:
    """A graph with no more boxes than `most`, if scopes allow it: as many levels of scopes are told apart as fit.

    Functions that are called are drawn in the place of their calls, each once. A scope that holds most of the graph is
    drawn by its parts; parts whose names begin alike (block_1_expand, block_1_project) are one box if there are many.
    What saves and restores variables is one box for each saver. A large graph with hardly any scopes is drawn by ops.
    """
    nodes = shown_nodes(graph)
    places = _split_further(nodes, _places(nodes, most), most)
    members: dict[str, list[ShownNode]] = defaultdict(list)
    for node in nodes:
        members[places[node.name]].append(node)
    if len(members) > _TOO_MANY * most:
        return _by_op(nodes)
    return Picture({name: _box(name, held) for name, held in members.items()}, _edges(nodes, places))


def _places(nodes: Sequence[ShownNode], most: int) -> dict[str, str]:
    """The box that each node is in."""
    names = [node.name for node in nodes]
    savers = {node.name.partition("/")[0] for node in nodes if node.op in _SAVING and "/" in node.name} | {VARIABLES}

    def places(depth: int) -> dict[str, str]:
        return {name: _scope(name, 1 if name.partition("/")[0] in savers else depth) for name in names}

    deepest = max((name.count("/") for name in names), default=0) + 1
    found = places(1)
    for depth in range(2, min(deepest, _DEEPEST) + 1):
        deeper = places(depth)
        if len(set(deeper.values())) > most:
            break
        found = deeper
    return found


def _split_further(nodes: Sequence[ShownNode], places: Mapping[str, str], most: int) -> dict[str, str]:
    """The same, where scopes that hold much of the graph are drawn by their parts as long as there is room."""
    found = dict(places)
    members: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        members[found[node.name]].append(node.name)
    waiting = {box for box, held in members.items() if len(held) > max(_SMALL, len(nodes) // 4) and box != VARIABLES}
    while waiting:
        box = max(waiting, key=lambda name: (len(members[name]), name))
        waiting.discard(box)
        parts = _parts(box, members[box], most - len(members) + 1)
        if len(set(parts.values())) < 2:
            continue
        held = members.pop(box)
        for name in held:
            found[name] = parts[name]
            members[parts[name]].append(name)
        waiting |= {part for part in set(parts.values()) if len(members[part]) > max(_SMALL, len(nodes) // 4)} - {box}
    return found


def _parts(box: str, names: Sequence[str], most: int) -> dict[str, str]:
    """The parts of a scope that its nodes are in: its scopes, or, if these are too many, those that begin alike."""
    depth = box.count("/") + 2
    scopes = {name: _scope(name, depth) for name in names}
    if len(set(scopes.values())) <= most:
        return scopes
    found = dict.fromkeys(names, box)
    for words in range(1, 6):
        alike = {name: _beginning(scope, words) for name, scope in scopes.items()}
        if len(set(alike.values())) > most:
            break
        found = alike
    return found


def _beginning(scope: str, words: int) -> str:
    """The first words of the last step of a path: `net/block_1` of `net/block_1_expand`."""
    above, slash, step = scope.rpartition("/")
    return f"{above}{slash}{'_'.join(step.split('_')[:words])}"


def _by_op(nodes: Sequence[ShownNode]) -> Picture:
    counts = Counter(node.op for node in nodes)
    boxes = {op: Box(op, f"{op} ({count:,} ops)", count) for op, count in counts.items()}
    return Picture(boxes, _edges(nodes, {node.name: node.op for node in nodes}))


def _edges(nodes: Sequence[ShownNode], places: Mapping[str, str]) -> dict[tuple[str, str], int]:
    edges: dict[tuple[str, str], int] = defaultdict(int)
    for node in nodes:
        target = places[node.name]
        for item in node.input:
            source = places.get(item)
            if source is not None and source != target:
                edges[source, target] += 1
    return dict(edges)


def _scope(name: str, depth: int) -> str:
    return "/".join(name.split("/", depth)[:depth])


def _box(name: str, nodes: Sequence[ShownNode]) -> Box:
    if len(nodes) == 1:
        return Box(name, f"{nodes[0].name}: {nodes[0].op}", 1)
    notable = Counter(node.op for node in nodes if node.op in _NOTABLE)
    told = "".join(f", {count} {op}" if count > 1 else f", {op}" for op, count in notable.most_common(2))
    return Box(name, f"{name}/ ({len(nodes)} ops{told})", len(nodes))


def graphviz(found: Picture) -> str:
    """The picture in Graphviz's language, for `dot`."""
    lines = ["digraph {", "  rankdir=TB;", '  node [shape=box, style=rounded, fontname="sans-serif", fontsize=10];']
    lines += [f"  {_quoted_text(name)} [label={_quoted_text(box.label)}];" for name, box in found.boxes.items()]
    lines += [
        f"  {_quoted_text(source)} -> {_quoted_text(target)}" + (f" [label={count}];" if count > 1 else ";")
        for (source, target), count in found.edges.items()
    ]
    return "\n".join((*lines, "}")) + "\n"


def _quoted_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def svg(found: Picture) -> str:
    """The picture as SVG: what leads to a box stands above it."""
    layers = _layers(found)
    places: dict[str, tuple[float, float, float]] = {}  # left, top, width
    widest = _widest(layers, found)
    for number, layer in enumerate(layers):
        boxes = _in(layer, found)
        left = (widest - sum(map(_width, boxes)) - _GAP * (len(boxes) - 1)) / 2
        for box in boxes:
            places[box.name] = left, number * _LAYER + _GAP, _width(box)
            left += _width(box) + _GAP
    height = len(layers) * _LAYER + _GAP
    lines = [_line(places[source], places[target], count) for (source, target), count in found.edges.items()]
    boxes_drawn = [_drawn_box(found.boxes[name], place) for name, place in places.items()]
    size = f'viewBox="0 0 {widest:.0f} {height:.0f}" width="{widest:.0f}" height="{height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    return "\n".join((head, f"<style>{_STYLE}</style>", *lines, *boxes_drawn, "</svg>")) + "\n"


def overview(graph: GraphDef, width: float = _WIDE) -> str:
    """A graph as SVG, with as many boxes as can be drawn no wider than that; with few, if that cannot be."""
    found = picture(graph)
    for most in _FEWER:
        if _widest(_layers(found), found) <= width:
            break
        found = picture(graph, most)
    return svg(found)


def _widest(layers: Sequence[Sequence[str]], found: Picture) -> float:
    return max((sum(map(_width, _in(layer, found))) + _GAP * len(layer) for layer in layers), default=_GAP)


def _in(layer: Sequence[str], found: Picture) -> list[Box]:
    return [found.boxes[name] for name in layer]


def _width(box: Box) -> float:
    return len(_shortened_label(box.label)) * _PER_LETTER + 16


def _layers(found: Picture) -> list[list[str]]:
    """Boxes in layers, each below all that lead to it; where boxes lead to each other, some edge goes up."""
    before: dict[str, set[str]] = {name: set() for name in found.boxes}
    after: dict[str, set[str]] = {name: set() for name in found.boxes}
    for source, target in found.edges:
        before[target].add(source)
        after[source].add(target)
    level: dict[str, int] = {}
    waiting = {name: len(sources) for name, sources in before.items()}
    ready = deque(name for name, count in waiting.items() if not count)
    while waiting:
        # If every box waits for another one, they stand in a circle, which is broken at the one that waits for least.
        name = ready.popleft() if ready else min(waiting, key=lambda item: waiting[item])
        del waiting[name]
        level[name] = max((level[source] + 1 for source in before[name] if source in level), default=0)
        for target in after[name]:
            if target in waiting:
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
    layers: list[list[str]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
    for name in found.boxes:
        layers[level[name]].append(name)
    return _untangled_layers(layers, before)


def _untangled_layers(layers: Sequence[list[str]], before: Mapping[str, set[str]]) -> list[list[str]]:
    """The same layers, each box near those that lead to it, so that fewer edges cross."""
    place: dict[str, float] = {}
    found: list[list[str]] = []
    for layer in layers:
        middles = {name: [place[source] for source in before[name] if source in place] for name in layer}
        means = {name: sum(known) / len(known) if known else 0.5 for name, known in middles.items()}
        found.append(sorted(layer, key=lambda name: means[name]))
        place |= {name: (at + 0.5) / len(layer) for at, name in enumerate(found[-1])}
    return found


def _line(source: tuple[float, float, float], target: tuple[float, float, float], count: int) -> str:
    x1, y1 = source[0] + source[2] / 2, source[1] + _HEIGHT
    x2, y2 = target[0] + target[2] / 2, target[1]
    middle = (y1 + y2) / 2
    width = min(1 + count / 8, 4)
    return (
        f'<path d="M{x1:.0f} {y1:.0f}C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2:.0f}" '
        f'class="tk-edge" stroke-width="{width:.1f}" opacity=".7"/>'
    )


def _drawn_box(box: Box, place: tuple[float, float, float]) -> str:
    left, top, width = place
    kind = "tk-op" if box.count == 1 else "tk-scope"
    return (
        f'<g><title>{escape(_printable(box.label))}</title><rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" '
        f'height="{_HEIGHT:.0f}" rx="6" class="{kind}"/><text x="{left + width / 2:.0f}" y="{top + 18:.0f}" '
        f'text-anchor="middle" class="tk-label">{escape(_printable(_shortened_label(box.label)))}</text></g>'
    )


def _shortened_label(label: str) -> str:
    """A label that fits: of a long path the end, and of what is still too long both ends."""
    path, mark, rest = label.partition("/ (") if "/ (" in label else label.partition(": ")
    steps = path.split("/")
    while len(label) > _MOST_LETTERS and len(steps) > 1:
        steps = steps[1:]
        label = f"…/{'/'.join(steps)}{mark}{rest}"
    half = _MOST_LETTERS // 2
    return label if len(label) <= _MOST_LETTERS else f"{label[: half - 1]}…{label[-half:]}"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
