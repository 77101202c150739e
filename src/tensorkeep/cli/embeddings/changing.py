"""`tensorkeep ev`: embedding tables in checkpoints, changed."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.checkpoint.casting import CastLossError
from tensorkeep.cli.changing.checkpoint_changes import add_allow_loss, allowing_loss
from tensorkeep.cli.cluster_options import add_cluster, cluster_of
from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.embeddings.writing import add_places, write
from tensorkeep.cli.output import Output
from tensorkeep.cluster.jobs import embeddings as on_cluster
from tensorkeep.embedding.tools.compacting import compact_checkpoint, full_and_newest_delta, plan_compacting
from tensorkeep.embedding.tools.pruning import (
    KeepByNorm,
    KeepFrequent,
    KeepTop,
    KeepUpdatedSince,
    PruneReport,
    PruneRule,
    plan_pruning,
    prune_checkpoint,
)
from tensorkeep.embedding.tools.quantising import plan_quantising, quantise_checkpoint
from tensorkeep.embedding.tools.repairing import compare_keys, repair_checkpoint
from tensorkeep.embedding.tools.repartitioning import plan_repartitioning, repartition_checkpoint
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.showing.progress import Progress


def _add_repartition(parser: Parser) -> None:
    add_places(parser)
    parser.add_argument("--shards", metavar="N", type=int, required=True, help="how many parts each table shall have")
    add_cluster(parser)


def _run_repartition(given: Namespace, output: Output) -> int:
    wanted = (given.source, given.target, given.shards)

    def work(bar: Progress) -> str:
        with cluster_of(given) as executor:
            if executor is not None:
                return on_cluster.repartition_checkpoint(*wanted, executor, progress=bar)
            return repartition_checkpoint(*wanted, progress=bar)

    return write(given, output, work, plan=lambda: plan_repartitioning(given.source, given.shards))


def _add_prune(parser: Parser) -> None:
    add_places(parser)
    parser.add_argument("--min-frequency", metavar="N", type=int, help="keep keys that occurred so often")
    parser.add_argument("--min-version", metavar="STEP", type=int, help="keep keys updated at this step or later")
    parser.add_argument("--min-norm", metavar="X", type=float, help="keep rows that are so long")
    parser.add_argument("--top", metavar="N", type=int, help="keep the most frequent")
    parser.add_argument("--only", dest="names", metavar="NAME", action="append", help="a table; all by default")
    parser.add_argument("--allow-empty", action="store_true", help="write tables of which no key is left, too")
    add_cluster(parser)


def _run_prune(given: Namespace, output: Output) -> int:
    rules: list[PruneRule] = []
    rules += [KeepFrequent(given.min_frequency)] if given.min_frequency is not None else []
    rules += [KeepUpdatedSince(given.min_version)] if given.min_version is not None else []
    rules += [KeepByNorm(given.min_norm)] if given.min_norm is not None else []
    rules += [KeepTop(given.top)] if given.top is not None else []
    if len(rules) != 1:
        raise InvalidArgumentError("say one of --min-frequency, --min-version, --min-norm and --top")
    wanted = {"names": given.names, "allow_empty": given.allow_empty}

    def work(bar: Progress) -> dict[str, PruneReport]:
        with cluster_of(given) as executor:
            if executor is not None:
                places = (given.source, given.target)
                return on_cluster.prune_checkpoint(*places, rules[0], executor, progress=bar, **wanted)
            return prune_checkpoint(given.source, given.target, rules[0], progress=bar, **wanted)

    return write(
        given,
        output,
        work,
        plan=lambda: plan_pruning(given.source, rules[0], **wanted) if given.dry_run else {},
    )


def _add_quantise(parser: Parser) -> None:
    add_places(parser)
    parser.add_argument("--to", choices=["bfloat16", "int8"], required=True, help="the type of the values")
    add_allow_loss(parser)


def _run_quantise(given: Namespace, output: Output) -> int:
    def work(bar: Progress) -> str:
        try:
            return quantise_checkpoint(given.source, given.target, given.to, allow_loss=given.allow_loss, progress=bar)
        except CastLossError as error:
            raise allowing_loss(error) from None

    return write(given, output, work, plan=lambda: plan_quantising(given.source, given.to))


def _run_repair(given: Namespace, output: Output) -> int:
    return write(
        given,
        output,
        lambda bar: repair_checkpoint(given.source, given.target, progress=bar),
        plan=lambda: compare_keys(given.source) if given.dry_run else {},
    )


def _add_compact(parser: Parser) -> None:
    add_places(parser)
    parser.add_argument("--delta", metavar="PATH", help="an incremental checkpoint; the newest of SOURCE by default")
    add_cluster(parser)


def _run_compact(given: Namespace, output: Output) -> int:
    full, delta = full_and_newest_delta(given.source, given.delta)

    def work(bar: Progress) -> str:
        with cluster_of(given) as executor:
            if executor is not None:
                return on_cluster.compact_checkpoint(full, given.target, delta, executor, progress=bar)
            return compact_checkpoint(full, given.target, delta, progress=bar)

    return write(
        given,
        output,
        work,
        plan=lambda: {full: f"with {delta}", **(plan_compacting(full, delta) if given.dry_run else {})},
    )


COMMANDS = {
    "ev repartition": Command(
        "Writes a checkpoint whose embedding tables have another number of parts.",
        ("ev repartition recommender/model split/model --shards 4",),
        _add_repartition,
        _run_repartition,
    ),
    "ev prune": Command(
        "Writes a checkpoint whose embedding tables have fewer keys.",
        (
            "ev prune recommender/model small/model --min-norm 0.1",
            "ev prune recommender/model small/model --top 2",
        ),
        _add_prune,
        _run_prune,
    ),
    "ev quantise": Command(
        "Writes a checkpoint whose embedding tables have values of fewer bits: bfloat16, or int8 with scales.",
        ("ev quantise recommender/model small/model --to int8",),
        _add_quantise,
        _run_quantise,
    ),
    "ev repair": Command(
        "Writes a checkpoint in which weights and slots of embedding tables have the same keys.",
        ("ev repair recommender/model sound/model",),
        add_places,
        _run_repair,
    ),
    "ev compact": Command(
        "Writes a full checkpoint with an incremental one put over it.",
        ("ev compact recommender/model whole/model --dry-run",),
        _add_compact,
        _run_compact,
    ),
}
