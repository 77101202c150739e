"""Arrays of JAX: on one device, or sharded over several.

JAX's arrays never change. One that arrives in pieces is made of zeros on its device, and each piece takes its place in
it by a compiled step that is given the old array's memory: so the device never holds it twice. One that is saved is
copied off its device in pieces: the next one is on its way while one is written.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.slices.tensor_slice import Box, TensorSlice, whole_box
from tensorkeep.checkpoint.stretches import Bytes
from tensorkeep.devices.frameworks import Framework, Piece, Target, Wait
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, NotFoundError, ResourceExhaustedError, UnimplementedError


def framework() -> Framework:
    """JAX as a framework to load into."""
    return JaxFramework()


class JaxFramework:
    """JAX, with the devices that this process has."""

    name = "jax"

    def refusal(self, dtype: DType) -> str | None:
        held = jax.dtypes.canonicalize_dtype(dtype.array_dtype)
        if held == dtype.array_dtype:
            return None
        return f'JAX holds {dtype} as {held} unless it is told: jax.config.update("jax_enable_x64", True)'

    def place(self, wanted: object) -> jax.Device | jax.sharding.Sharding:
        """A device, or a sharding, which is checked when shapes are known."""
        if wanted is None:
            wanted = jax.config.jax_default_device or jax.local_devices()[0]
        if isinstance(wanted, jax.Device):
            return wanted
        if isinstance(wanted, jax.sharding.Sharding):
            _require_device_memory(wanted)
            return wanted
        if isinstance(wanted, str):
            return _device_named(wanted)
        raise InvalidArgumentError(
            f'device: expected text such as "gpu:0", a device of JAX or a jax.sharding.Sharding, got {wanted!r}'
        )

    def boxes(self, place: jax.Device | jax.sharding.Sharding, shape: tuple[int, ...]) -> list[tuple[Box, Any]]:
        if not isinstance(place, jax.sharding.Sharding):
            return [(whole_box(shape), place)]
        try:
            indices = place.addressable_devices_indices_map(shape)
        except ValueError as error:
            raise InvalidArgumentError(f"a tensor of shape {list(shape)} cannot be sharded so: {error}") from None
        return [(TensorSlice.of(index, shape).box(shape), device) for device, index in indices.items()]

    def require_room(self, needed: Mapping[Any, int]) -> None:
        for device, size in needed.items():
            known = device.memory_stats() or {}
            free = known.get("bytes_limit", size) - known.get("bytes_in_use", 0)
            if size > free and "bytes_limit" in known:
                raise ResourceExhaustedError(f"{size} bytes are to go to {device}, which has {free} bytes free")

    def buffer(self, size: int) -> Bytes:
        return np.empty(size, np.uint8)  # JAX offers no pinned memory that can be written again and again

    def target(self, device: jax.Device, dtype: DType, shape: tuple[int, ...]) -> Target:
        return JaxTarget(device, dtype.array_dtype, shape)

    def assembled(
        self, place: jax.Device | jax.sharding.Sharding, shape: tuple[int, ...], targets: Sequence[Target]
    ) -> jax.Array:
        arrays = [target.array().block_until_ready() for target in targets if isinstance(target, JaxTarget)]
        if not isinstance(place, jax.sharding.Sharding):
            return arrays[0]
        return jax.make_array_from_single_device_arrays(shape, place, arrays)

    def is_exhaustion(self, error: BaseException) -> bool:
        return is_exhaustion(error)


def is_exhaustion(error: BaseException) -> bool:
    """Whether an error of JAX says that a device has no memory left."""
    return isinstance(error, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(error)


class JaxTarget:
    """An array on one device of JAX."""

    def __init__(self, device: jax.Device, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self._device = device
        self._dtype = dtype
        self._shape = shape
        self._array: Any = None
        self._lock = threading.Lock()

    def put(self, piece: Piece, data: Bytes) -> Wait:
        values = data.view(self._dtype).reshape(piece.shape)
        if self._device.platform == "cpu":
            # JAX 0.10 makes an array on the CPU of NumPy's own memory, whatever `may_alias` says; this would change.
            values = values.copy()
        arrived = jax.device_put(values, self._device)
        if piece.shape == self._shape:
            self._array = arrived
            return lambda: arrived.block_until_ready()
        try:
            with self._lock:
                self._array = _with_piece(self.array(), arrived, piece.starts)
        except BaseException:
            arrived.delete()  # whoever holds the error would hold it
            raise
        return lambda: arrived.block_until_ready()

    def array(self) -> jax.Array:
        """The array with the pieces that have come so far; zeros elsewhere."""
        if self._array is None:
            self._array = jnp.zeros(self._shape, self._dtype, device=self._device)
        return self._array

    def discard(self) -> None:
        if self._array is not None and not self._array.is_deleted():
            self._array.delete()


@partial(jax.jit, donate_argnums=0)
def _with_piece(whole: Any, piece: Any, starts: tuple[int, ...]) -> Any:
    """An array with a piece of it replaced, in the memory of the array."""
    return jax.lax.dynamic_update_slice(whole, piece, starts)


def _device_named(text: str) -> Any:
    """The device of a kind and number; a kind alone stands for its first."""
    kind, _, number = text.partition(":")
    if not kind or (":" in text and not number.isdecimal()):
        raise InvalidArgumentError(f'device: expected text such as "gpu:0", got "{text}"')
    try:
        found = jax.local_devices(backend=kind)
    except RuntimeError:
        found = []
    if int(number or 0) < len(found):
        return found[int(number or 0)]
    there = {device.platform: jax.local_devices(backend=device.platform) for device in jax.local_devices()}
    there["cpu"] = jax.local_devices(backend="cpu")
    names = ", ".join(f"{kind}:{at}" for kind, devices in there.items() for at in range(len(devices)))
    raise NotFoundError(f'JAX has no device "{text}"; it has {names}')


def _require_device_memory(sharding: Any) -> None:
    kinds = {device.default_memory().kind for device in sharding.addressable_devices}
    if sharding.memory_kind is not None and kinds - {sharding.memory_kind}:
        raise UnimplementedError(
            f'a sharding in memory of the kind "{sharding.memory_kind}": arrays are loaded into the devices\' own '
            f"({', '.join(sorted(kinds))}); move them from there by jax.device_put"
        )


def require_here(array: jax.Array) -> None:
    """An error for an array that is being traced, was given away, or has parts that this process does not see."""
    if isinstance(array, jax.core.Tracer):
        raise InvalidArgumentError("it is being traced by JAX, and has no values yet: save outside of the function")
    if array.is_deleted():
        raise InvalidArgumentError("it has been deleted or donated, and has no values any more")
    if not array.is_fully_addressable:
        raise InvalidArgumentError("it has parts on devices of other processes: gather it first, or save each part")


class JaxPieces:
    """The elements of an array of JAX in their order, as arrays of NumPy of up to so many bytes."""

    def __init__(self, array: jax.Array, size: int) -> None:
        self._array = array
        self._count = max(1, size // max(array.dtype.itemsize, 1))

    def __iter__(self) -> Iterator[Array]:
        if self._array.size <= self._count or self._is_here:
            yield np.asarray(self._array)
            return
        following = self._begun(0)
        for start in range(self._count, self._array.size + self._count, self._count):
            piece, following = following, self._begun(start) if start < self._array.size else None
            yield np.asarray(piece)

    @property
    def _is_here(self) -> bool:
        """Whether NumPy can look at the array where it is."""
        return all(device.platform == "cpu" for device in self._array.devices()) and len(self._array.devices()) == 1

    def _begun(self, start: int) -> Any:
        """A piece that is on its way here."""
        count = min(self._count, self._array.size - start)
        with jax.enable_x64(True):  # for places beyond 32 bits
            piece = _piece(self._array, np.int64(start), count)
        piece.copy_to_host_async()
        return piece


@partial(jax.jit, static_argnums=2)
def _piece(array: Any, start: Any, count: int) -> Any:
    return jax.lax.dynamic_slice(array.reshape(-1), (start,), (count,))
