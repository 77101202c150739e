"""An estimator's model as a SavedModel: a graph for each mode, with the variables of a checkpoint.

The folder is named after the time, in seconds since 1970, and appears whole.
"""

from __future__ import annotations

import logging
import posixpath
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.io.files import gfile
from tensorkeep.proto.session_config import ConfigProto
from tensorkeep.saved_model.files.constants import EVAL, SERVING, TRAINING
from tensorkeep.tf1.estimators.export_outputs import outputs_for_mode, signatures_of
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.estimators.surroundings import surroundings
from tensorkeep.tf1.saved_model.builder import GraphOptions, SavedModelBuilder

LOG: Final = logging.getLogger("tensorkeep")

_TAGS: Final = {ModeKeys.TRAIN: TRAINING, ModeKeys.EVAL: EVAL, ModeKeys.PREDICT: SERVING}
_ATTEMPTS: Final = 10

Model = Callable[[Callable[[], Any], str], tuple[Any, EstimatorSpec]]


@dataclass(frozen=True)
class Export:
    """What is exported, and how. Extra assets go by their paths below "assets.extra"."""

    checkpoint: str
    config: ConfigProto
    assets_extra: dict[str, str] = field(default_factory=dict)
    as_text: bool = False
    strip_default_attrs: bool = True


def new_export_folder(
    base: str, clock: Callable[[], float] = time.time, sleep: Callable[[float], object] = time.sleep
) -> str:
    """A folder named after the time that is not there yet; a second that has one is waited out."""
    for _ in range(_ATTEMPTS):
        folder = posixpath.join(base, str(int(clock())))
        if not gfile.exists(folder):
            return folder
        sleep(1)
        LOG.warning("Directory %s already exists; retrying", folder)
    raise FailedPreconditionError(f"Failed to obtain a unique export directory name after {_ATTEMPTS} attempts.")


def export_models(base: str, receivers: Mapping[str, Callable[[], Any]], model_of: Model, export: Export) -> bytes:
    """Writes a model with a graph for each mode that there is a receiver for; the path of its folder."""
    modes = [mode for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if receivers.get(mode)]
    if not modes:
        raise InvalidArgumentError(f"No valid modes for exporting found. Got {list(receivers)}.")
    folder = new_export_folder(base)
    temporary = posixpath.join(base, f"temp-{posixpath.basename(folder)}")
    builder = SavedModelBuilder(temporary)
    try:
        for mode in modes:
            with building(surroundings().graph()):
                _add_graph(builder, *model_of(receivers[mode], mode), export, with_variables=mode == modes[0])
        builder.save(as_text=export.as_text)
        for target, source in export.assets_extra.items():
            place = posixpath.join(temporary, "assets.extra", target)
            gfile.make_directories(posixpath.dirname(place))
            gfile.copy(source, place)
    except BaseException:
        builder.discard()
        if gfile.exists(temporary):
            gfile.remove_tree(temporary)
        raise
    gfile.rename(temporary, folder)
    return folder.encode()


def _add_graph(
    builder: SavedModelBuilder, receiver: Any, spec: EstimatorSpec, export: Export, with_variables: bool
) -> None:
    graph = current_graph()
    signatures = signatures_of(
        receiver.receiver_tensors,
        outputs_for_mode(spec),
        getattr(receiver, "receiver_tensors_alternatives", None),
        serving=spec.mode == ModeKeys.PREDICT,
    )
    given = spec.scaffold.local_init_op
    main_op: Any = spec.scaffold.default_local_init_op() if given is None else given
    saver: Any = spec.scaffold.saver or surroundings().saver(sharded=True)
    options = GraphOptions(
        assets=get_collection(graph, GraphKeys.ASSET_FILEPATHS),
        main_op=main_op,
        train_op=spec.train_op,
        strip_default_attrs=export.strip_default_attrs,
        saver=saver,
    )
    with surroundings().session(graph=graph, config=export.config) as session:
        _restore(saver, session, export.checkpoint, spec.mode)
        if with_variables:
            core = surroundings().core_session(session)
            builder.add_meta_graph_and_variables(core, [_TAGS[spec.mode]], signatures, options)
        else:
            builder.add_meta_graph([_TAGS[spec.mode]], signatures, options)


def _restore(saver: Any, session: Any, checkpoint: str, mode: str) -> None:
    try:
        saver.restore(session, checkpoint)
    except NotFoundError as error:
        raise InvalidArgumentError(
            "Could not load all requested variables from checkpoint. Please make sure your model_fn does not expect "
            f"variables that were not saved in the checkpoint.\n\nEncountered error with mode `{mode}` while restoring "
            f"checkpoint from: `{checkpoint}`. {error}"
        ) from error
