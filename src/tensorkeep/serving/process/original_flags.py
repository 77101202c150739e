"""The command line of TensorFlow Serving's `tensorflow_model_server`, read by its rules.

    --name=value        a number or a text; "--name value" is not known
    --name              a switch, as --name=true; --name=false is off, in any case of letters, and "=1" is an error

A flag that stands twice has its later value. Every flag of the original is known: most are honoured, and for one that
means nothing here there is a line that says why. An argument that is no flag is refused; the original says that it does
not know it, and starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.parallel import processors
from tensorkeep.serving.process.options import (
    BatchOptions,
    Listening,
    Loading,
    ModelPlace,
    Security,
    ServerOptions,
)
from tensorkeep.serving.rpc.arguments import notes_on

Value = bool | int | float | str

_LIMITS: Final = {"int32": 2**31, "int64": 2**63}
_NO_SESSION: Final = "there is no TensorFlow session here, and nothing to configure in one"
_NO_XLA: Final = "there is no XLA here"
_NO_TFLITE: Final = "TensorFlow Lite models are not run here; a version that has nothing else fails to load"
_NO_THREADS: Final = "connections are served by one event loop in each worker, not by a thread each"


class Flag(NamedTuple):
    """A flag of the original: its type, its default, what it is for, and why it means nothing here if it does not."""

    name: str
    kind: str
    """int32, int64, float, bool or string, in the original's words."""
    default: Value
    about: str
    idle: str = ""


