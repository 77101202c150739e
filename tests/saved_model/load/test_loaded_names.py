"""The names that TensorFlow gives functions when it loads them, as a run of TensorFlow 2.21 gave them."""

from __future__ import annotations

import pytest

from tensorkeep.errors import DataLossError
from tensorkeep.proto.messages import FunctionDefLibrary
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.load.loaded_names import loaded_names, loading_order
from tests.support.golden import golden

SEEN = {
    "g28_tf2_module": ("__inference__destroyer_202", "__inference__destroyer_210"),
    "g31_keras_lstm": ("__inference_signature_wrapper___call___863",),
    "g32_keras_strings": ("__inference__creator_243",),
    "g33_tf2_composite": ("__inference_signature_wrapper_sparse_167", "__inference_signature_wrapper_sparse_201"),
}


@pytest.mark.parametrize("case", SEEN)
def test_the_last_function_has_the_number_that_tensorflow_gives_it(case: str) -> None:
    *old, new = SEEN[case]
    names = loaded_names(read_saved_model(golden(case) / "model").meta_graphs[0].graph_def.library)
    assert list(names.values())[-1] == new
    assert list(names)[-1:] == old or not old


def library(**calls: list[str]) -> FunctionDefLibrary:
    made = FunctionDefLibrary()
    for name, called in calls.items():
        function = made.function.add()
        function.signature.name = name
        for other in called:
            node = function.node_def.add(name=other, op="PartitionedCall")
            node.attr["f"].func.name = other
    return made


def test_functions_come_before_those_that_call_them() -> None:
    assert loading_order(library(a=["b", "c"], b=["c"], c=[])) == ["c", "b", "a"]


@pytest.mark.parametrize("calls", [{"a": ["b"], "b": ["a"]}, {"a": ["a"]}, {"a": ["missing"]}])
def test_what_tensorflow_cannot_load_has_no_order(calls: dict[str, list[str]]) -> None:
    with pytest.raises(DataLossError, match="call themselves"):
        loading_order(library(**calls))
