# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.learn.monitors import (
    BaseMonitor, CaptureVariable, CheckpointSaver, EveryN, GraphDump, LoggingTrainable, NanLoss, PrintTensor,
    RunHookAdapterForMonitors, StepCounter, StopAtStep, SummarySaver, ValidationMonitor, get_default_monitors,
    replace_monitors_with_hooks,
)
from tensorkeep.tf1.training.loops.hooks import NanLossDuringTrainingError

__all__ = [
    "BaseMonitor", "CaptureVariable", "CheckpointSaver", "EveryN", "GraphDump", "LoggingTrainable", "NanLoss",
    "NanLossDuringTrainingError", "PrintTensor", "RunHookAdapterForMonitors", "StepCounter", "StopAtStep",
    "SummarySaver", "ValidationMonitor", "get_default_monitors", "replace_monitors_with_hooks",
]
