"""`tf.contrib.predictor`: models that answer calls with dictionaries of arrays, each with a session of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.proto.session_config import ConfigProto
from tensorkeep.saved_model.files.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING
from tensorkeep.tf1.estimators.estimator import Estimator
from tensorkeep.tf1.estimators.export_outputs import outputs_for_mode, signatures_of
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.surroundings import surroundings
from tensorkeep.tf1.saved_model import session_loading
from tensorkeep.tf1.training.loops.roles import TrainingSession


class Predictor:
    """A graph in a session, with the tensors that are fed and fetched by name."""

    def __init__(
        self, session: TrainingSession, graph: Graph, feed_tensors: Mapping[str, Any], fetch_tensors: Mapping[str, Any]
    ):
        self._session = session
        self._graph = graph
        self._feeds = dict(feed_tensors)
        self._fetches = dict(fetch_tensors)

    def __repr__(self) -> str:
        return f"{type(self).__name__} with feed tensors {self._feeds} and fetch_tensors {self._fetches}"

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def session(self) -> TrainingSession:
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        return self._feeds

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        return self._fetches

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays by the names of what is fetched, for arrays by the names of what is fed."""
        unknown = sorted(input_dict.keys() - self._feeds.keys())
        if unknown:
            raise InvalidArgumentError(
                f"Got unexpected keys in input_dict: {unknown}\nexpected: {sorted(self._feeds.keys())}"
            )
        fed = {self._feeds[name]: value for name, value in input_dict.items()}
        found: dict[str, Any] = self._session.run(self._fetches, fed)
        return found


def from_saved_model(
    export_dir: PathLike,
    signature_def_key: str | None = None,
    signature_def: SignatureDef | None = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: Graph | None = None,
    config: ConfigProto | None = None,
) -> Predictor:
    """A predictor of a SavedModel: by the key of a signature, by a signature, or by names of tensors."""
    _check_choice(signature_def_key, signature_def, input_names, output_names)
    graph = graph or surroundings().graph()
    with building(graph):
        session = surroundings().session(graph=graph, config=config)
        core = surroundings().core_session(session)
        meta_graph = session_loading.load(core, (tags or SERVING).split(","), export_dir, None)
    if input_names is None or output_names is None:
        chosen = signature_def or _signature(meta_graph.signature_def, signature_def_key)
        input_names, output_names = _names(chosen.inputs), _names(chosen.outputs)
    return Predictor(session, graph, _tensors(graph, input_names), _tensors(graph, output_names))


def _check_choice(key: str | None, signature: Any, inputs: Any, outputs: Any) -> None:
    if (inputs is None) != (outputs is None):
        raise InvalidArgumentError("input_names and output_names must both be specified or both be unspecified.")
    if sum(given is not None for given in (key, signature, inputs)) > 1:
        raise InvalidArgumentError(
            "You must specify at most one of signature_def_key OR signature_def OR (input_names AND output_names)."
        )


def _signature(signatures: Mapping[str, SignatureDef], key: str | None) -> SignatureDef:
    wanted = key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if wanted not in signatures:
        raise InvalidArgumentError(f"Got signature_def_key {wanted!r}. Available signatures are {sorted(signatures)}.")
    return signatures[wanted]


def _names(infos: Mapping[str, Any]) -> dict[str, str]:
    composite = sorted(name for name, info in infos.items() if not info.name)
    if composite:
        raise UnimplementedError(
            f"predictors take and give dense tensors, but {', '.join(composite)} is another: "
            "tensorkeep.load_saved_model(path).signatures[key](**inputs) takes those too"
        )
    return {name: info.name for name, info in infos.items()}


def _tensors(graph: Any, names: Mapping[str, str]) -> dict[str, Any]:
    return {key: graph.get_tensor_by_name(name) for key, name in names.items()}


def from_estimator(
    estimator: Estimator,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: Graph | None = None,
    config: ConfigProto | None = None,
) -> Predictor:
    """A predictor of what an estimator has learned until now, fed as a serving receiver says."""
    checkpoint = estimator.latest_checkpoint()
    if not checkpoint:
        raise FailedPreconditionError(f"Couldn't find trained model at {estimator.model_dir}.")
    graph = graph or surroundings().graph()
    with building(graph):
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
        signatures = signatures_of(receiver.receiver_tensors, outputs_for_mode(spec), None, serving=True)
        creator = surroundings().chief_creator(
            checkpoint_filename_with_path=checkpoint, scaffold=spec.scaffold, config=config
        )
        session = surroundings().monitored_session(session_creator=creator)
    chosen = _signature(signatures, output_key)
    return Predictor(session, graph, _tensors(graph, _names(chosen.inputs)), _tensors(graph, _names(chosen.outputs)))


def from_contrib_estimator(*args: object, **kwargs: object) -> Predictor:
    """Refused: estimators of `tf.contrib.learn` have no serving receivers."""
    raise UnimplementedError(
        "tf.contrib.predictor.from_contrib_estimator is not here: from_estimator takes those of tf.estimator, and "
        "from_saved_model what an estimator of tf.contrib.learn has exported"
    )
