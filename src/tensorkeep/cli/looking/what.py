"""`tensorkeep what`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.looking.any_tensors import OTHER_ENDINGS, list_any
from tensorkeep.cli.output import Output, shown_value, size_text
from tensorkeep.errors import TensorKeepError
from tensorkeep.inspect.identifying import Identification, identify, with_format


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a file, a folder, or the prefix of a checkpoint")


def _run(given: Namespace, output: Output) -> int:
    found = [_with_tensors(identify(path)) for path in given.paths]
    if output.is_json:
        output.data("what/1", {"paths": [_data(item) for item in found]})
        return DONE
    for number, item in enumerate(found):
        if number:
            output.line()
        _print(item, output)
    return DONE


def _with_tensors(item: Identification) -> Identification:
    """The description of a file, with what its tensors are if it is one of another program and they can be read."""
    if not item.path.lower().endswith(OTHER_ENDINGS) or "nodes" in item.facts:
        return item
    try:
        listing = list_any(item.path)
    except TensorKeepError:
        return item
    sizes = {"tensors": len(listing.tensors), "elements": listing.elements, "types": listing.types}
    item = with_format(item, listing.format)
    return replace(item, facts={"format": listing.format, **item.facts, **sizes})


def _data(item: Identification) -> dict[str, Any]:
    declared = {"format_of": item.format_of or None}
    return {"path": item.path, "kind": item.kind, "writer": item.writer or None, **declared, "facts": item.facts}


def _print(item: Identification, output: Output) -> None:
    facts: dict[str, object] = {"path": item.path, "kind": item.kind}
    if item.writer:
        facts["written by"] = item.writer
    if item.format_of:
        facts["format of"] = item.format_of
    for name, fact in item.facts.items():
        if name == "meta graphs":
            for number, graph in enumerate(fact):
                facts[f"meta graph {number}"] = _text("", graph)
        else:
            facts[name] = _text(name, fact)
    output.facts(facts)


def _text(name: str, fact: Any) -> str:
    if isinstance(fact, Mapping):
        return ", ".join(f"{shown_value(key)} {_text(str(key), item)}" for key, item in fact.items())
    if isinstance(fact, list):
        return " ".join(map(shown_value, fact)) or "none"
    if isinstance(fact, int):
        return f"{fact:,} ({size_text(fact)})" if name == "bytes" and fact >= 1000 else f"{fact:,}"
    return "missing" if fact is None else str(fact)


COMMANDS = {
    "what": Command(
        "Says what a file or folder is, whose format it is in, what wrote it where that is known, and what is in it.",
        (
            "what export/1                  # a SavedModel: tags, signatures, variables",
            "what run/model-1000            # a checkpoint, by its prefix",
            "what run/model-1000.meta       # a meta graph: nodes, collections",
            "what run --json",
        ),
        _add_arguments,
        _run,
    )
}
