"""Writes docs/onnx-ops.md: every op that has a kernel, and what it becomes in ONNX.

    python -m tools.onnx_table            writes the page
    python -m tools.onnx_table --check    changes nothing; exits with 1 if the page is not what it would write

Each op is translated as the samples of its tests call it, at the newest version of ONNX and, if it is not in the oldest
that we write, at those between. Needs the extra `onnx`; nothing is run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import tensorkeep.onnx.rules.every  # noqa: F401 - makes the rules known
from tensorkeep.dtypes import RESOURCE
from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.registry.op_families import OP_FAMILIES
from tensorkeep.graph.registry.opspec import registered_ops
from tensorkeep.onnx.graphs import OLDEST_OPSET
from tensorkeep.onnx.models import NEWEST_OPSET
from tensorkeep.onnx.not_in_onnx import NOT_IN_ONNX
from tensorkeep.onnx.rules.registry import RULES
from tensorkeep.onnx.translation import Outcome, Translator
from tests.ops.sample import Sample, all_samples
from tests.ops.walking import OneNode, import_all_ops

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "onnx-ops.md"
_MOST_OPERATORS: Final = 8
_LONGEST_REASON: Final = 160

BY_THE_TRANSLATION: Final[Mapping[str, str]] = {
    "Const": "a constant of the file",
    "Placeholder": "an input of the file",
    "PlaceholderV2": "an input of the file",
    "Variable": "what it holds, where it is read",
    "VariableV2": "what it holds, where it is read",
    "PartitionedCall": "the nodes of its function",
    "StatefulPartitionedCall": "the nodes of its function",
    **dict.fromkeys(
        (
            "HashTable",
            "MutableHashTable",
            "MutableHashTableOfTensors",
            "MutableDenseHashTable",
            "MutableDenseHashTableV2",
            "AnonymousMutableDenseHashTable",
        ),
        "what it holds, where it is looked up",
    ),
    **dict.fromkeys(("Switch", "RefSwitch", "_SwitchN", "Merge", "RefMerge"), "`If`, with the rest of its branch"),
    **dict.fromkeys(
        ("Enter", "Exit", "LoopCond", "NextIteration", "RefEnter", "RefExit", "RefNextIteration"),
        "`Loop`, with the rest of its loop",
    ),
}
"""Ops that need no rule, beside those that give no value, and those that give nothing but a handle."""


@dataclass
class State:
    """What is known of one op."""

    op: str
    has_rule: bool
    operators: list[str] = field(default_factory=list)
    """Those that samples became, in the order in which they came up."""
    oldest: int | None = None
    """The oldest version of ONNX for which a sample is translated."""
    translated: int = 0
    samples: int = 0
    reasons: list[str] = field(default_factory=list)
    """Why samples were refused, each once."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the page of every op and its state in ONNX.")
    parser.add_argument("--check", action="store_true", help="report a stale page instead of writing it")
    options = parser.parse_args(arguments)
    wanted = page(every_state())
    if not options.check:
        PAGE.write_text(wanted, "utf-8")
        return 0
    if PAGE.read_text("utf-8") != wanted:
        print("docs/onnx-ops.md is not what tools/onnx_table.py writes", file=sys.stderr)
        return 1
    return 0


# ---------------------------------------------------------------------------------------------------- States


def listed_ops() -> list[str]:
    """The ops that the page lists: those that we run, without those that tests have made."""
    return sorted(
        name
        for name, spec in registered_ops().items()
        if (spec.kernel_function or name in BY_THE_TRANSLATION) and not name.startswith("Test")
    )


def without_rule(op: str) -> str | None:
    """What becomes of an op that needs no rule; None if it needs one."""
    schema = registered_ops()[op].schema
    if op in BY_THE_TRANSLATION or op in RULES:
        return BY_THE_TRANSLATION.get(op)
    if not schema.outputs:
        return "nothing: what gives no value is dropped, and told"
    if op not in NOT_IN_ONNX and not schema.inputs and all(output.dtype is RESOURCE for output in schema.outputs):
        return "what it holds, where that is read"
    return None


def every_state() -> list[State]:
    """The state of every op, found by translating its samples."""
    import_all_ops()
    return [state_of(op, all_samples().get(op, ())) for op in listed_ops()]


def state_of(op: str, samples: Iterable[Sample]) -> State:
    state = State(op, op in RULES)
    if not state.has_rule:
        return state
    fitting = [sample for sample in samples if not sample.fails]
    for sample in fitting:
        outcome = _tried(op, sample, NEWEST_OPSET)
        if outcome is None or _is_folded(outcome):
            continue
        state.samples += 1
        state.translated += not outcome.problems
        new = [problem.reason for problem in outcome.problems if problem.reason not in state.reasons]
        state.reasons.extend(new)
        for became in outcome.nodes:
            _add_operators(state.operators, became.how)
    versions = range(max(OLDEST_OPSET, RULES[op].oldest_opset), NEWEST_OPSET + 1)
    works = (opset for opset in versions if any(_is_whole(_tried(op, sample, opset)) for sample in fitting))
    state.oldest = next(works, None) if state.translated else None
    return state


