"""Compares `tensorkeep.v1` with `tf.compat.v1`, name by name and signature by signature.

    python tools/api_coverage.py                  a summary, then what differs and what is missing, by module
    python tools/api_coverage.py --markdown FILE  the same as a page of the documentation

`tf.contrib`, which TensorFlow 2 has no more, is compared by the names of `contrib_names.txt`. Needs TensorFlow.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # `tf.compat.v1.keras` is Keras 2, as in TensorFlow 1

# Modules of compat.v1 that have no place here: other products, other machines, or TensorFlow about itself.
OUTSIDE = (
    "app",
    "autograph",
    "compat",
    "config",
    "contrib",
    "distribute",
    "estimator",
    "experimental",
    "flags",
    "lite",
    "mlir",
    "profiler",
    "sysconfig",
    "tpu",
    "types",
    "user_ops",
    "xla",
)


CONTRIB = Path(__file__).with_name("contrib_names.txt")


@dataclass
class ModuleReport:
    """What one module has, has with other arguments, and lacks."""

    name: str
    same: list[str] = field(default_factory=list)
    differing: dict[str, tuple[str, str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.same) + len(self.differing) + len(self.missing)


def public_names(module: Any) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def modules_of(package: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """A module and those below it that belong to the same API."""
    yield prefix, package
    for name in public_names(package):
        if name in OUTSIDE or (prefix and name in ("experimental", "raw_ops")):
            continue
        value = getattr(package, name, None)
        if isinstance(value, ModuleType) and "v1" in str(getattr(value, "__name__", "")) and prefix.count(".") < 1:
            yield from modules_of(value, f"{prefix}.{name}".strip("."))


def parameters(value: Any) -> list[tuple[str, Any]] | None:
    """Names and defaults of the parameters of a function, or of what makes an object of a class."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    return [
        (name, parameter.default)
        for name, parameter in signature.parameters.items()
        if name not in ("self", "cls") and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def shown(found: list[tuple[str, Any]]) -> str:
    return ", ".join(
        name if default is inspect.Parameter.empty else f"{name}={_default_text(default)}" for name, default in found
    )


def _default_text(default: object) -> str:
    """A default as the page shows it: the class of an object that prints as its address, ever another."""
    if type(default) is object:
        return "..."
    text = str(default)
    return f"{type(default).__name__}()" if " object at 0x" in text else text


def same_parameters(ours: list[tuple[str, Any]], theirs: list[tuple[str, Any]]) -> bool:
    """Whether a call that fits one fits the other: names and order; defaults where both are plain values."""
    if [name for name, _ in ours] != [name for name, _ in theirs]:
        return False
    plain = (int, float, str, bool, type(None))
    return all(
        (mine is inspect.Parameter.empty) == (other is inspect.Parameter.empty)
        and (not isinstance(other, plain) or mine == other or not isinstance(mine, plain))
        for (_, mine), (_, other) in zip(ours, theirs, strict=True)
    )


def compare(name: str, ours: Any, theirs: Any) -> ModuleReport:
    report = ModuleReport(name)
    for item in public_names(theirs):
        wanted = getattr(theirs, item, None)
        if isinstance(wanted, ModuleType) or (not name and item in OUTSIDE):
            continue
        if not hasattr(ours, item):
            report.missing.append(item)
            continue
        mine, other = parameters(getattr(ours, item)), parameters(wanted)
        if callable(wanted) and mine is not None and other is not None and not same_parameters(mine, other):
            report.differing[item] = (shown(mine), shown(other))
        else:
            report.same.append(item)
    return report


def reports() -> list[ModuleReport]:
    theirs = importlib.import_module("tensorflow").compat.v1
    ours = importlib.import_module("tensorkeep.v1")
    found = []
    for name, module in modules_of(theirs):
        mine: Any = ours
        for part in filter(None, name.split(".")):
            mine = getattr(mine, part, None)
        found.append(compare(name, mine, module))
    return [report for report in found if report.total]


