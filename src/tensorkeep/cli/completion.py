"""`tensorkeep completion`: what makes a shell complete the words of the program."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Final

from tensorkeep.cli import catalog
from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.output import Output

_SHELLS: Final = ("bash", "zsh", "fish")


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=_SHELLS, help=f"one of {', '.join(_SHELLS)}")


def _run(given: Namespace, output: Output) -> int:
    words = {name: ["--help", *catalog.load_command(name).parser(name).options] for name in catalog.COMMANDS}
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[given.shell](words)
    if output.is_json:
        output.data("completion/1", {"shell": given.shell, "script": script})
    else:
        output.write(script)
    return DONE


def _firsts() -> list[str]:
    return list(dict.fromkeys(name.partition(" ")[0] for name in catalog.COMMANDS))


def _groups() -> dict[str, list[str]]:
    return {first: [name.partition(" ")[2] for name in catalog.members(first)] for first in _firsts()}


def _bash(words: Mapping[str, Sequence[str]]) -> str:
    lines = [f'        "{name}") words="{" ".join(options)}" ;;' for name, options in words.items()]
    lines += [f'        "{first}") words="{" ".join(group)} --help" ;;' for first, group in _groups().items() if group]
    return "\n".join(
        (
            "# tensorkeep: source this, or put it into ~/.local/share/bash-completion/completions/tensorkeep",
            "_tensorkeep() {",
            '    local current="${COMP_WORDS[COMP_CWORD]}" name="${COMP_WORDS[1]}" words=""',
            f'    case " {" ".join(first for first, group in _groups().items() if group)} " in',
            '        *" $name "*) [ "$COMP_CWORD" -gt 2 ] && name="$name ${COMP_WORDS[2]}" ;;',
            "    esac",
            f'    if [ "$COMP_CWORD" -eq 1 ]; then words="{" ".join(_firsts())} help --help --version"',
            '    else case "$name" in',
            *lines,
            "    esac; fi",
            '    if [[ "$current" == -* || "$COMP_CWORD" -eq 1 || "$words" != -* ]]; then',
            '        COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "    fi",
            "}",
            "complete -o default -o bashdefault -F _tensorkeep tensorkeep",
            "",
        )
    )


def _zsh(words: Mapping[str, Sequence[str]]) -> str:
    lines = [f'    "{name}") options=({" ".join(options)}) ;;' for name, options in words.items()]
    lines += [f'    "{first}") options=({" ".join(group)}) ;;' for first, group in _groups().items() if group]
    groups = "|".join(first for first, group in _groups().items() if group)
    return "\n".join(
        (
            "#compdef tensorkeep",
            "# tensorkeep: put it into a folder of $fpath as _tensorkeep",
            "_tensorkeep() {",
            "  local -a options",
            f"  if (( CURRENT == 2 )); then compadd {' '.join(_firsts())} help --help --version; return; fi",
            "  local name=$words[2]",
            f'  if (( CURRENT > 3 )) && [[ $name == ({groups}) ]]; then name+=" $words[3]"; fi',
            "  case $name in",
            *lines,
            "  esac",
            "  if [[ $PREFIX == -* || $options[1] != -* ]]; then compadd -- $options; else _files; fi",
            "}",
            'if [[ $funcstack[1] == _tensorkeep ]]; then _tensorkeep "$@"; else compdef _tensorkeep tensorkeep; fi',
            "",
        )
    )


def _fish(words: Mapping[str, Sequence[str]]) -> str:
    lines = ["# tensorkeep: put it into ~/.config/fish/completions/tensorkeep.fish"]
    groups = {first: group for first, group in _groups().items() if group}
    for first in _firsts():
        summary = f"Commands: {', '.join(groups[first])}" if first in groups else catalog.COMMANDS[first].summary
        lines.append(_fish_word("__fish_use_subcommand", first, summary))
    for first, group in groups.items():
        seen = f"__fish_seen_subcommand_from {first}; and not __fish_seen_subcommand_from {' '.join(group)}"
        lines += [_fish_word(seen, second, catalog.COMMANDS[f"{first} {second}"].summary) for second in group]
    for name, options in words.items():
        first, _, second = name.partition(" ")
        other = (
            f"__fish_seen_subcommand_from {second}" if second else f"not __fish_seen_subcommand_from {' '.join(groups)}"
        )
        seen = f"__fish_seen_subcommand_from {first}; and {other}"
        lines += [f"complete -c tensorkeep -n '{seen}' -l {option.removeprefix('--')}" for option in options]
    return "\n".join((*lines, ""))


def _fish_word(seen: str, word: str, summary: str) -> str:
    told = summary.replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c tensorkeep -n '{seen}' -f -a {word} -d '{told}'"


COMMANDS = {
    "completion": Command(
        "Prints what makes a shell complete the words of this program. Source it, or put it where the shell looks.",
        (
            "completion bash > ~/.local/share/bash-completion/completions/tensorkeep",
            "completion zsh",
            "completion fish --json",
        ),
        _add_arguments,
        _run,
    )
}