def _tried(op: str, sample: Sample, opset: int) -> Outcome | None:
    """What comes of one call of an op; None if it cannot even be put into a graph."""
    try:
        node = OneNode(op, sample)
    except (TensorKeepError, TypeError, ValueError):
        return None
    translator = Translator(opset, lambda made: None)
    to = translator.graph()
    given = {
        tensor: to.input(tensor.dtype, tensor.static_shape.dims, f"x{number}")
        for number, tensor in enumerate(node.feeds)
    }
    translator.translate(to, list(node.outputs), given)
    return translator.outcome


def _is_whole(outcome: Outcome | None) -> bool:
    return outcome is not None and not outcome.problems


def _is_folded(outcome: Outcome) -> bool:
    """Whether all that it takes is known, so that nothing is translated."""
    return not outcome.problems and any(became.how.startswith("a constant, ") for became in outcome.nodes[-1:])


def _add_operators(operators: list[str], how: str) -> None:
    if how.startswith(("a constant", "nothing", "what it holds", "dropped")):
        return
    operators.extend(name for name in how.split(", ") if name not in operators and " " not in name)


# ---------------------------------------------------------------------------------------------------- The page


def page(states: Sequence[State]) -> str:
    """The text of the page."""
    known = {state.op: state for state in states}
    ruled = sum(state.has_rule for state in states)
    told = sum(not state.has_rule and without_rule(state.op) is not None for state in states)
    lines = [
        "# Ops in ONNX",
        "",
        "Every op that this package runs, and what `tensorkeep convert MODEL model.onnx` makes of it. "
        "`tools/onnx_table.py` writes",
        "this page from the rules and from the samples of the tests: the operators that these become before neighbours "
        "are made",
        "one, the oldest opset for which one of them is written, and why others are refused. What is known before the "
        "model runs is",
        "computed then, so that any op of constants is a constant, whatever it says here.",
        "",
        f"Of {len(states)} ops, {ruled} have rules, {told} need none, and {len(states) - ruled - told} have no "
        f"equal in ONNX. Opsets from {OLDEST_OPSET} to",
        f"{NEWEST_OPSET} can be written.",
        "",
        "What has no equal can be left to others: cut the graph behind it (`--inputs`) or before it (`--outputs`), let "
        "us do it before",
        "or after the file (`--split`), or name the domain of an operator that your runtime has for it "
        "(`--custom-op OP=DOMAIN`).",
        "",
        "Strings of ONNX are text in UTF-8: bytes that are none can neither be given to a file nor come out of it. "
        "Tables and variables",
        "are what they hold when the file is written.",
        "",
    ]
    for family, names in _by_family(known).items():
        lines += [f"## {family}", "", "| op | in ONNX | since opset | refused |", "|---|---|---|---|"]
        lines += [_row(known[name]) for name in names]
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def _by_family(known: Mapping[str, State]) -> dict[str, list[str]]:
    """Ops by where their kernels are."""
    families = {name: family for family, names in OP_FAMILIES.items() for name in names.split()}
    found: dict[str, list[str]] = {}
    for name in known:
        folder, _, file = families.get(name, "others").partition(".")
        title = f"{folder.replace('_', ' ')}: {file.replace('_', ' ')}" if file else folder
        found.setdefault(title.capitalize(), []).append(name)
    return dict(sorted(found.items()))


def _row(state: State) -> str:
    return f"| `{state.op}` | {' | '.join(_cells(state))} |"


def _cells(state: State) -> tuple[str, str, str]:
    if not state.has_rule:
        becomes = without_rule(state.op)
        if becomes is not None:
            return becomes, str(OLDEST_OPSET), ""
        return "**no**", "", _short(NOT_IN_ONNX.get(state.op, "no rule"))
    if not state.samples:
        return "a rule, shown by tests of its own", str(max(OLDEST_OPSET, RULES[state.op].oldest_opset)), ""
    refused = [_short(reason) for reason in state.reasons[:2]]
    return _operators(state), str(state.oldest or ""), "; ".join(refused)


def _operators(state: State) -> str:
    if not state.translated:
        return "a rule, which refuses all samples"
    if not state.operators:
        return "nothing: the value is passed on"
    shown = ", ".join(f"`{name}`" for name in state.operators[:_MOST_OPERATORS])
    return f"{shown}, …" if len(state.operators) > _MOST_OPERATORS else shown


def _short(reason: str) -> str:
    """A reason on one line of a table, without the way out that is the same for all ops."""
    text = (reason.partition("; ")[0] if reason in NOT_IN_ONNX.values() else reason).replace("|", "\\|")
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON].rpartition(' ')[0]} …"


if __name__ == "__main__":
    raise SystemExit(main())
