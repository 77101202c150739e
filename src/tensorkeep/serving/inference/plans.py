"""How the names of a signature become tensors of a graph, and back: worked out once for each set of outputs.

The checks are TensorFlow Serving's, in its order and its words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType, dtype_in_graph, dtype_of_array
from tensorkeep.errors import FailedPreconditionError, InternalError, InvalidArgumentError
from tensorkeep.proto.messages import SignatureDef, TensorInfo
from tensorkeep.serving.inference.tensors import array_of_request
from tensorkeep.serving.servables import Ends, Servable

DEFAULT_SIGNATURE: Final = "serving_default"
PREDICT: Final = "tensorflow/serving/predict"
CLASSIFY: Final = "tensorflow/serving/classify"
REGRESS: Final = "tensorflow/serving/regress"

_MOST_FILTERS: Final = 32  # sets of outputs of a signature with a run of their own; other sets are picked from all

Sent = TypeVar("Sent")


@dataclass(frozen=True, slots=True)
class Feed:
    """An input of a signature: its name, its tensor, and what is fed if nothing is sent."""

    alias: str
    tensor: str
    dtype: DType | None
    default: Array | None


@dataclass(frozen=True, slots=True)
class PredictPlan:
    """What is fed and fetched to answer for a set of outputs of a signature."""

    feeds: tuple[Feed, ...]
    """By the order of their tensors in `ends`."""
    ends: Ends
    outputs: tuple[tuple[str, int, DType | None], ...]
    """Names, which of the fetched tensors they are, and their types."""
    has_defaults: bool

    def arrays(self, sent: Mapping[str, Sent], read: Callable[[str, Sent], Array]) -> list[Array]:
        """The arrays to feed, in the order of `ends.feeds`: what the request sent, read by `read`, and defaults for the
        rest.
        """
        feeds = self.feeds
        if len(sent) > len(feeds) or (len(sent) < len(feeds) and not self.has_defaults):
            raise InvalidArgumentError(_other_number(set(sent), {feed.alias for feed in feeds}))
        found: dict[str, Array] = {}
        for feed in feeds if len(feeds) == 1 else sorted(feeds, key=_alias):
            if feed.alias in sent:
                found[feed.alias] = read(feed.alias, sent[feed.alias])
            elif feed.default is not None:
                found[feed.alias] = feed.default
            else:
                raise InvalidArgumentError(self._missing(feed, sent))
        used = [alias for alias in found if alias in sent]
        if len(used) != len(sent):
            raise InvalidArgumentError(
                f"Inputs contains invalid name. Used request inputs: {','.join(sorted(used))}, "
                f"request input: {','.join(sorted(sent))}"
            )
        return [found[feed.alias] for feed in feeds]

    def check_types(self, arrays: Sequence[Array]) -> None:
        """TensorFlow's error for the first array of another type than its tensor."""
        for i, (feed, array) in enumerate(zip(self.feeds, arrays, strict=True)):
            check_type(i, feed.dtype, array)

    def _missing(self, feed: Feed, sent: Mapping[str, Sent]) -> str:
        defaults = ",".join(sorted(other.alias for other in self.feeds if other.default is not None))
        return (
            f"Signature input alias: {feed.alias}(feed name: {feed.tensor}) not found in request and no default value "
            f"provided. Inputs expected to be in the request {{{','.join(sorted(sent))}}}, or default input alias set: "
            f"{defaults}"
        )


def check_type(index: int, dtype: DType | None, array: Array) -> None:
    """TensorFlow's error for an array of another type than that of the tensor that it is fed to."""
    if dtype is not None and array.dtype != dtype.array_dtype:
        raise InvalidArgumentError(
            f"Expects arg[{index}] to be {dtype.label} but {dtype_of_array(array.dtype).label} is provided"
        )


def _alias(feed: Feed) -> str:
    return feed.alias


