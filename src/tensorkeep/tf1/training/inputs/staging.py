"""`tf.staged`, DeepRec's: a part of the graph that threads compute ahead of the steps that use it.

    features = tf.staged(features, num_threads=4, capacity=40)
    with tf.train.MonitoredTrainingSession(hooks=[tf.make_prefetch_hook()]) as session: ...

What the features need is run by threads, which put the results into a buffer; what uses them takes them from there.
When threads end, and what comes after the last record: DeepRec's python/ops/prefetch.py and
cc/training/prefetch_runner.cc. There whoever takes a record after an error is told that the session was closed; here it
is told the error.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from tensorkeep.dtypes import DType
from tensorkeep.errors import CancelledError, InvalidArgumentError, OutOfRangeError, TensorKeepError, WrongTypeError
from tensorkeep.graph.arguments import emit_operation, emit_tensors
from tensorkeep.graph.building import current_graph, name_scope, unique_name
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.data.buffers import fail_buffer
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tensorkeep.tf1.functions.structures import flatten, pack_sequence_as
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.hooks import SessionRunHook
from tensorkeep.tf1.training.loops.roles import TrainingSession

LOG: Final = logging.getLogger("tensorkeep")

Features = TypeVar("Features")
"""Tensors in some structure: what is given has the same one."""

ErrorKinds: TypeAlias = Sequence[int | type[BaseException]]
"""Kinds of errors: TensorFlow's numbers for them, as `tf.errors.OUT_OF_RANGE`, or classes."""

_RUNNERS: Final = object()  # the key of the runners of a graph, in `graph.extras`
_END: Final[ErrorKinds] = (OutOfRangeError.error_code,)


def staged(
    features: Features,
    feed_dict: Mapping[Any, Any] | None = None,
    capacity: int = 1,
    num_threads: int = 1,
    num_clients: int = 1,
    timeout_millis: int = 300_000,
    closed_exception_types: ErrorKinds = _END,
    ignored_exception_types: ErrorKinds = (),
    use_stage_subgraph_thread_pool: bool = False,
    stage_subgraph_thread_pool_id: int = 0,
    stage_subgraph_stream_id: int = 0,
    name: str | None = None,
) -> Features:
    """The features, of the same structure, as `num_threads` threads compute them ahead: at most `capacity` records.

    Before each record the tensors of `feed_dict` are computed, and fed to its keys. A thread ends with an error of
    `closed_exception_types`, which is the end of the input once all threads have ended so; one of
    `ignored_exception_types` is told and passed over. A record that finds no room waits, and tells so every
    `timeout_millis`. Pools and streams of one's own, and `num_clients`, change nothing here: a record is taken in the
    thread that runs the step.
    """
    if num_threads < 1:
        raise InvalidArgumentError(f"num_threads must >= 1, got {num_threads}")
    if use_stage_subgraph_thread_pool or stage_subgraph_stream_id:
        LOG.info("tf.staged: threads are the only pool here, and there are no streams")
    buffer = _Buffer(name or unique_name("prefetch"), capacity, num_clients, timeout_millis)
    endings = _Endings(tuple(closed_exception_types), tuple(ignored_exception_types))
    records: Features = _stage_inputs([features] * num_threads, feed_dict or {}, buffer, endings)
    return records


def prefetch_join(
    thread_to_features: Sequence[Features],
    feed_dict: Mapping[Any, Any] | None = None,
    capacity: int = 1,
    num_clients: int = 1,
    timeout_millis: int = 300_000,
    closed_exception_types: ErrorKinds = _END,
    ignored_exception_types: ErrorKinds = (),
    name: str | None = None,
) -> Features:
    """The same of several inputs of one structure, each of which a thread of its own computes ahead."""
    if len(thread_to_features) < 1:
        raise InvalidArgumentError("thread_to_features must has at least one element")
    buffer = _Buffer(name or unique_name("prefetch"), capacity, num_clients, timeout_millis)
    endings = _Endings(tuple(closed_exception_types), tuple(ignored_exception_types))
    records: Features = _stage_inputs(thread_to_features, feed_dict or {}, buffer, endings)
    return records


