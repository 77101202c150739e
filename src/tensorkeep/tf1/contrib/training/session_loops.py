"""Loops that evaluate checkpoints, with the kinds of sessions and savers that they are given.

Slim's evaluates so many batches of each checkpoint, and writes summaries at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.tf1.contrib.training.evaluation import StopAfterNEvalsHook, SummaryAtEndHook, counted_ops
from tensorkeep.tf1.functions.data.summaries import merge_all
from tensorkeep.tf1.training.loops.hooks import FinalOpsHook, SessionRunHook

USE_DEFAULT: Final = 0
"""The argument that stands for all summaries of the graph."""


@dataclass(frozen=True)
class LoopParts:
    """What loops make sessions, savers and scaffolds of."""

    saver: Callable[..., Any]
    supervisor: Callable[..., Any]
    scaffold: Callable[..., Any]
    session_creator: Callable[..., Any]
    session: Callable[..., Any]


def evaluate_checkpoints(parts: LoopParts, paths: Iterable[str], most: int | None, told: Mapping[str, Any]) -> Any:
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


def evaluate_slim_checkpoints(parts: LoopParts, paths: Iterable[str], most: int | None, told: Mapping[str, Any]) -> Any:
    """Evaluates checkpoints, and writes summaries of each; the last values of the final operation."""
    summary = merge_all() if told["summary_op"] is USE_DEFAULT else told["summary_op"]
    hooks: list[SessionRunHook] = [StopAfterNEvalsHook(told["num_evals"])]
    if summary is not None:
        hooks.append(SummaryAtEndHook(told["logdir"], summary_op=summary, feed_dict=told["summary_op_feed_dict"]))
    restored = told["variables_to_restore"]
    scaffold = parts.scaffold(
        init_op=told["initial_op"],
        init_feed_dict=told["initial_op_feed_dict"],
        init_fn=told.get("init_fn"),
        saver=None if restored is None else parts.saver(restored),
    )
    return evaluate_checkpoints(
        parts,
        paths,
        most,
        {
            "hooks": [*hooks, *(told["hooks"] or ())],
            "eval_ops": told["eval_op"],
            "feed_dict": told["eval_op_feed_dict"],
            "final_ops": told["final_op"],
            "final_ops_feed_dict": told["final_op_feed_dict"],
            "scaffold": scaffold,
            "master": told["master"],
            "config": told["session_config"],
        },
    )
