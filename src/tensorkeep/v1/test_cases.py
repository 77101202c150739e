"""`tf.test.TestCase`: a test case of unittest with sessions, and with comparisons of arrays, messages and devices."""

# ruff: noqa: N802, PT009 - the names are TensorFlow's, and what they do is unittest's

from __future__ import annotations

import operator
import random
import re
import threading
import unittest
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final, SupportsFloat, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.devices import canonical_device
from tensorkeep.graph.graph import Graph as CoreGraph
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.directories import temporary_folder
from tensorkeep.io.files.gfile import join, make_directories
from tensorkeep.proto.messages import Message
from tensorkeep.proto.session_config import ConfigProto
from tensorkeep.proto.text import parse_text
from tensorkeep.tf1.functions.structures import parts_of
from tensorkeep.v1.defaults import get_default_graph, get_default_session, reset_default_graph
from tensorkeep.v1.device_specs import DeviceSpec
from tensorkeep.v1.sessions import Session

SEED: Final = 87654321  # with which TensorFlow's test cases begin
_FOLDERS: list[str] = []
_COARSE: Final = {"float16": 1e-3, "bfloat16": 1e-2}
"""By type, how far numbers of it may be apart and still be close."""

Expected: TypeAlias = "str | re.Pattern[str] | Callable[[Any], object]"
"""What an error has to be like: an expression that is in its text, or a function of it."""
Size: TypeAlias = "float | np.number[Any]"


def get_temp_dir() -> str:
    """A folder for the files of this process's tests, which is removed when the process ends."""
    if not _FOLDERS:
        _FOLDERS.append(temporary_folder("tensorkeep-test-"))
    return _FOLDERS[0]


