"""Traces of runs: what `RunOptions.FULL_TRACE` asks for, and its picture for Chrome, `timeline.Timeline`.

A trace is opened at chrome://tracing or ui.perfetto.dev. Its events are in microseconds:

    {"traceEvents": [{"ph": "M", "name": "process_name", "pid": device, "args": {"name": …}},
                     {"ph": "X", "name": op, "pid": device, "tid": row, "ts": start, "dur": length, "args": {…}},
                     {"ph": "s" | "t", "name": tensor, "id": number, …}]}        a tensor's way between two operations
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tensorkeep.proto.session_config import DeviceStepStats, NodeExecStats, StepStats
from tensorkeep.runtime.placement import Devices
from tensorkeep.runtime.plans.program import OperationTime


def step_stats_of(times: Sequence[OperationTime], devices: Devices) -> StepStats:
    """The message about when operations ran, by the devices that they are placed on."""
    found: dict[str, DeviceStepStats] = {}
    for item in times:
        place = devices.place(item.op.device) or devices.names()[0]
        found.setdefault(place, DeviceStepStats(device=place)).node_stats.append(_node_stats(item))
    return StepStats(dev_stats=list(found.values()))


def _node_stats(item: OperationTime) -> NodeExecStats:
    length = max(1, (item.ended - item.began) // 1000)
    inputs = ", ".join(tensor.name.removesuffix(":0") for tensor in item.op.inputs)
    return NodeExecStats(
        node_name=item.op.name,
        all_start_micros=item.began // 1000,
        all_start_nanos=item.began,
        op_end_rel_micros=length,
        op_end_rel_nanos=item.ended - item.began,
        all_end_rel_micros=length,
        all_end_rel_nanos=item.ended - item.began,
        scheduled_micros=item.began // 1000,
        scheduled_nanos=item.began,
        timeline_label=f"{item.op.name} = {item.op.type}({inputs})",
    )


class Timeline:
    """The picture of a traced run."""

    def __init__(self, step_stats: StepStats, graph: object = None) -> None:
        self._step_stats = step_stats

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """The events of the run as JSON; with `show_dataflow`, also which tensors went from where to where."""
        events: list[dict[str, Any]] = []
        for pid, device in enumerate(self._step_stats.dev_stats):
            name = {"name": f"{device.device} Compute"}
            events.append({"name": "process_name", "ph": "M", "pid": pid, "args": name})
            events += [_event(node, pid) for node in device.node_stats]
        if show_dataflow:
            events += self._flows()
        return json.dumps({"traceEvents": events}, indent=4)

    def _flows(self) -> Iterator[dict[str, Any]]:
        """Where each tensor comes from and where it is used, as pairs of events."""
        nodes = [(node, pid) for pid, device in enumerate(self._step_stats.dev_stats) for node in device.node_stats]
        made = {node.node_name: (node, pid) for node, pid in nodes}
        number = 0
        for node, pid in nodes:
            for source in filter(None, (_source(name) for name in _label(node)[1])):
                if source not in made:
                    continue
                maker, home = made[source]
                end = maker.all_start_micros + maker.all_end_rel_micros
                common = {"name": source, "cat": "DataFlow", "id": number}
                yield {**common, "ph": "s", "pid": home, "tid": 0, "ts": end}
                yield {**common, "ph": "t", "pid": pid, "tid": 0, "ts": node.all_start_micros}
                number += 1


def _event(node: NodeExecStats, pid: int) -> dict[str, Any]:
    op, inputs = _label(node)
    return {
        "name": op,
        "ph": "X",
        "cat": "Op",
        "pid": pid,
        "tid": 0,
        "ts": node.all_start_micros,
        "dur": node.all_end_rel_micros,
        "args": {"name": node.node_name, "op": op, **{f"input{at}": name for at, name in enumerate(inputs)}},
    }


def _label(node: NodeExecStats) -> tuple[str, list[str]]:
    """The op and the inputs that a node's label tells."""
    _, _, call = node.timeline_label.partition(" = ")
    op, _, inputs = call.rstrip(")").partition("(")
    return op or node.node_name, [name for name in inputs.split(", ") if name]


def _source(name: str) -> str:
    """The operation that a tensor is of."""
    return name.removeprefix("^").partition(":")[0]