def _other_number(sent: set[str], wanted: set[str]) -> str:
    def listed(names: set[str]) -> str:
        return f"{{{','.join(sorted(names))}}}"

    return (
        f"input size does not match signature: {len(sent)}!={len(wanted)} len({listed(sent)}) != "
        f"len({listed(wanted)}). Sent extra: {listed(sent - wanted)}. Missing but required: {listed(wanted - sent)}."
    )


class Plans:
    """The plans made so far, which go with the versions that they are for."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Servable, dict[tuple[str, tuple[str, ...]], PredictPlan]] = WeakKeyDictionary()

    def plan(self, servable: Servable, signature: str, output_filter: Sequence[str]) -> PredictPlan:
        """The plan for some outputs of a signature, made once for each version and set of outputs."""
        kept = self._kept.setdefault(servable, {})
        key = (signature, tuple(output_filter))
        plan = kept.get(key)
        if plan is None:
            plan = predict_plan(signature_def(servable, signature), output_filter)
            if output_filter and sum(1 for other, _ in kept if other == signature) >= _MOST_FILTERS:
                return _picked_plan(self.plan(servable, signature, ()), plan)
            kept[key] = plan
        return plan


def signature_def(servable: Servable, key: str) -> SignatureDef:
    """A signature by its name, as Predict asks for it."""
    if key not in servable.signature_defs:
        raise FailedPreconditionError(f'Serving signature key "{key}" not found.')
    return servable.signature_defs[key]


def check_predict_method(signature: SignatureDef) -> None:
    """Refuses, in TensorFlow Serving's words, a signature whose method is none of Predict, Classify and Regress."""
    if signature.method_name not in (PREDICT, CLASSIFY, REGRESS):
        raise InternalError(
            f"Expected prediction signature method_name to be one of {{{PREDICT}, {CLASSIFY}, {REGRESS}}}. "
            f"Was: {signature.method_name}"
        )


def predict_plan(signature: SignatureDef, output_filter: Sequence[str]) -> PredictPlan:
    """The plan for some outputs of a signature; none means all."""
    feeds = tuple(sorted((_feed(signature, alias) for alias in signature.inputs), key=lambda feed: feed.tensor))
    fed = [feed.tensor for feed in feeds]
    if twice := [tensor for tensor in fed if fed.count(tensor) > 1]:
        raise InvalidArgumentError(f'Endpoint "{twice[0]}" fed more than once.')
    aliases = _asked_outputs(signature, output_filter)
    fetched = {alias: signature.outputs[alias].name for alias in aliases}
    fetches = tuple(sorted(set(fetched.values())))
    outputs = tuple((alias, fetches.index(fetched[alias]), _dtype(signature.outputs[alias])) for alias in aliases)
    return PredictPlan(feeds, Ends(tuple(fed), fetches), outputs, bool(signature.defaults))


def _asked_outputs(signature: SignatureDef, output_filter: Sequence[str]) -> list[str]:
    seen: list[str] = []
    for alias in output_filter:
        if alias not in signature.outputs:
            listed = ",".join(sorted(signature.outputs))
            raise InvalidArgumentError(
                f"output tensor alias not found in signature: {alias} Outputs expected to be in the set {{{listed}}}."
            )
        if alias in seen:
            raise InvalidArgumentError(f"duplicate output tensor alias: {alias}")
        seen.append(alias)
    return seen or sorted(signature.outputs)


def _feed(signature: SignatureDef, alias: str) -> Feed:
    info = signature.inputs[alias]
    default = array_of_request(alias, signature.defaults[alias]) if alias in signature.defaults else None
    return Feed(alias, info.name, _dtype(info), default)


def _dtype(info: TensorInfo) -> DType | None:
    return dtype_in_graph(info.dtype).base_dtype if info.dtype else None


def _picked_plan(whole: PredictPlan, part: PredictPlan) -> PredictPlan:
    """A plan that answers with some outputs and runs as the plan for all of them does, so that they share one run."""
    places = {alias: place for alias, place, _ in whole.outputs}
    outputs = tuple((alias, places[alias], dtype) for alias, _, dtype in part.outputs)
    return PredictPlan(whole.feeds, whole.ends, outputs, whole.has_defaults)
