"""What Inception networks are made of, written as text.

    branch = step *(">" step)                    one after another
    step   = name depth *option / pool *option   the name ends in the window, such as Conv2d_0b_3x3 or MaxPool_0a_3x3
           / "(" step "|" step ")"               side by side, joined
    option = "/" stride / "valid" / "same" / "=" window, where the name tells another one
           / "~" deviation of the initial weights

Depths are multiplied by the network's own multiplier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import Scope, arg_scope
from tensorkeep.tf1.contrib.layers.batch_norms import batch_norm
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d
from tensorkeep.tf1.contrib.layers.dense import dropout, fully_connected
from tensorkeep.tf1.contrib.layers.pools import avg_pool2d, max_pool2d
from tensorkeep.tf1.contrib.layers.regularizers import l2_regularizer
from tensorkeep.tf1.functions.arrays.shapes import concat, squeeze
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.variables.initializers import TruncatedNormal, variance_scaling_initializer
from tensorkeep.tf1.variables.scopes import variable_scope

End: TypeAlias = "dict[str, Tensor]"
"""End points by name."""


@dataclass(frozen=True)
class Depths:
    """How many channels layers have, of those that the text says."""

    multiplier: float = 1.0
    least: int = 0

    def __post_init__(self) -> None:
        if self.multiplier <= 0:
            raise InvalidArgumentError(f"depth_multiplier is not greater than zero: {self.multiplier}")

    def of(self, depth: int) -> int:
        return max(int(depth * self.multiplier), self.least)


def truncated_initializer(deviation: float) -> TruncatedNormal:
    """Initial values with a deviation, without those that are further away than twice that."""
    return TruncatedNormal(0.0, deviation)


def _step(net: Tensor, text: str, depths: Depths) -> Tensor:
    if text.startswith("("):
        sides = [_step(net, side.strip(), depths) for side in text[1:-1].split("|")]
        return concat(sides, 3)
    name, *words = text.split()
    window = name.rpartition("_")[2]
    told: dict[str, Any] = {"scope": name}
    depth = None
    for word in words:
        if word[0] == "/":
            told["stride"] = int(word[1:])
        elif word[0] == "~":
            told["weights_initializer"] = truncated_initializer(float(word[1:]))
        elif word[0] == "=":
            window = word[1:]
        elif word in ("valid", "same"):
            told["padding"] = word.upper()
        else:
            depth = depths.of(int(word))
    sizes = [int(size) for size in window.split("x")]
    if name.startswith("MaxPool"):
        return max_pool2d(net, sizes, **told)
    if name.startswith("AvgPool"):
        return avg_pool2d(net, sizes, **told)
    result: Tensor = convolution2d(net, depth, sizes, **told)
    return result


def steps(net: Tensor, text: str, depths: Depths) -> Tensor:
    """The layers of a branch, one after another."""
    for step in text.split(">"):
        net = _step(net, step.strip(), depths)
    return net


def join_branches(net: Tensor, name: str, branches: Sequence[str], depths: Depths) -> Tensor:
    """Several branches from the same tensor, joined along the channels."""
    with variable_scope(name):
        ends = []
        for number, text in enumerate(branches):
            with variable_scope(f"Branch_{number}"):
                ends.append(steps(net, text, depths))
        return concat(ends, 3)


def build_until(
    net: Tensor, parts: Mapping[str, Sequence[str] | str], last: str, depths: Depths, ends: End
) -> tuple[Tensor, bool]:
    """The parts of a network by name, up to the last one wanted; and whether that was among them."""
    for name, part in parts.items():
        net = _step(net, f"{name} {part}", depths) if isinstance(part, str) else join_branches(net, name, part, depths)
        ends[name] = net
        if name == last:
            return net, True
    return net, False


def window_within(net: Tensor, sizes: Sequence[int]) -> list[int]:
    """The sizes of a window, cut to those of images where they are known."""
    known = net.get_shape().as_list()[1:3]
    if None in known:
        return list(sizes)
    return [min(int(size or 0), wanted) for size, wanted in zip(known, sizes, strict=True)]


def inception_arg_scope(weight_decay: float, normalizer_params: Mapping[str, Any] | None, collection: str) -> Scope:
    """The arguments of layers that Inception networks are trained with; without a normalizer if it has no arguments."""
    params = None
    if normalizer_params is not None:
        moving = {"beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection]}
        params = {**normalizer_params, "variables_collections": moving}
    with (
        arg_scope([convolution2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope(
            [convolution2d],
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=None if params is None else batch_norm,
            normalizer_params=params or {},
        ) as scope,
    ):
        return scope


def logits_of(
    net: Tensor,
    ends: End,
    num_classes: int,
    keep_prob: float,
    pool: Callable[[Tensor], Tensor],
    names: tuple[str, str],
    spatial_squeeze: bool,
    prelogits: bool = False,
    predict: Callable[..., Tensor] | None = None,
) -> Tensor:
    """The logits of an Inception network: a pool, dropout, a convolution; and predictions if their place is here."""
    with variable_scope("Logits"):
        net = dropout(pool(net), keep_prob, scope=names[0])
        if prelogits:
            ends["PreLogits"] = net
        logits: Tensor = convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=names[1])
        if spatial_squeeze:
            logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
        ends["Logits"] = logits
        if predict is not None:
            ends["Predictions"] = predict(logits, scope="Predictions")
    return logits
