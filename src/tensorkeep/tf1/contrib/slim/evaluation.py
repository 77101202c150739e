"""Evaluation as slim has it: so many batches of a checkpoint, and summaries at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tensorkeep.tf1.contrib.training.evaluation import StopAfterNEvalsHook, SummaryAtEndHook
from tensorkeep.tf1.contrib.training.session_loops import LoopParts, evaluated
from tensorkeep.tf1.functions.data.summaries import merge_all
from tensorkeep.tf1.training.loops.hooks import SessionRunHook

USE_DEFAULT: Final = 0
"""The argument that stands for all summaries of the graph."""


def slim_evaluated(parts: LoopParts, paths: Iterable[str], most: int | None, told: Mapping[str, Any]) -> Any:
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
    return evaluated(
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
