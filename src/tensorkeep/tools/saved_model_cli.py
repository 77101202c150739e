"""Shows, runs and scans SavedModels: TensorFlow's `saved_model_cli` without TensorFlow.

    python -m tensorkeep.tools.saved_model_cli show --dir MODEL [--all | --tag_set T [--signature_def K | --list_ops]]
    python -m tensorkeep.tools.saved_model_cli run --dir MODEL --tag_set T --signature_def K --inputs ... [--outdir O]
    python -m tensorkeep.tools.saved_model_cli scan --dir MODEL [--tag_set T] [--op_denylist A,B] [--report sarif]

Flags and text are TensorFlow's; `--json`, `--timing`, `--report`, `--allow` and `--allow_ops` are ours. The status of
the process: 0 done; 1 an error, in a line on standard error; 2 wrong flags; of a scan with a report also 3 something
was found, 4 something could not be looked at.

Each command is a module of its own, imported when it is asked for: showing a model needs no kernels.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final, NamedTuple

from tensorkeep.errors import TensorKeepError

FAILED: Final = 1

_COMMANDS: Final = {
    "show": "tensorkeep.tools.saved_model_show",
    "run": "tensorkeep.tools.saved_model_run",
    "scan": "tensorkeep.tools.saved_model_scan",
}
_ELSEWHERE: Final = {
    "freeze_model": (
        "freeze_model prepares a model for tfcompile, which is a part of TensorFlow. To get a frozen graph use `python "
        "-m tensorkeep.tools.freeze_graph --input_saved_model_dir DIR --output_node_names NAMES --output_graph FILE`"
    ),
    "convert": "convert needs TensorRT and TensorFlow: run TensorFlow's own saved_model_cli where these are installed",
    "aot_compile_cpu": (
        "aot_compile_cpu needs the compiler in TensorFlow: run TensorFlow's own saved_model_cli. To run a model "
        "without TensorFlow use `run`, or tensorkeep.load_saved_model in Python"
    ),
}


class Flag(NamedTuple):
    """A flag: of which commands, with a value or without."""

    name: str
    commands: str
    help: str
    is_switch: bool = False
    default: str | None = None


_FLAGS: Final = (
    Flag("dir", "show run scan", "Directory containing the SavedModel."),
    Flag("all", "show", "Outputs all available information in the given SavedModel.", True),
    Flag("tag_set", "show run scan", "Comma-separated set of tags that identify variant graphs in the SavedModel."),
    Flag("signature_def", "show run", "The SignatureDef (by key) to display or run."),
    Flag("list_ops", "show", "Outputs the ops used by the MetaGraphDef that tag_set specifies.", True),
    Flag("json", "show run scan", "Prints JSON in place of text.", True),
    Flag("inputs", "run", "Input files: '<key>=<file>' or '<key>=<file>[<name>]', by ';'. .npy or .npz.", default=""),
    Flag("allow_pickle", "run", "Also takes pickles, which are programs: only those that you trust.", True),
    Flag("input_exprs", "run", "Python literals or simple numpy expressions: '<key>=<expr>', by ';'.", default=""),
    Flag("input_examples", "run", "tf.train.Examples: '<key>=[{feature:values,...}]', separated by ';'.", default=""),
    Flag("outdir", "run", "If specified, writes outputs to the given directory, as .npy files."),
    Flag("overwrite", "run", "Overwrites output files if they already exist.", True),
    Flag("timing", "run", "Says on standard error how long loading, the first and further runs take.", True),
    Flag("max_seconds", "run", "How long a run may take, or none for no limit; 300 by default."),
    Flag("max_memory", "run", "Bytes that the process may grow by, or none; by default what is free."),
    Flag("max_steps", "run", "Rounds of loops and calls of functions, or none; 10000000 by default."),
    Flag("allow", "run scan", "What the model may do besides computing, by class or op: 'prints,ReadFile'."),
    Flag("tf_debug", "run", "Of TensorFlow's debugger: not supported.", True),
    Flag("worker", "run", "Of TensorFlow's servers: not supported."),
    Flag("init_tpu", "run", "Of TPUs: not supported.", True),
    Flag("use_tfrt", "run", "Without effect.", True),
    Flag("op_denylist", "scan", "Comma-separated ops to report, in place of WriteFile, ReadFile, PrintV2."),
    Flag("report", "scan", "text, json or sarif: the whole scan, by class of what ops can do."),
    Flag("allow_ops", "scan", "Comma-separated ops, the only ones that a model may have; or @FILE, a list of them."),
)  # fmt: skip
_REQUIRED: Final = {"show": ("dir",), "run": ("dir", "tag_set", "signature_def"), "scan": ("dir",)}
_TRUTHS: Final = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def create_parser() -> argparse.ArgumentParser:
    """What understands the flags. Each command takes those that mean something to it."""
    parser = argparse.ArgumentParser(
        prog="saved_model_cli.py", description="saved_model_cli: Command-line interface for SavedModel"
    )
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    commands = parser.add_subparsers(title="commands", description="valid commands", dest="command")
    for name in _COMMANDS:
        command = commands.add_parser(name, allow_abbrev=False)
        for flag in _FLAGS:
            if name in flag.commands.split():
                kind = _truth if flag.is_switch else str
                default = False if flag.is_switch else flag.default
                command.add_argument(f"--{flag.name}", type=kind, default=default, help=flag.help)
    for name in _ELSEWHERE:
        commands.add_parser(name)
    return parser


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTHS:
        raise argparse.ArgumentTypeError(f"not a boolean: {text!r}")
    return _TRUTHS[text.lower()]


def normalized_arguments(arguments: Sequence[str]) -> list[str]:
    """The arguments with flags in one form: absl also takes one dash, --noall and --all; we, hyphens."""
    names = {flag.name: flag.is_switch for flag in _FLAGS}
    found = []
    for item in arguments:
        dashes, word, equals, value = _split_flag(item)
        if dashes and word in names:
            switch = "=true" if names[word] and not equals else ""
            found.append(f"--{word}{equals}{value}{switch}")
        elif dashes and word.startswith("no") and names.get(word[2:]) and not equals:
            found.append(f"--{word[2:]}=false")
        else:
            found.append(item)
    return found


def _split_flag(item: str) -> tuple[str, str, str, str]:
    word = item.lstrip("-")
    dashes = item[: len(item) - len(word)]
    name, equals, value = word.partition("=")
    return (dashes if len(dashes) <= 2 else ""), name.replace("-", "_"), equals, value


def _read_flags(arguments: Sequence[str]) -> argparse.Namespace:
    parser = create_parser()
    given = parser.parse_args(normalized_arguments(arguments))
    if given.command is None:
        parser.error("Too few arguments.")
    for name in _REQUIRED.get(given.command, ()):
        if getattr(given, name) is None:
            parser.error(f"flag --{name}=None: Flag --{name} must have a value other than None.")
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool with command-line arguments; gives its exit status."""
    listed = list(sys.argv[1:] if arguments is None else arguments)
    if listed[:1] and listed[0] in _ELSEWHERE and not {"-h", "--help"} & set(listed):
        print(f"NotImplementedError: {_ELSEWHERE[listed[0]]}", file=sys.stderr)
        return FAILED
    given = _read_flags(listed)
    command: Callable[[argparse.Namespace], int] = import_module(_COMMANDS[given.command]).main
    try:
        return command(given)
    except TensorKeepError as error:
        print(f"{_builtin_name(error)}: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        return FAILED


def _builtin_name(error: Exception) -> str:
    """What TensorFlow's users know an error by: OSError, ValueError."""
    if isinstance(error, OSError):
        return "OSError"
    bases = (base for level in type(error).__mro__ for base in level.__bases__)
    return next(base.__name__ for base in bases if base.__module__ == "builtins")


if __name__ == "__main__":
    sys.exit(main())
