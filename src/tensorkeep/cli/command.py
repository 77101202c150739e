"""What a command is, and how its arguments are understood."""

from __future__ import annotations

from argparse import ArgumentParser, HelpFormatter, Namespace
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, NoReturn

from tensorkeep.cli.output import Output

DONE: Final = 0
FAILED: Final = 1
WRONG_ARGUMENTS: Final = 2
FOUND: Final = 3
INCOMPLETE: Final = 4
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

TENSOR_NAMES: Final = ("@tensors",)
"""The values of an argument that names tensors of the checkpoint on the same line."""

_EXAMPLES: Final = "examples:"

EXIT_CODES: Final = {
    DONE: "done, and nothing is wrong",
    FAILED: "an error, which is said on standard error",
    WRONG_ARGUMENTS: "the arguments are wrong",
    FOUND: "done, and something was found: damage, differences, or what a scan reports",
    INCOMPLETE: "a scan could not look at everything",
    INTERRUPTED: "interrupted by Ctrl-C; nothing is left half-written",
    PIPE_CLOSED: "whoever read the output has gone",
}


class _Formatter(HelpFormatter):
    """Help as wide as the terminal; examples are lines as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith(_EXAMPLES):
            return "".join(f"{indent}{line}" for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


class Described(NamedTuple):
    """An argument or option: how it is written, and what it means."""

    label: str
    help: str


class Parser(ArgumentParser):
    """Understands arguments; an option may be spelled with hyphens or with underscores, as TensorFlow spells its own.

    Commands add arguments by `add_argument` of the parser itself, not of groups.
    """

    def __init__(self, name: str, description: str, epilog: str) -> None:
        self._spellings: dict[str, str] = {}
        self.values: dict[str, Sequence[str]] = {}
        """By option or argument the words that it takes, for completion: `TENSOR_NAMES` for those of a checkpoint."""
        super().__init__(
            prog=f"tensorkeep {name}",
            description=description,
            epilog=epilog,
            formatter_class=_Formatter,
            allow_abbrev=False,
        )

    def add_argument(self, *names: Any, values: Sequence[str] = (), **keywords: Any) -> Any:
        """Adds an argument as argparse does. `values` are words that it takes, among others; a shell offers them."""
        if offered := values or keywords.get("choices") or ():
            self.values.update(dict.fromkeys(names, tuple(offered)))
        self._spellings.update((name.replace("_", "-"), name) for name in names if name.startswith("--"))
        return super().add_argument(*names, **keywords)

    def understand(self, arguments: Iterable[str]) -> Namespace:
        """The values of the arguments. Ends the program where they are wrong, or where help is wanted."""
        return self.parse_args([self._spelled(item) for item in arguments])

    def _spelled(self, item: str) -> str:
        name, equals, value = item.partition("=")
        return self._spellings.get(name.replace("_", "-"), name) + equals + value if item.startswith("--") else item

    def error(self, message: str) -> NoReturn:
        strange = [word for word in message.partition("unrecognized arguments: ")[2].split() if word.startswith("--")]
        near = [found for word in strange for found in get_close_matches(word.partition("=")[0], self.options, 1)]
        message = f"{message}; did you mean {', '.join(near)}?" if near else message
        self.exit(WRONG_ARGUMENTS, f"error: {message}\n{self.format_usage()}Try '{self.prog} --help'.\n")

    @property
    def described(self) -> Sequence[Described]:
        """Every argument and option, as the help shows it."""
        formatter = self._get_formatter()
        return [
            Described(formatter._format_action_invocation(action), (action.help or "") % {"default": action.default})
            for action in self._actions
        ]

    @property
    def arguments(self) -> Sequence[str]:
        """What is given without options, in order, by the names that commands know it by."""
        return [action.dest for action in self._actions if not action.option_strings]

    @property
    def takes_value(self) -> Sequence[str]:
        """The long options after which a value stands."""
        actions = [action for action in self._actions if action.nargs != 0]
        return sorted(name for action in actions for name in action.option_strings if name.startswith("--"))

    @property
    def options(self) -> Sequence[str]:
        """The long options, for completion."""
        return sorted(self._spellings.values())


@dataclass(frozen=True)
class Command:
    """A command: its help, its arguments, and what it does with them. It gives an exit code."""

    description: str
    examples: Sequence[str]
    """Command lines without the program's name, `#` before a remark."""
    add_arguments: Callable[[Parser], None]
    run: Callable[[Namespace, Output], int]
    has_own_warnings: bool = False
    """Whether warnings are those of a program that it runs, and not for us to show."""

    def parser(self, name: str) -> Parser:
        """What understands the arguments of the command under that name."""
        listed = "\n".join(f"  tensorkeep {example}" for example in self.examples)
        parser = Parser(name, self.description, f"{_EXAMPLES}\n{listed}")
        self.add_arguments(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON document in place of text")
        parser.add_argument("--plain", action="store_true", help="print as for a program, even on a terminal")
        parser.add_argument("--table", action="store_true", help="print as on a terminal, even into a pipe")
        return parser
