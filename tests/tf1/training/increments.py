"""What tests of incremental checkpoints share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorkeep.v1 as tf
from tensorkeep.embedding.tools.compacting import compact_checkpoint


def assert_made_one(model: Any, before: list[int], after: list[int], folder: Path) -> None:
    """A full checkpoint, after some ids, and the increment after others make the bytes of a full save at that step."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, before)
        first = model.saver.save(session, folder / "m", global_step=model.step)
        model.run(session, after)
        delta = model.saver.incremental_save(session, folder / "m", global_step=model.step)
        full = model.saver.save(session, folder / "whole")
    made = compact_checkpoint(first, folder / "made", delta)
    for suffix in (".index", ".data-00000-of-00001"):
        assert Path(made + suffix).read_bytes() == Path(full + suffix).read_bytes()
