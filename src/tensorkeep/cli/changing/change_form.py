"""`tensorkeep split`, `convert-format`, `objects-to-names`, `names-to-objects` and `dedupe`."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.checkpoint.saving import CheckpointFormat
from tensorkeep.cli.changing.checkpoint_changes import add_places, change
from tensorkeep.cli.cluster_options import add_cluster, cluster_of
from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.output import Output, amount_of, shown_value, size_text
from tensorkeep.cluster.jobs.editing import split as split_on_cluster
from tensorkeep.edit.forms import convert_format, dedupe, names_to_objects, objects_to_names, split
from tensorkeep.edit.plan import EditOptions
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.io.showing.amounts import size_of


def _add_split(parser: Parser) -> None:
    add_places(parser)
    parser.add_argument("--max-shard-size", metavar="SIZE", required=True, help="500MB, 2GiB, or bytes")
    add_cluster(parser)


def _run_split(given: Namespace, output: Output) -> int:
    limit = size_of(given.max_shard_size)
    with cluster_of(given) as executor:
        if executor is not None:
            found = executor
            return change(
                given, output, lambda options: split_on_cluster(given.source, given.target, limit, options, found)
            )
        return change(given, output, lambda options: split(given.source, given.target, limit, options))


def _add_format(parser: Parser) -> None:
    add_places(parser)
    formats = [item.value for item in CheckpointFormat]
    parser.add_argument("--to", type=str.upper, choices=formats, required=True, help="the format")


def _run_format(given: Namespace, output: Output) -> int:
    form = CheckpointFormat(given.to)
    return change(given, output, lambda options: convert_format(given.source, given.target, form, options))


def _run_names(given: Namespace, output: Output) -> int:
    return change(given, output, lambda options: objects_to_names(given.source, given.target, options))


def _run_objects(given: Namespace, output: Output) -> int:
    return change(given, output, lambda options: names_to_objects(given.source, given.target, options))


def _add_dedupe(parser: Parser) -> None:
    parser.add_argument("checkpoints", metavar="CHECKPOINT", nargs="+", help="prefixes, the one to share from first")
    parser.add_argument("--force", action="store_true", help="rewrite them where they are")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be saved")


def _run_dedupe(given: Namespace, output: Output) -> int:
    if not given.force and not given.dry_run:
        raise FailedPreconditionError(
            "this rewrites checkpoints where they are: say --force, or --dry-run to look first"
        )
    done = dedupe(given.checkpoints, EditOptions(overwrite=True, dry_run=given.dry_run))
    if output.is_json:
        shared = {path: list(names) for path, names in done.shared.items()}
        output.data("dedupe/1", {"is_dry_run": given.dry_run, "shared": shared, "saved_bytes": done.saved_bytes})
        return DONE
    for path, names in done.shared.items():
        output.line(f"{shown_value(path)}: {amount_of(len(names), 'tensor')} shared")
    output.line(f"{size_text(done.saved_bytes)} {'would be ' if given.dry_run else ''}saved")
    return DONE


COMMANDS = {
    "split": Command(
        "Writes a checkpoint in data files of limited size.",
        ("split run/model-1000 split/model --max-shard-size 2GB",),
        _add_split,
        _run_split,
    ),
    "convert-format": Command(
        "Writes a checkpoint in the other format: V1 for old readers, V2 for all else.",
        ("convert-format run/model-1000 old/model --to V1",),
        _add_format,
        _run_format,
    ),
    "objects-to-names": Command(
        "Writes an object-based checkpoint (tf.train.Checkpoint, Keras) by names, for tf.train.Saver.",
        ("objects-to-names objects/ckpt-1 names/model",),
        add_places,
        _run_names,
    ),
    "names-to-objects": Command(
        "Writes a checkpoint of names as one of objects, for tf.train.Checkpoint: every scope becomes an object.",
        ("names-to-objects run/model-1000 other/ckpt-1",),
        add_places,
        _run_objects,
    ),
    "dedupe": Command(
        "Stores tensors that are the same in several checkpoints once, through hard links between their data files.\n"
        "Each stays whole by itself: any of them may be deleted or moved later.",
        (
            "dedupe train/model-1 train/model-2 --dry-run",
            "dedupe train/model-1 train/model-2 --force",
        ),
        _add_dedupe,
        _run_dedupe,
    ),
}
