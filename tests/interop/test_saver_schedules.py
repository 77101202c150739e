"""Savers over many saves, beside TensorFlow's: the same files are left, and the same state file, to the byte."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.training import saver as their_saver

import tensorkeep.v1 as tk
from tensorkeep.saving import saver as our_saver
from tests.interop.programs import tensorflow_1

MODULES: dict[str, Any] = {"tensorkeep": tk, "tensorflow": tf.compat.v1}


class Clock:
    """Time that only moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1.7e9

    def time(self) -> float:
        return self.now


def schedule(seed: int) -> dict[str, Any]:
    """How a saver is made, and a list of saves with the hours that pass before each."""
    dice = random.Random(seed)
    options = {
        "max_to_keep": dice.choice([None, 0, 1, 2, 3, 5]),
        "keep_checkpoint_every_n_hours": dice.choice([0.5, 1.0, 2.0, 10000.0]),
        "pad_step_number": dice.random() < 0.3,
        "save_relative_paths": dice.random() < 0.3,
        "sharded": dice.random() < 0.3,
    }
    saves = []
    for _ in range(dice.randrange(4, 14)):
        saves.append(
            {
                "hours": dice.choice([0.0, 0.1, 0.4, 0.7, 1.5, 3.0]),
                "name": dice.choice(["m", "m", "m", "n"]),
                "global_step": dice.choice([None, *range(20)]),
                "write_meta_graph": dice.random() < 0.3,
                "write_state": dice.random() < 0.9,
                "latest_filename": dice.choice([None, None, None, "last"]),
                "meta_graph_suffix": dice.choice(["meta", "meta", "graph"]),
                "recover": dice.random() < 0.1,
            }
        )
    return {
        "options": options,
        "saves": saves,
        "version": dice.choice(["V2", "V2", "V1"]),
        "relative": dice.random() < 0.3,
    }


def carried_out(module: Any, plan: dict[str, Any], folder: Path, clock: Clock) -> list[Any]:
    found: list[Any] = []
    with tensorflow_1(), module.Graph().as_default():
        module.get_variable("a", initializer=[1.0, 2.0])
        version = getattr(module.train.SaverDef, plan["version"])
        saver = module.train.Saver(write_version=version, **plan["options"])
        with module.Session() as session:
            session.run(module.global_variables_initializer())
            for save in plan["saves"]:
                clock.now += save["hours"] * 3600
                options = {key: save[key] for key in save if key not in ("hours", "name", "recover")}
                path = save["name"] if plan["relative"] else str(folder / save["name"])
                saved = saver.save(session, os.path.join("sub", path) if plan["relative"] else path, **options)
                if save["recover"]:
                    saver.set_last_checkpoints_with_time([(item, clock.now - 1e4) for item in saver.last_checkpoints])
                last = [item.replace(str(folder), "") for item in saver.last_checkpoints]
                found.append((saved.replace(str(folder), ""), last))
    return found


def contents(folder: Path) -> dict[str, Any]:
    """Names of files, and what the state files say."""
    found: dict[str, Any] = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root) / name
            is_state = name in ("checkpoint", "last")
            found[str(path.relative_to(folder))] = path.read_text().replace(str(folder), "") if is_state else None
    return found


@pytest.mark.parametrize("seed", range(60))
def test_the_end_state_is_tensorflows(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = schedule(seed)
    clock = Clock()
    monkeypatch.setattr(their_saver, "time", clock)
    monkeypatch.setattr(our_saver.SaverOptions, "clock", staticmethod(clock.time), raising=False)
    monkeypatch.setattr(
        our_saver.SaverOptions.__init__,
        "__defaults__",
        tuple(clock.time if callable(item) else item for item in our_saver.SaverOptions.__init__.__defaults__ or ()),
    )
    results = {}
    for name, module in MODULES.items():
        folder = tmp_path / name
        (folder / "sub").mkdir(parents=True)
        monkeypatch.chdir(folder)
        clock.now = 1.7e9
        results[name] = carried_out(module, plan, folder, clock), contents(folder)
    assert results["tensorkeep"] == results["tensorflow"]
