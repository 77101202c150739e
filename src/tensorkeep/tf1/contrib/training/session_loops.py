"""Loops that evaluate checkpoints, with the kinds of sessions and savers that they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tensorkeep.tf1.contrib.training.evaluation import counted_ops
from tensorkeep.tf1.training.loops.hooks import FinalOpsHook


@dataclass(frozen=True)
class LoopParts:
    """What loops make sessions, savers and scaffolds of."""

    saver: Callable[..., Any]
    supervisor: Callable[..., Any]
    scaffold: Callable[..., Any]
    session_creator: Callable[..., Any]
    session: Callable[..., Any]


def evaluated(parts: LoopParts, paths: Iterable[str], most: int | None, told: Mapping[str, Any]) -> Any:
    """Evaluates checkpoints one after another, each until a hook says stop; the last values of the final operations."""
    hooks = list(told["hooks"] or ())
    eval_ops = None if told["eval_ops"] is None else counted_ops(told["eval_ops"], hooks)
    last = FinalOpsHook(told["final_ops"], told["final_ops_feed_dict"])
    for count, path in enumerate(paths, start=1):
        creator = parts.session_creator(
            scaffold=told["scaffold"],
            checkpoint_filename_with_path=path,
            master=told["master"],
            config=told["config"],
        )
        with parts.session(session_creator=creator, hooks=[*hooks, last]) as session:
            while eval_ops is not None and not session.should_stop():
                session.run(eval_ops, told["feed_dict"])
        if most is not None and count >= most:
            break
    return last.final_ops_values
