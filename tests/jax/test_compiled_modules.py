"""Modules of StableHLO in a model: run by JAX with the shapes they are given, or refused by name."""

from __future__ import annotations

from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.mlir.dialects import stablehlo

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.proto.messages import AttrValue, NameAttrList

X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(3, 2)).astype(np.float32)
ListValue = AttrValue.ListValue


def network(x: Any, w: Any) -> Any:
    return jnp.tanh(x @ w).reshape(-1)


def artifact(function: Any, *arguments: Any, **options: Any) -> bytes:
    """A function of JAX as the module that jax2tf would put into a model."""
    return jax.export.export(jax.jit(function), **options)(*arguments).mlir_module_serialized


def of_any_batch() -> bytes:
    (batch,) = jax.export.symbolic_shape("batch")
    return artifact(network, jax.ShapeDtypeStruct((batch, 3), np.float32), W)


def names(*words: str) -> AttrValue:
    return AttrValue(list=ListValue(s=[word.encode() for word in words]))


class Model:
    """A session with one module in its graph, and the function of it."""

    def __init__(self, module: bytes, x: Any = X, w: Any = W, result: Any = tf.float32, **attrs: AttrValue) -> None:
        self.session = tf.Session(graph=tf.Graph())
        with self.session.graph.as_default() as graph:
            given = tf.placeholder(x.dtype, [None] * x.ndim, name="x")
            weights = tf.get_variable("w", initializer=w, use_resource=True)
            said = {
                "version": AttrValue(i=9),
                "module": AttrValue(s=module),
                "platforms": names("CPU"),
                "Sout": AttrValue(list=ListValue(shape=[tf.TensorShape(None).as_proto()])),
                "Tout": AttrValue(list=ListValue(type=[result.as_datatype_enum])),
                **attrs,
            }
            called = graph.create_op("XlaCallModule", [given, weights.value()], [result], name="net", attrs=said)
            tf.identity(called.outputs[0], name="y")
            self.session.run(tf.global_variables_initializer())
        self.fn = tk.to_jax(self.session, inputs=["x"], outputs=["y"])

    def __call__(self, x: Any = X) -> Any:
        return self.fn(self.fn.params, x=x)["y"]


def test_a_module_is_run_by_jax_traced_and_not() -> None:
    model = Model(artifact(network, X, W))
    np.testing.assert_allclose(model(), network(X, W), rtol=1e-6)
    np.testing.assert_allclose(jax.jit(model)(X), network(X, W), rtol=1e-6)
    changed = {"w": model.fn.params["w"] * 2}
    np.testing.assert_allclose(model.fn(changed, x=X)["y"], network(X, W * 2), rtol=1e-6)


@pytest.mark.parametrize("rows", [1, 4, 7])
def test_sizes_that_a_module_leaves_open_are_those_of_its_arguments(rows: int) -> None:
    x = np.resize(X, (rows, 3))
    np.testing.assert_allclose(Model(of_any_batch())(x), network(x, W), rtol=1e-6)


def test_a_batch_is_given_to_a_module_one_by_one() -> None:
    model = Model(of_any_batch())
    stack = np.stack([X, X + 1, X * 2], 1)
    found = jax.vmap(model, in_axes=1)(stack)
    np.testing.assert_allclose(found, [network(stack[:, at], W) for at in range(3)], rtol=1e-6)


def test_a_module_can_be_exported_with_the_function() -> None:
    exported = jax.export.export(jax.jit(Model(of_any_batch()).__call__))(X)
    again = jax.export.deserialize(exported.serialize())
    np.testing.assert_allclose(again.call(X), network(X, W), rtol=1e-6)


def test_a_module_for_several_platforms_computes_what_is_meant_for_this_one() -> None:
    def told(x: Any, w: Any) -> Any:
        return jax.lax.platform_dependent(x, cpu=lambda x: x + 1, cuda=lambda x: x + 2) * w[0, 0]

    module = artifact(told, X, W, platforms=["cuda", "cpu"])
    np.testing.assert_allclose(Model(module, platforms=names("CUDA", "CPU"))(), (X + 1) * W[0, 0], rtol=1e-6)


def test_linear_algebra_of_jax_may_be_called() -> None:
    module = artifact(lambda x, w: jnp.linalg.cholesky(x.T @ x) @ w, X, W)
    assert b"lapack" in module
    np.testing.assert_allclose(Model(module)(), np.linalg.cholesky(X.T @ X) @ W, rtol=1e-4, atol=1e-5)


def test_64_bits_are_said_to_be_needed_and_used() -> None:
    with jax.enable_x64(True):
        numbers = np.array([2**40], np.int64)
        model = Model(artifact(lambda x, w: x + w, numbers, numbers), numbers, numbers, tf.int64)
        assert model(numbers).tolist() == [2**41]
    small = Model(artifact(lambda x, w: (x @ w).astype("int32"), X, W), result=tf.int32)
    np.testing.assert_array_equal(small(), (X @ W).astype(np.int32))
    with pytest.raises(tk.InvalidArgumentError, match=r'"net" \(XlaCallModule\).*tensor<1xi64>.*jax_enable_x64'):
        Model(model.session.graph.operation("net").attr("module"), numbers // 2**20, numbers // 2**20, tf.int64)(
            numbers // 2**20
        )


