"""Names for the variables in a weights file of Keras 3, which numbers them.

    layers/dense/vars/0                       stored: the object "layers/dense", its variable 0
    layers/dense/vars, attribute "name"       what the layer is called: "first"
    config.json                               what it is: a Dense, with use_bias

makes `first/kernel`. The rule: the names of the objects on the way, the outermost model left out, joined by "/"; then
the variable's name if the class is one of Keras's, is in the table below, and has as many variables as are stored;
otherwise its number. A weights file by itself has no configuration, and its variables go by number. What an optimizer
has comes after "optimizer/". Where two variables would be called alike, both go by their paths in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from tensorkeep.io.showing.amounts import amount_of, some_of

VARS: Final = "vars"
_OPTIMIZER: Final = "optimizer"
_LISTS: Final = ("layers", "cells")

Config: TypeAlias = Mapping[str, Any]
Names: TypeAlias = Callable[[Config], tuple[str, ...]]


class KerasObject(NamedTuple):
    """What a configuration says of a layer, a model or an optimizer; `kind` is empty if it is none of Keras's own."""

    kind: str
    config: Config


_UNKNOWN: Final = KerasObject("", {})


@dataclass(frozen=True)
class NamedVariables:
    """The names of stored variables, by their paths in the file."""

    names: Mapping[str, str]
    numbered: int
    """How many of them go by number, because nobody knows what their class calls them."""
    shared: tuple[str, ...]
    """Names that would stand for several, which go by their paths."""

    def remarks(self) -> Iterator[str]:
        """What is to be known of the names, in sentences."""
        if self.numbered:
            verb = "goes" if self.numbered == 1 else "go"
            yield (
                f"{amount_of(self.numbered, 'variable')} {verb} by number: slots of the optimizer, and what layers "
                "have of which it is not known how Keras calls it"
            )
        if self.shared:
            yield f"names that stand for several variables, which go by their paths: {some_of(self.shared, 4)}"


# The order is that in which Keras stores them: what is trained first, each in the order in which `build` makes it
# (tests/interop/test_keras_archives.py compares it with Keras).


def _names_given(*names: str, **where: str) -> Names:
    """Names that variables always have, and names that they have if a setting is true, which it is unless the
    configuration says otherwise.
    """
    return lambda config: (*names, *(name for name, setting in where.items() if config.get(setting, True)))


def _normalization_names(config: Config) -> tuple[str, ...]:
    return tuple(name for name, setting in (("gamma", "scale"), ("beta", "center")) if config.get(setting, True))


def _batch_normalized(config: Config) -> tuple[str, ...]:
    return (*_normalization_names(config), "moving_mean", "moving_variance")


def _layer_normalized(config: Config) -> tuple[str, ...]:
    return ("gamma",) if config.get("rms_scaling") else _normalization_names(config)


def _einsum_dense(config: Config) -> tuple[str, ...]:
    return ("kernel", "bias") if config.get("bias_axes") is not None else ("kernel",)


def _attention(config: Config) -> tuple[str, ...]:
    scale = ("scale",) if config.get("use_scale") else ()
    return (*scale, "concat_score_weight") if config.get("score_mode") == "concat" else scale


def _spectral(config: Config) -> tuple[str, ...]:
    inner = _object(config.get("layer"))
    return ("embeddings" if inner.kind == "Embedding" else "kernel", "vector_u")


def _optimizer(config: Config) -> tuple[str, ...]:
    has_rate = isinstance(config.get("learning_rate"), float | int)  # otherwise it is computed, and not stored
    return ("iteration", "learning_rate") if has_rate else ("iteration",)


_KERNEL_AND_BIAS: Final = _names_given("kernel", bias="use_bias")
_CELL: Final = _names_given("kernel", "recurrent_kernel", bias="use_bias")
_SEPARABLE: Final = _names_given("depthwise_kernel", "pointwise_kernel", bias="use_bias")
_VARIABLES: Final[dict[str, Names]] = {
    "Dense": _KERNEL_AND_BIAS,
    **{f"Conv{rank}D": _KERNEL_AND_BIAS for rank in (1, 2, 3)},
    **{f"Conv{rank}DTranspose": _KERNEL_AND_BIAS for rank in (1, 2, 3)},
    **{f"DepthwiseConv{rank}D": _KERNEL_AND_BIAS for rank in (1, 2)},
    **{f"SeparableConv{rank}D": _SEPARABLE for rank in (1, 2)},
    "EinsumDense": _einsum_dense,
    "Embedding": _names_given("embeddings"),
    "BatchNormalization": _batch_normalized,
    "LayerNormalization": _layer_normalized,
    "GroupNormalization": _normalization_names,
    "RMSNormalization": _names_given("scale"),
    "SpectralNormalization": _spectral,
    "Normalization": _names_given("mean", "variance", "count"),
    "PReLU": _names_given("alpha"),
    "Attention": _attention,
    "AdditiveAttention": _names_given(scale="use_scale"),
    **dict.fromkeys(("LSTMCell", "GRUCell", "SimpleRNNCell", "ConvLSTMCell"), _CELL),
    "SeedGenerator": _names_given("seed_generator_state"),
}
_CELLS: Final = {
    **{kind: f"{kind}Cell" for kind in ("LSTM", "GRU", "SimpleRNN")},
    **{f"ConvLSTM{rank}D": "ConvLSTMCell" for rank in (1, 2, 3)},
}
_HEADS: Final = ("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention")
_HEAD_PARTS: Final = ("query_dense", "key_dense", "value_dense", "output_dense")
_SEEDS: Final = ("seed_generator", "_seed_generator")