FLAGS: Final = (
    Flag("port", "int32", 8500, "TCP port to listen on for gRPC. Disabled if port set to zero."),
    Flag("grpc_socket_path", "string", "", "Unix socket to listen on for gRPC, relative or absolute."),
    Flag("rest_api_port", "int32", 0, "Port to listen on for HTTP/REST. Disabled if port set to zero."),
    Flag("rest_api_num_threads", "int32", 4 * processors(), "Number of threads for HTTP/REST.", _NO_THREADS),
    Flag("rest_api_timeout_in_ms", "int32", 30000, "Timeout for HTTP/REST requests; none if not positive."),
    Flag("rest_api_enable_cors_support", "bool", False, "Answer requests of pages of other sites (CORS)."),
    Flag("model_name", "string", "default", "Name of the model; ignored with model_config_file."),
    Flag("model_base_path", "string", "", "Folder of the model's versions; required without model_config_file."),
    Flag("model_config_file", "string", "", "ModelServerConfig in text format: the models to serve."),
    Flag("model_config_file_poll_wait_seconds", "int32", 0, "Seconds between two looks at model_config_file; 0: none."),
    Flag("allow_version_labels_for_unavailable_models", "bool", False, "Labels may name versions yet to be loaded."),
    Flag("file_system_poll_wait_seconds", "int32", 1, "Seconds between two looks for versions; 0: at start only."),
    Flag("max_num_load_retries", "int32", 5, "How often a load that failed is tried again."),
    Flag("load_retry_interval_micros", "int64", 60_000_000, "Microseconds between these tries; negative: none."),
    Flag("num_load_threads", "int32", 0, "Threads that load versions; 0: one after the other."),
    Flag(
        "num_unload_threads", "int32", 0, "Threads that unload versions; 0: one after the other.",
        "each version is unloaded by a thread of its own, which keeps nobody waiting",
    ),
    Flag("saved_model_tags", "string", "serve", "Comma-separated tags of the meta graph to load."),
    Flag("enable_model_warmup", "bool", True, "Send the requests in assets.extra/tf_serving_warmup_requests first."),
    Flag("num_request_iterations_for_warmup", "int32", 0, "How often each of these is sent; 0: by the model."),
    Flag("enable_batching", "bool", False, "Join requests into batches."),
    Flag("batching_parameters_file", "string", "", "BatchingParameters in text format; with enable_batching."),
    Flag("enable_per_model_batching_parameters", "bool", False, "Look for batching_params.pbtxt in version folders."),
    Flag("monitoring_config_file", "string", "", "MonitoringConfig in text format."),
    Flag("ssl_config_file", "string", "", "SSLConfig in text format: TLS for gRPC."),
    Flag("grpc_channel_arguments", "string", "", "Comma-separated key=value arguments of gRPC."),
    Flag("grpc_max_threads", "int32", 4 * processors(), "Threads of gRPC.", _NO_THREADS),
    Flag(
        "enable_grpc_healthcheck_service", "bool", False, "Offer grpc.health.v1.Health.",
        "the health service is always offered",
    ),
    Flag("enable_signature_method_name_check", "bool", False, "Check method_name of signatures."),
    Flag("enable_serialization_as_tensor_content", "bool", False, "Answer Predict in tensor_content."),
    Flag(
        "flush_filesystem_caches", "bool", True, "Drop model files from the page cache after loading.",
        "weights are used where they lie, in the pages of their files, which all workers share",
    ),
    Flag(
        "remove_unused_fields_from_bundle_metagraph", "bool", True, "Keep only signatures of the meta graph.",
        "what a loaded model does not need of its meta graph is not kept in any case",
    ),
    Flag("tensorflow_session_parallelism", "int64", 0, "Threads for running a model; 0: automatic."),
    Flag("tensorflow_intra_op_parallelism", "int64", 0, "Threads for one operation; 0: automatic."),
    Flag(
        "tensorflow_inter_op_parallelism", "int64", 0, "Operations that run at once; 0: automatic.",
        "operations of one request run one after the other; requests run beside each other",
    ),
    Flag(
        "per_process_gpu_memory_fraction", "float", 0.0, "Share of the GPU's memory.",
        "models run on the processor",
    ),
    Flag("version", "bool", False, "Display version."),
    Flag("use_alts_credentials", "bool", False, "Use Google ALTS credentials.", "ALTS is only there inside of Google"),
    Flag("platform_config_file", "string", "", "PlatformConfigMap in text format."),
    Flag("tensorflow_session_config_file", "string", "", "ConfigProto in text format.", _NO_SESSION),
    Flag("prefer_tflite_model", "bool", False, "Prefer model.tflite.", _NO_TFLITE),
    Flag("num_tflite_pools", "int32", processors(), "Pools of TFLite interpreters.", _NO_TFLITE),
    Flag("num_tflite_interpreters_per_pool", "int32", 1, "TFLite interpreters in a pool.", _NO_TFLITE),
    Flag("xla_cpu_compilation_enabled", "bool", False, "Compile for CPU by XLA.", _NO_XLA),
    Flag("xla_gpu_compilation_enabled", "bool", False, "Compile for GPU by XLA.", _NO_XLA),
    Flag(
        "enable_profiler", "bool", True, "Offer the profiler service.",
        "the profiler traces TensorFlow, which is not here; calls of its service are answered by UNIMPLEMENTED",
    ),
    Flag("thread_pool_factory_config_file", "string", "", "ThreadPoolFactoryConfig in text format.", _NO_SESSION),
    Flag(
        "mixed_precision", "string", "", 'Rewrite graphs to "bfloat16".',
        "graphs are run as they are; a model can be converted before it is served",
    ),
    Flag("skip_initialize_tpu", "bool", False, "Do not initialize TPUs.", "there are no TPUs here"),
)  # fmt: skip
"""Those of the original."""
OURS: Final = (
    Flag("workers", "int32", 1, "Processes that share the ports and the weights. Not of the original."),
    Flag("host", "string", "", "Address to listen on; all of them if empty. Not of the original."),
    Flag("token_file", "string", "", "Bearer tokens, one in each line. Not of the original."),
)
_BY_NAME: Final = {flag.name: flag for flag in (*FLAGS, *OURS)}


class WrongFlagError(InvalidArgumentError):
    """A flag has a value that it cannot have."""


class UnknownFlagError(InvalidArgumentError):
    """An argument is no flag."""


