"""A model as a function of JAX: pure, transformable, with state and keys where the model has them, and written back."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tests.support.golden import golden

X = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)


class Net:
    """A session with a small network, and the function of it."""

    def __init__(self) -> None:
        self.session = tf.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            x = tf.placeholder(tf.float32, [None, 4], name="x")
            weights = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
            w = tf.get_variable("w", initializer=weights)
            b = tf.get_variable("b", initializer=np.full(3, 0.1, np.float32), use_resource=True)
            y = tf.nn.softmax(tf.matmul(x, w) + b, name="y")
            tf.reshape(y, [tf.shape(y)[0] * 3, 1], name="flat")
            self.session.run(tf.global_variables_initializer())
        self.fn = tk.to_jax(self.session, inputs=["x"], outputs=["y", "flat"])

    def ours(self, name: str, x: Any) -> Any:
        return self.session.run(f"{name}:0", {"x:0": x})


@pytest.fixture(scope="module")
def net() -> Iterator[Net]:
    found = Net()
    yield found
    found.session.close()


def test_the_function_gives_what_the_session_gives(net: Net) -> None:
    found = net.fn(net.fn.params, x=X)
    assert list(found) == ["y", "flat"]
    for name, value in found.items():
        np.testing.assert_allclose(value, net.ours(name, X), rtol=1e-5, atol=1e-6)


def test_params_are_named_as_the_variables_and_used_instead_of_their_values(net: Net) -> None:
    assert {name: value.shape for name, value in net.fn.params.items()} == {"w": (4, 3), "b": (3,)}
    zeros = {name: jnp.zeros_like(value) for name, value in net.fn.params.items()}
    np.testing.assert_allclose(net.fn(zeros, x=X)["y"], np.full((5, 3), 1 / 3), rtol=1e-6)


def test_it_can_be_jitted_differentiated_batched_and_scanned(net: Net) -> None:
    def loss(params: Any, x: Any) -> Any:
        return (net.fn(params, x=x)["y"][:, 0] ** 2).sum()

    gradient = jax.jit(jax.grad(loss))(net.fn.params, X)
    step = 1e-3
    moved = {**net.fn.params, "b": net.fn.params["b"].at[0].add(step)}
    back = {**net.fn.params, "b": net.fn.params["b"].at[0].add(-step)}
    slope = (loss(moved, X) - loss(back, X)) / (2 * step)
    np.testing.assert_allclose(gradient["b"][0], slope, rtol=1e-2)
    rows = jax.vmap(lambda x: net.fn(net.fn.params, x=x[None])["y"][0])(X)
    np.testing.assert_allclose(rows, net.ours("y", X), rtol=1e-5)
    _, scanned = jax.lax.scan(lambda carry, x: (carry, net.fn(net.fn.params, x=x[None])["y"][0]), 0, X)
    np.testing.assert_allclose(scanned, rows, rtol=1e-6)


def test_it_can_be_exported(net: Net) -> None:
    def serve(params: Any, x: Any) -> Any:
        return net.fn(params, x=x)["y"]

    exported = jax.export.export(jax.jit(serve))(net.fn.params, X)
    again = jax.export.deserialize(exported.serialize())
    np.testing.assert_allclose(again.call(net.fn.params, X), net.ours("y", X), rtol=1e-5)


SHARDED = """
    import jax, numpy as np
    jax.config.update("jax_num_cpu_devices", 4)
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    import tensorkeep as tk
    fn = tk.to_jax(MODEL)
    mesh = Mesh(np.array(jax.devices()), ("rows",))
    params = {name: jax.device_put(value, NamedSharding(mesh, P("rows") if value.shape[0] % 4 == 0 else P()))
              for name, value in fn.params.items()}
    inputs = dict(np.load(INPUTS))
    found = fn(params, **{name.partition("/")[2]: value for name, value in inputs.items()})
    wanted = dict(np.load(OUTPUTS))
    for name, value in found.items():
        np.testing.assert_allclose(value, wanted[f"serving_default/{name}"], rtol=1e-5, atol=1e-6)
    assert any(len(value.sharding.device_set) == 4 for value in params.values())
    print("equal")
