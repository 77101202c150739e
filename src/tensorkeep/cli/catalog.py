"""The commands of the program: what each is called, in which module it is, and what it does in a line.

A command is a module, or one of several in a module, and is imported when it is asked for.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Final, NamedTuple

from tensorkeep.cli.command import Command
from tensorkeep.errors import InvalidArgumentError


class Listed(NamedTuple):
    """A command, as it is listed."""

    module: str
    summary: str


COMMANDS: Final[dict[str, Listed]] = {
    "what": Listed("looking.what", "Say what a file or folder is, what wrote it, and what is in it"),
    "list": Listed("looking.list_tensors", "List the tensors of a checkpoint: names, types, shapes, bytes"),
    "show": Listed("looking.show", "Show a checkpoint as a whole: format, files, totals, a tree of scopes"),
    "checkpoints": Listed("looking.checkpoints", "List the checkpoints of a folder: step, age, size, metrics, health"),
    "print": Listed("looking.print_tensor", "Print a tensor of a checkpoint, or a part of it"),
    "verify": Listed("looking.verify", "Read all of a checkpoint and compare every checksum"),
    "stats": Listed("looking.stats", "Show the range, mean, spread and oddities of the numbers in a checkpoint"),
    "health": Listed("looking.stats", "Tell by the exit code whether checkpoints are fit for use"),
    "diff": Listed("looking.diff", "Compare two checkpoints or models, or tell how far the tensors of a run moved"),
    "graph": Listed("looking.graph", "Show what a graph consists of and what it costs, and draw it"),
    "view": Listed("looking.view", "Show models in a browser: graph, weights, tables, history, health"),
    "report": Listed("looking.report", "Write a page for a browser about a checkpoint or a model"),
    "rename": Listed("changing.change_names", "Give the tensors of a checkpoint other names"),
    "keep": Listed("changing.change_names", "Write a checkpoint with some of the tensors"),
    "drop": Listed("changing.change_names", "Write a checkpoint without some of the tensors"),
    "strip-optimizer": Listed("changing.change_names", "Leave out what optimizers keep for training"),
    "ema-swap": Listed("changing.change_names", "Let variables and their moving averages change names"),
    "cast": Listed("changing.change_values", "Give tensors another type"),
    "set": Listed("changing.change_values", "Give tensors other values"),
    "merge": Listed("changing.combine", "Put the tensors of several checkpoints into one"),
    "average": Listed("changing.combine", "Average checkpoints of one model"),
    "interpolate": Listed("changing.combine", "Make a checkpoint between two others"),
    "split": Listed("changing.change_form", "Write a checkpoint in data files of limited size"),
    "convert-format": Listed("changing.change_form", "Write a checkpoint in the other format, V1 or V2"),
    "objects-to-names": Listed("changing.change_form", "Write an object-based checkpoint by names"),
    "names-to-objects": Listed("changing.change_form", "Write a checkpoint of names as one of objects"),
    "dedupe": Listed("changing.change_form", "Store what several checkpoints share once"),
    "salvage": Listed("changing.repair", "Save what is good in a damaged checkpoint"),
    "repair-state": Listed("changing.repair", "Write the state file of a folder anew"),
    "gc": Listed("changing.repair", "List, or delete, what saves that died have left"),
    "copy": Listed("changing.copy_files", "Copy files, models and checkpoints, to and from stores too"),
    "retain": Listed("changing.retain", "Keep the checkpoints of a folder that some rules want"),
    "scan": Listed("models.scan_many", "Report what models in folders do besides computing"),
    "sign": Listed("models.sign", "Write the digests of a model's files"),
    "check": Listed("models.sign", "Compare a model with the digests of its files"),
    "convert": Listed("changing.convert_tensors", "Write tensors in another format: safetensors, npz, HDF5, ..."),
    "presets": Listed("changing.convert_tensors", "List the rules by which convert changes layouts and names"),
    "ev stats": Listed("embeddings.looking", "Show what the embedding tables of a checkpoint hold"),
    "ev lookup": Listed("embeddings.looking", "Look keys up in an embedding table"),
    "ev compare": Listed("embeddings.looking", "Compare the keys of weights and slots"),
    "ev repartition": Listed("embeddings.changing", "Give embedding tables another number of parts"),
    "ev prune": Listed("embeddings.changing", "Leave keys of embedding tables out"),
    "ev quantise": Listed("embeddings.changing", "Give embedding tables values of fewer bits"),
    "ev repair": Listed("embeddings.changing", "Give weights and slots the same keys"),
    "ev compact": Listed("embeddings.changing", "Put an incremental checkpoint over a full one"),
    "ev export": Listed("embeddings.exports", "Write an embedding table as a file, or to MaxCompute"),
    "ev import": Listed("embeddings.exports", "Make a checkpoint of a table in Parquet or CSV"),
    "saved-model show": Listed("models.show", "Show the tags, signatures, functions and ops of a SavedModel"),
    "saved-model run": Listed("models.run", "Run a signature of a SavedModel"),
    "saved-model scan": Listed("models.scan_one", "Report what a model does besides computing"),
    "saved-model add-signature": Listed("models.signatures", "Add a signature, made of tensors of the graph"),
    "saved-model rename-signature": Listed("models.signatures", "Give a signature another name"),
    "saved-model drop-signature": Listed("models.signatures", "Leave a signature out"),
    "saved-model add-input": Listed("models.ends", "Give a signature another input"),
    "saved-model add-output": Listed("models.ends", "Give a signature another output"),
    "saved-model rename-input": Listed("models.ends", "Give an input of a signature another name"),
    "saved-model rename-output": Listed("models.ends", "Give an output of a signature another name"),
    "saved-model drop-input": Listed("models.ends", "Leave an input of a signature out"),
    "saved-model drop-output": Listed("models.ends", "Leave an output of a signature out"),
    "saved-model retag": Listed("models.graphs", "Give a meta graph other tags"),
    "saved-model drop-tags": Listed("models.graphs", "Leave the meta graph with some tags out"),
    "saved-model prune": Listed("models.graphs", "Keep what some signatures need, and nothing else"),
    "saved-model strip": Listed("models.graphs", "Leave out devices, default attributes or objects"),
    "saved-model freeze": Listed("models.variables", "Put constants in the place of variables"),
    "saved-model set-variables": Listed("models.variables", "Give variables other values"),
    "saved-model extract-assets": Listed("models.assets", "Copy the files that a model reads into a folder"),
    "saved-model replace-asset": Listed("models.assets", "Put another file in the place of an asset"),
    "saved-model warmup": Listed("models.warmup", "Write requests that TensorFlow Serving warms a model up with"),
    "serve": Listed("serve", "Serve models by gRPC and HTTP, in the place of TensorFlow Serving"),
    "run": Listed("run_program", "Run a program written for TensorFlow 1 as it is"),
    "completion": Listed("completion", "Print what makes a shell complete the words of this program"),
    "man": Listed("manual", "Print the manual page of this program"),
}  # fmt: skip

_SECTIONS: Final = {
    "look into checkpoints, models and files of tensors": "what list show checkpoints print stats diff graph view "
    "report",
    "trust them": "verify health scan sign check salvage repair-state gc retain",
    "convert and copy": "convert presets copy",
    "make a checkpoint of another": "rename keep drop strip-optimizer ema-swap cast set split convert-format "
    "objects-to-names names-to-objects dedupe",
    "make a checkpoint of several": "merge average interpolate",
    "embedding tables": "ev",
    "SavedModels": "saved-model serve",
    "programs": "run",
    "this program": "completion man",
}
"""What commands are for, with the first words of those that are for it."""


def sections() -> dict[str, list[str]]:
    """The commands by what they are for, all of them; those of no section come last."""
    found = {
        title: [name for first in firsts.split() for name in (members(first) or [first])]
        for title, firsts in _SECTIONS.items()
    }
    listed = {name for names in found.values() for name in names}
    others = [name for name in COMMANDS if name not in listed]
    return {**found, "other": others} if others else found


class UnknownCommandError(InvalidArgumentError):
    """There is no such command."""


def split_command(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The command that the arguments begin with, and the rest; an empty command if they begin with none.

    A command of two words may be a group of which the second word is missing: then it is the group.
    """
    if not arguments or arguments[0].startswith("-"):
        return "", list(arguments)
    for count in (2, 1):
        name = " ".join(arguments[:count])
        if name in COMMANDS:
            return name, list(arguments[count:])
    first = arguments[0]
    if not members(first):
        raise _unknown(first)
    if len(arguments) == 1 or arguments[1].startswith("-"):
        return first, list(arguments[1:])
    seconds = [name.partition(" ")[2] for name in members(first)]
    raise UnknownCommandError(f'"{first}" has no command "{arguments[1]}"{nearest(arguments[1], seconds)}')


