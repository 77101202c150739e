"""Objects saved as models of TensorFlow 2, in memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import SavedModel
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.tracing import function
from tensorkeep.tf1.functions.data.lookup_tables import (
    KeyValueTensorInitializer,
    StaticHashTable,
    TextFileIndex,
    TextFileInitializer,
)
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers.elementwise import add, multiply
from tensorkeep.tf1.functions.type_specs import TensorSpec
from tensorkeep.tf1.saved_model.object_exporting import SaveOptions, save_objects_as_model
from tensorkeep.tf1.training.objects.module import Module
from tensorkeep.tf1.variables.listing import global_variables, variables_initializer
from tensorkeep.tf1.variables.variable import Variable

ROWS = TensorSpec([None, 2], FLOAT32)


class Affine(Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = Variable(np.array([[1, 2], [3, 4]], np.float32), name="w", use_resource=True)
        self.offsets = [Variable(np.array([10, 20], np.float32), name="b", use_resource=True, trainable=False)]
        self.calls = {"count": Variable(np.int32(0), name="calls", use_resource=True)}
        self.scale = constant(2.0)

    @function(input_signature=[ROWS])
    def __call__(self, x: Any) -> Any:
        self.calls["count"].assign_add(1)
        return {"y": multiply(add(matmul(x, self.w), self.offsets[0]), self.scale)}

    @function
    def half(self, x: Any, times: Any = 1) -> Any:
        return [multiply(self(x)["y"], 0.5 * times)]


def saved(make: Any = Affine, signatures: Any = None, **options: Any) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        made = make()
        if isinstance(made, Affine):
            made.half.get_concrete_function(ROWS)  # type: ignore[union-attr]
        session.run(variables_initializer(global_variables()))
        chosen = signatures(made) if callable(signatures) else signatures
        save_objects_as_model(made, "m", chosen, session=session, options=SaveOptions(**options))
    return fs


def model_of(fs: MemoryFileSystem) -> SavedModel:
    return read_saved_model("m", fs)


def test_objects_are_saved_with_their_functions_and_come_back() -> None:
    fs = saved()
    with tk.load_saved_model("m", fs=fs) as model:
        assert set(model.variables) == {"w", "offsets/0", "calls/count"}
        assert model.signatures["serving_default"](x=[[1, 1]])["y"].tolist() == [[28.0, 52.0]]
        assert model.functions["half"](np.array([[1, 1]], np.float32), 1)[0].tolist() == [[14.0, 26.0]]
        assert int(model.variables["calls/count"]) == 2
    assert sorted(fs.list("m")) == ["assets", "fingerprint.pb", "saved_model.pb", "variables"]


def test_a_model_that_nobody_could_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorkeep.saved_model.files.layout.MOST_BYTES", 1000)  # in place of 2 GiB
    with pytest.raises(UnimplementedError, match=r"of more than 1000\. Keep large constants in variables"):
        saved()


def test_the_only_function_with_an_input_signature_is_served_unless_told_otherwise() -> None:
    assert sorted(model_of(saved()).meta_graphs[0].signature_def) == ["__saved_model_init_op", "serving_default"]
    told = saved(signatures=lambda made: {"a": made.__call__, "b": made.half.get_concrete_function(ROWS)})
    (meta_graph,) = model_of(told).meta_graphs
    assert sorted(meta_graph.signature_def) == ["__saved_model_init_op", "a", "b"]
    assert list(meta_graph.signature_def["b"].outputs) == ["output_0"]
    with tk.load_saved_model("m", fs=told) as model:
        assert model.signatures["b"](x=[[1, 1]])["output_0"].tolist() == [[14.0, 26.0]]


def test_a_model_may_have_no_signature_and_no_variables() -> None:
    class Empty(Module):
        @function
        def nothing(self, x: Any) -> Any:
            return x

    (meta_graph,) = model_of(saved(Empty)).meta_graphs
    assert list(meta_graph.signature_def) == ["__saved_model_init_op"]
    assert not meta_graph.HasField("saver_def")


def test_saving_again_replaces_the_model() -> None:
    fs = MemoryFileSystem()
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        made = Affine()
        session.run(variables_initializer(global_variables()))
        for factor in (1, 3):
            session.run(made.w.assign(np.full((2, 2), factor, np.float32)))
            save_objects_as_model(made, "m", session=session)
    with tk.load_saved_model("m", fs=fs) as model:
        assert model.variables["w"].tolist() == [[3, 3], [3, 3]]


def test_options_are_applied() -> None:
    fs = saved(extra_tags=["gpu"], experimental_skip_saver=True, function_aliases={"f": _aliased()})
    (meta_graph,) = model_of(fs).meta_graphs
    assert list(meta_graph.meta_info_def.tags) == ["serve", "gpu"]
    assert not meta_graph.HasField("saver_def")
    for options, error in (
        ({"save_debug_info": True}, UnimplementedError),
        ({"experimental_image_format": True}, InvalidArgumentError),
        ({"namespace_whitelist": "Mine"}, InvalidArgumentError),
    ):
        with pytest.raises(error):
            SaveOptions(**options)  # type: ignore[arg-type]


def _aliased() -> Any:
    return function(lambda x: x)


def test_what_cannot_be_saved_says_why_and_leaves_nothing_behind() -> None:
    class Lost(Module):
        def __init__(self) -> None:
            super().__init__()
            self._kept_out = (lambda found: lambda: found)(Variable(1.0, name="lost", use_resource=True))

        @function(input_signature=[ROWS])
        def f(self, x: Any) -> Any:
            return multiply(x, self._kept_out())

    class Reference(Module):
        def __init__(self) -> None:
            super().__init__()
            self.v = Variable(1.0, name="v", use_resource=False)

    class Strange(Module):
        @function(input_signature=[ROWS])
        def f(self, x: Any) -> Any:
            return {"a": {"b": x}}

    cases: list[tuple[Any, Any, Any, str]] = [
        (Lost, None, InvalidArgumentError, r"untracked.*__inference_f_0 uses lost_1 \(VarHandleOp\)"),
        (Reference, None, UnimplementedError, r'"v:0" is a reference.*use_resource=True'),
        (Strange, None, InvalidArgumentError, "non-Tensor value .* for key 'a'"),
        (Affine, {"s": len}, WrongTypeError, "decorated with `@tf.function`"),
        (Affine, 7, WrongTypeError, "a function, or functions by name"),
        (Affine, lambda made: {"s": _aliased()}, InvalidArgumentError, "was traced 0 times"),
        (object, None, InvalidArgumentError, "AutoTrackable"),
    ]
    for make, signatures, error, words in cases:
        fs = MemoryFileSystem()
        with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
            made = make()
            session.run(variables_initializer(global_variables()))
            chosen = signatures(made) if callable(signatures) else signatures
            with pytest.raises(error, match=words):
                save_objects_as_model(made, "m", chosen, session=session)
        assert not fs.exists("m")


def test_integers_and_structures_go_through() -> None:
    class Structures(Module):
        @function
        def f(self, pair: Any, flag: bool, *, key: Any = None) -> Any:
            return {"sum": (add(pair[0], pair[1]["b"]), None)}

    def signatures(made: Any) -> Any:
        number = TensorSpec([], INT32)
        made.f.get_concrete_function((number, {"b": number}), True)
        return None

    fs = saved(Structures, signatures)
    with tk.load_saved_model("m", fs=fs) as model:
        found = model.functions["f"]((np.int32(1), {"b": np.int32(2)}), True, key=None)
        assert int(found["sum"][0]) == 3


class Words(Module):
    def __init__(self, rows: Any) -> None:
        super().__init__()
        self.table = StaticHashTable(rows(), -1)

    @function(input_signature=[TensorSpec([None], "string")])
    def f(self, x: Any) -> Any:
        return self.table.lookup(x)


def test_tables_are_saved_with_what_fills_them() -> None:
    fs = saved(lambda: Words(lambda: KeyValueTensorInitializer(["a", "b"], np.array([1, 2]))))
    with tk.load_saved_model("m", fs=fs) as model:
        words = np.array([b"b", b"?"], object)
        assert model.signatures["serving_default"](x=words)["output_0"].tolist() == [2, -1]
        assert model.functions["f"](words).tolist() == [2, -1]


def test_a_table_of_a_file_takes_the_file_along(tmp_path: Any) -> None:
    (tmp_path / "words.txt").write_text("red\ngreen\n")
    path = str(tmp_path / "words.txt")
    rows = partial(TextFileInitializer, path, "string", TextFileIndex.WHOLE_LINE, "int64", TextFileIndex.LINE_NUMBER)
    with building(Graph()) as graph, Session(graph) as session:
        save_objects_as_model(Words(rows), str(tmp_path / "m"), session=session)
    (tmp_path / "words.txt").unlink()
    assert (tmp_path / "m" / "assets" / "words.txt").read_text() == "red\ngreen\n"
    with tk.load_saved_model(tmp_path / "m") as model:
        assert model.signatures["serving_default"](x=np.array([b"green"], object))["output_0"].tolist() == [1]
        assert list(model.assets) == ["words.txt"]
