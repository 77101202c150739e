"""What is said of settings of sessions, DeepRec's above all, that have no effect here.

Most of them only make steps faster there: results are the same without, which is told once. One changes what a step is,
and is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from tensorkeep.errors import UnimplementedError

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


def check_settings(config: Any) -> None:
    """Tells, once each, which settings of a `ConfigProto` have no effect; UnimplementedError for one that would."""
    batches = _of_graph(config, "micro_batch_num")
    if batches and batches > 1:
        raise UnimplementedError(
            f"graph_options.optimizer_options.micro_batch_num is {batches}: DeepRec then makes one step of so many "
            "batches, and a step is of one batch here. Leave it out, and give the dataset batches of the whole size"
        )
    for name, (is_set, instead) in _WITHOUT_EFFECT.items():
        if is_set(config):
            _tell(name, instead)


@cache
def _tell(name: str, instead: str) -> None:
    LOG.info("the setting %s of a session has no effect on its results here: %s", name, instead)
