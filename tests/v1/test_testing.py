"""`tf.test`: test cases with sessions, comparisons that hold and that fail, and what a program's `main` does."""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
import pytest

import tensorkeep.v1 as tf


@pytest.fixture
def case() -> tf.test.TestCase:
    """A test case, with which each comparison is tried with values that hold, and with others that do not."""

    class Case(tf.test.TestCase):
        def runTest(self) -> None: ...  # noqa: N802 - unittest's name

    made = Case()
    made.setUp()
    return made


GRAPH = tf.GraphDef.FromString(b"")
HOLDING = [
    ("assertAllClose", ([1.0, 2.0], np.array([1.0, 2.0 + 1e-7])), ([1.0], [1.1])),
    ("assertAllClose", ({"a": [1.0], "b": (2.0,)}, {"a": [1.0], "b": (2.0,)}), ({"a": 1.0}, {"b": 1.0})),
    ("assertAllClose", ([[1.0], [1.0, 2.0]], [[1.0], [1.0, 2.0]]), ([[1.0], [1.0, 2.0]], [[1.0], [1.0, 3.0]])),
    ("assertAllClose", (np.float16(1), np.float16(1.0005)), (np.float16(1), np.float16(1.1))),
    ("assertAllCloseAccordingToType", (np.float32(1), np.float32(1 + 1e-6)), (np.float64(1), np.float64(1.1))),
    ("assertNotAllClose", ([1.0], [2.0]), ([1.0], [1.0])),
    ("assertAllEqual", ([1, 2], np.array([1, 2])), ([1, 2], [1, 3])),
    ("assertAllEqual", ([np.nan], [np.nan]), ([1, 2], [[1, 2]])),
    ("assertAllEqual", (["a"], np.array([b"a"], object)), (["a"], ["b"])),
    ("assertNotAllEqual", ([1], [2]), ([1], [1])),
    ("assertAllGreater", ([2, 3], 1), ([1, 2], 1)),
    ("assertAllLess", ([2, 3], 4), ([2, 4], 4)),
    ("assertAllGreaterEqual", ([2, 3], 2), ([1, 2], 2)),
    ("assertAllLessEqual", ([2, 3], 3), ([2, 4], 3)),
    ("assertAllInRange", ([2, 3], 2, 3), ([2, 3], 2, 2.5)),
    ("assertAllInSet", ([2, 3], {2, 3}), ([2, 4], {2, 3})),
    ("assertNear", (1.0, 1.1, 0.2), (1.0, 1.3, 0.2)),
    ("assertArrayNear", ([1.0], [1.1], 0.2), ([1.0], [1.3], 0.2)),
    ("assertNDArrayNear", ([1.0], [1.1], 0.2), ([1.0], [1.3], 0.2)),
    ("assertDTypeEqual", (np.float32(1), np.float32), (np.float32(1), np.float64)),
    ("assertProtoEquals", ("", GRAPH), ("node { name: 'a' }", GRAPH)),
    ("assertStartsWith", ("abc", "ab"), ("abc", "b")),
    ("assertDeviceEqual", ("/cpu:0", "/device:CPU:0"), ("/cpu:0", "/cpu:1")),
    ("assertItemsEqual", ([1, 2], [2, 1]), ([1], [2])),
    ("assertLen", ([1], 1), ([1], 2)),
    ("assertEmpty", ([],), ([1],)),
    ("assertNotEmpty", ([1],), ([],)),
    ("assertBetween", (1, 0, 2), (3, 0, 2)),
    ("assertContainsSubset", ([1], [1, 2]), ([3], [1, 2])),
    ("assertSameElements", ([1, 1], [1]), ([1], [2])),
]


@pytest.mark.parametrize(("name", "good", "bad"), HOLDING, ids=[f"{row[0]} {n}" for n, row in enumerate(HOLDING)])
def test_a_comparison_holds_and_fails(
    case: tf.test.TestCase, name: str, good: tuple[object, ...], bad: tuple[object, ...]
) -> None:
    getattr(case, name)(*good)
    with pytest.raises(AssertionError):
        getattr(case, name)(*bad)


def test_tensors_are_compared_by_running_them(case: tf.test.TestCase) -> None:
    with case.test_session() as session:
        x = tf.Variable([1.0, 2.0])
        session.run(x.initializer)
        case.assertAllClose(x, [1.0, 2.0])
        case.assertAllEqual(tf.constant(3) + 1, 4)
        case.assertShapeEqual(np.zeros(2), x)
    with case.cached_session() as again:
        assert again is session
    with case.session(graph=tf.Graph()) as other:
        assert other.graph is tf.get_default_graph()
        assert other.run(tf.constant(1)) == 1
    case.tearDown()


