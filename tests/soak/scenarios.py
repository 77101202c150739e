"""What is done again and again in a child process that dies, and what must be there afterwards.

A scenario works on a folder of its own. `work` does step after step for ever; each step is written down before it is
begun, and once more when it has returned: it is *acknowledged*. `check` is given both numbers of a child that has died,
and says what is wrong: everything must be as after one of the steps from the last acknowledged to the last begun,
whole, and never a mixture. All tensors of a step hold its number, so that a mixture shows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep import edit
from tensorkeep.edit import AddScope, Conflict, EditOptions, StripScope
from tensorkeep.embedding.restore.finding_deltas import newest_delta
from tensorkeep.embedding.tools.compacting import compact_checkpoint
from tensorkeep.saving.retention import KeepActive, KeepLatest
from tensorkeep.tf1.training.objects.manager import CheckpointManager
from tensorkeep.tf1.training.objects.object_checkpoints import Checkpoint

SIZE = 1000
IN_PLACE = EditOptions(overwrite=True)


@dataclass(frozen=True)
class Steps:
    """What is known of a child that has died: the last step it was told of, and the last it had begun."""

    acknowledged: int
    begun: int

    def allow(self, step: int) -> bool:
        return self.acknowledged <= step <= self.begun


@dataclass(frozen=True)
class Scenario:
    """Steps in a folder, from a number on, and what must be there after some of them."""

    work: Callable[[Path, int], Iterator[Callable[[], object]]]
    """The steps to do, each when it is called."""
    check: Callable[[Path, Steps], list[str]]
    prepare: Callable[[Path], object] = lambda folder: None


def tensors_of(step: int) -> dict[str, Any]:
    return {name: np.full(SIZE + at, step, np.float32) for at, name in enumerate("abc")}


def problems_of(path: str, steps: Steps) -> list[str]:
    """What is wrong with a checkpoint that must be that of one of the steps."""
    report = tk.check_checkpoint(path)
    if not report.is_intact:
        return [str(report)]
    held = {float(value) for tensor in tk.load_tensors(path).values() for value in np.unique(tensor)}
    if len(held) != 1 or not steps.allow(int(*held)):
        return [f'"{path}" holds {sorted(held)}, expected one of {steps.acknowledged}..{steps.begun}']
    return []


def state_problems(folder: Path, steps: Steps) -> list[str]:
    """What is wrong with the latest checkpoint of a folder, and with the list of those that are kept."""
    state = tk.read_checkpoint_state(folder)
    if state is None:
        return ["there is no state file"] if steps.acknowledged else []
    gone = [path for path in (state.latest, *state.all_paths) if not tf.train.checkpoint_exists(path)]
    return [f"the state file names {path}, which is not there" for path in gone] or problems_of(state.latest, steps)


# ------------------------------------------------------------------------------------------------------------- savers


def saver_work(**options: Any) -> Callable[[Path, int], Iterator[Callable[[], object]]]:
    is_numbered, waits = options.pop("numbered", True), options.pop("waits", True)

    def work(folder: Path, first: int) -> Iterator[Callable[[], object]]:
        with tf.Graph().as_default(), tf.Session() as session:
            held = {name: tf.get_variable(name, initializer=value) for name, value in tensors_of(0).items()}
            saver = tf.train.Saver(**{"max_to_keep": 2, "save_relative_paths": True, **options})
            session.run(tf.global_variables_initializer())
            step = first

            def save() -> None:
                for name, value in tensors_of(step).items():
                    held[name].load(value, session)
                saved = saver.save(session, str(folder / "m"), step if is_numbered else None, wait=waits)
                if not waits:
                    saved.result()

            while True:
                yield save
                step += 1

    return work


def manager_work(policy: Any) -> Callable[[Path, int], Iterator[Callable[[], object]]]:
    def work(folder: Path, first: int) -> Iterator[Callable[[], object]]:
        step = first

        def save() -> None:
            manager = CheckpointManager(Checkpoint(**tensors_of(step)), folder, policy)
            manager.save(step)

        while True:
            yield save
            step += 1

    return work


def manager_check(folder: Path, steps: Steps) -> list[str]:
    """As of a saver; the counter of a manager is no tensor of ours."""
    state = tk.read_checkpoint_state(folder)
    if state is None:
        return ["there is no state file"] if steps.acknowledged else []
    report = tk.check_checkpoint(state.latest)
    if not report.is_intact:
        return [str(report)]
    held = {float(value) for name in "abc" for value in np.unique(tk.load_objects(state.latest)[name])}
    return [] if len(held) == 1 and steps.allow(int(*held)) else [f'"{state.latest}" holds {sorted(held)}, {steps}']


# -------------------------------------------------------------------------------------------------------- incremental


def incremental_work(folder: Path, first: int) -> Iterator[Callable[[], object]]:
    """A full checkpoint at the first step, and after each step what changed since; step n trains key n."""
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_embedding_variable("t", 2, initializer=tf.ones_initializer())
        ids = tf.placeholder(tf.int64, [None])
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
        saver = tf.train.Saver(incremental_save_restore=True)
        session.run(tf.global_variables_initializer())
        step.load(first - 1, session)
        number = first

        def save() -> None:
            session.run(train, {ids: list(range(1, number + 1))})
            if number == first:
                saver.save(session, str(folder / "m"), step)
            else:
                saver.incremental_save(session, str(folder / "m"), step)

        while True:
            yield save
            number += 1


def incremental_check(folder: Path, steps: Steps) -> list[str]:
    full = tk.latest_checkpoint(folder)
    if full is None:
        return ["there is no full checkpoint"] if steps.acknowledged else []
    delta = newest_delta(full)
    path = full if delta is None else compact_checkpoint(full, folder / "whole" / "m", delta)
    keys = sorted(tk.load_tensor(path, "t-keys").tolist())
    if keys != list(range(1, len(keys) + 1)) or not steps.allow(len(keys)):
        return [f'"{path}" holds the keys up to {len(keys)}, {steps}']
    return []


# ------------------------------------------------------------------------------------------------------------ editing


def prepare_edited(folder: Path) -> None:
    tk.save_checkpoint(folder / "m", tensors_of(7))
    tk.save_checkpoint(folder / "n", {"d": np.full(SIZE, 7, np.float32)})


EDITS: Mapping[str, tuple[Callable[[str, int], object], Callable[[Mapping[str, Any]], bool]]] = {
    "rename": (
        lambda path, step: edit.rename(path, path, [AddScope("s") if step % 2 else StripScope("s")], IN_PLACE),
        lambda held: set(held) in ({"a", "b", "c"}, {"s/a", "s/b", "s/c"}),
    ),
    "cast": (
        lambda path, step: edit.cast(path, path, "float64" if step % 2 else "float32", None, IN_PLACE),
        lambda held: set(held) == {"a", "b", "c"} and len({value.dtype for value in held.values()}) == 1,
    ),
    "merge": (
        lambda path, step: edit.merge([path, path[:-1] + "n"], path, conflict=Conflict.LAST, options=IN_PLACE),
        lambda held: set(held) in ({"a", "b", "c"}, {"a", "b", "c", "d"}),
    ),
    "dedupe": (
        lambda path, step: edit.dedupe([path, path[:-1] + "n"], IN_PLACE),
        lambda held: set(held) == {"a", "b", "c"},
    ),
}


def edit_work(name: str) -> Callable[[Path, int], Iterator[Callable[[], object]]]:
    """Changes a checkpoint in its place. A step that finds the work of the one before undone does it again."""

    def work(folder: Path, first: int) -> Iterator[Callable[[], object]]:
        step = first

        def change() -> None:
            is_scoped = "s/a" in tk.list_tensors(folder / "m")
            at = 2 * step + (0 if is_scoped else 1) if name == "rename" else step
            EDITS[name][0](str(folder / "m"), at)

        while True:
            yield change
            step += 1

    return work


def edit_check(name: str) -> Callable[[Path, Steps], list[str]]:
    def check(folder: Path, steps: Steps) -> list[str]:
        report = tk.check_checkpoint(folder / "m")
        if not report.is_intact:
            return [str(report)]
        held = tk.load_tensors(folder / "m")
        if not EDITS[name][1](held) or {float(item) for value in held.values() for item in np.unique(value)} != {7.0}:
            return [f"neither the old nor the new checkpoint: {sorted(held)}"]
        return []

    return check


# ---------------------------------------------------------------------------------------------------------- publishing


def publish_work(folder: Path, first: int) -> Iterator[Callable[[], object]]:
    step = first

    def publish() -> None:
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None], name="x")
            w = tf.get_variable("w", initializer=np.full(SIZE, step, np.float32))
            session.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(session, str(folder / str(step)), {"x": x}, {"y": x * w[0]})

    while True:
        yield publish
        step += 1


def publish_check(folder: Path, steps: Steps) -> list[str]:
    problems: list[str] = []
    versions = sorted(int(name) for name in os.listdir(folder) if name.isdecimal())
    whole = [step for step in versions if tf.saved_model.contains_saved_model(folder / str(step))]
    missing = set(range(1, steps.acknowledged + 1)) - set(whole) - FAILED.get(str(folder), set())
    problems += [f"versions {sorted(missing)} were published and are gone"] if missing else []
    for step in whole[-2:]:
        answer = tk.load_saved_model(folder / str(step)).signatures["serving_default"](x=np.ones(1, np.float32))
        if answer["y"].tolist() != [float(step)]:
            problems.append(f"version {step} answers {answer}")
    return problems


FAILED: dict[str, set[int]] = {}
"""By folder, the steps that failed and said so, or did not come to an end."""

SCENARIOS: Mapping[str, Scenario] = {
    "saver, V2": Scenario(saver_work(), state_problems),
    "saver, V1": Scenario(saver_work(write_version=tf.train.SaverDef.V1), state_problems),
    "saver, sharded": Scenario(saver_work(sharded=True), state_problems),
    "saver, one name": Scenario(saver_work(numbered=False), state_problems),
    "saver, background": Scenario(saver_work(waits=False), state_problems),
    "saver, policy": Scenario(saver_work(retention=KeepLatest(2)), state_problems),
    "manager": Scenario(manager_work(KeepActive(2)), manager_check),
    "manager, policy": Scenario(manager_work(KeepLatest(2)), manager_check),
    "incremental": Scenario(incremental_work, incremental_check),
    **{f"edit, {name}": Scenario(edit_work(name), edit_check(name), prepare_edited) for name in EDITS},
    "publish": Scenario(publish_work, publish_check),
}
