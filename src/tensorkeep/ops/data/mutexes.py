"""Locks between runs: what critical sections are made of.

MutexLock waits until it has the lock, and ConsumeMutexLock is what it is held up to. A lock that nothing consumes is
given back at once, and one whose run fails, when that ends.
"""

from __future__ import annotations

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.data._mutex_values import HeldMutex, Mutex
from tensorkeep.ops.shared.kernel_types import Handle
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.locks import note_held

mutex_v2 = op("MutexV2() -> resource: resource", "container: string = ''", "shared_name: string = ''", "stateful")
mutex_v2.shape(lambda: SCALAR)


@mutex_v2.stateful_kernel
def mutex_v2_kernel(ctx: KernelContext, *, container: bytes, shared_name: bytes) -> Mutex:
    return ctx.shared(container, shared_name, Mutex, Mutex)


mutex_lock = op("MutexLock(mutex: resource) -> mutex_lock: variant :: MUTEX_LOCK", "stateful")
mutex_lock.shape(lambda _: SCALAR)


@mutex_lock.kernel
def mutex_lock_kernel(mutex: Handle) -> HeldMutex:
    if not isinstance(mutex, Mutex):
        raise InvalidArgumentError(f"expected a mutex, got a {type(mutex).__name__}")
    held = mutex.acquire()
    note_held(held)
    return held


consume_mutex_lock = op("ConsumeMutexLock(mutex_lock: variant)", "stateful")
consume_mutex_lock.shape(lambda _: ())


@consume_mutex_lock.kernel
def consume_mutex_lock_kernel(mutex_lock: Handle) -> tuple[()]:
    found = mutex_lock.item() if isinstance(mutex_lock, np.ndarray) and mutex_lock.size == 1 else mutex_lock
    if not isinstance(found, HeldMutex):
        raise InvalidArgumentError(f"expected a lock that is held, got a {type(found).__name__}")
    found.release()
    return ()


not_differentiable(mutex_lock, consume_mutex_lock)
