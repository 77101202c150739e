"""What is said of settings of sessions, DeepRec's above all, that have no effect here.

They only make steps faster there: results are the same without, which is told once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tensorkeep.proto.session_config import ConfigProto

LOG: Final = logging.getLogger("tensorkeep")

_AHEAD: Final = "what tf.staged is given is computed ahead, and nothing besides"
_WITHOUT_EFFECT: Final[dict[str, tuple[Callable[[Any], Any], str]]] = {
    "graph_options.optimizer_options.do_smart_stage": (
        lambda config: _of_graph(config, "do_smart_stage") or _of_graph(config, "do_smart_stage_gpu"),
        _AHEAD,
    ),
    "graph_options.optimizer_options.do_async_embedding": (
        lambda config: _of_graph(config, "do_async_embedding"),
        "lookups are a part of their step",
    ),
    "graph_options.optimizer_options.do_op_fusion": (
        lambda config: _of_graph(config, "do_op_fusion"),
        "runs are compiled without asking",
    ),
    "inter_op_parallelism_threads": (
        lambda config: config.inter_op_parallelism_threads,
        "a run is one thread of Python; intra_op_parallelism_threads says how many a kernel may use",
    ),
    "executor_policy": (lambda config: getattr(config, "executor_policy", 0), "a run is one thread of Python"),
    "session_stage_subgraph_thread_pool": (
        lambda config: getattr(config, "session_stage_subgraph_thread_pool", ()),
        "tf.staged has threads of its own",
    ),
    "tensor_fuse": (lambda config: getattr(config, "tensor_fuse", False), "tensors are not sent anywhere"),
}


def _of_graph(config: Any, name: str) -> Any:
    """A setting of DeepRec's optimizers of graphs; None in a message that has no such setting."""
    return getattr(config.graph_options.optimizer_options, name, None)


def batches_of_step(config: ConfigProto) -> int:
    """How many batches a step takes that learns, by DeepRec's `micro_batch_num`."""
    return max(1, _of_graph(config, "micro_batch_num") or 1)


def check_settings(config: ConfigProto) -> None:
    """Tells, once each, which settings of a `ConfigProto` have no effect."""
    for name, (is_set, instead) in _WITHOUT_EFFECT.items():
        if is_set(config):
            _tell(name, instead)


@cache
def _tell(name: str, instead: str) -> None:
    LOG.info("the setting %s of a session has no effect on its results here: %s", name, instead)
