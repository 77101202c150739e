"""`tensorkeep completion`: what makes a shell complete the words of the program."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tensorkeep.cli import catalog
from tensorkeep.cli.command import DONE, TENSOR_NAMES, Command, Parser
from tensorkeep.cli.output import Output

_SHELLS: Final = ("bash", "zsh", "fish")


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=_SHELLS, help=f"one of {', '.join(_SHELLS)}")


def _run(given: Namespace, output: Output) -> int:
    words = {name: _words(catalog.load_command(name).parser(name)) for name in catalog.COMMANDS}
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[given.shell](words)
    if output.is_json:
        output.data("completion/1", {"shell": given.shell, "script": script})
    else:
        output.write(script)
    return DONE


class Words(NamedTuple):
    """What may be said after a command."""

    options: Sequence[str]
    values: Mapping[str, Sequence[str]]
    """By option, the words that may follow it; none where any word may."""
    arguments: Mapping[int, Sequence[str]]
    """The same of what stands without an option, by its number."""


def _words(parser: Parser) -> Words:
    values = {option: parser.values.get(option, ()) for option in parser.takes_value}
    numbered = enumerate(parser.arguments)
    return Words(
        ["--help", *parser.options],
        values,
        {number: parser.values[name] for number, name in numbered if name in parser.values},
    )


def _firsts() -> list[str]:
    return list(dict.fromkeys(name.partition(" ")[0] for name in catalog.COMMANDS))


def _groups() -> dict[str, list[str]]:
    found = {first: [name.partition(" ")[2] for name in catalog.members(first)] for first in _firsts()}
    return {first: group for first, group in found.items() if group}


def _cases(words: Mapping[str, Words], names: str, literal: str) -> list[str]:
    """The branches that say which words may stand in a place: after an option, or as the first, second ... argument.

    A place is `command:--option` or `command:number`. `names` are the names of tensors, `literal` is for given words.
    """
    lines = []
    for name, known in words.items():
        places: list[tuple[object, Sequence[str]]] = [*known.values.items(), *known.arguments.items()]
        for place, values in places:
            if not values:
                continue
            told = names if tuple(values) == TENSOR_NAMES else literal.format(" ".join(values))
            lines.append(f'        "{name}:{place}") {told} ;;')
    return lines


_BASH: Final = r"""# tensorkeep: source this, or put it into ~/.local/share/bash-completion/completions/tensorkeep
_tensorkeep_tensors() { tensorkeep list "$1" --names --plain 2>/dev/null; }
_tensorkeep() {
    local IFS=$' \t\n' current="${COMP_WORDS[COMP_CWORD]}" name="${COMP_WORDS[1]}" at=2 words="" names="" path=""
    local count=0 word
    local previous="${COMP_WORDS[COMP_CWORD-1]}" taking=" @TAKING@ "
    case " @GROUPS@ " in
        *" $name "*) [ "$COMP_CWORD" -gt 2 ] && { name="$name ${COMP_WORDS[2]}"; at=3; } ;;
    esac
    [ "$current" = "=" ] && { current=""; COMP_WORDS+=(""); COMP_CWORD=$((COMP_CWORD + 1)); previous="="; }
    [ "$previous" = "=" ] && previous="${COMP_WORDS[COMP_CWORD-2]}"
    while [ "$at" -lt "$COMP_CWORD" ]; do
        word="${COMP_WORDS[at]}"
        if [[ "$taking" == *" $name:$word "* ]]; then at=$((at + 1)); [ "${COMP_WORDS[at]}" = "=" ] && at=$((at + 1))
        elif [[ "$word" != -* ]]; then [ -z "$path" ] && path="$word"; count=$((count + 1)); fi
        at=$((at + 1))
    done
    path="${path/#\~/$HOME}"
    if [ "$COMP_CWORD" -eq 1 ]; then words="@FIRSTS@ help --help --version"
    elif [[ "$current" == -* ]]; then
        case "$name" in
@OPTIONS@
        esac
    else
        local place="$name:$count"
        [[ "$taking" == *" $name:$previous "* ]] && place="$name:$previous"
        case "$place" in