def test_random_numbers_begin_the_same_in_each_test(case: tf.test.TestCase) -> None:
    with case.session():
        first = tf.random_uniform([2]).eval().tolist(), np.random.random()
    case.setUp()
    with case.session():
        assert (tf.random_uniform([2]).eval().tolist(), np.random.random()) == first


def test_errors_are_expected_by_their_words(case: tf.test.TestCase) -> None:
    with case.assertRaisesOpError("assert"), case.session():
        tf.Assert(False, ["assertion"]).run()
    with case.assertRaisesWithPredicateMatch(ValueError, lambda error: "x" in str(error)):
        raise ValueError("x")
    with pytest.raises(AssertionError), case.assertRaisesWithPredicateMatch(ValueError, "y"):
        raise ValueError("x")
    with pytest.raises(AssertionError, match="not raised"), case.assertRaisesOpError("x"):
        pass
    thread = case.checkedThread(lambda: 1 / 0)
    thread.start()
    with pytest.raises(AssertionError, match="division"):
        thread.join()


def test_a_test_has_a_folder_of_its_own(case: tf.test.TestCase) -> None:
    folder = Path(case.get_temp_dir())
    assert folder.is_dir()
    assert folder.parent == Path(tf.test.get_temp_dir())


def test_a_test_case_may_have_a_set_up_of_its_own() -> None:
    class Own(tf.test.TestCase):
        def setUp(self) -> None: ...  # without TensorFlow's

        def runTest(self) -> None:  # noqa: N802 - unittest's name
            assert Path(self.get_temp_dir()).is_dir()
            with self.test_session() as session:
                assert session.run(tf.constant(1)) == 1

    result = unittest.TestResult()
    Own().run(result)
    assert result.wasSuccessful(), (result.errors, result.failures)


def test_it_is_a_test_case_of_unittest() -> None:
    assert issubclass(tf.test.TestCase, unittest.TestCase)
    assert not tf.test.is_gpu_available()
    assert not tf.test.is_built_with_cuda()
    assert tf.test.mock is unittest.mock


def test_a_benchmark_reports_times() -> None:
    benchmark = tf.test.Benchmark()
    with tf.Graph().as_default(), tf.Session() as session:
        measured = benchmark.run_op_benchmark(session, tf.constant(1), min_iters=3, name="one")
    assert measured["iters"] == 3
    assert benchmark.reported == [measured]


def test_main_runs_the_tests_of_a_program(tmp_path: Path) -> None:
    file = tmp_path / "adding_test.py"
    file.write_text(
        "import tensorflow as tf\n"
        "class AddingTest(tf.test.TestCase):\n"
        "    def testSum(self):\n"
        "        with self.test_session():\n            self.assertEqual(tf.add(1, 2).eval(), 3)\n"
        "    def testWrong(self):\n        self.assertAllEqual([1], [2])\n"
        "if __name__ == '__main__':\n    tf.test.main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "tensorkeep", "run", str(file)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "Ran 3 tests" in ended.stderr
    assert "FAILED (failures=1, skipped=1)" in ended.stderr  # `test_session` counts as one, as in TensorFlow


def test_graphs_are_compared_in_any_order_of_their_nodes() -> None:
    first = tf.GraphDef(node=[tf.NodeDef(name="a", op="NoOp"), tf.NodeDef(name="b", op="NoOp", input=["^a"])])
    second = tf.GraphDef(node=list(reversed(first.node)))
    tf.test.assert_equal_graph_def(first, second)
    second.node[0].device = "/cpu:0"
    with pytest.raises(AssertionError, match="differ in 1 nodes: b"):
        tf.test.assert_equal_graph_def(first, second)
    with pytest.raises(TypeError, match="Expected a GraphDef, got str"):
        tf.test.assert_equal_graph_def("a", second)


@pytest.mark.parametrize("names", [{"a": "HashTableV2", "b": "Const"}])
def test_names_made_by_chance_can_be_left_out(names: dict[str, str]) -> None:
    def made(table: bytes, prefix: bytes) -> tf.GraphDef:
        graph_def = tf.GraphDef(node=[tf.NodeDef(name=name, op=op) for name, op in names.items()])
        graph_def.node[0].attr["shared_name"].s = table
        graph_def.node[1].attr["value"].tensor.string_val.append(prefix)
        return graph_def

    ours, theirs = made(b"hash_1", b"x_temp_1/part"), made(b"hash_2", b"x_temp_2/part")
    tf.test.assert_equal_graph_def(ours, theirs, checkpoint_v2=True, hash_table_shared_name=True)
    with pytest.raises(AssertionError, match="differ in 1 nodes: a"):
        tf.test.assert_equal_graph_def(ours, theirs, checkpoint_v2=True)
    with pytest.raises(AssertionError, match="differ in 1 nodes: b"):
        tf.test.assert_equal_graph_def(ours, theirs, hash_table_shared_name=True)
