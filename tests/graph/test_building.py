"""Building: which graph, which name, which device, after what."""

from __future__ import annotations

import threading

import pytest

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph import building as build
from tensorkeep.graph.graph import Graph, Operation
from tensorkeep.graph.registry.opspec import op
from tensorkeep.graph.scopes import free_name
from tensorkeep.ops.arrays.constants import identity, no_op, placeholder
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant

pair = op("TestPair(x: T, y: T) -> z: T", "T: {float, double, int32}")
kept = op("TestKept() -> h: float", "container: string = ''", "stateful")


@pytest.fixture
def graph():
    graph = Graph()
    with build.building(graph):
        yield graph


def names(graph: Graph) -> list[str]:
    return [item.name for item in graph.operations]


class TestNames:
    def test_a_taken_name_gets_a_number(self, graph: Graph) -> None:
        for _ in range(3):
            constant(1, name="c")
        constant(1, name="c_1")
        constant(1, name="C")
        assert names(graph) == ["c", "c_1", "c_2", "c_1_1", "C_3"]

    def test_a_free_name_is_the_wanted_one_or_has_the_first_number_that_no_other_has(self) -> None:
        taken = {"a", "a_1", "a_3"}
        assert [free_name(name, taken) for name in ("b", "a", "a_1")] == ["b", "a_2", "a_1_1"]

    def test_scopes_nest_and_are_made_unique(self, graph: Graph) -> None:
        with build.name_scope("a") as scope:
            assert scope == "a/"
            constant(1, name="x")
            with build.name_scope("b"):
                constant(1, name="x")
        with build.name_scope("a"):
            constant(1, name="x")
        assert names(graph) == ["a/x", "a/b/x", "a_1/x"]

    def test_a_scope_is_entered_again_by_its_full_name(self, graph: Graph) -> None:
        with build.name_scope("a") as scope:
            pass
        with build.name_scope("other"), build.name_scope(scope):
            constant(1, name="x")
        with build.name_scope("other"), build.name_scope(None):
            constant(1, name="root")
        assert names(graph) == ["a/x", "root"]

    def test_arguments_that_become_constants_stand_under_the_operation(self, graph: Graph) -> None:
        x = placeholder(dtype="float32", name="x")
        pair(x, 2.0, name="sum")
        assert names(graph) == ["x", "sum/y", "sum"]

    @pytest.mark.parametrize("name", ["_x", "a b", "x:0", "é", "-a", "/a"])
    def test_a_bad_name_is_refused(self, graph: Graph, name: str) -> None:
        with pytest.raises(InvalidArgumentError, match="not a valid"):
            constant(1, name=name)

    def test_inside_a_scope_a_name_may_begin_with_an_underscore(self, graph: Graph) -> None:
        with build.name_scope("a"):
            constant(1, name="_x")
        assert names(graph) == ["a/_x"]


class TestGraphs:
    def test_without_a_graph_there_is_nothing_to_build(self) -> None:
        found: list[BaseException] = []

        def work() -> None:
            try:
                constant(1)
            except FailedPreconditionError as error:
                found.append(error)

        saved = list(build._FALLBACK)
        build._FALLBACK.clear()
        try:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        finally:
            build._FALLBACK.extend(saved)
        assert "no graph is being built" in str(found[0])

    def test_leaving_a_graph_and_coming_back_finds_its_scope_open(self, graph: Graph) -> None:
        other = Graph()
        with build.name_scope("a"), build.building(other):
            constant(1, name="x")
            with build.building(graph):
                constant(1, name="x")
        assert names(other) == ["x"]
        assert names(graph) == ["a/x"]

    def test_tensors_of_two_graphs_do_not_mix(self, graph: Graph) -> None:
        x = constant(1.0)
        with build.building(Graph()):
            y = constant(1.0)
        with pytest.raises(InvalidArgumentError, match="same graph"):
            pair(x, y)

    def test_an_operation_goes_to_the_graph_of_its_inputs(self, graph: Graph) -> None:
        x = constant(1.0)
        with build.building(Graph()):
            assert pair(x, x).graph is graph


