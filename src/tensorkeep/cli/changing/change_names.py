"""`tensorkeep rename`, `keep`, `drop`, `strip-optimizer` and `ema-swap`."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from tensorkeep.cli.changing.checkpoint_changes import add_compact, add_places, change, has_selection, pairs_of
from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.looking.tensor_filters import add_selection, selection_of
from tensorkeep.cli.output import Output
from tensorkeep.edit.names import AddScope, RenameExactly, RenamePattern, Renaming, StripScope
from tensorkeep.edit.selecting import drop, keep, rename, strip_optimizer, swap_averages
from tensorkeep.errors import InvalidArgumentError


def _add_rename(parser: Parser) -> None:
    add_places(parser)
    parser.add_argument("--map", metavar="OLD=NEW", action="append", default=[], help="give a tensor another name")
    parser.add_argument(
        "--regex", metavar=("RE", "NEW"), nargs=2, action="append", default=[], help="replace what is found; \\1 works"
    )
    parser.add_argument("--strip-scope", metavar="SCOPE", action="append", default=[], help="take names out of a scope")
    parser.add_argument("--add-scope", metavar="SCOPE", help="put all names into a scope")
    parser.add_argument("--preview", action="store_true", help="the same as --dry-run")
    add_compact(parser)


def _run_rename(given: Namespace, output: Output) -> int:
    rules: list[Renaming] = [RenameExactly(pairs_of(given.map, "--map"))] if given.map else []
    rules += [StripScope(scope) for scope in given.strip_scope]
    rules += [RenamePattern(pattern, new) for pattern, new in given.regex]
    rules += [AddScope(given.add_scope)] if given.add_scope else []
    if not rules:
        raise InvalidArgumentError("say what shall be renamed: --map, --regex, --strip-scope or --add-scope")
    given.dry_run |= given.preview
    return change(given, output, lambda options: rename(given.source, given.target, rules, options))


def _add_keep(parser: Parser) -> None:
    add_places(parser)
    add_selection(parser, "tensors to keep")
    add_compact(parser)


def _run_keep(given: Namespace, output: Output) -> int:
    _require_selection(given)
    return change(given, output, lambda options: keep(given.source, given.target, selection_of(given), options))


def _add_drop(parser: Parser) -> None:
    add_places(parser)
    add_selection(parser, "tensors to leave out")
    add_compact(parser)


def _run_drop(given: Namespace, output: Output) -> int:
    _require_selection(given)
    return change(given, output, lambda options: drop(given.source, given.target, selection_of(given), options))


def _require_selection(given: Namespace) -> None:
    if not has_selection(given):
        raise InvalidArgumentError("say which tensors are meant: --match, --regex or --exclude")


def _add_strip(parser: Parser) -> None:
    add_places(parser)
    parser.add_argument("--link", action="store_true", help="share the data files, with the unused data in them")


def _run_strip(given: Namespace, output: Output) -> int:
    return change(
        given,
        output,
        lambda options: strip_optimizer(given.source, given.target, replace(options, compact=not given.link)),
    )


def _run_swap(given: Namespace, output: Output) -> int:
    return change(given, output, lambda options: swap_averages(given.source, given.target, options))


COMMANDS = {
    "rename": Command(
        "Gives the tensors of a checkpoint other names. Rules are applied in this order: --map, --strip-scope,\n"
        "--regex, --add-scope. Only the index is written: data files are linked, so it takes no time, however large\n"
        "they are.",
        (
            "rename run/model-1000 renamed/model --map dense/kernel=dense/weights",
            "rename run/model-1000 renamed/model --strip-scope dense --preview",
            "rename run/model-1000 renamed/model --regex '^dense/' 'layer_0/' --add-scope tower",
        ),
        _add_rename,
        _run_rename,
    ),
    "keep": Command(
        "Writes a checkpoint with some of the tensors.",
        ("keep run/model-1000 kept/model --match 'dense/*' --exclude '*bias'",),
        _add_keep,
        _run_keep,
    ),
    "drop": Command(
        "Writes a checkpoint without some of the tensors.",
        ("drop run/model-1000 dropped/model --regex bias$ --compact",),
        _add_drop,
        _run_drop,
    ),
    "strip-optimizer": Command(
        "Writes a checkpoint without what optimizers keep for training: slots, powers, rates. The global step stays.",
        ("strip-optimizer train/model-2 small/model",),
        _add_strip,
        _run_strip,
    ),
    "ema-swap": Command(
        "Lets variables and their moving averages change names, so that whoever loads the variables gets the averages.",
        ("ema-swap train/model-2 averaged/model",),
        add_places,
        _run_swap,
    ),
}
