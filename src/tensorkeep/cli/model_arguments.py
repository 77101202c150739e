"""The arguments by which a SavedModel and a meta graph in it are named."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.command import Parser
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saved_model.naming import split_tags


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


__all__ = ["add_model", "add_run_initializers", "model_of", "tags_of"]