def _unknown(word: str) -> UnknownCommandError:
    """What is probably meant by a first word that is no command: a path, a command of a group, or another spelling."""
    inner = [name for name in COMMANDS if name.endswith(f" {word}")]
    near = get_close_matches(word, _first_words(), 1)
    if "/" in word or "." in word or (not near and _is_there(word)):
        return UnknownCommandError(
            f'"{word}" is a path, and a command comes first: tensorkeep what {shlex.quote(word)}'
        )
    if inner:
        return UnknownCommandError(f'there is no command "{word}" by itself; did you mean "{inner[-1]}"?')
    return UnknownCommandError(f'there is no command "{word}"' + (f'; did you mean "{near[0]}"?' if near else ""))


def _is_there(word: str) -> bool:
    """Whether there is a file or folder of that name. Commands that are known need not import what tells it."""
    is_there: bool = import_module("tensorkeep.io.files.everywhere").FILES.exists(word)
    return is_there


def members(group: str) -> list[str]:
    """The commands of a group."""
    return [name for name in COMMANDS if name.startswith(f"{group} ")]


def _first_words() -> list[str]:
    return list(dict.fromkeys(name.partition(" ")[0] for name in COMMANDS))


def nearest(word: str, known: Sequence[str]) -> str:
    """What is probably meant by a word that is not known; else all that are."""
    near = get_close_matches(word, known, 1)
    return f'; did you mean "{near[0]}"?' if near else f"; there are {', '.join(known)}"


def load_command(name: str) -> Command:
    """The command of that name, whose module is imported."""
    module = import_module(f"tensorkeep.cli.{COMMANDS[name].module}")
    found: Command = module.COMMANDS[name]
    return found
