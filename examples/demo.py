"""The main job from end to end, on generated data and without TensorFlow.

Checkpoints: save, look, read, damage, check, recover, shrink. Graphs: build, train, save, restore, repair, freeze, run.
Embedding tables: train, save, look up.

Run it with `make demo`, or `python examples/demo.py`. It works in a temporary folder and takes a few seconds.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.cli.main import main as tensorkeep
from tensorkeep.graph.messages.files import read_graph

T = TypeVar("T")

STEPS = 12

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"


def main() -> int:
    print(f"tensorkeep {tk.__version__}: TensorFlow's checkpoints and graphs, without TensorFlow\n")
    with tempfile.TemporaryDirectory(prefix="tensorkeep-demo-") as name:
        folder = Path(name)
        model = make_model()
        save_and_list(folder, model)
        read(folder, model)
        partition_and_shard(folder, model)
        read_what_tensorflow_wrote()
        survive_a_crash(folder, model)
        find_damage(folder)
        build_and_train(folder)
        go_on_without_the_program(folder)
        ask_the_doctor(folder)
        freeze_and_run(folder)
        edit_and_look(folder)
        embed(folder)
    print("Done. The pages in docs/guide/ tell the rest.")
    return 0


def make_model() -> dict[str, np.ndarray]:
    """A small recommender: an embedding table, two dense layers, a vocabulary, a step."""
    random = np.random.default_rng(7)
    return {
        "embedding/table": random.standard_normal((200_000, 64), dtype=np.float32),
        "dense/kernel": random.standard_normal((64, 256), dtype=np.float32),
        "dense/bias": np.zeros(256, np.float32),
        "dense_1/kernel": random.standard_normal((256, 1), dtype=np.float32),
        "vocabulary": np.array(["shoes", "hats", "gloves", "ünïcödé"], dtype=object),
        "global_step": np.int64(1000),
    }


def save_and_list(folder: Path, model: dict[str, np.ndarray]) -> None:
    heading("1", "Save arrays as a V2 checkpoint, as tf.train.Saver would, and list it")
    prefix = folder / "run" / "model-1000"
    seconds, _ = timed(lambda: tk.save_checkpoint(prefix, model))
    tk.write_checkpoint_state(folder / "run", prefix)
    size = sum(path.stat().st_size for path in prefix.parent.iterdir())
    say(f"saved {size / 1e6:.1f} MB in {seconds * 1000:.0f} ms, flushed to the disk:")
    for path in sorted(prefix.parent.iterdir()):
        print(f"      {path.name:36} {path.stat().st_size:>12,} bytes")
    say("what is in it (found through the folder's state file):")
    for tensor, info in tk.list_tensors(folder / "run").items():
        print(f"      {tensor:20} {info}")


def read(folder: Path, model: dict[str, np.ndarray]) -> None:
    heading("2", "Read: whole, a part, some rows, all at once, without copying")
    with tk.open_checkpoint(folder / "run") as checkpoint:
        kernel = checkpoint.read("dense/kernel")
        part = checkpoint.read("embedding/table", np.s_[100:103, :4])
        wanted = [7, 199_999, 42]
        seconds, rows = timed(lambda: checkpoint.read_rows("embedding/table", wanted))
        everything = checkpoint.read_many()
        mapped = checkpoint.read("embedding/table", copy=False)
    assert np.array_equal(kernel, model["dense/kernel"])
    assert np.array_equal(rows, model["embedding/table"][wanted])
    assert all(np.array_equal(everything[tensor], array) for tensor, array in model.items() if tensor != "vocabulary")
    say(f"dense/kernel {kernel.shape} {kernel.dtype}, checksum compared")
    say(f"embedding/table[100:103, :4], from those bytes alone:\n{indent(np.array2string(part, precision=3))}")
    say(f"3 rows of 200,000 in {seconds * 1e6:.0f} µs")
    say(f"vocabulary: {[item.decode() for item in everything['vocabulary']]}")
    say(f"mapped into memory: {mapped.nbytes / 1e6:.0f} MB, no copy, read-only: writeable is {mapped.flags.writeable}")


def partition_and_shard(folder: Path, model: dict[str, np.ndarray]) -> None:
    heading("3", "A partitioned variable over several files, in both formats")
    tensors = {**model, "embedding/table": tk.PartitionedArray.split(model["embedding/table"], 4)}
    for kind in tk.CheckpointFormat:
        options = tk.SaveOptions(format=kind, sharding=tk.ShardBySize(16 << 20))
        saved = tk.save_checkpoint(folder / f"sharded-{kind.value}", tensors, options)
        with tk.open_checkpoint(saved) as checkpoint:
            info = checkpoint["embedding/table"]
            assert np.array_equal(checkpoint.read("embedding/table"), model["embedding/table"])
            files = [path for path in folder.iterdir() if path.name.startswith(f"sharded-{kind.value}")]
            say(f"{kind.value}: {len(files)} files, opened as {Path(saved).name}")
            say(f"    embedding/table is {info}, and reads as one")


def read_what_tensorflow_wrote() -> None:
    heading("4", "Read what TensorFlow 2.21 wrote, and write the same bytes")
    source = GOLDEN / "g06_v2_dtypes" / "all"
    if not source.with_suffix(".index").exists():
        say("(the golden files are not here; skipped)")
        return
    memory = tk.MemoryFileSystem()
    with tk.open_checkpoint(source) as checkpoint:
        assert isinstance(checkpoint, tk.BundleReader)
        order = sorted(checkpoint, key=lambda tensor: (checkpoint.entry(tensor).offset, tensor))
        with tk.BundleWriter("copy", fs=memory) as writer:
            for tensor in order:
                writer.add(tensor, checkpoint.source(tensor))
        types = sorted({str(info.dtype) for info in checkpoint.values()})
    same = all(
        data == Path(f"{source}{path.removeprefix('copy')}").read_bytes() for path, data in memory.contents().items()
    )
    say(f"{len(order)} tensors of {len(types)} types: {', '.join(types[:12])} ...")
    say(f"written again: byte for byte the same: {same}")
    assert same


def survive_a_crash(folder: Path, model: dict[str, np.ndarray]) -> None:
    heading("5", "Kill a process in the middle of replacing a checkpoint")
    child = (
        "import sys, time, numpy as np, tensorkeep as tk\n"
        "def chunks():\n"
        "    yield np.zeros((1000, 64), np.float32)\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "table = tk.ArraySource(tk.DType.of('float32'), (2000, 64), chunks())\n"
        "tk.save_checkpoint(sys.argv[1], {'embedding/table': table})\n"
    )
    prefix = folder / "run" / "model-1000"
    process = subprocess.Popen([sys.executable, "-c", child, str(prefix)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    left = [name for name in os.listdir(prefix.parent) if name.endswith(".tmp")]
    say(f"killed while it wrote; it left {len(left)} temporary file behind")
    say(f"the old checkpoint: {str(tk.check_checkpoint(prefix)).replace(str(folder), '...')}")
    tk.save_checkpoint(prefix, model)
    left = [name for name in os.listdir(prefix.parent) if name.endswith(".tmp")]
    say(f"after the next save, {len(left)} temporary files are left")


def find_damage(folder: Path) -> None:
    heading("6", "Flip one bit of 51 MB")
    prefix = folder / "run" / "model-1000"
    data = next(prefix.parent.glob("*.data-*"))
    with open(data, "r+b") as file:
        file.seek(20_000_000)
        byte = file.read(1)[0]
        file.seek(20_000_000)
        file.write(bytes((byte ^ 4,)))
    report = tk.check_checkpoint(prefix)
    say(f"intact: {', '.join(report.intact)}")
    for problem in report.problems:
        say(f"damaged: {str(problem).replace(str(folder), '...')}")
    assert [problem.tensor for problem in report.problems] == ["embedding/table"]


def make_pictures(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of 8 x 8 noisy pixels with a bright bar, and in which of the eight columns it stands."""
    random = np.random.default_rng(seed)
    columns = random.integers(0, 8, count)
    pictures = random.normal(0, 0.7, (count, 8, 8)).astype(np.float32)
    pictures[np.arange(count), :, columns] += 1
    return pictures.reshape(count, 64), columns


