"""`tensorkeep saved-model extract-assets` and `replace-asset`."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing

from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.models.model_changes import report_files
from tensorkeep.cli.output import Output, size_text
from tensorkeep.errors import AlreadyExistsError, FailedPreconditionError, MissingFileError, NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import path_text
from tensorkeep.saved_model.edit.directory_edits import extract_assets, replace_asset
from tensorkeep.saved_model.edit.message_edits import asset_names
from tensorkeep.saved_model.files.layout import asset_path, join, read_saved_model


def _add_extract_arguments(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the directory of a SavedModel")
    parser.add_argument("output", metavar="DIR", help="the folder that the files go to")
    parser.add_argument("--force", action="store_true", help="over files that are there")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")


def _run_extract(given: Namespace, output: Output) -> int:
    names = asset_names(read_saved_model(given.model))
    paths = [join(given.output, name) for name in names]
    if not given.force and (taken := [path for path in paths if FILES.exists(path)]):
        raise AlreadyExistsError(f"{', '.join(taken)}: there already; say --force to replace")
    if not given.dry_run:
        extract_assets(given.model, given.output)
    sizes = [_size(asset_path(given.model, name)) for name in names]
    return report_files(given, output, dict(zip(paths, sizes, strict=True)))


def _size(path: str) -> str:
    with closing(FILES.open(path)) as file:
        return size_text(file.size)


def _add_replace_arguments(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the directory of a SavedModel")
    parser.add_argument("name", metavar="NAME", help="the name of the asset")
    parser.add_argument("file", metavar="FILE", help="the file that takes its place")
    parser.add_argument("--force", action="store_true", help="do it: the old file is gone then")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")


def _run_replace(given: Namespace, output: Output) -> int:
    known = asset_names(read_saved_model(given.model))
    if given.name not in known:
        raise NotFoundError(f'"{given.name}" is no asset of "{given.model}"; there are {", ".join(known) or "none"}')
    path, file = asset_path(given.model, given.name), path_text(given.file)
    if not FILES.exists(file):
        raise MissingFileError(f'there is no file "{file}" to put in the place of "{path}"')
    amount = f"{_size(file)} in the place of {_size(path) if FILES.exists(path) else 'a file that is missing'}"
    if not given.dry_run:
        if not given.force:
            raise FailedPreconditionError(f'this would replace "{path}": say --force if that is wanted')
        replace_asset(given.model, given.name, file)
    return report_files(given, output, {path: amount})


COMMANDS = {
    "saved-model extract-assets": Command(
        "Copies the files that a model reads, vocabularies for one, into a folder.",
        ("saved-model extract-assets export/words vocabularies",),
        _add_extract_arguments,
        _run_extract,
    ),
    "saved-model replace-asset": Command(
        "Puts another file in the place of one that a model reads. The model itself stays as it is.",
        ("saved-model replace-asset export/words vocab.txt new.txt --dry-run",),
        _add_replace_arguments,
        _run_replace,
    ),
}