class TestArguments:
    def test_types_of_arguments_that_differ_are_an_error_that_names_both(self, graph: Graph) -> None:
        x, y = placeholder(dtype="float32"), placeholder(dtype="int32")
        with pytest.raises(
            WrongTypeError, match=r"Input 'y' of 'TestPair' Op has type int32 .* float32 of argument 'x'"
        ):
            pair(x, y)
        with pytest.raises(TypeError):
            pair(x, y)

    def test_a_type_that_the_op_does_not_take_is_an_error(self, graph: Graph) -> None:
        with pytest.raises(WrongTypeError, match="not in list of allowed values: float32, float64, int32"):
            pair(placeholder(dtype="string"), "x")

    def test_a_number_takes_the_type_of_the_tensor_beside_it(self, graph: Graph) -> None:
        assert pair(placeholder(dtype="float64"), 2).dtype.name == "float64"
        with pytest.raises(WrongTypeError, match="Expected int32"):
            pair(placeholder(dtype="int32"), 2.5)

    def test_missing_and_unknown_arguments_are_errors_that_show_the_signature(self, graph: Graph) -> None:
        with pytest.raises(WrongTypeError, match=r'missing its input "y".*TestPair'):
            pair(1.0)
        with pytest.raises(WrongTypeError, match="no input or attribute named colour"):
            pair(1.0, 2.0, colour=3)
        with pytest.raises(WrongTypeError, match='needs a value for its attribute "dtype"'):
            placeholder()


class TestControlDependencies:
    def test_operations_inside_run_after_them(self, graph: Graph) -> None:
        a, b = constant(1, name="a"), constant(2, name="b")
        with build.control_dependencies([a.op, b]):
            c = constant(3, name="c")
        assert [item.name for item in c.op.control_inputs] == ["a", "b"]

    def test_what_an_input_waits_for_already_is_not_said_again(self, graph: Graph) -> None:
        a = constant(1, name="a")
        with build.control_dependencies([a]):
            b = constant(2, name="b")
            c = identity(b, name="c")
            d = identity(a, name="d")
        assert b.op.control_inputs == [a.op]
        assert c.op.control_inputs == []
        assert d.op.control_inputs == []

    def test_none_forgets_the_outer_ones(self, graph: Graph) -> None:
        a = constant(1, name="a")
        with build.control_dependencies([a]), build.control_dependencies(None):
            b = constant(2, name="b")
        assert b.op.control_inputs == []

    def test_a_thing_that_is_no_operation_is_refused(self, graph: Graph) -> None:
        with pytest.raises(WrongTypeError, match="expected an operation"), build.control_dependencies([3]):
            pass


class TestPlaces:
    def test_inner_devices_win_part_by_part(self, graph: Graph) -> None:
        with build.device("/job:ps/cpu:0"):
            a = constant(1)
            with build.device("/task:1"):
                b = constant(1)
            with build.device(None):
                c = constant(1)
        assert [x.device for x in (a, b, c)] == ["/job:ps/device:CPU:0", "/job:ps/task:1/device:CPU:0", ""]

    def test_a_function_chooses_by_the_operation(self, graph: Graph) -> None:
        with build.device(lambda item: "/device:GPU:1" if item.type == "Identity" else None):
            a = constant(1)
            b = identity(a)
        assert (a.device, b.device) == ("", "/device:GPU:1")

    def test_colocation_names_the_group_and_takes_its_device(self, graph: Graph) -> None:
        with build.device("/cpu:1"):
            a = constant(1, name="a")
        with build.device("/gpu:0"), build.colocate_with(a):
            b = constant(1, name="b")
        assert b.op.colocation_groups() == [b"loc:@a"]
        assert b.device == "/device:CPU:1"

    def test_a_container_goes_to_operations_that_keep_things(self, graph: Graph) -> None:
        with build.container("box"):
            assert kept().op.attrs["container"] == b"box"
            assert "container" not in no_op().attrs

    def test_gradient_overrides_are_noted_on_the_operation(self, graph: Graph) -> None:
        with build.gradient_override_map({"Identity": "Mine"}):
            x = identity(constant(1.0))
        assert x.op.attrs["_gradient_op_type"] == b"Mine"

    def test_attribute_scopes_decorate_operations(self, graph: Graph) -> None:
        with build.attr_scope({"_mark": b"1"}):
            a = constant(1)
            with build.attr_scope({"_mark": None}):
                b = constant(1)
        assert a.op.attrs["_mark"] == b"1"
        assert "_mark" not in b.op.attrs


def test_control_flow_contexts_take_in_what_is_added(graph: Graph) -> None:
    class Context:
        name = "context"
        outer_context = None

        def __init__(self) -> None:
            self.taken: list[Operation] = []

        def add_value(self, value):
            return value

        def add_op(self, item: Operation) -> None:
            self.taken.append(item)

        def add_inner_op(self, item: Operation) -> None:
            pass

    context = Context()
    with build.control_flow(context):
        inside = constant(1)
        with build.init_scope():
            constant(2)
    assert context.taken == [inside.op]
    assert inside.op.control_flow_context is context


def test_a_partial_shape_is_no_value(graph: Graph) -> None:
    with pytest.raises(InvalidArgumentError, match="partially known"):
        identity(Shape((None, 2)))
