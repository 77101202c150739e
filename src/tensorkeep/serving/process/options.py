"""Everything that a server is told before it starts.

The values are plain and are imported without anything that computes: the process that only watches over others
(`workers`) holds them too, and hands them on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

GRPC_PORT: Final = 8500
REST_PORT: Final = 8501
METRICS_PATH: Final = "/monitoring/prometheus/metrics"
ENGINES: Final = ("numpy", "onnxruntime", "auto", "jax")
"""What may run models, by the names that `load_saved_model` has for them."""
STOP_SECONDS: Final = 30.0  # what container platforms wait between asking a process to end and killing it


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """A model and where it lies: a folder with a numbered folder for each version, or a SavedModel."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Listening:
    """Where requests come in."""

    host: str = ""
    """An address of this machine; all of them where it is empty."""
    grpc_port: int | None = GRPC_PORT
    grpc_socket: str = ""
    """The path of a Unix socket that gRPC is offered on besides; empty for none."""
    rest_port: int | None = REST_PORT
    rest_may_fail: bool = False
    """Whether gRPC is offered even if another program has the port for HTTP, as by the original."""
    rest_seconds: float | None = 30.0
    """How long a request by HTTP may take; None for any time."""
    allows_other_origins: bool = False
    """Whether pages of other sites may send requests (CORS)."""
    grpc_arguments: tuple[tuple[str, int | str], ...] = ()
    """Arguments of gRPC's channels, such as ("grpc.max_connection_age_ms", 60000)."""
    has_metrics: bool = True
    metrics_path: str = METRICS_PATH
    monitoring_file: str = ""
    """A MonitoringConfig in text format, which says the two before; empty for none."""


@dataclass(frozen=True, slots=True)
class Security:
    """Who may ask, and how the connection is protected."""

    certificate_file: str = ""
    key_file: str = ""
    client_ca_file: str = ""
    """The authorities that clients' certificates must be signed by; empty where clients need none."""
    ssl_config_file: str = ""
    """An SSLConfig in text format with the texts of the certificates; it is for gRPC only, as the original's."""
    token_file: str = ""
    """A token in each line; a request has to carry one of them."""


@dataclass(frozen=True, slots=True)
class Loading:
    """How versions of models are found and loaded."""

    poll_seconds: float = 1.0
    """Between two looks for new versions; 0 for one look at the start."""
    config_poll_seconds: float = 0.0
    """Between two looks at the configuration file; 0 for one at the start."""
    retries: int = 5
    retry_seconds: float = 60.0
    load_threads: int = 0
    tags: tuple[str, ...] = ("serve",)
    warms_up: bool = True
    warm_up_iterations: int = 0
    """How often each record is sent; 0 for what the model's own configuration says."""
    validates: bool = False
    """Whether a new version has to give the recorded answers before it takes over."""
    labels_may_wait: bool = False
    """Whether a label may be given to a version that is not available yet."""
    allowed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """By model the operations that it may use besides those that only compute."""
    deltas: tuple[tuple[str, str], ...] = ()
    """By model the folder of incremental checkpoints that are put over it while it is served."""
    unloads_first: tuple[str, ...] = ()
    """The models whose old version is unloaded before a new one is loaded, for want of memory for both."""
    platform_file: str = ""
    engine: str = "numpy"
    """What runs models, as `load_saved_model` has it."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How requests are joined."""

    is_on: bool = False
    parameters_file: str = ""
    by_model: bool = False
    """Whether a version's folder may have parameters of its own."""
    needs_own: bool = False
    """Whether a version that has none of its own is not batched, as by the original."""
    message: bytes = b""
    """BatchingParameters, in the place of the file."""


@dataclass(frozen=True, slots=True)
class TrafficRules:
    """What is done with requests besides answering them, each as it was written on the command line."""

    canaries: tuple[str, ...] = ()
    """NAME=VERSION:PERCENT"""
    shadows: tuple[str, ...] = ()
    """NAME=VERSION:PERCENT"""
    limits: tuple[str, ...] = ()
    """NAME=concurrency:8,queue:64"""
    request_logs: tuple[str, ...] = ()
    """NAME=PREFIX:RATE"""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Everything that a server is told."""

    models: tuple[ModelPlace, ...] = ()
    config_file: str = ""
    """A ModelServerConfig in text format, in the place of `models`."""
    listening: Listening = field(default_factory=Listening)
    security: Security = field(default_factory=Security)
    loading: Loading = field(default_factory=Loading)
    batching: BatchOptions = field(default_factory=BatchOptions)
    traffic: TrafficRules = field(default_factory=TrafficRules)
    workers: int = 1
    threads: int = 0
    """How many threads each worker computes with; 0 for its share of the processors."""
    stop_delay: float = 0.0
    """How long requests are still taken, by a server that says it is not ready, when it is told to stop."""
    stop_seconds: float = STOP_SECONDS
    """How long running requests may take to end when the server is told to stop."""
    checks_method_names: bool = False
    writes_tensor_content: bool = False
    is_lenient: bool = False
    """Whether models that cannot be loaded let the others serve; the original does not start then."""
