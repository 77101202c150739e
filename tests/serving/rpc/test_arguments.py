"""The arguments of gRPC's channels: each has its meaning here, or a line that says that it has none."""

from __future__ import annotations

from dataclasses import replace

from tensorkeep.serving.http2.limits import Limits
from tensorkeep.serving.rpc.arguments import Transfer, notes_on, transfer_of
from tensorkeep.serving.rpc.wire import GZIP, IDENTITY

LARGEST = (1 << 31) - 1


def test_without_arguments_all_is_as_it_is() -> None:
    assert transfer_of(()) == Transfer()
    assert transfer_of((("grpc.lb_policy_name", "x"), ("grpc.max_concurrent_streams", "many"))) == Transfer()


def test_arguments_set_limits() -> None:
    found = transfer_of(
        (
            ("grpc.max_receive_message_length", 5),
            ("grpc.max_send_message_length", -1),
            ("grpc.max_concurrent_streams", 7),
            ("grpc.max_metadata_size", 9000),
            ("grpc.http2.max_frame_size", 1 << 20),
            ("grpc.http2.lookahead_bytes", 1 << 22),
            ("grpc.max_connection_idle_ms", 1500),
            ("grpc.max_connection_age_ms", 2500),
            ("grpc.max_connection_age_grace_ms", LARGEST),
            ("grpc.keepalive_time_ms", 3500),
            ("grpc.keepalive_timeout_ms", 4500),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_ping_interval_without_data_ms", 5500),
            ("grpc.http2.max_ping_strikes", 0),
            ("grpc.server_handshake_timeout_ms", 6500),
            ("grpc.default_compression_algorithm", 2),
            ("grpc.so_reuseport", 0),
        )
    )
    assert found == Transfer(
        limits=replace(
            Limits(),
            streams=7,
            header_list=9000,
            frame=1 << 20,
            stream_window=1 << 22,
            idle_seconds=1.5,
            age_seconds=2.5,
            age_grace_seconds=float("inf"),
            ping_seconds=3.5,
            ping_answer_seconds=4.5,
            pings_without_calls=True,
            least_ping_seconds=5.5,
            ping_strikes=0,
            handshake_seconds=6.5,
        ),
        most_received=5,
        answer_encoding=GZIP,
        shares_port=False,
    )


def test_values_that_cannot_be_are_the_nearest_that_can() -> None:
    found = transfer_of((("grpc.http2.max_frame_size", 1), ("grpc.max_concurrent_streams", 0)))
    assert (found.limits.frame, found.limits.streams) == (1 << 14, 1)
    assert transfer_of((("grpc.default_compression_level", 0),)).answer_encoding == IDENTITY
    assert transfer_of((("grpc.default_compression_level", 3),)).answer_encoding == GZIP


def test_what_means_nothing_is_told() -> None:
    notes = list(
        notes_on((("grpc.lb_policy_name", "x"), ("grpc.max_concurrent_streams", "many"), ("grpc.so_reuseport", 1)))
    )
    assert notes == [
        '"grpc.lb_policy_name" means nothing here and is left out',
        '"grpc.max_concurrent_streams" is "many", expected a whole number, and is left out',
    ]
