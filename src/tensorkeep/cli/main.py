"""The program itself: finds the command, runs it, and says what went wrong.

The exit codes are in `command.EXIT_CODES`, and in the help.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence

from tensorkeep._version import __version__
from tensorkeep.cli.catalog import COMMANDS, load_command, members, sections, split_command
from tensorkeep.cli.command import EXIT_CODES, FAILED, INTERRUPTED, PIPE_CLOSED, WRONG_ARGUMENTS
from tensorkeep.cli.output import Form, Output, shown_value
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.io.showing.terminal import abandon, or_nowhere, terminal_of

_EXAMPLES = (
    "what export/1                                   # what is this?",
    "list run/model-1000                             # names, types, shapes, bytes",
    "print run/model-1000 dense/kernel 0:2           # some rows of a tensor",
    "verify run/model-1000                           # is it intact? See the exit code",
    "saved-model run export/1 --inputs x=x.npy       # run a model",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program with command-line arguments; gives its exit code."""
    listed = list(sys.argv[1:] if arguments is None else arguments)
    output = standard_output()
    try:
        code = run(listed, output)
        output.out.flush()
        return code
    except SystemExit as ending:  # argparse has said what there is to say
        return ending.code if isinstance(ending.code, int) else FAILED
    except KeyboardInterrupt:
        output.note("interrupted", "stopped", "red")
        return INTERRUPTED
    except BrokenPipeError:
        abandon(output.out)
        return PIPE_CLOSED
    except OSError as error:  # what commands do with files has told its errors already
        abandon(output.out)
        output.note(f"the output could not be written: {error.strerror or error}", "error", "red")
        return FAILED


def standard_output() -> Output:
    """Output to the streams of the process."""
    out, err = or_nowhere(sys.stdout), or_nowhere(sys.stderr)
    terminal = terminal_of(out)
    form = Form.TABLE if terminal.is_watched else Form.PLAIN
    return Output(out, err, form, terminal, terminal_of(err))


def run(arguments: Sequence[str], output: Output) -> int:
    """Runs the command that the arguments name."""
    if list(arguments) in (["--version"], ["-V"]):
        output.line(f"tensorkeep {__version__}")
        return 0
    try:
        name, rest = split_command(_without_help(arguments))
    except InvalidArgumentError as error:
        output.note(f"{error}\nTry 'tensorkeep --help'.", "error", "red")
        return WRONG_ARGUMENTS
    if name in COMMANDS:
        return _run_command(name, rest, output)
    if rest and rest[0] not in ("-h", "--help"):
        output.note(f"there is no option {rest[0]}\nTry 'tensorkeep --help'.", "error", "red")
        return WRONG_ARGUMENTS
    output.write(help_text(name))
    return 0 if rest or not name else WRONG_ARGUMENTS


def _without_help(arguments: Sequence[str]) -> list[str]:
    """`help list` is `list --help`."""
    return [*arguments[1:], "--help"] if arguments and arguments[0] == "help" else list(arguments)


def _run_command(name: str, arguments: Sequence[str], output: Output) -> int:
    command = load_command(name)
    given = command.parser(name).understand(arguments)
    output = output.with_form(json=given.json, plain=given.plain, table=given.table)
    try:
        if command.has_own_warnings:
            return command.run(given, output)
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _noting(output)
            return command.run(given, output)
    except TensorKeepError as error:
        return _tell_failure(error, output)
    except UnicodeEncodeError as error:
        return _tell_failure(_no_name(arguments, error), output)
    except MemoryError:
        return _tell_failure(TensorKeepError("there is not enough memory for it"), output)


def _no_name(arguments: Sequence[str], error: UnicodeEncodeError) -> InvalidArgumentError:
    """Says which argument is not UTF-8, where a name in a model is meant; paths may be any bytes."""
    strange = [item for item in arguments if any("\ud800" <= letter <= "\udfff" for letter in item)]
    if not strange:
        raise error
    return InvalidArgumentError(f'"{shown_value(strange[0])}" is not UTF-8, which names in models are')


def _noting(output: Output) -> Callable[..., None]:
    """A function in the place of `warnings.showwarning` that prints a warning as a note."""

    def show(message: Warning | str, *details: object) -> None:
        output.note(str(message))

    return show


def _tell_failure(error: TensorKeepError, output: Output) -> int:
    if output.is_json:
        output.data("error/1", {"error": type(error).__name__, "message": str(error)})
    output.note(str(error), "error", "red")
    return FAILED


# ---------------------------------------------------------------------------------------------------------------- help


def help_text(group: str = "") -> str:
    """All commands by what they are for, or those of a group, each in a line."""
    names = members(group)
    usage = f"usage: tensorkeep {group or 'COMMAND'} {'COMMAND ' if group else ''}[ARGUMENTS] [--json]"
    if group:
        return "\n".join(
            (usage, "", "commands:", *_command_lines(names), "", f"Try 'tensorkeep {names[0]} --help'.", "")
        )
    lines = [line for title, listed in sections().items() for line in ("", f"{title}:", *_command_lines(listed))]
    codes = [f"  {code:<3}  {meaning}" for code, meaning in EXIT_CODES.items()]
    about = "Looks into TensorFlow's model files and works on them, without TensorFlow."
    examples = [f"  tensorkeep {example}" for example in _EXAMPLES]
    more = "Every command has --help, and --json for programs. --version prints the version."
    parts = (usage, "", about, *lines, "", "examples:", *examples, "", "exit codes:", *codes)
    return "\n".join((*parts, "", more, ""))


def _command_lines(names: Sequence[str]) -> list[str]:
    """The lines of commands, each with what it does."""
    width = max(16, *map(len, names))
    return [f"  {name.ljust(width)}  {COMMANDS[name].summary}" for name in names]