@dataclass(frozen=True)
class _Buffer:
    """Where records are between those who make them and those who use them."""

    name: str
    capacity: int
    clients: int
    milliseconds: int

    def emitted(self, op: str, *inputs: Any, **attrs: Any) -> Operation:
        """An operation on the buffer that gives nothing."""
        return emit_operation(op, *inputs, shared_name=self.name, shared_capacity=self.capacity, **attrs)

    def taken(self, dtypes: Sequence[DType]) -> Sequence[Tensor]:
        """The tensors of the next record."""
        return emit_tensors(
            "TensorBufferTake",
            dtypes=dtypes,
            shared_name=self.name,
            shared_capacity=self.capacity,
            shared_threads=self.clients,
        )


@dataclass(frozen=True)
class _Endings:
    """Which errors end a thread, and which it passes over."""

    closed: ErrorKinds
    ignored: ErrorKinds


def _stage_inputs(inputs: Sequence[Any], feed_dict: Mapping[Any, Any], buffer: _Buffer, endings: _Endings) -> Any:
    """What threads put into a buffer of each of the inputs, which have one structure, as it is taken from there."""
    with name_scope(buffer.name):
        puts: dict[int, Operation] = {}
        for features in inputs:  # the same features, of several threads, are put in by the same operation
            if id(features) not in puts:
                record = [part for leaf in flatten(features) for part in _parts(leaf)]
                puts[id(features)] = buffer.emitted("TensorBufferPut", record, timeout_millis=buffer.milliseconds)
        fetches = [puts[id(features)] for features in inputs]
        runner = PrefetchRunner(
            buffer.name,
            fetches,
            endings,
            resume_op=buffer.emitted("TensorBufferCancel", is_cancelled=False),
            cancel_op=buffer.emitted("TensorBufferCancel"),
            close_op=buffer.emitted("TensorBufferClose"),
            feeds=_feeds(feed_dict),
        )
        taken = iter(_taken_tensors([put.inputs for put in puts.values()], buffer))
    current_graph().extras.setdefault(_RUNNERS, []).append(runner)
    return pack_sequence_as(inputs[0], [_rebuilt(leaf, taken) for leaf in flatten(inputs[0])])


def _parts(leaf: Any) -> list[Tensor]:
    """The tensors that a feature is made of; none of what is None."""
    if leaf is None:
        return []
    if isinstance(leaf, SparseTensor):
        return [leaf.values, leaf.indices, leaf.dense_shape]
    return [leaf.flat_values, *leaf.nested_row_splits] if isinstance(leaf, RaggedTensor) else [convert(leaf)]


def _rebuilt(leaf: Any, parts: Iterator[Tensor]) -> Any:
    """A feature like another one, of the next of these tensors."""
    if isinstance(leaf, SparseTensor):
        values, indices, shape = (next(parts) for _ in range(3))
        return SparseTensor(indices, values, shape)
    if isinstance(leaf, RaggedTensor):
        values = next(parts)
        splits = [next(parts) for _ in range(leaf.ragged_rank)]
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
    return None if leaf is None else next(parts)


def _taken_tensors(records: Sequence[Sequence[Tensor]], buffer: _Buffer) -> list[Tensor]:
    """The tensors of a record as they are taken from the buffer, with the shapes that all have that are put in."""
    types = [[tensor.dtype.base_dtype for tensor in record] for record in records]
    if any(others != types[0] for others in types):
        raise InvalidArgumentError(
            "the features of all threads have to have one structure: "
            + "; ".join(", ".join(dtype.name for dtype in found) for found in types)
        )
    found: list[Tensor] = []
    for tensor, sources in zip(buffer.taken(types[0]), zip(*records, strict=True), strict=True):
        same: Tensor = identity(tensor)
        if len({source.static_shape for source in sources}) == 1:
            same.set_shape(sources[0].get_shape())
        found.append(same)
    return found


def _feeds(feed_dict: Mapping[Any, Any]) -> dict[Tensor, Tensor]:
    """What is fed with what, tensor by tensor."""
    found: dict[Tensor, Tensor] = {}
    for key, value in feed_dict.items():
        keys, values = flatten(key, expand_composites=True), flatten(value, expand_composites=True)
        wrong = [item for item in values if not isinstance(item, Tensor)]
        if wrong or len(keys) != len(values):
            raise WrongTypeError(
                f"The value of a feed must be a tf.Tensor object, for each tensor one, but {key} was fed by {value}"
            )
        found.update(zip(keys, values, strict=True))
    return found


# ---------------------------------------------------------------------------------------------------- Threads


