"""Commands that make a checkpoint of others: their arguments, where the new one goes, and what is said of it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tensorkeep.checkpoint.casting import CastLoss, CastLossError
from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.cli.command import DONE, Parser
from tensorkeep.cli.looking.any_tensors import require_checkpoint
from tensorkeep.cli.output import Output, ProgressBar, amount_of, shown_value, size_text
from tensorkeep.edit.plan import EditOptions, TargetExistsError, Written
from tensorkeep.edit.selecting import NameChanges
from tensorkeep.errors import AlreadyExistsError, DataLossError, InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import path_text

_MOST_SHOWN = 20


def add_places(parser: Parser, *, several: bool = False) -> None:
    """Adds the arguments that say what is read and where the result goes."""
    if several:
        parser.add_argument("sources", metavar="SOURCE", nargs="+", help="checkpoints: prefixes, folders, or files")
    else:
        parser.add_argument(
            "source", metavar="SOURCE", help="a checkpoint: its prefix, its folder, or one of its files"
        )
    parser.add_argument("target", metavar="TARGET", help="the prefix of the new checkpoint")
    add_writing(parser)


def add_writing(parser: Parser) -> None:
    """Adds the arguments that all commands have that write."""
    parser.add_argument("--force", action="store_true", help="replace what is there; TARGET may be SOURCE then")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def add_compact(parser: Parser) -> None:
    """Adds the argument of commands that otherwise share data files."""
    parser.add_argument("--compact", action="store_true", help="write all data anew, without what is no longer used")


def has_selection(given: Namespace) -> bool:
    """Whether the arguments choose some tensors rather than take all."""
    return bool(given.match or given.regex or given.exclude)


def change(given: Namespace, output: Output, work: Callable[[EditOptions], NameChanges | Written]) -> int:
    """Has a checkpoint written, with a bar if it takes long, and says what became of it."""
    require_name(given.target)
    bar = ProgressBar(output)
    options = EditOptions(getattr(given, "compact", False), given.force, given.dry_run, progress=bar)
    try:
        found = work(options)
    except TargetExistsError as error:
        raise AlreadyExistsError(f'"{error.path}" is there already: say --force to replace it') from None
    except CastLossError as error:
        raise allowing_loss(error) from None
    except DataLossError:
        for source in _sources(given):
            require_checkpoint(source, ": `tensorkeep convert` makes one of what has tensors")
        raise
    finally:
        bar.clear()
    written = found.written if isinstance(found, NameChanges) else found
    if output.is_json:
        output.data("change/2", change_data(written, found if isinstance(found, NameChanges) else None))
        return DONE
    if isinstance(found, NameChanges):
        _print_names(found, output)
    print_written(written, output)
    return DONE


def _sources(given: Namespace) -> list[str]:
    """The paths of the checkpoints that a command reads, whether it takes one, two or many."""
    named = [getattr(given, name) for name in ("source", "first", "second") if hasattr(given, name)]
    return [*named, *getattr(given, "sources", ())]


def require_name(target: str) -> None:
    """InvalidArgumentError if a folder is named where a name in it is meant: files would appear beside the folder."""
    target = path_text(target)
    if FILES.is_directory(target) and not target.endswith("/") and not FILES.exists(index_path(target)):
        raise InvalidArgumentError(f'"{target}" is a folder; say under which name in it: "{target}/model"')


def change_data(written: Written, names: NameChanges | None = None) -> dict[str, Any]:
    """What was written, for JSON."""
    data: dict[str, Any] = {
        "target": written.path,
        "is_dry_run": written.is_dry_run,
        "tensors": written.tensors,
        "linked_bytes": written.linked_bytes,
        "written_bytes": written.written_bytes,
        "renamed": dict(names.renamed) if names is not None else {},
        "dropped": list(names.dropped) if names is not None else [],
        "losses": losses_data(written.losses),
    }
    return data


def print_written(written: Written, output: Output) -> None:
    """Says what was written, in a line."""
    verb = "would write" if written.is_dry_run else "wrote"
    sizes = f"{size_text(written.linked_bytes)} linked, {size_text(written.written_bytes)} written"
    output.line(f"{verb} {shown_value(written.path)}: {amount_of(written.tensors, 'tensor')}, {sizes}")
    print_losses(written.losses, output)


def add_allow_loss(parser: Parser) -> None:
    """Adds the argument of commands that give numbers another type."""
    parser.add_argument(
        "--allow-loss", action="store_true", help="even if numbers become zero, infinite, or others: they are counted"
    )


def allowing_loss(error: CastLossError) -> CastLossError:
    """The error of a cast that would lose values, with the options of the program that avoid or allow it."""
    remedy = "Choose a type of wider range, leave these tensors out (--exclude), or say --allow-loss"
    return CastLossError(error.what, error.losses, remedy)


def losses_data(losses: Mapping[str, CastLoss]) -> dict[str, Any]:
    """What casts did to numbers, for JSON."""
    return {name: asdict(loss) for name, loss in losses.items()}


def print_losses(losses: Mapping[str, CastLoss], output: Output) -> None:
    """Says what casts did to numbers: of each tensor that lost some, and of all in one line."""
    if not losses:
        return
    for name, loss in losses.items():
        if loss.lost:
            output.line(f"  {shown_value(name)}: {shown_value(str(loss))}")
    total = sum(losses.values(), CastLoss())
    output.line(
        f"  cast {amount_of(len(losses), 'tensor')}: {total.lost:,} of {total.elements:,} numbers lost, "
        f"{total.rounded:,} rounded"
    )


def _print_names(found: NameChanges, output: Output) -> None:
    _print_some(
        [f"{shown_value(old)} -> {shown_value(new)}" for old, new in found.renamed.items()], found.written, output
    )
    _print_some([f"{shown_value(name)} dropped" for name in found.dropped], found.written, output)


def _print_some(lines: Sequence[str], written: Written, output: Output) -> None:
    """Prints all lines in a dry run, which is made for them; otherwise the first few."""
    count = len(lines) if written.is_dry_run else _MOST_SHOWN
    for line in lines[:count]:
        output.line(line)
    if len(lines) > count:
        output.line(output.styled(f"and {len(lines) - count:,} more", "dim"))


def pairs_of(items: Sequence[str], what: str, form: str = "OLD=NEW") -> Mapping[str, str]:
    """Reads arguments of the form OLD=NEW. InvalidArgumentError, which quotes the form, for one that is not of it."""
    found: dict[str, str] = {}
    for item in items:
        old, equals, new = item.partition("=")
        if not (old and equals and new):
            raise InvalidArgumentError(f"{what}: expected {form}, got {item!r}")
        if found.setdefault(old, new) != new:
            raise InvalidArgumentError(f"{what}: {old!r} is given twice, as {found[old]!r} and as {new!r}")
    return found
