"""Sessions: a graph, the resources its operations keep, and the plans made so far."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime_CAPI
from typing import TYPE_CHECKING, Any, Final
from weakref import ReferenceType, ref

import numpy as np

from tensorkeep.dtypes import BOOL, RESOURCE, STRING, VARIANT, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError, WrongTypeError
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.capabilities import Allowed, Capability
from tensorkeep.graph.registry.opspec import UNKNOWN_DTYPE
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.machine.large_arrays import keep_freed_memory
from tensorkeep.io.machine.parallel import using_threads
from tensorkeep.io.machine.reused_memory import drop_spare_memory, spare_memory_after_run
from tensorkeep.native.texts import JoinedTexts
from tensorkeep.runtime.context import LOG, PYTHON_FUNCTIONS, Surroundings, log_line
from tensorkeep.runtime.elements import graph_element
from tensorkeep.runtime.fetches import FetchPlan, expand_feeds
from tensorkeep.runtime.limits import NO_LIMITS, Limits, within_limits
from tensorkeep.runtime.partial_runs import PartialRun, PartialRuns
from tensorkeep.runtime.partitions.engines import Engine, Split
from tensorkeep.runtime.placement import Devices, check_placement
from tensorkeep.runtime.plans.program import OperationTime, Program, as_strings
from tensorkeep.runtime.plans.programs import Programs
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.runtime.session_tensors import TensorHandle
from tensorkeep.shapes import Shape

if TYPE_CHECKING:
    from tensorkeep.graph.arguments import Fetches

_ANY_THREADS: Final = nullcontext()
_EVERYTHING: Final = frozenset(Capability) - {Capability.CALLS_PYTHON}


class _Found:
    """What a callable remembers between its calls: the program for one version of the session, which it does not keep
    alive.
    """

    known: tuple[tuple[int, int], ReferenceType[Program]] | None = None


class Session:
    """Runs operations of a graph. May be used from several threads.

    `allow_io` lets operations read and write files, print and run code that is not known; without it they are refused,
    as a stranger's graph should be. `allow_python` lets them call the Python functions registered with the session's
    graph. `allowed`, if given, says it for each class and type of operation instead of these two, and `files_of` which
    files an operation sees, instead of those of `filesystem`. `limits` say how long a run may take, how much memory and
    how many steps. Without `trusts_shapes` arrays of any shapes may be fed, whatever the graph says of them: the first
    operation that cannot take one fails. `engine` runs parts of what is run, in the place of our kernels. It is
    not asked where memory is limited or shapes are not trusted, and for no loops where time or steps are limited.
    `threads` is how many threads a run may use at most, of our own and of the engine. A step that learns takes
    `micro_batches` batches, and sums their gradients.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        resources: ResourceManager | None = None,
        filesystem: FileSystem | None = None,
        write_line: Callable[[str], None] = log_line,
        devices: Devices = Devices(),
        logs_placement: bool = False,
        allow_io: bool = True,
        allow_python: bool = False,
        allowed: Allowed | None = None,
        files_of: Callable[[Operation], FileSystem] | None = None,
        limits: Limits = NO_LIMITS,
        trusts_shapes: bool = True,
        engine: Engine | None = None,
        threads: int | None = None,
        micro_batches: int = 1,
    ) -> None:
        keep_freed_memory()
        self._graph = graph
        self._has_own_resources = resources is None
        self.surroundings = Surroundings(resources or ResourceManager(), filesystem or FILES, write_line)
        self.surroundings.files_of = files_of
        self.limits = limits
        """What one run may take."""
        self._is_free = limits.is_none
        self.threads = threads
        self.surroundings.counts_steps = not limits.is_none
        self.surroundings.trusts_shapes = trusts_shapes
        self.surroundings.engine = engine if limits.bytes is None and trusts_shapes else None
        self.surroundings.python_functions = graph.extras.setdefault(PYTHON_FUNCTIONS, {})
        python = {Capability.CALLS_PYTHON} if allow_python else frozenset()
        self._allowed = Allowed((_EVERYTHING if allow_io else frozenset()) | python) if allowed is None else allowed
        self.devices = devices
        self._logs_placement = logs_placement
        self.micro_batches = micro_batches
        """How many batches a step that learns takes."""
        self._programs = Programs(graph, self.surroundings, self._allowed, self._check_placement, micro_batches)
        self._spare: list[Programs] = []
        """Programs of runs that were told how to reach checkpoints, and are over."""
        self._fetch_plans: dict[Any, FetchPlan] = {}
        self._partial_runs = PartialRuns()
        self._closed = False

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def resources(self) -> ResourceManager:
        return self.surroundings.resources

    @property
    def splits(self) -> dict[str, Split]:
        """Which parts of what has been compiled so far the engine runs: of the graph ("") and of functions."""
        found = {"" if not at else f"({at + 1})": program.split for at, program in enumerate(self._programs.compiled)}
        return {name: split for name, split in {**found, **self._programs.function_splits}.items() if split is not None}

    def close(self) -> None:
        """Ends the session. Its resources are gone, unless they were given to it; what waits at one of them fails."""
        self._closed = True
        self._programs.clear()
        self._spare.clear()
        self._fetch_plans.clear()
        self._partial_runs.clear()
        drop_spare_memory()
        if self._has_own_resources:
            self.resources.clear()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------ running

    def run(self, fetches: Any, feeds: Mapping[Any, Any] | None = None, *, checkpoints: object = None) -> Any:
        """Computes `fetches`, a tensor or operation or any structure of them, with some tensors given in `feeds`.

        `checkpoints` is how kernels of this run reach checkpoints (`ops.files.checkpoint_access.CheckpointAccess`), if
        not each by itself.
        """
        plan = self._fetch_plan(fetches)
        keys, values = self._fed(feeds) if feeds else ((), ())
        with self._threaded():
            if checkpoints is None:
                return self._computed(self._programs, plan, keys, values)
            with self._reaching(checkpoints) as programs:
                return self._computed(programs, plan, keys, values)

    def _threaded(self) -> AbstractContextManager[None]:
        """Within, there are as many threads as runs of this session may use."""
        return _ANY_THREADS if self.threads is None else using_threads(self.threads)

    def run_timed(self, fetches: Fetches, feeds: Mapping[Any, Any] | None = None) -> tuple[Any, list[OperationTime]]:
        """As `run`; also gives when each operation began and ended. It takes longer than a plain run."""
        plan = self._fetch_plan(fetches)
        keys, values = self._fed(feeds) if feeds else ((), ())
        self._check_open()
        with self._threaded(), np.errstate(all="ignore"):
            program = self._programs.find(tuple(plan.tensors), tuple(plan.operations), keys, values)
            results, times = program.timed(*values)
        return plan.rebuild(dict(zip(plan.tensors, map(_handed_out, results), strict=True))), times

    def partial_run_setup(self, fetches: Fetches, feeds: object = ()) -> str:
        """Begins a run whose feeds come in several steps: its handle. All that will be fed and fetched is named here.

        An engine has no part in it.
        """
        self._check_open()
        plan = FetchPlan(fetches, self._graph)
        several = feeds if isinstance(feeds, list | tuple) else [feeds]
        keys = [self._feedable(key) for feed in several for key in self._parts_to_feed(feed)]
        with self._threaded(), within_limits(self.limits), np.errstate(all="ignore"):
            run = PartialRun(self._programs, plan, keys)
        return self._partial_runs.add(run, plan, keys)

    def partial_run(self, handle: str, fetches: Any, feeds: Mapping[Any, Any] | None = None) -> Any:
        """Goes on with such a run: takes some of the feeds, and gives some of the fetches."""
        self._check_open()
        plan = FetchPlan(fetches, self._graph)
        run = self._partial_runs.find(handle)
        keys, values = self._fed(feeds) if feeds else ((), ())
        with self._threaded(), within_limits(self.limits), np.errstate(all="ignore"):
            results = run.go_on(plan, dict(zip(keys, values, strict=True)))
        self._partial_runs.drop_if_over(handle, run)
        return plan.rebuild(dict(zip(plan.tensors, map(_handed_out, results), strict=True)))

    def _parts_to_feed(self, feed: Any) -> Sequence[Any]:
        """The tensors that stand for one that is to be fed, which may be made of several."""
        if isinstance(feed, Tensor | Operation | str):
            return [feed]
        return list(FetchPlan(feed, self._graph).tensors)

    def _check_open(self) -> None:
        if self._closed:
            raise FailedPreconditionError("Attempted to use a closed Session.")

    def _computed(self, programs: Programs, plan: FetchPlan, keys: tuple[Tensor, ...], values: Sequence[Any]) -> Any:
        self._check_open()
        try:
            results = (_results if self._is_free else self._limited)(programs, plan, keys, values)
            return plan.rebuild(dict(zip(plan.tensors, map(_handed_out, results), strict=True)))
        except MemoryError as error:
            raise ResourceExhaustedError(f"no memory is left for the constants or results of a run: {error}") from error

    def _limited(
        self, programs: Programs, plan: FetchPlan, keys: tuple[Tensor, ...], values: Sequence[Any]
    ) -> tuple[Any, ...]:
        with within_limits(self.limits):
            return _results(programs, plan, keys, values)

    def make_callable(
        self,
        fetches: Fetches,
        feed_list: Sequence[Any] = (),
        *,
        checked: Sequence[tuple[DType, Shape]] = (),
        compiles: bool = False,
        captured: Sequence[Any] = (),
        targets: Sequence[Operation] = (),
    ) -> Callable[..., Any]:
        """A function of the values of `feed_list` that computes `fetches`.

        `checked` has for each of them the type and shape that its value is an array of, if the caller has seen to it.
        Where a tensor asks for no more than that, the value is not looked at again. If it `compiles`, it does so now
        and not when it is first called. `captured` are what the last of `feed_list` will be whenever it is called, and
        are not looked at either. `targets` are run besides.
        """
        plan = FetchPlan(fetches, self._graph)
        plan.operations.update(dict.fromkeys(targets))
        keys = tuple(map(self._feedable, feed_list))
        if len(set(keys)) < len(keys):
            raise InvalidArgumentError(f"a tensor is to be fed twice: {', '.join(key.name for key in keys)}")

        known = dict(zip(keys, checked, strict=True)) if checked else {}
        given = keys[: len(keys) - len(captured)]
        unchecked = {at: key for at, key in enumerate(given) if not _takes_all(key, known.get(key))}
        if compiles:
            expected = (None,) * (len(keys) - len(captured)) + tuple(captured)
            with self._threaded():
                self._programs.find(tuple(plan.tensors), tuple(plan.operations), keys, expected)

        def call(*values: Any) -> Any:
            if len(values) != len(keys):
                raise InvalidArgumentError(f"this callable takes {len(keys)} values to feed, got {len(values)}")
            arrays: Sequence[Any] = values
            if unchecked:
                arrays = list(values)
                for at, key in unchecked.items():
                    arrays[at] = _feed_value(key, values[at], self.surroundings.trusts_shapes)
            if not self._is_free or self._closed:
                return self._computed(self._programs, plan, keys, arrays)
            return self._called(found, plan, keys, arrays)

        found = _Found()
        return call if self.threads is None else self._threaded_call(call)

    def _threaded_call(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def call_with_threads(*values: Any) -> Any:
            with self._threaded():
                return call(*values)

        return call_with_threads

    def _called(self, found: _Found, plan: FetchPlan, keys: tuple[Tensor, ...], values: Sequence[Any]) -> Any:
        """Computes as `_computed` does, but uses the program of an earlier call of the same callable again, if it is
        still valid.
        """
        try:
            known, version = found.known, self._programs.version
            program = known[1]() if known is not None and known[0] == version else None
            if program is None:
                program = self._programs.find(tuple(plan.tensors), tuple(plan.operations), keys, values)
                found.known = version, ref(program)  # both at once, for other threads
            try:
                if program.runs_elsewhere:  # of every call of a small model: without what only our kernels need
                    results = program.function(*values)
                else:
                    with np.errstate(all="ignore"):
                        results = program.function(*values)
            except Exception as error:
                program.raise_explained(error)
            finally:
                spare_memory_after_run()
            if plan.is_list_of_tensors:
                return list(map(_handed_out, results))
            return plan.rebuild(dict(zip(plan.tensors, map(_handed_out, results), strict=True)))
        except MemoryError as error:
            raise ResourceExhaustedError(f"no memory is left for the constants or results of a run: {error}") from error

    def lasting_resource(self, op: Operation) -> object:
        """The resource that an operation gives in every run, by the name it is shared by: a variable, a table.

        None of an operation that gives no such thing, or takes inputs. No function is called and nothing is computed;
        what does not exist yet is made, empty, as it would be when the operation runs.
        """
        return self._programs.shared_resource(op)

    def beside(self, graph: Graph) -> Session:
        """A session with another graph, the same resources, and the same permissions."""
        return Session(
            graph,
            resources=self.resources,
            filesystem=self.surroundings.filesystem,
            write_line=self.surroundings.write_line,
            devices=self.devices,
            allowed=self._allowed,
            files_of=self.surroundings.files_of,
            limits=self.limits,
            trusts_shapes=self.surroundings.trusts_shapes,
            threads=self.threads,
            micro_batches=self.micro_batches,
        )

    def _fetch_plan(self, fetches: Any) -> FetchPlan:
        key: Any = None
        if isinstance(fetches, Tensor | Operation):
            key = fetches
        elif type(fetches) in (list, tuple) and all(isinstance(item, Tensor | Operation) for item in fetches):
            key = (type(fetches), *fetches)
        if key is None:
            return FetchPlan(fetches, self._graph)
        found = self._fetch_plans.get(key)
        if found is None:
            found = self._fetch_plans[key] = FetchPlan(fetches, self._graph)
        return found

    def _fed(self, feeds: Mapping[Any, Any]) -> tuple[tuple[Tensor, ...], list[Any]]:
        """The tensors that are fed, and their values. Of two values for one tensor the last counts."""
        found: dict[Tensor, Any] = {}
        for item, value in expand_feeds(feeds):
            tensor = self._feedable(item)
            found[tensor] = _feed_value(tensor, value, self.surroundings.trusts_shapes)
        return tuple(found), list(found.values())

    def _feedable(self, item: Any) -> Tensor:
        """The tensor of this graph that a key of feeds stands for."""
        tensor = item if isinstance(item, Tensor) else self._fed_element(item)
        if tensor.graph is not self._graph:
            raise WrongTypeError(f"Cannot interpret feed_dict key as Tensor: {item!r} is not a tensor of this graph")
        if tensor in self._graph.unfeedable:
            raise InvalidArgumentError(f"Tensor {tensor} may not be fed.")
        return tensor

    def _fed_element(self, item: Any) -> Tensor:
        try:
            found = graph_element(item, self._graph, "Feed")
        except InvalidArgumentError as error:
            raise WrongTypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None
        if not isinstance(found, Tensor):
            raise WrongTypeError(
                f"Cannot interpret feed_dict key as Tensor: the name {item!r} refers to an Operation. Tensor names "
                'must be of the form "<op_name>:<output_index>".'
            )
        return found

    @contextmanager
    def _reaching(self, checkpoints: object) -> Iterator[Programs]:
        """While the block runs: programs whose kernels find `checkpoints` in their context. No other run uses them."""
        try:
            programs = self._spare.pop()
        except IndexError:
            programs = self._programs.beside()
        programs.surroundings.checkpoints = checkpoints
        try:
            yield programs
        finally:
            programs.surroundings.checkpoints = None
            self._spare.append(programs)

    def _check_placement(self, ops: Sequence[Operation]) -> None:
        check_placement(ops, self.devices)
        if self._logs_placement:
            self._log_placement(ops)

    def _log_placement(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            LOG.warning("%s: (%s): %s", op.name, op.type, self.devices.place(op.device))


def _results(programs: Programs, plan: FetchPlan, keys: tuple[Tensor, ...], values: Sequence[Any]) -> tuple[Any, ...]:
    program = programs.find(tuple(plan.tensors), tuple(plan.operations), keys, values)
    with np.errstate(all="ignore"):
        return program(*values)


def _feed_value(tensor: Tensor, value: Any, checks_shape: bool) -> Any:
    """What is fed, as the tensor's value."""
    dtype = tensor.dtype.base_dtype
    is_plain = dtype is not STRING and dtype is not RESOURCE and dtype is not VARIANT and dtype is not UNKNOWN_DTYPE
    if not (is_plain and type(value) is np.ndarray and value.dtype == dtype.array_dtype):
        value = _converted_feed(tensor, dtype, value)
        if dtype is RESOURCE or dtype is VARIANT or dtype is UNKNOWN_DTYPE:
            return value
    if checks_shape and not fits_shape(value.shape, tensor.static_shape.dims):
        raise InvalidArgumentError(
            f"Cannot feed value of shape {value.shape} for Tensor {tensor.name}, which has shape {tensor.shape}"
        )
    return value


def _converted_feed(tensor: Tensor, dtype: DType, value: Any) -> Any:
    """What is fed, as an array of the tensor's type; of a resource or a variant, what it is."""
    if isinstance(value, Tensor):
        raise WrongTypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, "
            f"lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} which was passed "
            f"to the feed with key {tensor}."
        )
    if isinstance(value, TensorHandle):
        value = value.value_as(dtype)
    if dtype is RESOURCE or dtype is VARIANT:
        return value
    if dtype is UNKNOWN_DTYPE:
        return np.asarray(value)
    if isinstance(value, JoinedTexts):
        value = value.array()
    fits = type(value) is np.ndarray and value.dtype == dtype.array_dtype and dtype is not STRING
    return value if fits else _as_array(value, dtype, tensor)


_FRACTION: Final = "fraction_dropped"
_TOLD: Final = 200  # characters of a value that an error shows


def _takes_all(tensor: Tensor, checked: tuple[DType, Shape] | None) -> bool:
    """Whether the tensor can have every array of the type and shape in `checked` as its value; False without it."""
    if checked is None or checked[0] is not tensor.dtype.base_dtype:
        return False
    dims, known = tensor.static_shape.dims, checked[1].dims
    if dims is None or known is None:
        return dims is None
    return len(dims) == len(known) and all(
        size is None or size == given for size, given in zip(dims, known, strict=True)
    )


def _as_array(value: Any, dtype: DType, tensor: Tensor) -> Any:
    if dtype is STRING:
        return as_strings(_bytes_array(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not _is_kept(value, dtype):
            raise WrongTypeError(f"Type of feed value {value} is not compatible with Tensor type {dtype}.")
        if value % 1 and (dtype is BOOL or dtype.is_integer):
            _tell_of_fraction(value, dtype, tensor)
    try:
        with np.errstate(all="ignore"):
            _check_range(value, dtype)
            return np.asarray(value, dtype.array_dtype)
    except (TypeError, ValueError, OverflowError) as error:
        remedy = ". Lists of one dimension have to be equally long: pad them" if "inhomogeneous" in str(error) else ""
        raise InvalidArgumentError(
            f"cannot feed {type(value).__name__} {_shortened_text(value)} for Tensor {tensor.name} as {dtype}: "
            f"{error}{remedy}"
        ) from None


def _shortened_text(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= _TOLD else f"{told[:_TOLD]}…"


def _check_range(value: Any, dtype: DType) -> None:
    """Integers of Python must be such that the type holds: NumPy 1 cuts them off."""
    if dtype.is_integer and isinstance(value, int | list | tuple):
        numbers = np.asarray(value)
        if numbers.size and numbers.dtype.kind in "iu" and not dtype.min <= numbers.min() <= numbers.max() <= dtype.max:
            raise OverflowError(f"it holds {dtype.min} to {dtype.max}")


def _tell_of_fraction(value: float, dtype: DType, tensor: Tensor) -> None:
    """Says in the log, once for a tensor, that a fraction is dropped, as TensorFlow drops it."""
    extras = tensor.op.extras
    if not extras.get(_FRACTION):
        extras[_FRACTION] = True
        LOG.warning('%s is fed to "%s" as %s: the fraction is dropped', value, tensor.name, dtype)


def _is_kept(value: float, dtype: DType) -> bool:
    """Whether a number can be fed: bool cannot hold 2, nor an integer type what is not finite."""
    if isinstance(value, int):
        return dtype is not BOOL or value in (0, 1)
    return not dtype.is_integer or math.isfinite(value)


def _bytes_array(value: Any) -> Any:
    array = np.asarray(value, None if isinstance(value, np.ndarray) else object)
    flat = np.empty(array.size, object)
    for i, item in enumerate(array.reshape(-1).tolist()):
        if not isinstance(item, str | bytes):
            raise WrongTypeError(f"cannot feed {item!r} of type {type(item).__name__} as a string")
        try:
            flat[i] = item if isinstance(item, bytes) else item.encode()
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(f"cannot feed {item!r} as a string: {error}") from None
    return flat.reshape(array.shape)


def fits_shape(shape: tuple[int, ...], dims: tuple[int | None, ...] | None) -> bool:
    """Whether an array's shape is one of those that are said of a tensor."""
    if dims is None:
        return True
    if len(shape) != len(dims):
        return False
    for size, known in zip(shape, dims, strict=True):  # noqa: SIM110 (of every feed, and faster than `all`)
        if known is not None and size != known:
            return False
    return True


def _handed_out(value: Any) -> Any:
    """A result as the caller gets it: scalars as NumPy scalars or bytes, arrays as arrays of the caller's own."""
    if not isinstance(value, np.ndarray):
        return value
    if value.ndim == 0:
        return value[()]
    # With more holders than the tuple of results, it also is the value of a variable or of a constant.
    if sys.getrefcount(value) > _FRESH or not value.flags.writeable:
        return value.copy()
    # What an engine gives lies in memory of its own, which goes with the array.
    return value if value.base is None or type(value.base) is _CAPSULE else value.copy()


_CAPSULE: Final[type] = type(datetime_CAPI)  # of a pointer of a library's own, which the standard library names nowhere


def _holders(value: Any) -> int:
    return sys.getrefcount(value)


# How many holders the interpreter reports of a result that only the tuple of results has.
_FRESH: Final = max(map(_holders, (np.zeros(1),)))