# ---------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("attrs", "reason"),
    [
        ({"version": AttrValue(i=3)}, "version 3, not 4 to 10"),
        ({"version": AttrValue(i=11)}, "version 11, not 4 to 10"),
        ({"has_token_input_output": AttrValue(b=True)}, "tokens"),
        ({"dim_args_spec": names("0.0")}, "sizes as arguments"),
        (
            {"function_list": AttrValue(list=ListValue(func=[NameAttrList(name="on_the_host")]))},
            'functions of TensorFlow .*"on_the_host"',
        ),
        ({"platforms": names("TPU")}, "made for tpu, and is compiled for cpu"),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(attrs: dict[str, AttrValue], reason: str) -> None:
    with pytest.raises(tk.UnimplementedError, match=rf'"net" \(XlaCallModule\): .*{reason}'):
        Model(artifact(network, X, W), **attrs)()


def test_a_check_of_the_platform_can_be_disabled_by_the_model() -> None:
    model = Model(artifact(network, X, W), platforms=names("TPU"), disabled_checks=names("platform"))
    np.testing.assert_allclose(model(), network(X, W), rtol=1e-6)


CALLING = """
module {MARKS {
  func.func public @main(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x3xf32> {
    %token = stablehlo.create_token : !stablehlo.token
    CALL
    return %x : tensor<4x3xf32>
  }
}
"""


def written(call: str, marks: str) -> bytes:
    """A module of which a line is given, and attributes."""
    code = CALLING.replace("{MARKS", marks).replace("CALL", call)
    return bytes(stablehlo.serialize_portable_artifact_str(code, stablehlo.get_current_version()))


@pytest.mark.parametrize(
    ("call", "marks", "reason"),
    [
        (
            "%y = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>",
            "",
            "calls what is not part of it: xla_ffi_python_cpu_callback",
        ),
        (
            '%y = "stablehlo.outfeed"(%x, %token) {outfeed_config = ""} '
            ": (tensor<4x3xf32>, !stablehlo.token) -> !stablehlo.token",
            "",
            "calls what is not part of it: stablehlo.outfeed",
        ),
        ("", "attributes {mhlo.num_partitions = 2 : i32}", "several devices: mhlo.num_partitions is 2"),
    ],
)
def test_what_reaches_beyond_the_module_is_refused(call: str, marks: str, reason: str) -> None:
    module = written(call, marks)
    with pytest.raises(tk.UnimplementedError, match=rf'"net" \(XlaCallModule\): .*{reason}'):
        Model(module)()


def test_a_module_has_no_gradient_and_says_so() -> None:
    model = Model(artifact(network, X, W))
    with pytest.raises(tk.UnimplementedError, match=r'"net" \(XlaCallModule\): .*no gradient'):
        jax.grad(lambda params: model.fn(params, x=X)["y"].sum())(model.fn.params)


def test_shapes_that_a_module_does_not_take_are_refused() -> None:
    with pytest.raises(tk.InvalidArgumentError, match=r'"net".*argument 0.*tensor<4x3xf32>.*tensor<2x3xf32>'):
        Model(artifact(network, X, W))(X[:2])
    with pytest.raises(tk.InvalidArgumentError, match=r'"net".*Expected value >= 1'):
        Model(of_any_batch())(X[:0])
    with pytest.raises(tk.InvalidArgumentError, match=r'"net".*result 0.*tensor<8xf32>.*int32'):
        Model(artifact(network, X, W), result=tf.int32)()


@pytest.mark.parametrize("kept", [0, 1, 20, 200, 600])
def test_a_damaged_module_is_lost_data(kept: int) -> None:
    whole = artifact(network, X, W)
    assert len(whole) > 600
    with pytest.raises(tk.DataLossError, match=r'"net" \(XlaCallModule\).*no module of StableHLO'):
        Model(whole[:kept])()


def test_a_module_on_which_the_library_crashes_is_lost_data_too() -> None:
    whole = written("", "")
    np.testing.assert_array_equal(Model(whole)(), X)
    with pytest.raises(tk.DataLossError, match=r'"net" \(XlaCallModule\).*no module of StableHLO'):
        Model(whole[:-1] + bytes([whole[-1] ^ 4]))()  # JAX 0.10.2 ends with a violation of memory


def test_the_engine_of_kernels_says_who_runs_it() -> None:
    model = Model(artifact(network, X, W))
    with pytest.raises(tk.UnimplementedError, match="to_jax"):
        model.session.run("y:0", {"x:0": X})