def contrib_reports() -> list[ModuleReport]:
    """What there is of the namespaces of `tf.contrib`, by name alone: nothing has their signatures any more."""
    ours = importlib.import_module("tensorkeep.v1")
    found = []
    for line in CONTRIB.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        path, _, names = line.partition(": ")
        space: Any = ours
        for part in path.split("."):
            space = getattr(space, part)
        report = ModuleReport(path)
        for name in names.split():
            (report.same if hasattr(space, name) else report.missing).append(name)
        found.append(report)
    return found


def as_text(found: Iterable[ModuleReport]) -> str:
    lines = [f"{'module':28}{'same':>6}{'other':>6}{'lack':>6}"]
    for report in found:
        lines.append(
            f"{'tf.' + report.name if report.name else 'tf':28}"
            f"{len(report.same):6}{len(report.differing):6}{len(report.missing):6}"
        )
    for report in found:
        prefix = f"tf.{report.name}".rstrip(".")
        for item, (mine, other) in report.differing.items():
            lines.append(f"{prefix}.{item}\n    ours   ({mine})\n    theirs ({other})")
        if report.missing:
            lines.append(f"{prefix} lacks: {', '.join(report.missing)}")
    return "\n".join(lines)


def contrib_as_markdown(found: list[ModuleReport]) -> list[str]:
    total, lacking = sum(report.total for report in found), sum(len(report.missing) for report in found)
    lines = [
        "",
        "# What it has of `tf.contrib`",
        "",
        f"By the names of TensorFlow 1.15, {total - lacking} of {total} are there, in the namespaces that are. What is",
        "missing raises where it is used, and says what to use instead where something does its work: whole namespaces",
        "do, such as `tf.contrib.gan` and `boosted_trees`.",
        "",
        "| namespace | there | missing |",
        "|---|---|---|",
    ]
    for report in found:
        missing = ", ".join(f"`{name}`" for name in report.missing)
        lines.append(f"| `tf.{report.name}` | {len(report.same)} | {missing} |")
    return lines


def as_markdown(found: list[ModuleReport]) -> str:
    counted = [report for report in found if report.name != "raw_ops"]
    total = sum(report.total for report in counted)
    have = total - sum(len(report.missing) for report in counted)
    lines = [
        "# What `tensorkeep.v1` has of `tf.compat.v1`",
        "",
        "Written by `tools/api_coverage.py` from the public names of TensorFlow 2.21. Left out are the modules that",
        f"are other products or concern other machines: {', '.join(OUTSIDE)}.",
        "",
        f"{have} of {total} names are there, not counting `tf.raw_ops`: every op can be put into a graph, and",
        "those that have a kernel can be run.",
        "",
        "| module | there | with other arguments | missing |",
        "|---|---|---|---|",
    ]
    for report in found:
        name = f"`tf.{report.name}`" if report.name else "`tf`"
        there = len(report.same) + len(report.differing)
        lines.append(f"| {name} | {there} | {len(report.differing)} | {len(report.missing)} |")
    for report in found:
        if not report.missing and not report.differing:
            continue
        lines += ["", f"## `tf.{report.name}`" if report.name else "## `tf`", ""]
        if report.missing:
            lines += ["Missing: " + ", ".join(f"`{item}`" for item in report.missing) + "."]
        if report.differing:
            lines += ["", "With other arguments than TensorFlow's:", ""]
            lines += [f"- `{item}({mine})`, there `({other})`" for item, (mine, other) in report.differing.items()]
    lines += contrib_as_markdown(contrib_reports())
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, help="write a page of the documentation instead")
    arguments = parser.parse_args()
    found = reports()
    if arguments.markdown:
        arguments.markdown.write_text(as_markdown(found), encoding="utf-8")
    else:
        print(as_text([*found, *contrib_reports()]))


if __name__ == "__main__":
    main()
