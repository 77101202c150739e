"""Queue runners: threads that keep the queues of a graph filled while it is run.

When threads end and queues are closed: TensorFlow's python/training/queue_runner_impl.py.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any, Final, Protocol, TypeAlias
from weakref import WeakKeyDictionary

from tensorkeep import errors
from tensorkeep.errors import InvalidArgumentError, OutOfRangeError, TensorKeepError, WrongTypeError
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.scopes import prepend_name_scope, strip_name_scope
from tensorkeep.metagraph.collections import register_proto_function
from tensorkeep.proto.messages import QueueRunnerDef
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.roles import TrainingSession

LOG: Final = logging.getLogger("tensorkeep")

Enqueue: TypeAlias = Operation | Tensor


class Fillable(Protocol):
    """What threads fill: a queue, or what is closed like one."""

    @property
    def name(self) -> str: ...

    def close(self, cancel_pending_enqueues: bool = False) -> Operation: ...


_BY_CODE: Final[dict[int, type[TensorKeepError]]] = {
    found.error_code: found
    for found in (getattr(errors, name) for name in errors.__all__)
    if "error_code" in vars(found)
}


class QueueRunner:
    """Runs operations that put elements into a queue, each in a thread of its own.

    When an operation fails with one of `queue_closed_exception_types`, by default because the input is at its end, its
    thread is done; when all are, the queue is closed. When the coordinator says stop, `cancel_op` is run, so that none
    of the threads keeps waiting for room.
    """

    def __init__(
        self,
        queue: Fillable | None = None,
        enqueue_ops: Sequence[Enqueue] | None = None,
        close_op: Operation | None = None,
        cancel_op: Operation | None = None,
        queue_closed_exception_types: tuple[type[TensorKeepError], ...] | None = None,
        queue_runner_def: QueueRunnerDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise InvalidArgumentError("queue_runner_def and queue are mutually exclusive.")
            self._take_proto(queue_runner_def, import_scope)
        else:
            self._take(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._lock = threading.Lock()
        self._running: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._exceptions_raised: list[Exception] = []

    def _take(
        self,
        queue: Fillable | None,
        enqueue_ops: Sequence[Enqueue] | None,
        close_op: Operation | None,
        cancel_op: Operation | None,
        closed: tuple[type[TensorKeepError], ...] | None,
    ) -> None:
        if not queue or not enqueue_ops:
            raise InvalidArgumentError("Must provide queue and enqueue_ops.")
        if closed is not None and not (
            isinstance(closed, tuple) and closed and all(issubclass(kind, TensorKeepError) for kind in closed)
        ):
            raise WrongTypeError(
                f"queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: {closed}"
            )
        self._queue: Fillable | Tensor | Operation = queue
        self._enqueue_ops = list(enqueue_ops)
        self._close_op: Tensor | Operation = queue.close() if close_op is None else close_op
        self._cancel_op: Tensor | Operation = (
            queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        )
        self._closed_types: tuple[type[TensorKeepError], ...] = closed or (OutOfRangeError,)

    def _take_proto(self, proto: QueueRunnerDef, import_scope: str | None) -> None:
        graph = current_graph()

        def element(name: str) -> Tensor | Operation:
            return graph.element(prepend_name_scope(name, import_scope))

        self._queue = element(proto.queue_name)
        self._enqueue_ops = [element(name) for name in proto.enqueue_op_name]
        self._close_op = element(proto.close_op_name)
        self._cancel_op = element(proto.cancel_op_name)
        unknown = [code for code in proto.queue_closed_exception_types if code not in _BY_CODE]
        if unknown:
            raise InvalidArgumentError(f'queue runner of "{proto.queue_name}": no error has the codes {unknown}')
        self._closed_types = tuple(_BY_CODE[code] for code in proto.queue_closed_exception_types) or (OutOfRangeError,)

    @property
    def queue(self) -> Fillable | Tensor | Operation:
        return self._queue

    @property
    def enqueue_ops(self) -> Sequence[Enqueue]:
        return self._enqueue_ops

    @property
    def close_op(self) -> Tensor | Operation:
        return self._close_op

    @property
    def cancel_op(self) -> Tensor | Operation:
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[TensorKeepError], ...]:
        return self._closed_types

    @property
    def exceptions_raised(self) -> list[Exception]:
        """What went wrong in threads that have no coordinator to tell it to."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        return str(self._queue.name)

    # ------------------------------------------------------------------------------------------ threads

    def create_threads(
        self, sess: TrainingSession, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Threads that run the operations in a session. None if those made before for that session still run."""
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        prefix = f"QueueRunnerThread-{self.name}"
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord), name=f"{prefix}-{op.name}")
            for op in self._enqueue_ops
        ]
        if coord is not None:
            waiting = threading.Thread(target=self._close_on_stop, args=(sess, coord), name=f"{prefix}-close_on_stop")
            threads.append(waiting)
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            thread.daemon = thread.daemon or daemon
            if start:
                thread.start()
        return threads

    def _run(self, sess: TrainingSession, enqueue_op: Enqueue, coord: Coordinator | None) -> None:
        is_last = False
        try:
            enqueue = sess.make_callable(enqueue_op)
            while coord is None or not coord.should_stop():
                enqueue()
        except self._closed_types:
            is_last = True
        except Exception as error:
            if coord is None:
                LOG.error("Exception in QueueRunner: %s", error)
                with self._lock:
                    self._exceptions_raised.append(error)
                raise
            coord.request_stop(error)
        finally:
            with self._lock:
                self._running[sess] -= 1
                is_last = is_last and self._running[sess] == 0
            if is_last:
                self._attempt(sess, self._close_op)

    def _close_on_stop(self, sess: TrainingSession, coord: Coordinator) -> None:
        coord.wait_for_stop()
        self._attempt(sess, self._cancel_op)

    def _attempt(self, sess: TrainingSession, op: Tensor | Operation) -> None:
        """Runs an operation that may come too late: the session may be closed, the queue cancelled."""
        try:
            sess.run(op)
        except Exception as error:
            LOG.debug("Ignored exception: %s", error)

    # ------------------------------------------------------------------------------------------ messages

    def to_proto(self, export_scope: str | None = None) -> QueueRunnerDef | None:
        """The message, with names below `export_scope`; None if the queue is not in that scope."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        return QueueRunnerDef(
            queue_name=strip_name_scope(self.name, export_scope),
            enqueue_op_name=[strip_name_scope(op.name, export_scope) for op in self._enqueue_ops],
            close_op_name=strip_name_scope(self._close_op.name, export_scope),
            cancel_op_name=strip_name_scope(self._cancel_op.name, export_scope),
            queue_closed_exception_types=[kind.error_code for kind in self._closed_types],
        )

    @staticmethod
    def from_proto(queue_runner_def: QueueRunnerDef, import_scope: str | None = None) -> QueueRunner:
        """The runner that a message describes, whose operations are in the graph being built."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Lets `start_queue_runners` find the runner."""
    add_to_collection(current_graph(), collection, qr)


def start_queue_runners(
    sess: TrainingSession,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Makes, and starts, the threads of all runners of the graph being built."""
    runners = get_collection(current_graph(), collection)
    if not runners:
        LOG.warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. You can safely remove "
            "the call to this deprecated function."
        )
    with building(sess.graph):
        return [
            thread for runner in runners for thread in runner.create_threads(sess, coord, daemon=daemon, start=start)
        ]


register_proto_function(GraphKeys.QUEUE_RUNNERS, QueueRunnerDef, QueueRunner.to_proto, QueueRunner.from_proto)