class _CheckedThread:
    """A thread whose errors are raised where it is waited for."""

    def __init__(
        self, target: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> None:
        self._work: Callable[[], Any] = partial(target, *args, **(kwargs or {}))
        self._errors: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self._errors.append(error)

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()
        if self._errors:
            raise AssertionError(f"Error in checkedThread: {self._errors[0]}") from self._errors[0]

    def is_alive(self) -> bool:
        return self._thread.is_alive()


class TestCase(unittest.TestCase):
    """A test of graphs. Each begins with an empty graph and the same random numbers."""

    __test__ = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def __init__(self, methodName: str = "runTest") -> None:  # noqa: N803 - unittest's name
        super().__init__(methodName)
        # Here and not in setUp, which programs replace without calling this one.
        self._cached: Session | None = None
        self._folder: str | None = None

    def setUp(self) -> None:
        random.seed(SEED)
        np.random.seed(SEED)
        reset_default_graph()
        get_default_graph().seed = SEED

    def tearDown(self) -> None:
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    def get_temp_dir(self) -> str:
        """A folder of this test."""
        if self._folder is None:
            self._folder = str(join(get_temp_dir(), re.sub(r"[^\w.-]", "_", self.id())))
            make_directories(self._folder)
        return self._folder

    # ------------------------------------------------------------------------------------------------------ sessions

    @contextmanager
    def session(
        self,
        graph: CoreGraph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """A session for the block, which is closed behind it. Its errors are raised."""
        with Session(graph=graph, config=_soft(config)) as session:
            yield session

    @contextmanager
    def cached_session(
        self,
        graph: CoreGraph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """The session of this test, the same one each time."""
        if self._cached is None:
            self._cached = Session(graph=graph, config=_soft(config))
        with self._cached.graph.as_default(), self._cached.as_default():
            yield self._cached

    def test_session(
        self,
        graph: CoreGraph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> AbstractContextManager[Session]:
        """The session of this test; with a graph, one for the block. As a test, which unittest takes it for: none."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        chosen = self.cached_session if graph is None else self.session
        return chosen(graph, config, use_gpu, force_gpu)

    def evaluate(self, tensors: Any) -> Any:
        """What tensors are in the session in force, or in one of this test."""
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as made:
            return made.run(tensors)

    def checkedThread(
        self, target: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> _CheckedThread:
        """A thread whose errors fail the test where it is waited for."""
        return _CheckedThread(target, args, kwargs)

    # -------------------------------------------------------------------------------------------------------- arrays

    def _GetNdArray(self, a: object) -> Array:
        """An array, of a tensor by running it."""
        return np.asarray(self.evaluate(a) if isinstance(a, Tensor) or hasattr(a, "read_value") else a)

    def assertAllClose(
        self, a: object, b: object, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Two structures of arrays are nearly equal."""
        mine, theirs = (None if isinstance(item, list) else parts_of(item) for item in (a, b))
        if mine is None or theirs is None or (isinstance(a, tuple) and not hasattr(a, "_fields")):
            return self._assert_close(a, b, rtol, atol, msg)
        self.assertEqual([key for key, _ in mine], [key for key, _ in theirs], msg)
        for (key, x), (_, y) in zip(mine, theirs, strict=True):
            self.assertAllClose(x, y, rtol, atol, f"{msg or ''} at {key!r}")
        return None

    def _assert_close(self, a: object, b: object, rtol: float, atol: float, msg: str | None) -> None:
        if isinstance(a, list | tuple) and isinstance(b, list | tuple) and _is_uneven(a) and len(a) == len(b):
            for x, y in zip(a, b, strict=True):
                self.assertAllClose(x, y, rtol, atol, msg)
            return
        first, second = self._GetNdArray(a), self._GetNdArray(b)
        self.assertEqual(first.shape, second.shape, msg)
        coarsest = max(_COARSE.get(array.dtype.name, 0.0) for array in (first, second))
        rtol, atol = max(rtol, coarsest), max(atol, coarsest)
        np.testing.assert_allclose(first, second, rtol=rtol, atol=atol, err_msg=msg or "")

    def assertAllCloseAccordingToType(
        self,
        a: object,
        b: object,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """Two arrays are nearly equal, as nearly as the coarser of their types tells apart."""
        kinds = {self._GetNdArray(a).dtype.name, self._GetNdArray(b).dtype.name}
        for kind, relative, absolute in (
            (("float32", "complex64"), float_rtol, float_atol),
            (("float16",), half_rtol, half_atol),
            (("bfloat16",), bfloat16_rtol, bfloat16_atol),
        ):
            if kinds & set(kind):
                rtol, atol = max(rtol, relative), max(atol, absolute)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a: object, b: object, **kwargs: Any) -> None:
        """Two structures of arrays are not nearly equal."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        self.fail("The two values are close at all elements")

    def assertAllEqual(self, a: object, b: object, msg: str | None = None) -> None:
        """Two arrays are equal; a number that is none equals another."""
        first, second = _plain_text(self._GetNdArray(a)), _plain_text(self._GetNdArray(b))
        self.assertEqual(first.shape, second.shape, msg)
        np.testing.assert_array_equal(first, second, err_msg=msg or "")

    def assertNotAllEqual(self, a: object, b: object, msg: str | None = None) -> None:
        """Two arrays differ somewhere."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(msg or "The two values are equal at all elements")

    def _assert_all(self, a: object, holds: Callable[[Any], Any], said: str) -> None:
        array = self._GetNdArray(a)
        if not np.all(holds(array)):
            raise self.failureException(f"not all elements are {said}: {array[~holds(array)][:10]}")

    def assertAllGreater(self, a: object, comparison_target: object) -> None:
        self._assert_all(a, lambda x: x > comparison_target, f"greater than {comparison_target}")

    def assertAllLess(self, a: object, comparison_target: object) -> None:
        self._assert_all(a, lambda x: x < comparison_target, f"less than {comparison_target}")

    def assertAllGreaterEqual(self, a: object, comparison_target: object) -> None:
        self._assert_all(a, lambda x: x >= comparison_target, f"at least {comparison_target}")

    def assertAllLessEqual(self, a: object, comparison_target: object) -> None:
        self._assert_all(a, lambda x: x <= comparison_target, f"at most {comparison_target}")

    def assertAllInRange(
        self,
        target: object,
        lower_bound: Size | Array,
        upper_bound: Size | Array,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """All elements are between two bounds, which belong to the range unless it is open there."""
        above, below = (
            operator.gt if open_lower_bound else operator.ge,
            operator.lt if open_upper_bound else operator.le,
        )
        said = f"between {lower_bound} and {upper_bound}"
        self._assert_all(target, lambda x: above(x, lower_bound) & below(x, upper_bound), said)

    def assertAllInSet(self, target: object, expected_set: Iterable[Any]) -> None:
        """Every element is one of these."""
        self._assert_all(target, lambda x: np.isin(x, list(expected_set)), f"in {expected_set}")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Two numbers are no further apart than `err`."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1} != {f2} +/- {err} {msg or ''}")

    def assertArrayNear(
        self,
        farray1: Sequence[SupportsFloat] | Array,
        farray2: Sequence[SupportsFloat] | Array,
        err: float,
        msg: str | None = None,
    ) -> None:
        """The numbers of two lists are no further apart than `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(
        self, ndarray1: npt.ArrayLike, ndarray2: npt.ArrayLike, err: float, msg: str | None = None
    ) -> None:
        """The difference of two arrays is no longer than `err`."""
        self.assertLess(float(np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2))), err, msg)

    def assertShapeEqual(self, np_array: npt.ArrayLike, tf_tensor: Tensor, msg: str | None = None) -> None:
        """The static shape of a tensor is that of an array."""
        self.assertAllEqual(np.asarray(np_array).shape, tf_tensor.get_shape().as_list(), msg)

    def assertDTypeEqual(self, target: object, expected_dtype: npt.DTypeLike) -> None:
        """A value is of a type."""
        self.assertEqual(self._GetNdArray(target).dtype, np.dtype(expected_dtype))

    # -------------------------------------------------------------------------------------------------------- others

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Message | str, message: Message, msg: str | None = None
    ) -> None:
        """Two messages are equal; the expected one may be written as text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = parse_text(type(message), expected, "the expected message")
        self.assertEqual(expected, message, msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        self.assertTrue(
            actual.startswith(expected_start), f"{actual!r} does not start with {expected_start!r} {msg or ''}"
        )

    def assertDeviceEqual(
        self, device1: DeviceSpec | str | None, device2: DeviceSpec | str | None, msg: str | None = None
    ) -> None:
        """Two names of devices mean the same one."""
        names = (device.to_string() if isinstance(device, DeviceSpec) else device for device in (device1, device2))
        first, second = (canonical_device(name or "") for name in names)
        self.assertEqual(first, second, msg)

    @contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: type[BaseException], expected_err_re_or_predicate: Expected
    ) -> Iterator[None]:
        """The block raises an error of which a function, or a regular expression for its text, says yes."""
        expected = expected_err_re_or_predicate
        accepts = expected if callable(expected) else lambda error: re.search(expected, str(error))
        try:
            yield
        except exception_type as error:
            if not accepts(error):
                raise AssertionError(
                    f"Exception of type {type(error)}: {error}, which is not what is expected"
                ) from error
            return
        self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Expected) -> AbstractContextManager[None]:
        """The block raises an error of a session."""
        return self.assertRaisesWithPredicateMatch(TensorKeepError, expected_err_re_or_predicate)

    def assertItemsEqual(self, first: Iterable[Any], second: Iterable[Any], msg: str | None = None) -> None:
        self.assertCountEqual(first, second, msg)

    def assertLen(self, container: Sized, expected_len: int, msg: str | None = None) -> None:
        self.assertEqual(len(container), expected_len, msg)

    def assertEmpty(self, container: Sized, msg: str | None = None) -> None:
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Sized, msg: str | None = None) -> None:
        self.assertNotEqual(len(container), 0, msg)

    def assertBetween(self, value: Size, minv: Size, maxv: Size, msg: str | None = None) -> None:
        self.assertTrue(minv <= value <= maxv, f"{value} is not between {minv} and {maxv} {msg or ''}")

    def assertContainsSubset(
        self, expected_subset: Iterable[Any], actual_set: Iterable[Any], msg: str | None = None
    ) -> None:
        self.assertEqual(set(expected_subset) - set(actual_set), set(), msg)

    def assertSameElements(
        self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: str | None = None
    ) -> None:
        self.assertEqual(set(expected_seq), set(actual_seq), msg)


def _is_uneven(items: list[Any] | tuple[Any, ...]) -> bool:
    """Whether items do not make one array: they differ in their shapes, or are mappings."""
    return any(isinstance(item, Mapping) or np.shape(item) != np.shape(items[0]) for item in items)


def _plain_text(array: Any) -> Any:
    """An array of text as one of bytes, as sessions give it."""
    return np.char.encode(array, "utf-8").astype(object) if array.dtype.kind == "U" else array


def _soft(config: Any) -> Any:
    """The settings of a test's session: operations for devices that are not there run on the processor."""
    made = ConfigProto()
    if config is not None:
        made.CopyFrom(config)
    made.allow_soft_placement = True
    return made