def build_and_train(folder: Path) -> None:
    heading("7", "Build a TensorFlow 1 program and train it, saving as it goes: import tensorkeep.v1 as tf")
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        pictures = tf.placeholder(tf.float32, [None, 64], name="pictures")
        columns = tf.placeholder(tf.int64, [None], name="columns")
        hidden = tf.nn.relu(dense(pictures, 32, "hidden"))
        logits = tf.identity(dense(hidden, 8, "output"), name="logits")
        loss = tf.losses.sparse_softmax_cross_entropy(columns, logits)
        right = tf.equal(tf.argmax(logits, 1), columns)
        accuracy = tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")
        step = tf.train.AdamOptimizer(0.005).minimize(loss, name="train")
        with tf.control_dependencies([tf.raw_ops.WriteFile(filename="notes.txt", contents="hello", name="nosy")]):
            tf.identity(logits, name="logits_and_more")
        saver = tf.train.Saver(max_to_keep=2)

        x, y = make_pictures(2000, seed=3)
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        say(f"{len(graph.get_operations())} operations, gradients and Adam's updates among them; losses:")
        start = time.perf_counter()
        for epoch in range(1, 5):
            losses = [
                session.run([loss, step], {pictures: x[at : at + 50], columns: y[at : at + 50]})[0]
                for at in range(0, 2000, 50)
            ]
            saver.save(session, folder / "bars" / "model", global_step=40 * epoch, wait=False)  # in the background
            print(f"      after {40 * epoch:3} steps {losses[-1]:.4f}")
        saver.wait()
        say(f"160 steps of 50 pictures and four saves in {(time.perf_counter() - start) * 1000:.0f} ms")
        say(f"right: {session.run(accuracy, {pictures: x, columns: y}):.1%} of them")
        say(f"kept: {', '.join(Path(path).name for path in saver.last_checkpoints)}")


