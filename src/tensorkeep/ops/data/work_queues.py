"""Work queues, DeepRec's: names of files, of several epochs, that workers take one after the other.

A queue outlives runs, and what is left in it can be saved. Who finds it empty waits until more is put in, or until it
is closed: then the work is at its end.
"""

from __future__ import annotations

from collections import deque
from threading import Condition

import numpy as np

from tensorkeep.errors import CancelledError, FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.shared.kernel_types import Array, Handle, string_array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.limits import current_meter
from tensorkeep.shapes import Shape


class WorkQueue:
    """What is behind a handle: works in order, once the queue was created."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._works: deque[bytes] = deque()
        self._changed = Condition()
        self.is_created = False
        self._is_closed = False
        self._is_gone = False

    def create(self, name: str) -> None:
        """Begins; a queue that was created before stays as it is, as in DeepRec."""
        with self._changed:
            self._name, self.is_created = name or self._name, True

    def _check_created(self) -> None:
        if not self.is_created:
            raise FailedPreconditionError(
                f'the work queue "{self._name}" was not created: run the init_op of a tf.train.Scaffold, which creates '
                "all resources, or restore it from a checkpoint"
            )

    def put(self, works: list[bytes]) -> None:
        """Adds works at the end. A queue that is closed was filled before, and stays as it is, as in DeepRec."""
        with self._changed:
            self._check_created()
            if not self._is_closed:
                self._works.extend(works)
                self._changed.notify_all()

    def take(self) -> bytes:
        """Removes the first work as soon as there is one."""
        with self._changed:
            self._check_created()
            while not self._works and not self._is_closed:
                self._wait()
            if not self._works:
                raise OutOfRangeError(f"All works in work queue {self._name} are taken.")
            return self._works.popleft()

    def _wait(self) -> None:
        if self._is_gone:
            raise CancelledError(f"the work queue {self._name} is gone: its session was closed")
        meter = current_meter()
        left = None if meter is None else meter.seconds_left
        if not self._changed.wait(None if left is None else left + 0.001) and meter is not None:
            meter.step()

    def works(self) -> list[bytes]:
        """What is left."""
        with self._changed:
            self._check_created()
            return list(self._works)

    def restore(self, works: list[bytes]) -> None:
        """Takes over what was left of a queue that was saved, in the place of what is there."""
        with self._changed:
            self.is_created = self._is_closed = True
            self._works = deque(works)
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing more will be put in."""
        with self._changed:
            self._check_created()
            self._is_closed = True
            self._changed.notify_all()

    def cancel(self) -> None:
        """Makes all that wait fail: the session that they belong to has been closed."""
        with self._changed:
            self._is_gone = True
            self._changed.notify_all()


def _queue(value: Handle) -> WorkQueue:
    if not isinstance(value, WorkQueue):
        raise InvalidArgumentError(f"expected a work queue, got a {type(value).__name__}")
    return value


def _texts(works: Array) -> list[bytes]:
    return [bytes(work) for work in np.asarray(works).reshape(-1).tolist()]


work_queue_handle_op = op(
    "WorkQueueHandleOp() -> resource: resource", "container: string = ''", "shared_name: string = ''", "stateful"
)
work_queue_handle_op.shape(lambda: SCALAR)


@work_queue_handle_op.stateful_kernel
def work_queue_handle_op_kernel(ctx: KernelContext, *, container: bytes, shared_name: bytes) -> WorkQueue:
    return ctx.shared(container, shared_name, WorkQueue, WorkQueue)


def _changing(signature: str, *clauses: str) -> OpSpec:
    """An op that changes a queue and gives nothing."""
    made = op(signature, *clauses)
    made.shape(lambda *_: ())
    return made


def _asking(signature: str, shape: Shape, *clauses: str) -> OpSpec:
    """An op that gives a tensor of a shape."""
    made = op(signature, *clauses)
    made.shape(lambda *_: shape)
    return made


work_queue_is_initialized = _asking("WorkQueueIsInitialized(handle: resource) -> is_initialized: bool", SCALAR)


@work_queue_is_initialized.kernel
def work_queue_is_initialized_kernel(handle: Handle) -> np.bool_:
    return np.bool_(_queue(handle).is_created)


work_queue_create = _changing("WorkQueueCreate(handle: resource)", "shared_name: string")


@work_queue_create.kernel
def work_queue_create_kernel(handle: Handle, *, shared_name: bytes) -> tuple[()]:
    _queue(handle).create(shared_name.decode())
    return ()


work_queue_put = _changing("WorkQueuePut(handle: resource, works: string)", "stateful")


@work_queue_put.kernel
def work_queue_put_kernel(handle: Handle, works: Array) -> tuple[()]:
    _queue(handle).put(_texts(works))
    return ()


work_queue_close = _changing("WorkQueueClose(handle: resource)", "stateful")


@work_queue_close.kernel
def work_queue_close_kernel(handle: Handle) -> tuple[()]:
    _queue(handle).close()
    return ()


work_queue_restore = _changing("WorkQueueRestore(handle: resource, works: string)", "stateful")


@work_queue_restore.kernel
def work_queue_restore_kernel(handle: Handle, works: Array) -> tuple[()]:
    _queue(handle).restore(_texts(works))
    return ()


# DeepRec says that the saved works are a scalar, and gives a vector.
work_queue_save = _asking("WorkQueueSave(handle: resource) -> works: string", Shape((None,)), "stateful")


@work_queue_save.kernel
def work_queue_save_kernel(handle: Handle) -> Array:
    works = _queue(handle).works()
    return string_array(works, (len(works),))


work_queue_size = _asking("WorkQueueSize(handle: resource) -> size: int64", SCALAR, "stateful")


@work_queue_size.kernel
def work_queue_size_kernel(handle: Handle) -> np.int64:
    return np.int64(len(_queue(handle).works()))


work_queue_take = _asking(
    "WorkQueueTake(handle: resource) -> work: string", SCALAR, "num_clients: int >= 1 = 1", "stateful"
)


@work_queue_take.kernel
def work_queue_take_kernel(handle: Handle) -> Array:
    return string_array([_queue(handle).take()], ())


not_differentiable(
    work_queue_handle_op,
    work_queue_save,
    work_queue_create,
    work_queue_restore,
    work_queue_is_initialized,
    work_queue_put,
    work_queue_take,
    work_queue_size,
    work_queue_close,
)