class PrefetchRunner:
    """Runs operations that put records into a buffer, each in a thread of its own."""

    def __init__(
        self,
        name: str,
        fetch_ops: Sequence[Operation],
        endings: _Endings,
        *,
        resume_op: Operation,
        cancel_op: Operation,
        close_op: Operation,
        feeds: Mapping[Tensor, Tensor],
    ) -> None:
        self.name = name
        self._endings = endings
        self._fetch_ops = fetch_ops
        self._resume_op, self._cancel_op, self._close_op = resume_op, cancel_op, close_op
        self._feeds = feeds

    @property
    def num_threads(self) -> int:
        return len(self._fetch_ops)

    def start(self, session: TrainingSession, coord: Coordinator, resources: ResourceManager) -> list[threading.Thread]:
        """Starts the threads, which the coordinator joins, and one that ends them when the coordinator says stop."""
        session.run(self._resume_op)
        left = _Countdown(self.num_threads)
        threads = [
            threading.Thread(
                target=self._run, args=(session, coord, resources, op, left), name=f"PrefetchThread-{self.name}-{at}"
            )
            for at, op in enumerate(self._fetch_ops)
        ]
        threads.append(
            threading.Thread(target=self._cancel_on_stop, args=(session, coord), name=f"CancelOnStopThread-{self.name}")
        )
        for thread in threads:
            coord.register_thread(thread)
            thread.daemon = True
            thread.start()
        return threads

    def _run(
        self,
        session: TrainingSession,
        coord: Coordinator,
        resources: ResourceManager,
        fetch_op: Operation,
        left: _Countdown,
    ) -> None:
        try:
            fetch = self._fetching(session, fetch_op)
            while not coord.should_stop():
                if self._ends(fetch):
                    if left.is_last():
                        session.run(self._close_op)
                    return
        except CancelledError:
            LOG.debug('threads that stage "%s" were cancelled', self.name)
        except Exception as error:
            if coord.should_stop():  # what fails now may only follow from the stop
                LOG.debug("Ignored exception: %s", error)
                return
            LOG.error('staging "%s" has failed: %s', self.name, error)
            fail_buffer(resources, "", self.name, error)
            coord.request_stop(error)

    def _fetching(self, session: TrainingSession, fetch_op: Operation) -> Callable[[], Any]:
        """What computes one record and puts it into the buffer."""
        if not self._feeds:
            return session.make_callable(fetch_op)
        values = session.make_callable(list(self._feeds.values()))
        return lambda: session.run(fetch_op, dict(zip(self._feeds, values(), strict=True)))

    def _ends(self, fetch: Callable[[], Any]) -> bool:
        """Makes one record; says whether there are none any more."""
        try:
            fetch()
        except CancelledError:
            raise
        except Exception as error:
            if _is_one_of(error, self._endings.closed):
                LOG.debug('a thread that stages "%s" is at the end: %s', self.name, error)
                return True
            if not _is_one_of(error, self._endings.ignored):
                raise
            LOG.warning('staging "%s": a record is passed over: %s', self.name, error)
        return False

    def _cancel_on_stop(self, session: TrainingSession, coord: Coordinator) -> None:
        coord.wait_for_stop()
        try:
            session.run(self._cancel_op)
        except Exception as error:  # the session may be closed by now, and with it what waits there
            LOG.debug("Ignored exception: %s", error)


class _Countdown:
    """Tells the last of several threads that it is the last."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()

    def is_last(self) -> bool:
        with self._lock:
            self._count -= 1
            return not self._count


def _is_one_of(error: Exception, kinds: ErrorKinds) -> bool:
    code = error.error_code if isinstance(error, TensorKeepError) else None
    return any(isinstance(error, kind) if isinstance(kind, type) else kind == code for kind in kinds)


def prefetch_runners(graph: Graph) -> list[PrefetchRunner]:
    """What `staged` has added to a graph."""
    return list(graph.extras.get(_RUNNERS, ()))


class PrefetchRunnerHook(SessionRunHook):
    """Starts the threads of all that was staged in the graph with each session, and has them end with it.

    `resources_of` gives the resources of a session.
    """

    def __init__(self, resources_of: Callable[[Any], ResourceManager]) -> None:
        self._resources_of = resources_of

    def after_create_session(self, session: TrainingSession, coord: Coordinator) -> None:
        runners = prefetch_runners(session.graph)
        if not runners:
            LOG.warning("tf.make_prefetch_hook: nothing was staged by tf.staged in the graph of the session")
        for runner in runners:
            runner.start(session, coord, self._resources_of(session))
