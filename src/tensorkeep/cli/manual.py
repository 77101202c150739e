"""`tensorkeep man`: the manual page, made of what the commands say of themselves."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from tensorkeep._version import __version__
from tensorkeep.cli import catalog
from tensorkeep.cli.command import DONE, EXIT_CODES, Command
from tensorkeep.cli.output import Output

_COMMON: Final = {
    "--help": "show what the command does, its options, and examples",
    "--json": "print one JSON document in place of text",
    "--plain": "print as for a program, even on a terminal",
    "--table": "print as on a terminal, even into a pipe",
}


def _run(given: Namespace, output: Output) -> int:
    page = "".join(f"{line}\n" for line in _page())
    if output.is_json:
        output.data("man/1", {"page": page})
    else:
        output.write(page)
    return DONE


def _page() -> Iterator[str]:
    yield f'.TH TENSORKEEP 1 "" "tensorkeep {__version__}" "User Commands"'
    yield from (".SH NAME", "tensorkeep \\- look into TensorFlow's model files and work on them, without TensorFlow")
    yield from (".SH SYNOPSIS", ".B tensorkeep", ".I COMMAND", "[ARGUMENTS] [\\-\\-json]")
    yield ".SH OPTIONS OF EVERY COMMAND"
    for label, meaning in _COMMON.items():
        yield from (".TP", f".B {_roff(label)}", _roff(meaning))
    for title, names in catalog.sections().items():
        yield f'.SH "COMMANDS: {_roff(title).upper()}"'
        for name in names:
            yield from _command(name, catalog.load_command(name))
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from (".TP", f".B {code}", _roff(meaning))
    yield from (".SH SEE ALSO", _roff("tensorkeep COMMAND --help; tensorkeep completion SHELL"))


def _command(name: str, command: Command) -> Iterator[str]:
    parser = command.parser(name)
    yield f'.SS "tensorkeep {_roff(name)}"'
    yield _roff(" ".join(command.description.split()))
    for action in parser.described:
        if action.label.split()[-1] in _COMMON:
            continue
        yield from (".TP", f".B {_roff(action.label)}", _roff(action.help))
    yield from (".P", "Examples:", ".nf")
    yield from (f".RS 4\n{_roff(f'tensorkeep {example}')}\n.RE" for example in command.examples)
    yield ".fi"


def _roff(text: str) -> str:
    """Text as roff takes it: what would be a command or a sign of its own is spelled."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{plain}" if plain.startswith(".") else plain


COMMANDS = {
    "man": Command(
        "Prints the manual page of this program, for `man` and its like: all commands with their options and examples.",
        (
            "man > tensorkeep.1                 # then: man ./tensorkeep.1",
            "man --json",
        ),
        lambda parser: None,
        _run,
    )
}