@GROUPWORDS@
@CASES@
        esac
    fi
    [ -n "$names" ] || words="${words// /$'\n'}"
    COMPREPLY=()
    # Not by compgen -W, which would run what is in names of tensors that anybody may have made.
    while IFS= read -r word; do
        [[ -n "$word" && "$word" == "$current"* ]] && COMPREPLY+=("$(printf '%q' "$word")")
    done <<< "$words"
}
complete -o default -o bashdefault -F _tensorkeep tensorkeep
"""

_ZSH: Final = r"""#compdef tensorkeep
# tensorkeep: put it into a folder of $fpath as _tensorkeep
_tensorkeep_tensors() { tensorkeep list ${1/#\~/$HOME} --names --plain 2>/dev/null }
_tensorkeep() {
  local -a options
  local name=$words[2] word file place previous=$words[CURRENT-1] taking=" @TAKING@ "
  local -i at=3 count=0
  if (( CURRENT == 2 )); then compadd @FIRSTS@ help --help --version; return; fi
  if (( CURRENT > 3 )) && [[ $name == (@GROUPS@) ]]; then name+=" $words[3]"; at=4; fi
  while (( at < CURRENT )); do
    word=$words[at]
    if [[ $taking == *" $name:$word "* ]]; then at+=1
    elif [[ $word != -* ]]; then [[ -z $file ]] && file=$word; count+=1; fi
    at+=1
  done
  if [[ $PREFIX == -* ]]; then
    case $name in
@OPTIONS@
    esac
    compadd -- $options
    return
  fi
  place="$name:$count"
  [[ $taking == *" $name:$previous "* ]] && place="$name:$previous"
  case $place in
@GROUPWORDS@
@CASES@
    *) _files; return ;;
  esac
  compadd -- $options
}
if [[ $funcstack[1] == _tensorkeep ]]; then _tensorkeep "$@"; else compdef _tensorkeep tensorkeep; fi
"""


def _filled_script(script: str, words: Mapping[str, Words], *, between: str, listing: str, names: str) -> str:
    """A script with the words of the program in it; `listing` is how the shell keeps some."""
    groups = _groups()
    taking = " ".join(f"{name}:{option}" for name, known in words.items() for option in known.values)
    filled = {
        "@TAKING@": taking,
        "@GROUPS@": between.join(groups),
        "@FIRSTS@": " ".join(_firsts()),
        "@OPTIONS@": "\n".join(
            f'        "{name}") {listing.format(" ".join(known.options))} ;;' for name, known in words.items()
        ),
        "@GROUPWORDS@": "\n".join(
            f'        "{first}:0") {listing.format(" ".join(group))} ;;' for first, group in groups.items()
        ),
        "@CASES@": "\n".join(_cases(words, names, listing)),
    }
    for place, text in filled.items():
        script = script.replace(place, text)
    return script


def _bash(words: Mapping[str, Words]) -> str:
    return _filled_script(
        _BASH, words, between=" ", listing='words="{}"', names='words="$(_tensorkeep_tensors "$path")" names=1'
    )


def _zsh(words: Mapping[str, Words]) -> str:
    names = 'options=("${(@f)$(_tensorkeep_tensors $file)}")'
    return _filled_script(_ZSH, words, between="|", listing="options=({})", names=names)


_FISH: Final = r"""# tensorkeep: put it into ~/.config/fish/completions/tensorkeep.fish
function __tensorkeep_tensors
    set -l words (commandline -opc)[2..-1]
    if contains -- "$words[1]" @GROUPS@
        set -e words[1]
    end
    for word in $words[2..-1]
        if not string match -q -- "-*" $word
            tensorkeep list $word --names --plain 2>/dev/null
            return
        end
    end
end
function __tensorkeep_has_path
    set -l words (commandline -opc)[2..-1]
    test (count (string match -v -- "-*" $words)) -eq 2
end
"""


def _fish(words: Mapping[str, Words]) -> str:
    groups = _groups()
    lines = [_FISH.replace("@GROUPS@", " ".join(groups)).rstrip("\n")]
    for first in _firsts():
        summary = f"Commands: {', '.join(groups[first])}" if first in groups else catalog.COMMANDS[first].summary
        lines.append(_fish_word("__fish_use_subcommand", first, summary))
    for first, group in groups.items():
        seen = f"__fish_seen_subcommand_from {first}; and not __fish_seen_subcommand_from {' '.join(group)}"
        lines += [_fish_word(seen, second, catalog.COMMANDS[f"{first} {second}"].summary) for second in group]
    for name, known in words.items():
        first, _, second = name.partition(" ")
        other = (
            f"__fish_seen_subcommand_from {second}" if second else f"not __fish_seen_subcommand_from {' '.join(groups)}"
        )
        seen = f"__fish_seen_subcommand_from {first}; and {other}"
        lines += [_fish_option(seen, option, known.values.get(option)) for option in known.options]
        for number, values in known.arguments.items():
            where = f"{seen}; and __tensorkeep_has_path" if number else seen
            lines.append(f"complete -c tensorkeep -n '{where}' -f -a '{_fish_values(values)}'")
    return "\n".join((*lines, ""))


def _fish_option(seen: str, option: str, values: Sequence[str] | None) -> str:
    line = f"complete -c tensorkeep -n '{seen}' -l {option.removeprefix('--')}"
    if values is None:
        return line
    return f"{line} -x -a '{_fish_values(values)}'" if values else f"{line} -r"


def _fish_values(values: Sequence[str]) -> str:
    return "(__tensorkeep_tensors)" if tuple(values) == TENSOR_NAMES else " ".join(values)


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