def named_variables(objects: Mapping[str, str], datasets: Iterable[str], config: object = None) -> NamedVariables:
    """The names of datasets. `objects` has the names of objects by their paths, the outermost with the path ""."""
    owners = {path: _owner(path) for path in datasets}
    counts = Counter(owners.values())
    known = _known_objects(objects, config)
    names: dict[str, str] = {}
    numbered = 0
    for path, owner in owners.items():
        if owner is None or owner not in objects:
            names[path] = path
            continue
        key = path.rpartition("/")[2]
        name = _variable_name(owner, key, known[owner], counts[owner])
        numbered += name is None
        names[path] = "/".join((*_scopes(owner, objects), key if name is None else name))
    shared = {name for name, count in Counter(names.values()).items() if count > 1}
    names = {path: path if name in shared else name for path, name in names.items()}
    if len(set(names.values())) < len(names):  # a path is another's name
        names = {path: path for path in names}
    return NamedVariables(names, numbered, tuple(sorted(shared)))


def _owner(path: str) -> str | None:
    """The object whose variable a dataset is, if it is one."""
    *above, mark, _ = ["", *path.split("/")]
    return "/".join(above).strip("/") if mark == VARS else None


def _variable_name(owner: str, key: str, known: KerasObject, count: int) -> str | None:
    if not key.isdecimal() or not known.kind:
        return None
    number = int(key)
    if owner == _OPTIMIZER:  # what follows are slots, whose order is that of the variables that were trained
        names = _optimizer(known.config)
        return names[number] if number < len(names) else None
    table = _VARIABLES.get(known.kind)
    names = () if table is None else table(known.config)
    return names[number] if len(names) == count and number < count else None


def _scopes(owner: str, objects: Mapping[str, str]) -> list[str]:
    """The names of the objects on the way to one, itself among them."""
    if not owner:
        return [objects[owner]]
    parts = owner.split("/")
    above = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    names = [objects[path] for path in above if path in objects]
    return [_OPTIMIZER, *names] if parts[0] == _OPTIMIZER else names


# ------------------------------------------------------------------------------------------ what the configuration says


def _known_objects(objects: Mapping[str, str], config: object) -> dict[str, KerasObject]:
    known: dict[str, KerasObject] = {}
    for path in sorted(objects):  # what is around an object comes before it
        if not path:
            known[path] = _object(config)
        elif path == _OPTIMIZER:
            compiled = config.get("compile_config") if isinstance(config, dict) else None
            known[path] = _object(compiled.get("optimizer") if isinstance(compiled, dict) else None)
        else:
            above = path.rpartition("/")[0]
            while above and above not in objects:
                above = above.rpartition("/")[0]
            part = path[len(above) :].strip("/").split("/")
            known[path] = _part(known.get(above, _UNKNOWN), part, objects[path])
    return known


def _part(whole: KerasObject, part: list[str], name: str) -> KerasObject:
    """The object that is an attribute of another one, or the item of that name in an attribute that is a list."""
    attribute = part[0]
    held = whole.config.get(attribute)
    if attribute in _LISTS and len(part) > 1 and isinstance(held, list):
        fitting = [item for item in map(_object, held) if item.config.get("name") == name]
        return fitting[0] if len(fitting) == 1 else _UNKNOWN
    if len(part) > 1 or not whole.kind:
        return _UNKNOWN
    if whole.kind == "Bidirectional":
        held = held if attribute == "backward_layer" and held else whole.config.get("layer")
    if whole.kind in _CELLS and attribute == "cell":
        return KerasObject(_CELLS[whole.kind], whole.config)
    if whole.kind in _HEADS and attribute.lstrip("_") in _HEAD_PARTS:
        axes = "" if whole.config.get("use_bias", True) else None
        return KerasObject("EinsumDense", {"bias_axes": axes})
    return KerasObject("SeedGenerator", {}) if attribute in _SEEDS else _object(held)


def _object(described: object) -> KerasObject:
    """What Keras has written of an object: the module, the class and the settings; unknown if the class is no Keras."""
    if not isinstance(described, dict) or not isinstance(config := described.get("config"), dict):
        return _UNKNOWN
    module, kind = described.get("module"), described.get("class_name")
    is_keras = isinstance(module, str) and module.partition(".")[0] == "keras" and isinstance(kind, str)
    return KerasObject(str(kind) if is_keras else "", config)