@dataclass(frozen=True, slots=True)
class GivenFlags:
    """The values of all flags, and the names of those that were given, in order."""

    values: Mapping[str, Value]
    given: tuple[str, ...]

    def text(self, name: str) -> str:
        """The value of a flag whose values are texts."""
        return str(self.values[name])

    def number(self, name: str) -> int:
        """The value of a flag whose values are whole numbers."""
        return int(self.values[name])

    def is_on(self, name: str) -> bool:
        """The value of a switch."""
        return bool(self.values[name])

    def notes(self) -> Iterator[str]:
        """A line for each flag that was given and means nothing here."""
        for name in self.given:
            if idle := _BY_NAME[name].idle:
                yield f"--{name} is accepted and has no effect: {idle}"
        for part in self.text("grpc_channel_arguments").split(","):
            if part and "=" not in part:
                yield f'--grpc_channel_arguments: "{part}" has no value and is left out'
        for note in notes_on(channel_arguments(self.text("grpc_channel_arguments"))):
            yield f"--grpc_channel_arguments: {note}"
        if self.number("rest_api_port") and self.number("rest_api_port") == self.number("port"):
            yield "--rest_api_port is the same as --port, and HTTP/REST is left out"


def parse_flags(arguments: Sequence[str]) -> GivenFlags:
    """The flags of a command line; WrongFlagError or UnknownFlagError for the first argument that is wrong.

    Wrong values are found before unknown arguments are, wherever they stand.
    """
    values: dict[str, Value] = {name: flag.default for name, flag in _BY_NAME.items()}
    given: list[str] = []
    unknown: list[str] = []
    for argument in arguments:
        name, equals, text = argument.removeprefix("--").partition("=")
        flag = _BY_NAME.get(name) if argument.startswith("--") else None
        if flag is None or (flag.kind != "bool" and not equals):
            unknown.append(argument)
            continue
        values[name] = _value(flag, equals, text)
        given.append(name)
    if unknown:
        raise UnknownFlagError(f"unknown argument: {unknown[0]}")
    return GivenFlags(values, tuple(dict.fromkeys(given)))


def _value(flag: Flag, equals: str, text: str) -> Value:
    """What a flag is set to. Of a switch the original quotes the equals sign with the value."""
    if flag.kind == "string":
        return text
    if flag.kind == "bool":
        found = True if not equals else {"true": True, "false": False}.get(text.lower())
        if found is None:
            raise WrongFlagError(f"Couldn't interpret value ={text} for flag {flag.name}.")
        return found
    try:
        if flag.kind == "float":
            return float(text)
        number = int(text) if re.fullmatch(r"\s*[+-]?[0-9]+\s*", text, re.ASCII) else None
    except ValueError:
        number = None
    if number is None or not -_LIMITS[flag.kind] <= number < _LIMITS[flag.kind]:
        raise WrongFlagError(f"Couldn't interpret value {text} for flag {flag.name}.")
    return number


def usage_text(program: str) -> str:
    """What is said of all flags, in the original's form."""
    lines = [
        f"\t--{f'{flag.name}={_default_text(flag)}'.ljust(33)}\t{flag.kind}\t{flag.about}\n"
        for flag in _BY_NAME.values()
    ]
    return f"usage: {program}\nFlags:\n{''.join(lines)}"


def _default_text(flag: Flag) -> str:
    """A default value as the usage shows it."""
    if flag.kind == "bool":
        return str(flag.default).lower()
    return (
        f'"{flag.default}"'
        if flag.kind == "string"
        else f"{flag.default:g}"
        if flag.kind == "float"
        else f"{flag.default}"
    )


# ---------------------------------------------------------------------------------------------------------- As options