def dense(inputs: tf.Tensor, size: int, name: str) -> tf.Tensor:
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", [inputs.shape[1].value, size])
        bias = tf.get_variable("bias", [size], initializer=tf.zeros_initializer())
        return tf.matmul(inputs, kernel) + bias


def go_on_without_the_program(folder: Path) -> None:
    heading("8", "Go on in a program without the model's code: the graph comes from the .meta file")
    latest = tk.latest_checkpoint(folder / "bars", verify="full")
    assert latest is not None
    x, y = make_pictures(500, seed=4)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{latest}.meta")
        say(str(saver.restore(session, latest)).replace(str(folder), "..."))
        feeds = {"pictures:0": x, "columns:0": y}
        before = session.run("accuracy:0", feeds)
        for _ in range(20):
            session.run("train", feeds)
        say(f"right: {before:.1%} of 500 new pictures, {session.run('accuracy:0', feeds):.1%} after 20 more steps")


def ask_the_doctor(folder: Path) -> None:
    heading("9", "Restore into a program that has changed, and ask what is wrong")
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("net"):
            dense(dense(tf.placeholder(tf.float32, [None, 64]), 32, "hidden"), 9, "output")
        saver = tf.train.Saver()
        try:
            saver.restore(session, folder / "bars" / "model-160")
        except tf.errors.NotFoundError as error:
            text = str(error).replace(str(folder), "...").split("Nothing in the checkpoint is wanted")[0]
            print(indent("\n".join(text.splitlines()[4:]).strip()))
        logging.getLogger("tensorkeep").setLevel(logging.ERROR)  # what was adapted is logged too
        policy = tk.Adapt(shape="grow")
        outcome = saver.restore(session, folder / "bars" / "model-160", mapping={"net/": "/"}, on_mismatch=policy)
        assert outcome is not None
        say(f"with mapping={{'net/': '/'}} and grow: {len(outcome.restored)} restored, {len(outcome.adapted)} grown")


def freeze_and_run(folder: Path) -> None:
    heading("10", "Freeze it into one file, and run that as if a stranger had made it")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(folder / "bars" / "model-160.meta").restore(session, folder / "bars" / "model-160")
        outputs = ["logits", "logits_and_more"]
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), outputs)
    path = Path(tf.train.write_graph(frozen, str(folder), "frozen.pb", as_text=False))
    say(f"{len(frozen.node)} nodes of {len(graph.get_operations())}, {path.stat().st_size:,} bytes")
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(read_graph(str(path)), name="")
    x, y = make_pictures(500, seed=4)
    with tf.Session(graph=graph, allow_io=False) as session:
        logits = session.run("logits:0", {"pictures:0": x})
        say(f"right: {np.mean(logits.argmax(axis=1) == y):.1%} of 500 new pictures")
        try:
            session.run("logits_and_more:0", {"pictures:0": x})
        except tf.errors.PermissionDeniedError as error:
            say(f"refused: {error}")
        else:
            raise AssertionError("a session without allow_io wrote a file")


def edit_and_look(folder: Path) -> None:
    heading("11", "Shrink the checkpoint, and look at it from the command line")
    small = folder / "shipped" / "model"
    changes = tk.edit.strip_optimizer(folder / "bars" / "model-160", small)
    say(f"without {len(changes.dropped)} values of the optimizer: {changes.written.written_bytes:,} bytes")
    tensorkeep(["stats", str(small), "--table", "--exclude", "step*"])


def embed(folder: Path) -> None:
    heading("12", "Train an embedding table that grows by its keys, save it, and look one key up in the file")
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_embedding_variable("users", 4, initializer=tf.zeros_initializer())
        keys = tf.placeholder(tf.int64, [None])
        loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, keys) - 1.0))
        step = tf.train.AdagradOptimizer(0.5).minimize(loss)
        session.run(tf.global_variables_initializer())
        for batch in ([7, -1, 10**12], [7, 8]):
            session.run(step, {keys: batch})
        path = tf.train.Saver().save(session, folder / "recommender" / "model", write_meta_graph=False)
    tensorkeep(["ev", "stats", path, "--table"])
    tensorkeep(["ev", "lookup", path, "users", str(10**12), "9", "--table"])


def heading(number: str, text: str) -> None:
    print(f"[{number}/{STEPS}] {text}")


def say(text: str) -> None:
    print(f"    {text}", flush=True)


def indent(text: str) -> str:
    return "\n".join(f"      {line}" for line in text.splitlines())


def timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    sys.exit(main())
