"""A hook that traces runs while a model is trained: `tf.train.ProfilerHook`.

When it traces, and what the files are called: TensorFlow's python/training/basic_session_run_hooks.py.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Any

from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text
from tensorkeep.proto.session_config import RunOptions, StepStats
from tensorkeep.tf1.training.loops.events import FileWriterCache
from tensorkeep.tf1.training.loops.hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    is_due,
    required_step,
)
from tensorkeep.tf1.training.loops.timelines import Timeline


class ProfilerHook(SessionRunHook):
    """Traces a run every so many steps or seconds: `timeline-<step>.json`, which Chrome and Perfetto show.

    The first run is never traced. A trace is of when operations ran; how much memory they used it does not say.
    """

    timer_type: Callable[..., SecondOrStepTimer] = SecondOrStepTimer
    filesystem: FileSystem = FILES

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: PathLike = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._output_dir = path_text(output_dir)
        self._writer = FileWriterCache.get(output_dir)
        self._show_dataflow, self._show_memory = show_dataflow, show_memory
        self._timer = self.timer_type(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        self._next_step: int | None = None
        self._global_step_tensor = required_step("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._is_requested = self._next_step is not None and is_due(
            self._timer, self._next_step, run_context.session, self._global_step_tensor
        )
        traced = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._is_requested else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=traced)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        before: Any = run_values.results["global_step"]
        if self._next_step is None:
            # So that the first runs, which take long, are not traced.
            self._timer.update_last_triggered_step(int(run_context.session.run(self._global_step_tensor)) - 1)
        step = before + 1
        if self._is_requested and run_values.run_metadata is not None:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            self._save(int(step), run_values.run_metadata.step_stats)
            self._writer.add_run_metadata(run_values.run_metadata, f"step_{int(step)}")
        self._next_step = step + 1

    def _save(self, step: int, stats: StepStats) -> None:
        text = Timeline(stats).generate_chrome_trace_format(self._show_dataflow, self._show_memory)
        path = posixpath.join(self._output_dir, f"timeline-{step}.json")
        atomic_write(self.filesystem, path, text.encode(), Durability.CACHE)
