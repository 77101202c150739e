"""How a model is exported to ONNX, as one value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tensorkeep.arrays import Array
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.io.files.filesystem import Durability, PathLike

Ends: TypeAlias = "Mapping[str, str | Tensor] | Sequence[str | Tensor]"
"""Tensors by the names they get in the file; or a list of names, "name=tensor" where they shall differ."""
Sizes: TypeAlias = "Sequence[int | None]"
AxisNames: TypeAlias = "Mapping[int, str] | Sequence[str | None]"


@dataclass(frozen=True)
class OnnxTolerance:
    """How far numbers of the file may be from ours: at most `absolute + relative * largest`, per output.

    `largest` is the largest magnitude in the output, as sums that cancel have no accuracy of their own. Truth values,
    integers and strings have to be equal, and NaN and infinities have to be where ours are.
    """

    relative: float = 1e-4
    absolute: float = 1e-5
    halves: float = 1e-2
    """The relative one for outputs of 16 bits, and for those that are computed of such numbers."""


@dataclass(frozen=True)
class OnnxOptions:
    """How a model is exported to ONNX."""

    signature: str | None = None
    """The signature; by default "serving_default", or the only one."""
    function: str | None = None
    """In place of a signature, a function of the model: by its path, or by the name of one of its traces."""
    tags: Iterable[str] | str | None = None
    """Which meta graph of a SavedModel with several."""
    checkpoint: PathLike | None = None
    """Where the variables of a .meta or .pb file have their values, if not in the checkpoint beside it."""
    inputs: Ends | None = None
    """What goes in, if not what the signature says or the placeholders: any tensors, also inside the graph."""
    outputs: Ends | None = None
    """What comes out, if not what the signature says."""
    opset: int | None = None
    """The version of ONNX's operators; by default the newest that the installed ONNX Runtime runs."""
    shapes: Mapping[str, Sizes] = field(default_factory=dict)
    """Shapes of inputs by their names in the file, where more is known than the graph says; None for unknown sizes."""
    axes: Mapping[str, AxisNames] = field(default_factory=dict)
    """Names of axes whose sizes are not known: by input, a name for each axis, or names by axis."""
    channels_first: Sequence[str] = ()
    """Inputs that are images, and shall have their channels before height and width in the file."""
    external_data: bool | None = None
    """Whether weights lie in a second file, `<target>.data`; by default if they are too large for one."""
    folds: bool = True
    """Whether what is known before the model runs is computed now, and neighbours that fit are made one."""
    custom_ops: Mapping[str, str] = field(default_factory=dict)
    """Ops that become nodes of their own names, for others to run: the domain of each."""
    split: bool = False
    """Whether what ONNX cannot do before and after the part that it can becomes SavedModels beside the file."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What else is written into the file about itself."""
    verify: bool = False
    """Whether ONNX Runtime and our engine run it on the same inputs before there is a file; a wrong one is not left."""
    verify_inputs: Mapping[str, Array] | PathLike | None = None
    """Inputs to verify with, by name: arrays, or an .npz file of them; generated unless given."""
    tolerance: OnnxTolerance = OnnxTolerance()
    allow: Iterable[Capability | str] = ()
    """What the model may do besides computing when it is loaded and verified, as for `load_saved_model`."""
    overwrite: bool = False
    """Whether files at the target may be replaced."""
    dry_run: bool = False
    """Whether only to find out what would be written, and all that is wrong."""
    durability: Durability = Durability.DISK


DEFAULT: Final = OnnxOptions()


def option_problems(options: OnnxOptions) -> list[str]:
    """What is wrong with options, whatever the model is."""
    problems = []
    if options.opset is not None and (isinstance(options.opset, bool) or not isinstance(options.opset, int)):
        problems.append(f"opset is a number, got {options.opset!r}")
    for what in ("inputs", "outputs"):
        problems += _ends_problems(what, getattr(options, what))
    for what in ("shapes", "axes", "custom_ops", "metadata"):
        if not isinstance(getattr(options, what), Mapping):
            problems.append(f"{what} is a dict by names, got {getattr(options, what)!r}")
    if problems:
        return problems
    if isinstance(options.channels_first, str):
        problems.append(f"channels_first is a list of inputs: write [{options.channels_first!r}]")
    for name, sizes in options.shapes.items():
        if isinstance(sizes, str) or not isinstance(sizes, Iterable):
            problems.append(f'the shape of "{name}" is a list of sizes, got {sizes!r}')
    for name, names in options.axes.items():
        if isinstance(names, str) or not isinstance(names, Mapping | Sequence):
            problems.append(f'the names of the axes of "{name}" are a list, or a dict by axis; got {names!r}')
    for op, domain in options.custom_ops.items():
        if not isinstance(domain, str) or not domain:
            problems.append(f'the domain of the custom op "{op}" is a name such as "my.domain", got {domain!r}')
    for key, text in options.metadata.items():
        if not isinstance(text, str):
            problems.append(f'what the metadata say of "{key}" is a text, got {text!r}')
    if not isinstance(options.tolerance, OnnxTolerance):
        problems.append(f"tolerance is an OnnxTolerance, got {options.tolerance!r}")
    return problems


def _ends_problems(what: str, ends: object) -> list[str]:
    if ends is None:
        return []
    if isinstance(ends, str | Tensor):
        return [f"{what} is a list of names or tensors: write [{ends!r}]"]
    if not isinstance(ends, Mapping | Sequence):
        return [f"{what} is a list or a dict of names or tensors, got {ends!r}"]
    if what == "outputs" and not ends:
        return ["outputs is empty: a file without outputs computes nothing"]
    items = list(ends.values() if isinstance(ends, Mapping) else ends)
    problems = [f"{what}: expected a name or a tensor, got {item!r}" for item in items
                if not isinstance(item, str | Tensor)]  # fmt: skip
    if not problems and not isinstance(ends, Mapping) and len(named_ends(ends) or ()) < len(ends):
        problems.append(f"{what}: a name in the file is given twice")
    return problems


def named_ends(ends: Ends | None) -> dict[str, str | Tensor] | None:
    """What is given for ends, by the names in the file; None if nothing is."""
    if ends is None:
        return None
    if isinstance(ends, Mapping):
        return dict(ends)
    found: dict[str, str | Tensor] = {}
    for item in ends:
        if isinstance(item, Tensor):
            found[item.op.name if item.index == 0 else item.name] = item
        else:
            name, equals, tensor = item.partition("=")
            found[name] = tensor if equals else item
    return found


def axis_names(given: AxisNames, rank: int) -> tuple[list[str | None], list[int]]:
    """The name of each of so many axes, None for those without; and the axes that are named and not there."""
    pairs = given.items() if isinstance(given, Mapping) else enumerate(given)
    names: list[str | None] = [None] * rank
    missing: list[int] = []
    for axis, name in pairs:
        if not -rank <= axis < rank:
            missing += [axis] if name else []
        elif name:
            names[axis] = name
    return names, missing
