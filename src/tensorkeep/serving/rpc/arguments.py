"""The channel arguments of gRPC that `--grpc_channel_arguments` sets, and the options of this server they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from tensorkeep.serving.http2.frames import LARGEST_FRAME, LARGEST_WINDOW, USUAL_FRAME, USUAL_WINDOW
from tensorkeep.serving.http2.limits import Limits
from tensorkeep.serving.rpc.wire import DEFLATE, GZIP, IDENTITY

Arguments: TypeAlias = Sequence[tuple[str, int | str]]

LARGEST: Final = (1 << 31) - 1
_ALGORITHMS: Final = {0: IDENTITY, 1: DEFLATE, 2: GZIP}


@dataclass(frozen=True, slots=True)
class Transfer:
    """How calls are carried: connections, and messages on them."""

    limits: Limits = field(default_factory=Limits)
    most_received: int = LARGEST
    """Bytes of one message; TensorFlow Serving has no smaller limit."""
    most_sent: int = LARGEST
    answer_encoding: bytes = IDENTITY
    """What answers are compressed by, for clients that take it."""
    shares_port: bool | None = None
    """Whether other processes may listen on the same port; None for what the server needs."""


_Change: TypeAlias = Callable[[Transfer, int], Transfer]


def _changed_option(transfer: Transfer, name: str, value: Any) -> Transfer:
    return replace(transfer, **{name: value})


def _changed_limit(transfer: Transfer, name: str, value: Any) -> Transfer:
    changed: dict[str, Any] = {name: value}
    return replace(transfer, limits=replace(transfer.limits, **changed))


def _limit(name: str, least: int, most: int = LARGEST) -> _Change:
    """A limit that is a count."""
    return lambda transfer, value: _changed_limit(transfer, name, min(max(value, least), most))


def _seconds(name: str) -> _Change:
    """A limit that is a time, in milliseconds; the largest number is for ever."""
    return lambda transfer, value: _changed_limit(
        transfer, name, float("inf") if value == LARGEST else max(value, 1) / 1000
    )


def _size(name: str) -> _Change:
    """A size of messages; below 0 there is none."""
    return lambda transfer, value: _changed_option(transfer, name, LARGEST if value < 0 else value)


def _switch(name: str) -> _Change:
    return lambda transfer, value: _changed_limit(transfer, name, bool(value))


def _algorithm(transfer: Transfer, value: int) -> Transfer:
    return replace(transfer, answer_encoding=_ALGORITHMS.get(value, IDENTITY))


def _level(transfer: Transfer, value: int) -> Transfer:
    return replace(transfer, answer_encoding=GZIP if value > 0 else IDENTITY)


def _shared_port(transfer: Transfer, value: int) -> Transfer:
    return replace(transfer, shares_port=bool(value))


_MEANINGS: Final[Mapping[str, _Change]] = {
    "grpc.max_receive_message_length": _size("most_received"),
    "grpc.max_message_length": _size("most_received"),
    "grpc.max_send_message_length": _size("most_sent"),
    "grpc.max_concurrent_streams": _limit("streams", 1),
    "grpc.max_metadata_size": _limit("header_list", 1 << 10, 1 << 24),
    "grpc.absolute_max_metadata_size": _limit("header_list", 1 << 10, 1 << 24),
    "grpc.http2.max_frame_size": _limit("frame", USUAL_FRAME, LARGEST_FRAME),
    "grpc.http2.lookahead_bytes": _limit("stream_window", USUAL_WINDOW, LARGEST_WINDOW),
    "grpc.max_connection_idle_ms": _seconds("idle_seconds"),
    "grpc.max_connection_age_ms": _seconds("age_seconds"),
    "grpc.max_connection_age_grace_ms": _seconds("age_grace_seconds"),
    "grpc.keepalive_time_ms": _seconds("ping_seconds"),
    "grpc.keepalive_timeout_ms": _seconds("ping_answer_seconds"),
    "grpc.keepalive_permit_without_calls": _switch("pings_without_calls"),
    "grpc.http2.min_ping_interval_without_data_ms": _seconds("least_ping_seconds"),
    "grpc.http2.max_ping_strikes": _limit("ping_strikes", 0),
    "grpc.server_handshake_timeout_ms": _seconds("handshake_seconds"),
    "grpc.default_compression_algorithm": _algorithm,
    "grpc.default_compression_level": _level,
    "grpc.so_reuseport": _shared_port,
}


def transfer_of(arguments: Arguments) -> Transfer:
    """The options that these arguments ask for. Arguments without a meaning here, or with a wrong value, change
    nothing.
    """
    transfer = Transfer()
    for name, value in arguments:
        if name in _MEANINGS and isinstance(value, int):
            transfer = _MEANINGS[name](transfer, value)
    return transfer


def notes_on(arguments: Arguments) -> Iterator[str]:
    """A line for each argument that changes nothing."""
    for name, value in arguments:
        if name not in _MEANINGS:
            yield f'"{name}" means nothing here and is left out'
        elif not isinstance(value, int):
            yield f'"{name}" is "{value}", expected a whole number, and is left out'
