"""The programs that everybody writes: save in one, load in another. Each part takes the module it calls `tf`.

`Pair(save, load)`: what the first wrote to a folder, the second reads there. Either may run under either module.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Part = Callable[[Any, str], Any]


@dataclass(frozen=True)
class Pair:
    """A program that saves, one that loads, and what both give."""

    save: Part
    load: Part
    saved: Any
    loaded: Any

    @property
    def name(self) -> str:
        return f"{self.save.__name__}-{self.load.__name__}"


def names_in(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.endswith(".tensorkeep.json"))


# ---------------------------------------------------------------------------------------- 1 and 2: a sum


def _sum(tf: Any) -> tuple[Any, Any, Any]:
    v1 = tf.Variable(tf.constant(1.0, shape=[1]), name="v1")
    v2 = tf.Variable(tf.constant(2.0, shape=[1]), name="v2")
    return v1, v2, v1 + v2


def save_a_sum(tf: Any, folder: str) -> Any:
    _sum(tf)
    init = tf.global_variables_initializer()
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(init)
        path = saver.save(sess, os.path.join(folder, "model.ckpt"))
    return os.path.basename(path), names_in(folder)


def restore_a_sum(tf: Any, folder: str) -> Any:
    *_, result = _sum(tf)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        saver.restore(sess, os.path.join(folder, "model.ckpt"))
        return sess.run(result).tolist()


def restore_without_the_model(tf: Any, folder: str) -> Any:
    saver = tf.train.import_meta_graph(os.path.join(folder, "model.ckpt.meta"))
    with tf.Session() as sess:
        saver.restore(sess, os.path.join(folder, "model.ckpt"))
        return sess.run(tf.get_default_graph().get_tensor_by_name("add:0")).tolist()


# ------------------------------------------------------------------------------------ 3: some variables


def save_one_variable(tf: Any, folder: str) -> Any:
    v1, _, _ = _sum(tf)
    saver = tf.train.Saver([v1])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, os.path.join(folder, "model.ckpt"))
    return names_in(folder)


def restore_one_variable(tf: Any, folder: str) -> Any:
    v1, _, result = _sum(tf)
    saver = tf.train.Saver([v1])
    with tf.Session() as sess:
        saver.restore(sess, os.path.join(folder, "model.ckpt"))
        missing = [name.decode() for name in sess.run(tf.report_uninitialized_variables())]
        try:
            sess.run(result)
            failed = False
        except tf.errors.FailedPreconditionError as error:
            failed = "Attempting to use uninitialized value v2" in str(error)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, os.path.join(folder, "model.ckpt"))
        return missing, failed, sess.run(result).tolist()


# ---------------------------------------------------------------------------------------- 4: other names


def restore_under_other_names(tf: Any, folder: str) -> Any:
    v1 = tf.Variable(tf.constant(7.0, shape=[1]), name="other-v1")
    v2 = tf.Variable(tf.constant(7.0, shape=[1]), name="other-v2")
    saver = tf.train.Saver({"v1": v1, "v2": v2})
    with tf.Session() as sess:
        saver.restore(sess, os.path.join(folder, "model.ckpt"))
        return sess.run([v1, v2, v1 + v2])[2].tolist(), v1.op.name


# ------------------------------------------------------------------------------------ 5: moving averages


def save_moving_averages(tf: Any, folder: str) -> Any:
    v = tf.Variable(0, dtype=tf.float32, name="v")
    before = [item.name for item in tf.global_variables()]
    ema = tf.train.ExponentialMovingAverage(0.99)
    maintain = ema.apply(tf.global_variables())
    after = [item.name for item in tf.global_variables()]
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(tf.assign(v, 10))
        sess.run(maintain)
        saver.save(sess, os.path.join(folder, "model.ckpt"))
        return before, after, [float(value) for value in sess.run([v, ema.average(v)])]


def restore_average_by_name(tf: Any, folder: str) -> Any:
    v = tf.Variable(0, dtype=tf.float32, name="v")
    saver = tf.train.Saver({"v/ExponentialMovingAverage": v})
    with tf.Session() as sess:
        saver.restore(sess, os.path.join(folder, "model.ckpt"))
        return float(sess.run(v))


def restore_average_by_variables_to_restore(tf: Any, folder: str) -> Any:
    v = tf.Variable(0, dtype=tf.float32, name="v")
    ema = tf.train.ExponentialMovingAverage(0.99)
    names = ema.variables_to_restore()
    saver = tf.train.Saver(names)
    with tf.Session() as sess:
        saver.restore(sess, os.path.join(folder, "model.ckpt"))
        return float(sess.run(v))


# ------------------------------------------------------------------------------------------ 6: freezing


def freeze(tf: Any, folder: str) -> Any:
    _sum(tf)
    tf.add(1, 2, name="unused")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        graph_def = tf.get_default_graph().as_graph_def()
        frozen = tf.graph_util.convert_variables_to_constants(sess, graph_def, ["add"])
    with open(os.path.join(folder, "combined_model.pb"), "wb") as file:
        file.write(frozen.SerializeToString())
    return sorted((node.name, node.op) for node in frozen.node)


def load_frozen(tf: Any, folder: str) -> Any:
    graph_def = tf.GraphDef()
    with open(os.path.join(folder, "combined_model.pb"), "rb") as file:
        graph_def.ParseFromString(file.read())
    result = tf.import_graph_def(graph_def, return_elements=["add:0"])
    with tf.Session() as sess:
        return [value.tolist() for value in sess.run(result)], result[0].name


# --------------------------------------------------------------------------------------- 8: a look inside


def look_inside(tf: Any, folder: str) -> Any:
    reader = tf.train.NewCheckpointReader(os.path.join(folder, "model.ckpt"))
    shapes = reader.get_variable_to_shape_map()
    values = {name: reader.get_tensor(name).tolist() for name in sorted(shapes)}
    listed = tf.train.list_variables(folder)
    found = tf.train.load_variable(folder, "v1").tolist() if "v1" in shapes else None
    return shapes, values, [(name, list(shape)) for name, shape in listed], found, reader.debug_string()


# ------------------------------------------------------------------------------------ 9: steps and keeping


def save_many_steps(tf: Any, folder: str) -> Any:
    step = tf.train.get_or_create_global_step()
    advance = tf.assign_add(step, 1)
    saver = tf.train.Saver(max_to_keep=2)
    paths = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(7):
            sess.run(advance)
            paths.append(saver.save(sess, os.path.join(folder, "run"), global_step=step, write_meta_graph=False))
        paths.append(saver.save(sess, os.path.join(folder, "run"), global_step=int(sess.run(step)) + 100))
    last = [os.path.basename(path) for path in saver.last_checkpoints]
    return [os.path.basename(path) for path in paths], last, names_in(folder)


def resume_from_the_latest(tf: Any, folder: str) -> Any:
    step = tf.train.get_or_create_global_step()
    latest = tf.train.latest_checkpoint(folder)
    state = tf.train.get_checkpoint_state(folder)
    saver = tf.train.Saver()
    saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
    with tf.Session() as sess:
        saver.restore(sess, latest)
        found = int(tf.train.global_step(sess, step))
    listed = [os.path.basename(path) for path in state.all_model_checkpoint_paths]
    return os.path.basename(latest), found, listed, len(saver.last_checkpoints)


# -------------------------------------------------------------------------------- 10: devices and partitions


def save_on_three_devices(tf: Any, folder: str) -> Any:
    for i in range(3):
        with tf.device(f"/cpu:{i}"):
            tf.Variable(np.full([2, 2], i + 0.5, np.float32), name=f"v{i}")
    saver = tf.train.Saver(sharded=True)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, os.path.join(folder, "model.ckpt"))
    return os.path.basename(path), names_in(folder)


def restore_from_three_devices(tf: Any, folder: str) -> Any:
    found = [tf.Variable(tf.zeros([2, 2]), name=f"v{i}") for i in range(3)]
    saver = tf.train.Saver()
    with tf.Session() as sess:
        saver.restore(sess, os.path.join(folder, "model.ckpt"))
        return [value.tolist() for value in sess.run(found)]


_TABLE = np.arange(21, dtype=np.float32).reshape(7, 3)


def _partitioned(tf: Any, parts: int) -> Any:
    def rows(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        start = partition_info.var_offset[0] if partition_info else 0
        return tf.constant(_TABLE[start : start + int(shape[0])])

    partitioner = tf.fixed_size_partitioner(parts) if parts > 1 else None
    return tf.get_variable("emb", [7, 3], initializer=rows, partitioner=partitioner)


def _save_parts(tf: Any, folder: str, parts: int) -> Any:
    _partitioned(tf, parts)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, os.path.join(folder, "model.ckpt"))
    return names_in(folder)


def _restore_parts(tf: Any, folder: str, parts: int) -> Any:
    whole = tf.convert_to_tensor(_partitioned(tf, parts))
    saver = tf.train.Saver()
    with tf.Session() as sess:
        saver.restore(sess, os.path.join(folder, "model.ckpt"))
        return sess.run(whole).tolist()


def save_in_four_parts(tf: Any, folder: str) -> Any:
    return _save_parts(tf, folder, 4)


def save_whole(tf: Any, folder: str) -> Any:
    return _save_parts(tf, folder, 1)


def restore_whole(tf: Any, folder: str) -> Any:
    return _restore_parts(tf, folder, 1)


def restore_in_three_parts(tf: Any, folder: str) -> Any:
    return _restore_parts(tf, folder, 3)


_FILES = ["checkpoint", "model.ckpt.data-00000-of-00001", "model.ckpt.index", "model.ckpt.meta"]
_AVERAGES = (
    ["v:0"],
    ["v:0", "v/ExponentialMovingAverage:0"],
    [10.0, 0.09999990463256836],
)
_FROZEN = [("add", "AddV2"), ("v1", "Const"), ("v1/read", "Identity"), ("v2", "Const"), ("v2/read", "Identity")]
_PATHS = [*(f"run-{step}" for step in range(1, 8)), "run-107"]
_KEPT = [
    "checkpoint",
    "run-107.data-00000-of-00001",
    "run-107.index",
    "run-107.meta",
    "run-7.data-00000-of-00001",
    "run-7.index",
]
_SHARDED = [
    "checkpoint",
    *(f"model.ckpt.data-0000{i}-of-00003" for i in range(3)),
    "model.ckpt.index",
    "model.ckpt.meta",
]
_UNSET = (["v2"], True, [3.0])
_SEEN = (
    {"v1": [1], "v2": [1]},
    {"v1": [1.0], "v2": [2.0]},
    [("v1", [1]), ("v2", [1])],
    [1.0],
    b"v1 (DT_FLOAT) [1]\nv2 (DT_FLOAT) [1]\n",
)

PAIRS = [
    Pair(save_a_sum, restore_a_sum, ("model.ckpt", _FILES), [3.0]),
    Pair(save_a_sum, restore_without_the_model, ("model.ckpt", _FILES), [3.0]),
    Pair(save_one_variable, restore_one_variable, _FILES, _UNSET),
    Pair(save_a_sum, restore_under_other_names, ("model.ckpt", _FILES), ([3.0], "other-v1")),
    Pair(save_moving_averages, restore_average_by_name, _AVERAGES, 0.09999990463256836),
    Pair(save_moving_averages, restore_average_by_variables_to_restore, _AVERAGES, 0.09999990463256836),
    Pair(freeze, load_frozen, _FROZEN, ([[3.0]], "import/add:0")),
    Pair(save_a_sum, look_inside, ("model.ckpt", _FILES), _SEEN),
    Pair(
        save_many_steps,
        resume_from_the_latest,
        (_PATHS, ["run-7", "run-107"], _KEPT),
        ("run-107", 7, ["run-7", "run-107"], 2),
    ),
    Pair(
        save_on_three_devices,
        restore_from_three_devices,
        ("model.ckpt", _SHARDED),
        [np.full([2, 2], i + 0.5).tolist() for i in range(3)],
    ),
    Pair(save_in_four_parts, restore_whole, _FILES, _TABLE.tolist()),
    Pair(save_whole, restore_in_three_parts, _FILES, _TABLE.tolist()),
    Pair(save_in_four_parts, restore_in_three_parts, _FILES, _TABLE.tolist()),
]
