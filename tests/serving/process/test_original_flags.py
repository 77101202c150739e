"""The command line of the original: every flag with its type and default, and the syntax."""

from __future__ import annotations

import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.parallel import processors
from tensorkeep.serving.process.options import ModelPlace
from tensorkeep.serving.process.original_flags import (
    FLAGS,
    OURS,
    UnknownFlagError,
    WrongFlagError,
    channel_arguments,
    options_of,
    parse_flags,
    usage_text,
)

MODEL = "--model_base_path=/models/m"
DEFAULTS = {
    "port": 8500,
    "grpc_socket_path": "",
    "rest_api_port": 0,
    "rest_api_num_threads": 4 * processors(),
    "rest_api_timeout_in_ms": 30000,
    "rest_api_enable_cors_support": False,
    "model_name": "default",
    "model_base_path": "",
    "model_config_file": "",
    "model_config_file_poll_wait_seconds": 0,
    "allow_version_labels_for_unavailable_models": False,
    "file_system_poll_wait_seconds": 1,
    "max_num_load_retries": 5,
    "load_retry_interval_micros": 60000000,
    "num_load_threads": 0,
    "num_unload_threads": 0,
    "saved_model_tags": "serve",
    "enable_model_warmup": True,
    "num_request_iterations_for_warmup": 0,
    "enable_batching": False,
    "batching_parameters_file": "",
    "enable_per_model_batching_parameters": False,
    "monitoring_config_file": "",
    "ssl_config_file": "",
    "grpc_channel_arguments": "",
    "grpc_max_threads": 4 * processors(),
    "enable_grpc_healthcheck_service": False,
    "enable_signature_method_name_check": False,
    "enable_serialization_as_tensor_content": False,
    "flush_filesystem_caches": True,
    "remove_unused_fields_from_bundle_metagraph": True,
    "tensorflow_session_parallelism": 0,
    "tensorflow_intra_op_parallelism": 0,
    "tensorflow_inter_op_parallelism": 0,
    "per_process_gpu_memory_fraction": 0.0,
    "version": False,
    "use_alts_credentials": False,
    "platform_config_file": "",
    "tensorflow_session_config_file": "",
    "prefer_tflite_model": False,
    "num_tflite_pools": processors(),
    "num_tflite_interpreters_per_pool": 1,
    "xla_cpu_compilation_enabled": False,
    "xla_gpu_compilation_enabled": False,
    "enable_profiler": True,
    "thread_pool_factory_config_file": "",
    "mixed_precision": "",
    "skip_initialize_tpu": False,
}


def test_every_flag_of_the_original_is_known_with_its_default() -> None:
    assert dict(parse_flags([]).values) == DEFAULTS | {flag.name: flag.default for flag in OURS}
    assert [type(flag.default) for flag in FLAGS] == [type(value) for value in DEFAULTS.values()]


@pytest.mark.parametrize(
    ("argument", "name", "value"),
    [
        ("--port=0", "port", 0),
        ("--port=-1", "port", -1),
        ("--load_retry_interval_micros=60000000000", "load_retry_interval_micros", 60_000_000_000),
        ("--per_process_gpu_memory_fraction=0.5", "per_process_gpu_memory_fraction", 0.5),
        ("--model_name=", "model_name", ""),
        ("--model_name=a=b", "model_name", "a=b"),
        ("--enable_batching", "enable_batching", True),
        ("--enable_batching=TRUE", "enable_batching", True),
        ("--enable_model_warmup=False", "enable_model_warmup", False),
    ],
)
def test_values_are_understood_as_the_original_does(argument: str, name: str, value: object) -> None:
    assert parse_flags([argument]).values[name] == value


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--port=x", "Couldn't interpret value x for flag port."),
        ("--port=", "Couldn't interpret value  for flag port."),
        ("--port=1.5", "Couldn't interpret value 1.5 for flag port."),
        ("--port=3000000000", "Couldn't interpret value 3000000000 for flag port."),
        (
            "--per_process_gpu_memory_fraction=half",
            "Couldn't interpret value half for flag per_process_gpu_memory_fraction.",
        ),
        ("--enable_batching=1", "Couldn't interpret value =1 for flag enable_batching."),
        ("--enable_batching=yes", "Couldn't interpret value =yes for flag enable_batching."),
    ],
)
def test_a_value_that_cannot_be_is_an_error(argument: str, message: str) -> None:
    with pytest.raises(WrongFlagError) as caught:
        parse_flags(["strange", argument])
    assert str(caught.value) == message


