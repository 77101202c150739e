"""`tf.profiler`: how large a graph is, by scopes and by types of operations, printed or written, and as messages.

Beside it `tf.contrib.slim.model_analyzer`, which prints how large variables and operations are.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.graph import Graph as CoreGraph
from tensorkeep.inspect.profiles import TRAINABLE, ProfileOptions, profile_operations, profile_scopes
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, PathLike, atomic_write, path_text
from tensorkeep.proto.reports import GraphNodeProto, MultiGraphNodeProto
from tensorkeep.runtime.context import LOG
from tensorkeep.tf1.contrib.slim import analysis
from tensorkeep.tools.standard_output import write_text
from tensorkeep.v1.defaults import get_default_graph
from tensorkeep.v1.graphs import Graph

_VIEWS: Final = {"op": profile_operations, "scope": profile_scopes}
_SELECTED: Final = ("float_ops", "occurrence", "op_types", "params")
_ORDERS: Final = ("float_ops", "name", "occurrence", "params")
_RUNS: Final = (
    *("min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes"),
    *("min_micros", "min_accelerator_micros", "min_cpu_micros"),
)
_NUMBERS: Final = ("max_depth", *_RUNS, "min_params", "min_float_ops", "min_occurrence", "step")
_PATTERNS: Final = (
    *("account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes", "hide_name_regexes"),
)
_INSTEAD: Final = "use a profiler of Python: a compiled run is a Python function"
_DOCUMENTATION: Final = {
    "op": "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging to the same type are "
    "aggregated together.",
    "scope": "scope: The nodes in the model graph are organized by their names, which is hierarchical like filesystem.",
    "float_ops": "flops: Number of float operations. Note: Please read the implementation for the math behind it.",
    "occurrence": "occurrence: The number of times it occurs",
    "op_types": "op_types: The attributes of the operation, includes the Kernel name device placed on and user-defined "
    "strings.",
    "params": "param: Number of parameters (in the Variable).",
}


class ProfileOptionBuilder:
    """Makes the dictionary of options that `profile` takes; every method returns the builder itself."""

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        if options is None:
            options = {
                **{"max_depth": 100, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0},
                **{"min_occurrence": 0, "order_by": "name", "account_type_regexes": [".*"]},
                **{"start_name_regexes": [".*"], "trim_name_regexes": [], "show_name_regexes": [".*"]},
                **{"hide_name_regexes": [], "account_displayed_op_only": False, "select": ["micros"]},
                **{"step": -1, "output": "stdout"},
            }
        self._options: dict[str, Any] = copy.deepcopy(dict(options))

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Options that show how many elements the trainable variables have, by scope."""
        builder = ProfileOptionBuilder().with_max_depth(10000).with_accounted_types([TRAINABLE])
        return builder.account_displayed_op_only(True).select(["params"]).build()

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Options that show how many floating-point operations there are, the most first."""
        builder = ProfileOptionBuilder().with_max_depth(10000).with_min_float_operations(1).order_by("float_ops")
        return builder.account_displayed_op_only(True).select(["float_ops"]).build()

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, Any]:
        """Options of time and memory, of which nothing is measured here: `profile` says so."""
        builder = ProfileOptionBuilder().with_max_depth(10000).order_by("micros")
        builder.with_min_memory(min_bytes, min_peak_bytes, min_residual_bytes, min_output_bytes)
        builder.with_min_execution_time(min_micros, min_accelerator_micros, min_cpu_micros)
        return builder.account_displayed_op_only(True).select(["micros", "bytes"]).build()

    def build(self) -> dict[str, Any]:
        """The options, to be changed freely."""
        return copy.deepcopy(self._options)

    def _with(self, **options: Any) -> ProfileOptionBuilder:
        self._options.update(options)
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """How deep below the root, which is at depth 1, nodes are shown."""
        return self._with(max_depth=max_depth)

    def with_min_memory(
        self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0
    ) -> ProfileOptionBuilder:
        """How much memory nodes have to take to be shown."""
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """How long nodes have to run to be shown."""
        return self._with(
            min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros
        )

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """How many elements variables need to be shown."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """How often nodes have to run to be shown."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """How many floating-point operations nodes need to be shown."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Patterns of the types of nodes that are counted."""
        return self._with(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Patterns of the names to begin with, to show, to hide, and below which nothing is shown."""
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(**{key: copy.copy(value) for key, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether totals are those of the nodes that are shown."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Nothing is written."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """The view is printed."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """The view goes to a file."""
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: PathLike) -> ProfileOptionBuilder:
        """A timeline, which `profile` does not write."""
        return self._with(output=f"timeline:outfile={path_text(timeline_file)}")

    def with_pprof_output(self, pprof_file: PathLike) -> ProfileOptionBuilder:
        """A file for pprof, which `profile` does not write."""
        return self._with(output=f"pprof:outfile={path_text(pprof_file)}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """What nodes are sorted by."""
        return self._with(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """What is shown of nodes."""
        return self._with(select=copy.copy(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """The step that is profiled."""
        return self._with(step=step)


def profile(
    graph: Graph | None = None,
    run_meta: object = None,
    op_log: object = None,
    cmd: str = "scope",
    options: Mapping[str, Any] | None = None,
) -> GraphNodeProto | MultiGraphNodeProto:
    """A graph by scopes ("scope") or by types of operations ("op"), as a message; the view is printed.

    What runs measure (`run_meta`) is empty here. UnimplementedError for views and numbers that need it.
    """
    if cmd in ("code", "graph"):
        raise UnimplementedError(f'tf.profiler has the views "op" and "scope", not "{cmd}"')
    if cmd not in _VIEWS:
        raise InvalidArgumentError(f"unknown cmd: {cmd}")
    if op_log is not None:
        raise UnimplementedError(
            "tf.profiler takes no op_log: choose nodes by their names and by the types of their ops"
        )
    given = options or ProfileOptionBuilder.trainable_variables_parameter()
    return _profile(get_default_graph() if graph is None else graph, cmd, given)


def _profile(graph: Graph, cmd: str, options: Mapping[str, Any]) -> GraphNodeProto | MultiGraphNodeProto:
    settings = _settings(options)
    kind, _, where = str(options.get("output", "stdout")).partition(":")
    if kind not in ("file", "none", "stdout"):
        raise UnimplementedError(f'tf.profiler writes to "stdout", to a "file", or to "none", not to "{kind}"')
    types = {variable.op.name: [TRAINABLE] for variable in graph.get_collection("trainable_variables")}
    found = _VIEWS[cmd](graph, types, settings)
    if found.incomplete:
        LOG.warning("%d ops no flops stats due to incomplete shapes.", found.incomplete)
    _write(kind, where, options, f"\nDoc:\n{_documentation(cmd, settings.select)}\n\nProfile:\n{found.text}")
    return found.message


def _write(kind: str, where: str, options: Mapping[str, Any], body: str) -> None:
    if kind == "file":
        atomic_write(FILES, where.removeprefix("outfile="), body.encode(), Durability.CACHE)
    elif kind == "stdout":
        write_text(_report(options, body))


def print_model_analysis(
    graph: Graph,
    run_meta: object = None,
    op_log: object = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Mapping[str, Any] | None = None,
) -> GraphNodeProto | MultiGraphNodeProto:
    """`profile`, by the name that `tf.contrib.tfprof.model_analyzer` had for it first."""
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)


def analyze_ops(graph: CoreGraph, print_info: bool = False) -> int:
    """How many elements the outputs of all operations have, as far as that is known; they are printed if so told."""
    return analysis.analyze_ops(graph, _write_line) if print_info else analysis.analyze_ops(graph)


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """How many elements variables have, and how many bytes; they are printed if so told."""
    return analysis.analyze_vars(variables, _write_line) if print_info else analysis.analyze_vars(variables)


def _write_line(line: str) -> None:
    write_text(f"{line}\n")


def _settings(options: Mapping[str, Any]) -> ProfileOptions:
    """The options as a value; what is asked for and cannot be told is refused, all of it in one error."""
    select, order_by = frozenset(options.get("select", ())), str(options.get("order_by", "name"))
    refused = sorted(
        {
            *(select - {*_SELECTED}),
            *({order_by} - {*_ORDERS}),
            *(name for name in _RUNS if options.get(name, 0) > 0),
        }
    )
    if refused:
        raise UnimplementedError(
            f"tf.profiler does not know {', '.join(refused)}, as runs measure nothing here; it selects "
            f"{', '.join(_SELECTED)}, and sorts by {', '.join(_ORDERS)}. For times {_INSTEAD}"
        )
    patterns = {name: tuple(options.get(name, ())) for name in _PATTERNS}
    return ProfileOptions(
        max_depth=options.get("max_depth", 10),
        min_params=options.get("min_params", 0),
        min_float_ops=options.get("min_float_ops", 0),
        min_occurrence=options.get("min_occurrence", 0),
        order_by=order_by,
        account_types=patterns["account_type_regexes"],
        start_names=patterns["start_name_regexes"],
        trim_names=patterns["trim_name_regexes"],
        show_names=patterns["show_name_regexes"],
        hide_names=patterns["hide_name_regexes"],
        is_displayed_only=options.get("account_displayed_op_only", False),
        select=select,
    )


def _documentation(cmd: str, select: Iterable[str]) -> str:
    return "\n".join(_DOCUMENTATION[name] for name in (cmd, *sorted(select)))


def _report(options: Mapping[str, Any], body: str) -> str:
    """What is printed: the options, the view, and lines between them."""
    shown = {
        **{name: str(options.get(name, _ABSENT.get(name, 0))) for name in _NUMBERS},
        "order_by": options.get("order_by", "name"),
        **{name: ",".join(options.get(name, ())) for name in _PATTERNS},
        "account_displayed_op_only": str(bool(options.get("account_displayed_op_only", False))).lower(),
        "select": ",".join(sorted(options.get("select", ()))),
        "output": "stdout:",
    }
    lines = "".join(f"-{name:<27}{value}\n" for name, value in shown.items())
    first, second, last = _title("Options", 25), _title("Model Analysis Report", 18), _title("End of Report", 22)
    return f"\n{first}\n{lines}\n{second}\n{body}\n{last}\n"


_ABSENT: Final = {"max_depth": 10, "step": -1}


def _title(text: str, before: int) -> str:
    return f"{'=' * before}{text}".ljust(61, "=")


TRAINABLE_VARS_PARAMS_STAT_OPTIONS: Final = ProfileOptionBuilder.trainable_variables_parameter()
FLOAT_OPS_OPTIONS: Final = ProfileOptionBuilder.float_operation()


class Profiler:
    """Profiles one graph, as often as it is asked to."""

    def __init__(self, graph: Graph | None = None, op_log: object = None) -> None:
        if op_log is not None:
            raise UnimplementedError("tf.profiler takes no op_log: choose nodes by their names and types of their ops")
        self._graph = get_default_graph() if graph is None else graph

    def add_step(self, step: int, run_meta: object) -> None:
        """Takes what a run has measured, which is nothing here."""
        LOG.info("tf.profiler.Profiler.add_step(%d): runs measure nothing here", step)

    def profile_name_scope(self, options: Mapping[str, Any]) -> GraphNodeProto | MultiGraphNodeProto:
        """The graph by scopes."""
        return _profile(self._graph, "scope", options)

    def profile_operations(self, options: Mapping[str, Any]) -> GraphNodeProto | MultiGraphNodeProto:
        """The graph by types of operations."""
        return _profile(self._graph, "op", options)

    def profile_graph(self, options: Mapping[str, Any]) -> GraphNodeProto | MultiGraphNodeProto:
        """Refused: it is the view "graph"."""
        return profile(self._graph, cmd="graph", options=options)

    def profile_python(self, options: Mapping[str, Any]) -> GraphNodeProto | MultiGraphNodeProto:
        """Refused: it is the view "code"."""
        return profile(self._graph, cmd="code", options=options)