def options_of(flags: GivenFlags) -> ServerOptions:
    """What the flags tell a server; InvalidArgumentError where they contradict each other, in the original's words."""
    _refuse_contradictions(flags)
    has_config = bool(flags.text("model_config_file"))
    place = ModelPlace(flags.text("model_name"), flags.text("model_base_path"))
    return ServerOptions(
        models=() if has_config else (place,),
        config_file=flags.text("model_config_file"),
        listening=_listening(flags),
        security=Security(ssl_config_file=flags.text("ssl_config_file"), token_file=flags.text("token_file")),
        loading=_loading(flags),
        batching=BatchOptions(
            is_on=flags.is_on("enable_batching"),
            parameters_file=flags.text("batching_parameters_file"),
            by_model=flags.is_on("enable_per_model_batching_parameters"),
            needs_own=flags.is_on("enable_per_model_batching_parameters"),
        ),
        workers=flags.number("workers"),
        threads=flags.number("tensorflow_intra_op_parallelism") or flags.number("tensorflow_session_parallelism"),
        checks_method_names=flags.is_on("enable_signature_method_name_check"),
        writes_tensor_content=flags.is_on("enable_serialization_as_tensor_content"),
    )


def _refuse_contradictions(flags: GivenFlags) -> None:
    if not (flags.number("port") or flags.text("grpc_socket_path")):
        raise InvalidArgumentError(
            "At least one of server_options.grpc_port or server_options.grpc_socket_path must be set."
        )
    if not (flags.text("model_base_path") or flags.text("model_config_file")):
        raise InvalidArgumentError(
            "Both server_options.model_base_path and server_options.model_config_file are empty!"
        )
    if flags.is_on("use_alts_credentials") and flags.text("ssl_config_file"):
        raise InvalidArgumentError("ALTS and SSL credentials cannot both be used: --use_alts_credentials is set with "
                                   "--ssl_config_file")  # fmt: skip
    if flags.text("batching_parameters_file") and not flags.is_on("enable_batching"):
        raise InvalidArgumentError(
            "server_options.batching_parameters_file is set without setting server_options.enable_batching to true."
        )
    kinds = ("session", "intra_op", "inter_op")
    if all(flags.number(f"tensorflow_{kind}_parallelism") > 0 for kind in kinds):
        raise InvalidArgumentError(
            "Either tensorflow_session_parallelism, or tensorflow_intra_op_parallelism and "
            "tensorflow_inter_op_parallelism can be set, not all three."
        )


def _listening(flags: GivenFlags) -> Listening:
    timeout = flags.number("rest_api_timeout_in_ms")
    rest_port = flags.number("rest_api_port")
    return Listening(
        host=flags.text("host"),
        grpc_port=flags.number("port") or None,
        grpc_socket=flags.text("grpc_socket_path"),
        rest_port=None if rest_port == flags.number("port") else rest_port or None,
        rest_may_fail=True,
        rest_seconds=timeout / 1000 if timeout > 0 else None,
        allows_other_origins=flags.is_on("rest_api_enable_cors_support"),
        grpc_arguments=channel_arguments(flags.text("grpc_channel_arguments")),
        has_metrics=False,  # unless the file says so
        monitoring_file=flags.text("monitoring_config_file"),
    )


def _loading(flags: GivenFlags) -> Loading:
    return Loading(
        poll_seconds=flags.number("file_system_poll_wait_seconds"),
        config_poll_seconds=flags.number("model_config_file_poll_wait_seconds"),
        retries=flags.number("max_num_load_retries"),
        retry_seconds=max(0, flags.number("load_retry_interval_micros")) / 1e6,
        load_threads=flags.number("num_load_threads"),
        tags=tuple(tag for tag in flags.text("saved_model_tags").split(",") if tag),
        warms_up=flags.is_on("enable_model_warmup"),
        warm_up_iterations=flags.number("num_request_iterations_for_warmup"),
        labels_may_wait=flags.is_on("allow_version_labels_for_unavailable_models"),
        platform_file=flags.text("platform_config_file"),
    )


def channel_arguments(text: str) -> tuple[tuple[str, int | str], ...]:
    """Arguments of gRPC, "key=value,key=value": what reads as a number of 32 bits is one. The last of a key counts."""
    found: dict[str, int | str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if equals:
            is_number = re.fullmatch(r"[+-]?[0-9]+", value, re.ASCII) and -(2**31) <= int(value) < 2**31
            found[key] = int(value) if is_number else value
    return tuple(found.items())
