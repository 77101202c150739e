"""Several processes save to one name at the same time, in parts: the parts are always of one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.checkpoint.checking import check_checkpoint
from tests.support.processes import run_together, the_one_value

pytestmark = pytest.mark.slow  # all of them together

SAVER = """
import sys
import tensorkeep.v1 as tf

number, _, rounds = map(int, sys.argv[1:])
variables = []
for name in "abcd":
    with tf.device(f"/cpu:{ord(name) % 2}"):
        variables.append(tf.Variable(tf.zeros([5000], tf.int64), name=name))
value = tf.placeholder(tf.int64, [])
fill = [item.assign(tf.fill([5000], value)) for item in variables]
saver = tf.train.Saver(variables, sharded=True)
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
    for turn in range(rounds):
        session.run(fill, {value: number * rounds + turn})
        saver.save(session, "m", write_meta_graph=False, write_state=False)
"""

OBJECTS = """
import sys
import tensorkeep.v1 as tf

number, _, rounds = map(int, sys.argv[1:])
variables = {name: tf.Variable(tf.zeros([5000], tf.int64), name=name) for name in "abcd"}
value = tf.placeholder(tf.int64, [])
fill = [item.assign(tf.fill([5000], value)) for item in variables.values()]
checkpoint = tf.train.Checkpoint(**variables)
with tf.Session() as session:
    for turn in range(rounds):
        session.run(fill, {value: number * rounds + turn})
        checkpoint.write("m", session)
"""


@pytest.mark.parametrize("program", [SAVER, OBJECTS], ids=["a sharded saver", "objects"])
def test_parts_are_never_of_several_processes(tmp_path: Path, program: str) -> None:
    run_together(program, tmp_path, (1, 1, 1), 10)
    assert check_checkpoint(str(tmp_path / "m")).is_intact
    assert the_one_value(tmp_path / "m") % 10 == 9
    assert not (tmp_path / "m_temp").exists()