@pytest.mark.parametrize("argument", ["--prot=8500", "-port=8500", "--port", "8500", "--help", "--enable_batchingx"])
def test_what_is_no_flag_is_an_error(argument: str) -> None:
    with pytest.raises(UnknownFlagError, match=f"^unknown argument: {argument}$"):
        parse_flags([MODEL, argument, "--other"])


def test_the_later_flag_counts() -> None:
    assert parse_flags(["--port=1", "--port=2"]).values["port"] == 2


def test_flags_that_mean_nothing_here_say_why_in_a_line() -> None:
    flags = parse_flags([MODEL, "--enable_profiler=false", "--use_alts_credentials", "--port=1"])
    notes = list(flags.notes())
    assert [note.partition(" is accepted")[0] for note in notes] == ["--enable_profiler", "--use_alts_credentials"]
    assert all("\n" not in flag.idle for flag in FLAGS)


def test_the_usage_lists_every_flag_with_its_default() -> None:
    usage = usage_text("server")
    assert usage.startswith("usage: server\nFlags:\n\t--port=8500 ")
    assert '\t--model_name="default"' in usage
    assert "\t--enable_batching=false" in usage
    assert usage.count("\n") == len(FLAGS) + len(OURS) + 2


def test_flags_become_options() -> None:
    options = options_of(
        parse_flags(
            [
                "--port=1",
                "--rest_api_port=2",
                "--rest_api_timeout_in_ms=-1",
                "--model_name=m",
                MODEL,
                "--saved_model_tags=serve,tpu",
                "--load_retry_interval_micros=-5",
                "--grpc_channel_arguments=grpc.max_concurrent_streams=7,grpc.lb_policy_name=rr",
            ]
        )
    )
    assert options.models == (ModelPlace("m", "/models/m"),)
    assert (options.listening.grpc_port, options.listening.rest_port, options.listening.rest_seconds) == (1, 2, None)
    assert options.listening.grpc_arguments == (("grpc.max_concurrent_streams", 7), ("grpc.lb_policy_name", "rr"))
    assert (options.loading.tags, options.loading.retry_seconds) == (("serve", "tpu"), 0)
    assert not options.listening.has_metrics


def test_arguments_of_channels_that_mean_nothing_are_told() -> None:
    flags = parse_flags([MODEL, "--grpc_channel_arguments=grpc.max_concurrent_streams=7,grpc.lb_policy_name=rr,x"])
    assert list(flags.notes()) == [
        '--grpc_channel_arguments: "x" has no value and is left out',
        '--grpc_channel_arguments: "grpc.lb_policy_name" means nothing here and is left out',
    ]


def test_a_rest_port_that_is_the_port_of_grpc_is_left_out_and_told() -> None:
    flags = parse_flags([MODEL, "--port=9", "--rest_api_port=9"])
    assert options_of(flags).listening.rest_port is None
    assert list(flags.notes()) == ["--rest_api_port is the same as --port, and HTTP/REST is left out"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [MODEL, "--port=0"],
            "At least one of server_options.grpc_port or server_options.grpc_socket_path must be set.",
        ),
        ([], "Both server_options.model_base_path and server_options.model_config_file are empty!"),
        (
            [MODEL, "--batching_parameters_file=b"],
            "server_options.batching_parameters_file is set without setting server_options.enable_batching to true.",
        ),
    ],
)
def test_contradictions_are_refused_in_the_words_of_the_original(arguments: list[str], message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        options_of(parse_flags(arguments))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "arguments",
    [
        ["--use_alts_credentials", "--ssl_config_file=s"],
        [f"--tensorflow_{kind}_parallelism=2" for kind in ("session", "intra_op", "inter_op")],
    ],
)
def test_other_contradictions_are_refused(arguments: list[str]) -> None:
    with pytest.raises(InvalidArgumentError):
        options_of(parse_flags([MODEL, *arguments]))


def test_arguments_of_channels_are_numbers_where_they_read_as_such() -> None:
    assert channel_arguments("a=1,b=x,a=2,c=3000000000,d") == (("a", 2), ("b", "x"), ("c", "3000000000"))
