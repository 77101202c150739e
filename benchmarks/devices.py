"""Devices of JAX: checkpoints to and from them, models and training steps on them, beside what others do.

    python -m benchmarks.devices                             all, at small sizes, on the device that JAX has
    python -m benchmarks.devices load --mib 8192             a checkpoint of that size; so `cold` and `save`
    python -m benchmarks.devices models --full ResNet50      at its real size; so BERT, and --dtype bfloat16
    python -m benchmarks.devices steps --full ResNet18       a step of training; so BERT
    python -m benchmarks.devices zoo dense LSTM              models of the zoo (by live TensorFlow): engine="jax" beside

Each has its comparison in the same run, in turn: `safetensors`, `torch.load` and a plain `jax.device_put` of what NumPy
read (`device_checkpoints`), those that are installed; the same network written by hand in Flax (`flax_networks`), or
where that is not installed in JAX (`device_networks`), with optax where it is trained; TensorFlow and our kernels.
Answers are compared first. The bars are for an NVIDIA H200; on a CPU the table is all that is said.
`docs/performance.md` has the commands for a GPU, each for less than nine minutes, and what they printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import numpy as np
import optax

import tensorkeep as tk
import tensorkeep.v1 as tf
from benchmarks import device_networks as networks
from benchmarks.device_checkpoints import Rows, cold, load, save
from benchmarks.device_networks import ByHand
from benchmarks.timing import Contender, medians, table, take_turns

_HEAD: Final = ("work", "what", "contender", "first call, s", "each, ms", "GB/s", "of ours")
_RATE: Final = 0.01
_AGREES: Final = 1e-4  # of the largest element
_STEPS: Final = 3  # by which losses are compared
_CHECKPOINTS: Final = {"load": load, "cold": cold, "save": save}
_WORKS: Final = (*_CHECKPOINTS, "models", "steps", "zoo")


def _seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = jax.block_until_ready(work())
    return time.perf_counter() - start, result


def _timed(
    work: str, what: str, contenders: dict[str, Callable[[], Any]], rounds: int, firsts: dict[str, float],
    clock: Callable[[], float] = time.perf_counter,
) -> Rows:  # fmt: skip
    """Rows of contenders, ours first, taken in turn after each has been called once, which took `firsts`."""
    turns = [Contender(name, lambda call=call: jax.block_until_ready(call())) for name, call in contenders.items()]
    found = medians(take_turns(turns, rounds, clock=clock))
    ours = found[next(iter(contenders))]
    return [
        [work, what, name, f"{firsts[name]:.2f}", f"{seconds * 1e3:.2f}", "", f"{seconds / ours:.2f}"]
        for name, seconds in found.items()
    ]


# ----------------------------------------------------------------------------------------------------------- models


@contextmanager
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def models(folder: Path, options: argparse.Namespace, words: Sequence[str]) -> Rows:
    """Networks from SavedModels as functions of JAX, beside the same networks written by hand."""
    rows: Rows = []
    full, batches, rounds = options.full, options.batch, options.rounds
    for dtype in options.dtype:
        for size in (networks.RESNET50, networks.BERT) if full else (networks.SMALL_RESNET, networks.SMALL_ENCODER):
            name = "ResNet50" if isinstance(size, networks.ResNet) else "BERT encoder"
            if not _is_asked_for(name, words):
                continue
            target = str(folder / f"{name}-{dtype}")
            _export(target, size, tf.as_dtype(dtype))
            with tk.to_jax(target) as fn:
                named = f"{name}{'' if full else ', small'}, {dtype}"
                for batch in batches:
                    rows += _model(fn, size, dtype, batch, rounds, f"{named}, batch {batch}")
    return rows


def _export(target: str, size: Any, dtype: Any) -> None:
    """Writes the SavedModel of a network with random values."""
    with _graph(), tf.Session() as session:
        if isinstance(size, networks.ResNet):
            x = tf.placeholder(dtype, [None, size.pixels, size.pixels, 3])
            y = networks.resnet_graph(size, x)
        else:
            x = tf.placeholder(tf.int32, [None, size.length])
            y = networks.encoder_graph(size, x, dtype)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, target, {"x": x}, {"y": y})


def _model(fn: Any, size: Any, dtype: str, batch: int, rounds: int, what: str) -> Rows:
    params, random = fn.params, np.random.default_rng(1)
    is_resnet = isinstance(size, networks.ResNet)
    if is_resnet:
        given = random.normal(size=(batch, size.pixels, size.pixels, 3)).astype(np.dtype(dtype))
    else:
        given = random.integers(0, size.words, (batch, size.length), np.int32)
    placed = jax.device_put(given)
    ours = jax.jit(lambda params, x: fn(params, x=x)["y"])
    theirs = jax.jit(lambda params, x: (ByHand(params).resnet if is_resnet else ByHand(params).encoder)(size, x))
    contenders = {"to_jax": lambda: ours(params, placed), "JAX by hand": lambda: theirs(params, placed)}
    if find_spec("flax"):
        from benchmarks.flax_networks import module_of, variables_of

        module, variables = module_of(size, np.dtype(dtype)), variables_of(params)
        of_flax = jax.jit(module.apply)
        contenders["Flax by hand"] = lambda: of_flax(variables, placed)
    firsts, answers = {}, {}
    for name, call in contenders.items():
        firsts[name], answers[name] = _seconds(call)
    for name, answer in answers.items():
        _require_close(answers["to_jax"], answer, 0.1 if dtype == "bfloat16" else 1e-3, f"{what}, {name}")
    return _timed("model", what, contenders, rounds, firsts)


def _is_asked_for(name: str, words: Sequence[str]) -> bool:
    return not words or any(word.lower() in name.lower() for word in words)


def _require_close(ours: Any, theirs: Any, part: float, what: str) -> None:
    mine, other = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    error = np.abs(mine - other).max() / max(np.abs(other).max(), 1e-9)
    if not error <= part:
        raise AssertionError(f"{what}: the two are apart by {error:.1e} of the largest element")


# ------------------------------------------------------------------------------------------------------------ steps


def steps(full: bool, batch: int, rounds: int, words_of_names: Sequence[str]) -> Rows:
    """Steps of training: a program of TensorFlow 1 with engine="jax", beside JAX and optax by hand."""
    rows: Rows = []
    resnet = networks.RESNET18 if full else networks.SMALL_RESNET
    encoder = networks.BERT if full else networks.SMALL_ENCODER
    random = np.random.default_rng(2)
    pixels = random.normal(size=(batch, resnet.pixels, resnet.pixels, 3)).astype(np.float32)
    labels = random.integers(0, 10, batch)
    words = random.integers(0, encoder.words, (batch, encoder.length), np.int32)
    if _is_asked_for("ResNet18-like", words_of_names):
        rows += _step("ResNet18-like", full, rounds, (pixels, labels), resnet, networks.resnet_graph)
    if _is_asked_for("BERT encoder", words_of_names):
        rows += _step("BERT encoder", full, rounds, (words, words), encoder, networks.encoder_graph)
    return rows


def _step(what: str, full: bool, rounds: int, data: tuple[Any, Any], size: Any, build: Any) -> Rows:
    is_encoder = isinstance(size, networks.Encoder)
    with _graph():
        x, y = (tf.placeholder(array.dtype, [None, *array.shape[1:]]) for array in data)
        if is_encoder:
            scores = tf.tensordot(build(size, x), tf.trainable_variables()[0], [[2], [1]])
            optimizer: Any = tf.train.AdamOptimizer(_RATE)
        else:
            scores, optimizer = build(size, x, training=True), tf.train.MomentumOptimizer(_RATE, 0.9)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = optimizer.minimize(loss)
        with tf.Session(engine="jax") as session:
            session.run(tf.global_variables_initializer())
            trained = [variable.op.name for variable in tf.trainable_variables()]
            values = {variable.op.name: session.run(variable) for variable in tf.global_variables()}
            made = (
                {name: values[name] for name in trained},
                {name: value for name, value in values.items() if "/moving_" in name},
            )
            hands = {"JAX by hand": _HandStep(size, is_encoder, *made)}
            if find_spec("flax"):
                hands["Flax by hand"] = _FlaxStep(size, is_encoder, *made)
            run = session.make_callable([loss, train], [x, y])
            firsts = {}
            firsts["engine"], (ours, _) = _seconds(lambda: run(*data))
            losses = [ours, *(run(*data)[0] for _ in range(_STEPS))]
            contenders: dict[str, Callable[[], Any]] = {"engine": lambda: run(*data)[0]}
            for name, hand in hands.items():
                firsts[name], theirs = _seconds(lambda hand=hand: hand(*data))
                _require_close(losses, [theirs, *(hand(*data) for _ in range(_STEPS))], 5e-3, f"{what}, {name}")
                contenders[name] = lambda hand=hand: hand(*data)
            named = f"{what}{'' if full else ', small'}, batch {len(data[0])}"
            return _timed("step", named, contenders, rounds, firsts)


def _adam_of_tensorflow(rate: float, first: float = 0.9, second: float = 0.999, epsilon: float = 1e-8) -> Any:
    """Adam as TensorFlow has it, for optax: its epsilon is added before the second moment is corrected for its start,
    optax's after. In the first step that is a factor of 32: of gradients that small, as most of an encoder's are, the
    two make other steps, and their losses part by hundredths.
    """

    def begin(params: Any) -> Any:
        return jax.numpy.zeros((), np.int32), *(jax.tree.map(jax.numpy.zeros_like, params) for _ in range(2))

    def update(gradients: Any, slots: Any, params: Any = None) -> Any:
        count = slots[0] + 1
        means = jax.tree.map(lambda m, g: first * m + (1 - first) * g, slots[1], gradients)
        squares = jax.tree.map(lambda v, g: second * v + (1 - second) * g * g, slots[2], gradients)
        step = rate * jax.numpy.sqrt(1 - second**count) / (1 - first**count)
        return jax.tree.map(lambda m, v: -step * m / (jax.numpy.sqrt(v) + epsilon), means, squares), (
            count, means, squares)  # fmt: skip

    return optax.GradientTransformation(begin, update)


class _HandStep:
    """A step of training by JAX and optax."""

    def __init__(self, size: Any, is_encoder: bool, params: dict[str, Any], state: dict[str, Any]) -> None:
        optimizer = _adam_of_tensorflow(_RATE) if is_encoder else optax.sgd(_RATE, 0.9)

        def loss_of(params: Any, state: Any, x: Any, y: Any) -> Any:
            found = ByHand({**params, **state}, training=True)
            if is_encoder:
                scores = jax.numpy.matmul(found.encoder(size, x), params["words"].T, precision="highest")
            else:
                scores = found.resnet(size, x)
            return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean(), found.state

        self._prepare(loss_of, optimizer, params, state)

    def _prepare(self, loss_of: Any, optimizer: Any, params: Any, state: Any) -> None:
        def step(params: Any, state: Any, slots: Any, x: Any, y: Any) -> Any:
            (loss, state), gradients = jax.value_and_grad(loss_of, has_aux=True)(params, state, x, y)
            updates, slots = optimizer.update(gradients, slots)
            return optax.apply_updates(params, updates), state, slots, loss

        self._held = (jax.device_put(params), jax.device_put(state), optimizer.init(params))
        self._step = jax.jit(step, donate_argnums=(0, 1, 2))

    def __call__(self, x: Any, y: Any) -> Any:
        *held, loss = self._step(*self._held, x, y)
        self._held = tuple(held)  # type: ignore[assignment]
        return float(loss)


class _FlaxStep(_HandStep):
    """A step of training by Flax and optax."""

    def __init__(self, size: Any, is_encoder: bool, params: dict[str, Any], state: dict[str, Any]) -> None:
        from benchmarks.flax_networks import module_of, variables_of

        module = module_of(size, np.float32, training=True)
        held = variables_of({**params, **state})
        optimizer = _adam_of_tensorflow(_RATE) if is_encoder else optax.sgd(_RATE, 0.9)

        def loss_of(params: Any, state: Any, x: Any, y: Any) -> Any:
            found, changed = module.apply({"params": params, "batch_stats": state}, x, mutable=["batch_stats"])
            if is_encoder:
                found = jax.numpy.matmul(found, params["words"].T, precision="highest")
            return optax.softmax_cross_entropy_with_integer_labels(found, y).mean(), changed.get("batch_stats", {})

        self._prepare(loss_of, optimizer, held["params"], held.get("batch_stats", {}))


# -------------------------------------------------------------------------------------------------------------- zoo


def zoo(names: Sequence[str], rounds: int, clock: Callable[[], float]) -> Rows:
    """Small models of the zoo by engine="jax", by our kernels and by TensorFlow."""
    from tests.interop.model_zoo import ZOO

    rows: Rows = []
    for name, export in ZOO.items():
        if _is_asked_for(name, names):
            with tempfile.TemporaryDirectory(prefix=".zoo-", dir=Path.cwd()) as folder:
                rows += _of_zoo(name, f"{folder}/model", *export(f"{folder}/model"), rounds, clock)
                print(table(_HEAD, rows[-3:]).splitlines()[-3:], file=sys.stderr, flush=True)
    return rows


def _of_zoo(
    name: str, folder: str, signature: str, inputs: dict[str, Any], rounds: int, clock: Callable[[], float]
) -> Rows:
    import tensorflow

    from benchmarks.zoo import off

    theirs = tensorflow.saved_model.load(folder).signatures[signature]
    tensors = {key: tensorflow.constant(value) for key, value in inputs.items()}
    with tk.load_saved_model(folder, engine="jax") as on_jax, tk.load_saved_model(folder) as ours:
        contenders = {
            "jax": lambda: on_jax.signatures[signature](**inputs),
            "numpy": lambda: ours.signatures[signature](**inputs),
            "TensorFlow": lambda: {key: value.numpy() for key, value in theirs(**tensors).items()},
        }
        firsts, answers = {}, {}
        for contender, call in contenders.items():
            firsts[contender], answers[contender] = _seconds(call)
        if (error := off(answers["jax"], answers["TensorFlow"])) > _AGREES:
            return [["zoo", name, "jax", f"{firsts['jax']:.2f}", f"apart by {error:.1e}", "", ""]]
        return _timed("zoo", name, contenders, rounds, firsts, clock)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.devices", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"{', '.join(_WORKS)}; others are words of names of models")
    parser.add_argument("--mib", type=int, default=64, help="size of the checkpoint")
    parser.add_argument("--full", action="store_true", help="networks at their real sizes")
    parser.add_argument("--dtype", nargs="*", default=["float32", "bfloat16"], help="types of models")
    parser.add_argument("--processor-time", action="store_true", help="of the zoo, where others use the machine")
    parser.add_argument("--batch", type=int, nargs="*", default=[1, 64], help="batches of models")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the first, which warms up")
    parser.add_argument("--folder", type=Path, help="where to put files (default: a temporary folder here)")
    options = parser.parse_intermixed_args(arguments)
    chosen = [name for name in options.names if name in _WORKS] or list(_WORKS)
    words = [name for name in options.names if name not in _WORKS]
    device = jax.devices()[0]
    print(f"JAX {jax.__version__} on {device.device_kind} ({device.platform})", file=sys.stderr)
    clock = time.process_time if options.processor_time else time.perf_counter
    rows: Rows = []
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix=".devices-", dir=options.folder or Path.cwd()) as place:
            folder = Path(place)
            if name in _CHECKPOINTS:
                rows += _CHECKPOINTS[name](folder, options.mib, options.rounds)
            elif name == "models":
                rows += models(folder, options, words)
            elif name == "steps":
                rows += steps(options.full, max(options.batch) if options.full else 8, options.rounds, words)
            else:
                rows += zoo(words, options.rounds, clock)
    print(table(_HEAD, rows))
    if device.platform == "cpu":
        print("\nOn a CPU: no bar. Figures of a GPU have not been taken yet.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