"""


def test_params_may_be_sharded_over_devices() -> None:
    case = golden("g29_keras_dense")
    names = {"MODEL": case / "model", "INPUTS": case / "inputs.npz", "OUTPUTS": case / "outputs.npz"}
    code = textwrap.dedent(SHARDED)
    for name, path in names.items():
        code = code.replace(name, repr(str(path)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "equal", done.stderr


# ------------------------------------------------------------------------------------------------- state, chance, flow


def function_of(build: Any, *outputs: str, **more: Any) -> tuple[Any, Any]:
    """A session with what a function builds, and the function of JAX of some of its tensors."""
    session = tf.Session(graph=tf.Graph())
    with session.graph.as_default():
        build()
        session.run(tf.global_variables_initializer())
    return session, tk.to_jax(session, outputs=list(outputs), **more)


def test_variables_that_are_changed_come_back_as_state() -> None:
    def build() -> None:
        count = tf.get_variable("count", initializer=np.float32(2))
        scale = tf.get_variable("scale", initializer=np.float32(3))
        x = tf.placeholder(tf.float32, [], name="x")
        tf.multiply(tf.assign_add(count, x), scale, name="y")

    session, fn = function_of(build, "y")
    with session:
        assert list(fn.params) == ["scale"]
        assert list(fn.state) == ["count"]
        outputs, state = fn(fn.params, fn.state, x=np.float32(1))
        assert (float(outputs["y"]), float(state["count"])) == (9.0, 3.0)
        assert session.run("count:0") == 2.0, "the session's own variable is not touched"


def test_random_operations_take_a_key() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [3], name="x")
        tf.add(x, tf.random_uniform([3]), name="y")

    session, fn = function_of(build, "y")
    with session:
        assert fn.needs_key
        zeros = np.zeros(3, np.float32)
        one, same, other = (fn({}, jax.random.key(seed), x=zeros)["y"] for seed in (1, 1, 2))
        assert (one == same).all()
        assert (one != other).all()
        assert ((one >= 0) & (one < 1)).all()
        with pytest.raises(tk.InvalidArgumentError, match="params, key"):
            fn({}, x=zeros)


def test_loops_and_branches_of_both_kinds_are_those_of_the_session() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [3], name="x")
        n = tf.placeholder(tf.int32, [], name="n")
        known = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * 1.5 + tf.cast(i, tf.float32)), [0, x])[1]
        tf.identity(known, name="known")
        tf.identity(tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2), [0, x])[1], name="open")
        tf.identity(tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1), name="chosen")
        array = tf.TensorArray(tf.float32, size=3)
        rows = tf.while_loop(
            lambda i, t: i < 3, lambda i, t: (i + 1, t.write(i, x * tf.cast(i, tf.float32))), [0, array]
        )
        tf.identity(rows[1].stack(), name="rows")

    names = ("known", "open", "chosen", "rows")
    session, fn = function_of(build, *names)
    with session:
        for x in (np.float32([1, 2, 3]), np.float32([-1, -2, 0])):
            found = fn({}, x=x, n=np.int32(6))
            for name in names:
                np.testing.assert_allclose(found[name], session.run(f"{name}:0", {"x:0": x, "n:0": 6}), rtol=1e-5)
        slope = jax.grad(lambda x: fn({}, x=x, n=np.int32(6))["known"].sum())(x)
        np.testing.assert_allclose(slope, np.full(3, 1.5**4), rtol=1e-5)


# --------------------------------------------------------------------------------------------------------- the host


def words() -> None:
    text = tf.placeholder(tf.string, [None], name="text")
    w = tf.get_variable("w", initializer=np.float32(2))
    tf.multiply(tf.cast(tf.strings.length(text), tf.float32), w, name="y")


def test_strings_stay_on_the_host_and_the_cut_is_shown() -> None:
    session, fn = function_of(words, "y")
    with session:
        text = np.array([b"a", b"abc"], object)
        np.testing.assert_array_equal(fn(fn.params, text=text)["y"], [2, 6])
        assert "on the host before JAX" in fn.describe()
        assert "StringLength" in fn.describe()
        arrays = fn.before(fn.params, text=text)
        slope = jax.grad(lambda params: fn.inside(params, **arrays)["y:0"].sum())(fn.params)
        assert float(slope["w"]) == 4.0


def test_a_host_part_cannot_be_traced_and_says_what_to_do() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable("w", initializer=np.float32(2))
        tf.multiply(tf.cast(tf.unique(x)[1], tf.float32), w, name="y")

    session, fn = function_of(build, "y")
    with session:
        x = np.float32([3, 3, 1])
        np.testing.assert_array_equal(fn(fn.params, x=x)["y"], [0, 0, 2])
        with pytest.raises(tk.UnimplementedError, match=r"fn\.before"):
            jax.jit(lambda x: fn(fn.params, x=x))(x)


def test_what_stays_on_the_host_inside_a_loop_with_parameters_is_refused_by_name() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable("w", initializer=np.float32(2), use_resource=True)
        loop = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.unique(a * w)[0]), [0, x],
                             shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])  # fmt: skip
        tf.identity(loop[1], name="y")

    with pytest.raises(tk.UnimplementedError, match='"while/Unique" \\(Unique\\)'):
        function_of(build, "y")


def test_shapes_that_depend_on_values_are_refused_by_name_before_anything_runs() -> None:
    def build() -> None:
        n = tf.placeholder(tf.int32, [], name="n")
        w = tf.get_variable("w", initializer=np.float32(2))
        loop = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a, a], 0)), [0, tf.reshape(w, [1])],
                             shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])  # fmt: skip
        tf.identity(loop[1], name="y")

    session, fn = function_of(build, "y")
    with session, pytest.raises(tk.UnimplementedError, match=r'"while/.*one type and shape'):
        fn(fn.params, n=np.int32(2))


# --------------------------------------------------------------------------------------------------------- bad input


def test_params_that_do_not_fit_a_device_are_told_of_and_none_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.identity(x + sum(tf.get_variable(f"w{at}", initializer=np.float32([at, 1])) for at in range(4)), name="y")

    session, fn = function_of(build, "y")
    real, calls = jnp.asarray, []

    def put(*given: Any, **options: Any) -> Any:
        calls.append(given)
        if len(calls) == 3:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8 bytes.")
        return real(*given, **options)

    held = {id(array) for array in jax.live_arrays()}
    with session:
        with monkeypatch.context() as patched:
            patched.setattr(jnp, "asarray", put)
            with pytest.raises(tk.ResourceExhaustedError, match=r'variable "w\d" could not be brought.*EXHAUSTED'):
                assert fn.params
        assert not [item for item in jax.live_arrays() if id(item) not in held and not item.is_deleted()]
        assert fn(fn.params, x=np.zeros(2, np.float32))["y"].tolist() == [6, 4]


def test_wrong_inputs_are_one_error_that_says_all(net: Net) -> None:
    with pytest.raises(tk.InvalidArgumentError, match=r'no input "z".*"x" is missing.*takes x'):
        net.fn(net.fn.params, z=1)
    with pytest.raises(tk.InvalidArgumentError, match="got the shape"):
        net.fn(net.fn.params, x=np.zeros((2, 5), np.float32))
    with pytest.raises(tk.InvalidArgumentError, match="got float64"):
        net.fn(net.fn.params, x=np.zeros((2, 4)))


def test_params_of_another_model_are_refused(net: Net) -> None:
    with pytest.raises(tk.InvalidArgumentError, match='without "b" and with "c"'):
        net.fn({"w": net.fn.params["w"], "c": 1}, x=X)


def test_whole_numbers_that_do_not_fit_32_bits_are_refused_and_computed_with_64() -> None:
    def build() -> None:
        x = tf.placeholder(tf.int64, [2], name="x")
        tf.add(x, tf.constant(2**40, tf.int64), name="y")

    session, fn = function_of(build, "y")
    with session:
        with pytest.raises(tk.UnimplementedError, match=r'"y" \(AddV?2?\): the int64 1099511627776 does not fit int32'):
            fn({}, x=np.array([1, 2]))
        with jax.enable_x64(True):
            assert fn({}, x=np.array([1, 2]))["y"].tolist() == [2**40 + 1, 2**40 + 2]


def test_float64_needs_64_bits() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float64, [2], name="x")
        tf.exp(x, name="y")

    session, fn = function_of(build, "y")
    with session:
        with pytest.raises(tk.InvalidArgumentError, match="jax_enable_x64"):
            fn({}, x=np.zeros(2))
        with jax.enable_x64(True):
            np.testing.assert_allclose(fn({}, x=np.array([0.5, 1]))["y"], np.exp([0.5, 1]), rtol=1e-15)


# ------------------------------------------------------------------------------------------------------------ models


@pytest.mark.parametrize("name", ["g29_keras_dense", "g30_keras_conv_bn", "g31_keras_lstm", "g26_tf1_simple_save"])
def test_models_that_tensorflow_wrote_give_what_they_gave_there(name: str) -> None:
    case = golden(name)
    given, wanted = (dict(np.load(case / f"{word}.npz", allow_pickle=False)) for word in ("inputs", "outputs"))
    with tk.to_jax(case / "model", signature="serving_default") as fn:
        inputs = {key.partition("/")[2]: value for key, value in given.items() if key.startswith("serving_default/")}
        rest = ([fn.state] if fn.state else []) + ([jax.random.key(0)] if fn.needs_key else [])
        found = fn(fn.params, *rest, **inputs)
        for key, value in (found[0] if fn.state else found).items():
            np.testing.assert_allclose(value, wanted[f"serving_default/{key}"], rtol=1e-4, atol=1e-5)


def test_a_saved_model_is_fine_tuned_and_written_back(tmp_path: Path) -> None:
    case = golden("g29_keras_dense")
    inputs = {key.partition("/")[2]: value for key, value in np.load(case / "inputs.npz").items()}
    with tk.to_jax(case / "model") as fn:

        def loss(params: Any) -> Any:
            return ((fn(params, **inputs)["score"] - 0.25) ** 2).mean()

        optimizer = optax.adam(0.05)
        params, state = fn.params, optimizer.init(fn.params)
        before = float(loss(params))
        step = jax.jit(lambda params, state: optimizer.update(jax.grad(loss)(params), state))
        for _ in range(30):
            updates, state = step(params, state)
            params = optax.apply_updates(params, updates)
        assert float(loss(params)) < before / 2
        fn.save(params, tmp_path / "tuned")
        wanted = fn(params, **inputs)["score"]
    with tk.load_saved_model(tmp_path / "tuned") as model:
        np.testing.assert_allclose(model.signatures["serving_default"](**inputs)["score"], wanted, rtol=1e-4, atol=1e-5)


def test_a_session_is_saved_as_a_checkpoint(net: Net, tmp_path: Path) -> None:
    net.fn.save({name: value + 1 for name, value in net.fn.params.items()}, tmp_path / "model")
    with tk.open_checkpoint(tmp_path / "model") as reader:
        np.testing.assert_allclose(reader.read("b"), np.full(3, 1.1, np.float32))
    assert (net.session.run("w:0") == net.fn.params["w"]).all(), "the session keeps its own values"


def test_assertions_of_what_is_known_are_checked_and_others_told_of() -> None:
    with tf.Graph().as_default() as graph:
        x, words = tf.placeholder(tf.float32, [None], name="x"), tf.placeholder(tf.string, [None], name="words")
        three = tf.debugging.assert_equal(tf.shape(x)[0], 3)
        positive = tf.Assert(tf.reduce_all(x > 0), ["not above zero:", tf.as_string(x), words])
        with tf.control_dependencies([three, positive]):
            tf.identity(tf.sqrt(x) + tf.cast(tf.strings.length(words), tf.float32), name="y")
    with tk.to_jax(graph, inputs=["x", "words"], outputs=["y"]) as fn:
        assert "not done: 2 checks" in fn.describe()
        given = {"x": np.ones(3, np.float32), "words": np.array([b"a", b"", b"cc"], object)}
        assert fn(fn.params, **given)["y"].tolist() == [2, 1, 3]
        with pytest.raises(tk.InvalidArgumentError, match=r'Assert" \(Assert\): assertion failed: .*\[2\].*\[3\]'):
            fn(fn.params, x=given["x"][:2], words=given["words"][:2])


def test_an_assertion_that_never_holds_fails_only_where_it_is_reached() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")

        def refuse() -> Any:
            with tf.control_dependencies([tf.raw_ops.Assert(condition=tf.constant(False), data=["never"])]):
                return tf.identity(x)

        tf.identity(tf.cond(x > 0, lambda: x * 2, refuse), name="y")
    with tk.to_jax(graph, inputs=["x"], outputs=["y"]) as fn:
        assert fn(fn.params, x=np.float32(3))["y"] == 6


def test_the_incomplete_beta_function_of_no_number_is_none() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.betainc(x, tf.ones_like(x), tf.ones_like(x) / 2, name="y")
    with tk.to_jax(graph, inputs=["x"], outputs=["y"]) as fn:
        found = fn(fn.params, x=np.array([np.nan, 1], np.float32))["y"]
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(0.5)
