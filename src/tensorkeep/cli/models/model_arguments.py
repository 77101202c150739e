"""The arguments by which a SavedModel and a meta graph in it are named."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.command import Parser
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.showing.amounts import size_of
from tensorkeep.runtime.limits import Limits
from tensorkeep.saved_model.load.engines import NAMES as ENGINES
from tensorkeep.saved_model.show.flag_values import DEFAULT_LIMITS, limits_of_texts, split_tags


def add_model(parser: Parser) -> None:
    """Adds the arguments that name a model and a meta graph of it."""
    parser.add_argument("model", metavar="MODEL", nargs="?", help="the directory of a SavedModel")
    parser.add_argument("--dir", metavar="MODEL", help="the same, as TensorFlow's tool has it")
    parser.add_argument("--tag_set", metavar="TAGS", help="the tags of the meta graph that is meant, with commas")


def model_of(given: Namespace) -> str:
    """The directory of the model."""
    if (given.model is None) == (given.dir is None):
        raise InvalidArgumentError("name one model: its directory, or --dir with it")
    found: str = given.dir if given.model is None else given.model
    return found


def tags_of(given: Namespace) -> list[str] | None:
    """The tags that are given, if any are."""
    return None if given.tag_set is None else split_tags(given.tag_set)


def add_run_initializers(parser: Parser) -> None:
    """Adds the argument that has a model run what loads it, where nothing of it runs otherwise."""
    parser.add_argument(
        "--run-initializers",
        action="store_true",
        help="run what restores and initializes the model, which may then read files; for models that you trust",
    )


def add_limits(parser: Parser) -> None:
    """Adds the arguments that say how much running a model may take."""
    for name, metavar, default, text in (
        ("--max-seconds", "N", f"{DEFAULT_LIMITS.seconds:g}", "how long a run may take"),
        ("--max-memory", "SIZE", "what is free", "how large a tensor may be, and by how much the process may grow"),
        ("--max-steps", "N", str(DEFAULT_LIMITS.steps), "how many rounds of loops and calls of functions it may take"),
    ):
        parser.add_argument(name, metavar=metavar, help=f"{text}; none for no limit, by default {default}")


def limits_of(given: Namespace) -> Limits:
    """How much running a model may take, by the arguments. Engines other than ours do not keep within memory."""
    is_ours = getattr(given, "engine", ENGINES[0]) == ENGINES[0]
    return limits_of_texts(given.max_seconds, given.max_memory, given.max_steps, size_of, limits_memory=is_ours)


def add_engine(parser: Parser) -> None:
    """Adds the argument that says what runs a model."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default=ENGINES[0],
        help="what runs it: our kernels; ONNX Runtime for what translates; the faster of the two; JAX (%(default)s)",
    )
