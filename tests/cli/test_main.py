"""The program as a whole: help, version, errors, exit codes, what it goes to, and how quickly it is there."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep._version import __version__
from tensorkeep.cli import catalog, main
from tensorkeep.cli.command import EXIT_CODES
from tensorkeep.cli.looking import print_tensor
from tensorkeep.cli.output import Form, Output, shown_value, size_text
from tensorkeep.io.showing.terminal import Terminal
from tensorkeep.proto.messages import SavedModel
from tests.cli.conftest import Program

EXAMPLES = [(name, example) for name in catalog.COMMANDS for example in catalog.load_command(name).examples]
ROOT = Path(__file__).resolve().parents[2]


def process(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tensorkeep", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]


# ---------------------------------------------------------------------------------------------------------------- help


def test_the_help_lists_every_command_and_every_exit_code(program: Program) -> None:
    found = program("--help")
    assert (found.code, found.err) == (0, "")
    for name, listed in catalog.COMMANDS.items():
        assert f"  {name} " in found.out
        assert listed.summary in found.out
    for code, meaning in EXIT_CODES.items():
        assert f"  {code:<3}  {meaning}\n" in found.out
    assert max(map(len, found.out.splitlines())) <= 110
    assert "other" not in catalog.sections()
    assert sorted(name for names in catalog.sections().values() for name in names) == sorted(catalog.COMMANDS)
    for title in catalog.sections():
        assert f"\n{title}:\n" in found.out
    assert program() == found
    assert program("help") == found


@pytest.mark.parametrize("name", list(catalog.COMMANDS))
def test_every_command_has_help_with_examples(program: Program, name: str) -> None:
    found = program(*name.split(), "--help")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith(f"usage: tensorkeep {name} ")
    assert "\nexamples:\n  tensorkeep " in found.out
    assert "--json" in found.out
    assert program("help", *name.split()).out == found.out


def test_a_group_lists_its_commands(program: Program) -> None:
    found = program("saved-model", "--help")
    assert found.code == 0
    assert found.out.startswith("usage: tensorkeep saved-model COMMAND [ARGUMENTS] [--json]\n\ncommands:\n")
    assert program("saved-model").code == 2


def test_every_command_is_in_the_module_that_the_catalog_names() -> None:
    for name in catalog.COMMANDS:
        assert catalog.load_command(name).description


def test_the_guide_names_every_command_and_every_exit_code() -> None:
    guide = (ROOT / "docs" / "guide" / "command-line.md").read_text(encoding="utf-8")
    for name in {name.partition(" ")[0] for name in catalog.COMMANDS}:
        assert f"`{name}`" in guide, name
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in guide


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_every_example_in_the_help_works(program: Program, world: Path, name: str, example: str) -> None:
    words = shlex.split(example, comments=True)
    assert " ".join(words[: name.count(" ") + 1]) == name
    if ">" in words:
        words = words[: words.index(">")]
    found = program(*words)
    assert found.code in ((0, 3) if name == "diff" else (0,)), found.err
    assert found.out


def test_the_examples_of_the_whole_work(program: Program) -> None:
    lines = program("--help").out.partition("\nexamples:\n")[2].partition("\n\n")[0].splitlines()
    assert len(lines) == 5
    for line in lines:
        words = shlex.split(line, comments=True)
        assert program(*words[1:]).code == 0, line


def test_the_version_is_told(program: Program) -> None:
    assert program("--version") == (0, f"tensorkeep {__version__}\n", "")


# -------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lst",), 'error: there is no command "lst"; did you mean "list"?\n'),
        (("run/m 1",), "error: \"run/m 1\" is a path, and a command comes first: tensorkeep what 'run/m 1'\n"),
        (("qqq",), 'error: there is no command "qqq"\n'),
        (("other", "list"), 'error: "other" is a path, and a command comes first: tensorkeep what other\n'),
        (("freeze", "m"), 'error: there is no command "freeze" by itself; did you mean "saved-model freeze"?\n'),
        (("list", "--srt", "name", "run"), "error: unrecognized arguments: --srt run; did you mean --sort?\n"),
        (("saved-model", "rnu"), 'error: "saved-model" has no command "rnu"; did you mean "run"?\n'),
        (("--nonsense",), "error: there is no option --nonsense\n"),
        (("list",), "error: the following arguments are required: PATH\n"),
        (("list", "run", "--sort", "colour"), "error: argument --sort: invalid choice: 'colour'"),
        (("list", "run", "--jso"), "error: unrecognized arguments: --jso; did you mean --json?\n"),
        (
            ("saved-model", "strip", "export/1", "--force", "--output", ""),
            "error: argument --output: expected a path, got an empty text",
        ),
        (("view", "run", "--export="), "error: argument --export: expected a path, got an empty text"),
    ],
)
def test_wrong_arguments_are_told_with_where_help_is(program: Program, arguments: tuple[str, ...], said: str) -> None:
    found = program(*arguments)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith(said)
    assert "--help'.\n" in found.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("saved-model", "rename-signature", "export/1", "b\udcff", "x", "--output", "export/2"),
        ("saved-model", "retag", "export/1", "serve", "b\udcff", "--output", "export/2"),
    ],
)
def test_bytes_that_are_no_text_are_no_name(program: Program, world: Path, arguments: tuple[str, ...]) -> None:
    found = program(*arguments)
    assert (found.code, found.err) == (1, 'error: "b\ufffd" is not UTF-8, which names in models are\n')
    assert not (world / "export" / "2").exists()


def test_an_error_is_one_message_without_a_traceback() -> None:
    found = process("list", "nothing/here")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == (
        'error: "nothing/here" holds no checkpoint: neither "nothing/here.index" (V2) nor "nothing/here" (V1) nor '
        '"nothing/here-00000-of-00001" or the like (V1 in several files) exists; there is no folder "nothing"\n'
    )


def test_what_the_library_warns_of_is_a_note(program: Program) -> None:
    found = program("print", "run/model-1000.index", "global_step")
    assert found == (0, "0\n", 'note: "run/model-1000.index" is one file of a checkpoint; opening "run/model-1000"\n')


@pytest.mark.parametrize("command", ["list", "show", "stats"])
def test_that_nothing_fits_is_told(program: Program, command: str) -> None:
    found = program(command, "run", "--match", "nothing*")
    assert found.err == "note: none of 3 tensors fits what --match, --regex and --exclude ask for\n"


def test_a_type_that_is_misspelled_is_told_with_the_one_that_is_meant(program: Program) -> None:
    found = program("cast", "run", "out/m", "--dtype", "flot16")
    assert found.err == "error: 'flot16' is not a data type: did you mean 'float16'?\n"


def test_options_may_be_spelled_with_hyphens_or_underscores(program: Program) -> None:
    for option in ("--signature_def", "--signature-def"):
        found = program("saved-model", "show", "export/1", "--tag-set=serve", option, "serving_default")
        assert found.code == 0


def test_ctrl_c_ends_with_a_word_and_its_code(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(print_tensor, "open_any", interrupted)
    assert program("print", "run", "global_step") == (130, "", "stopped: interrupted\n")


def test_no_memory_is_an_error_like_others(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(path: str) -> None:
        raise MemoryError

    monkeypatch.setattr(print_tensor, "open_any", exhausted)
    assert program("print", "run", "global_step") == (1, "", "error: there is not enough memory for it\n")


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="there are no such pipes here")
def test_a_reader_that_goes_away_is_no_disaster(world: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m tensorkeep --help | true; echo ${{PIPESTATUS[0]}}"
    for _ in range(3):
        found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert found.stdout.strip() in ("0", "141")
        assert found.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no device that is always full")
@pytest.mark.parametrize("arguments", ["list run", "list run --json", "what run"])
def test_a_full_disk_below_the_output_is_an_error_like_others(world: Path, arguments: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m tensorkeep {arguments} > /dev/full"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    said = "error: the output could not be written: No space left on device\n"
    assert (found.returncode, found.stderr) == (1, said)


def test_a_program_started_without_output_still_gives_its_exit_code(world: Path) -> None:
    program = f"{shlex.quote(sys.executable)} -m tensorkeep"
    command = f"{program} health run >&-; echo $?; {program} list nothing 2>&-; echo $?"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("0\n1\n", "")


# ------------------------------------------------------------------------------------------------- what it goes to


def test_names_out_of_files_cannot_steer_a_terminal(program: Program, world: Path) -> None:
    name = "red\x1b[31m\u202e"
    tk.save_checkpoint("steering", {name: np.ones(2, np.float32)})
    for arguments in (("print", "steering", name, "--table"), ("print", "steering", "other"), ("list", "steering")):
        found = program(*arguments)
        assert "\x1b" not in found.out + found.err
        assert "\u202e" not in found.out + found.err
        assert r"red\x1b[31m\u202e" in found.out + found.err


def test_the_text_of_a_model_cannot_steer_a_terminal(program: Program, world: Path) -> None:
    model = SavedModel()
    meta_graph = model.meta_graphs.add()
    meta_graph.meta_info_def.tags.append("serve\x1b[31m")
    node = meta_graph.graph_def.node.add()
    node.name, node.op = "odd\x1b[31m", "PyFunc"
    (world / "odd").mkdir()
    (world / "odd" / "saved_model.pb").write_bytes(model.SerializeToString())
    for arguments in (("saved-model", "show", "odd", "--all"), ("saved-model", "scan", "odd"), ("scan", "odd")):
        found = program(*arguments).out
        assert "\x1b" not in found
        assert r"\x1b[31m" in found


def test_columns_are_aligned_under_letters_of_any_width(program: Program, world: Path) -> None:
    tk.save_checkpoint("wide", {"键": np.ones(1, np.float32), "e\u0301": np.ones(1, np.float32)})
    found = program("list", "wide", "--table").out.splitlines()
    assert found[1:3] == ["e\u0301     float32  [1]           1    4 B", "键    float32  [1]           1    4 B"]


def test_a_terminal_gets_colours_and_a_pipe_gets_none(capsys: pytest.CaptureFixture[str], world: Path) -> None:
    terminal = Terminal(is_watched=True, width=100, has_colour=True)
    assert main.run(["verify", "run"], Output(sys.stdout, sys.stderr, Form.TABLE, terminal, terminal)) == 0
    assert capsys.readouterr().out == '\x1b[32m"run/model-1000": all 3 tensors are intact\x1b[0m\n'
    assert main.run(["verify", "run"], Output(sys.stdout, sys.stderr, Form.PLAIN)) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_terminal_gets_a_table(world: Path) -> None:
    script = (
        "import os, pty, sys\n"
        "def read(descriptor):\n    return os.read(descriptor, 65536)\n"
        "code = pty.spawn([sys.executable, '-m', 'tensorkeep', 'list', 'run'], read)\n"
        "sys.exit(os.waitstatus_to_exitcode(code))"
    )
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": ""}
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    lines = found.stdout.replace("\r", "").splitlines()
    assert lines[0].startswith("\x1b[1mname        \x1b[0m")
    assert lines[-1] == "\x1b[2m3 tensors, 16 elements, 68 B\x1b[0m"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1536, "1.54 kB"),
        (999_999, "1000 kB"),
        (1_000_000, "1 MB"),
        (4 << 30, "4.29 GB"),
        (10**19, "10000 PB"),
    ],
)
def test_sizes_are_told_in_three_digits(size: int, text: str) -> None:
    assert size_text(size) == text


# ------------------------------------------------------------------------------------------------------- documentation

DOCUMENTED = [
    (page.name, line)
    for page in [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith("tensorkeep ")
]


@pytest.mark.parametrize(("page", "line"), DOCUMENTED)
def test_commands_in_the_documentation_are_understood(page: str, line: str) -> None:
    words = itertools.takewhile(lambda word: word not in (">", "|", "&&", ";"), shlex.split(line, comments=True)[1:])
    name, rest = catalog.split_command(list(words))
    if name and rest != ["--help"]:
        catalog.load_command(name).parser(name).understand(rest)


# ---------------------------------------------------------------------------------------------------------- completion


def bash_completions(program: Program, world: Path, *lines: str) -> list[str]:
    """What bash offers after each line."""
    (world / "completion.bash").write_text(program("completion", "bash").out)
    (world / "tensorkeep").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tensorkeep "$@"\n')
    (world / "tensorkeep").chmod(0o755)
    script = (
        "source completion.bash\n"
        'ask() { COMP_WORDS=(tensorkeep "$@"); COMP_CWORD=$#; COMPREPLY=(); _tensorkeep; echo ${COMPREPLY[*]}; }\n'
        + "; ".join(f"ask {line}" for line in lines)
    )
    environment = {**os.environ, "PATH": f"{world}:{os.environ['PATH']}"}
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert found.stderr == ""
    return found.stdout.splitlines()


def test_bash_completes_commands_and_options(program: Program, world: Path) -> None:
    lines = ("li", "saved-model fr", "saved-model run --ou", "list --so", "list ''")
    assert bash_completions(program, world, *lines) == ["list", "freeze", "--outdir", "--sort", ""]


def test_bash_completes_values(program: Program, world: Path) -> None:
    asked = {
        "completion f": "fish",
        "list run --sort by": "bytes",
        "list run --sort = by": "bytes",
        "convert run x.npz --preset torch-t": "torch-to-tensorflow",
        "cast a b --dtype bf": "bfloat16",
    }
    assert bash_completions(program, world, *asked) == list(asked.values())


def test_bash_completes_the_names_of_tensors(program: Program, world: Path) -> None:
    asked = {
        "print run/model-1000 de": "dense/bias dense/kernel",
        "list run --match dense/b": "dense/bias",
        "list --sort name run --exclude gl": "global_step",
        "print nowhere de": "",
    }
    assert bash_completions(program, world, *asked) == list(asked.values())


def test_names_of_tensors_run_nothing_in_a_shell(program: Program, world: Path) -> None:
    tk.save_checkpoint("evil/model", {"$(touch stolen)": 1.0, "`touch stolen`": 1.0, "a b;touch stolen": 1.0})
    assert bash_completions(program, world, "print evil/model ''") == [
        r"\$\(touch\ stolen\) \`touch\ stolen\` a\ b\;touch\ stolen"
    ]
    assert not (world / "stolen").exists()


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@needs("zsh")
def test_zsh_completes_commands_and_options(program: Program, world: Path) -> None:
    (world / "completion.zsh").write_text(program("completion", "zsh").out)
    script = (
        "compdef() { registered=$2 }; source ./completion.zsh; print $registered\n"
        "compadd() { [[ $1 == -- ]] && shift; print -r -- ${(M)@:#${PREFIX}*} }\n"
        "_files() { print a file }\n"
        'ask() { words=(tensorkeep "$@"); CURRENT=$#words; PREFIX=$words[-1]; _tensorkeep }\n'
        'ask li; ask saved-model fr; ask saved-model run --ou; ask list --so; ask list ""; ask list run/m\n'
        "ask list run --sort by; ask convert run x.npz --preset torch-t\n"
        f"tensorkeep() {{ {sys.executable} -m tensorkeep $@ }}; ask print run/model-1000 dense/k"
    )
    found = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True)
    expected = ["tensorkeep", "list", "freeze", "--outdir", "--sort", "a file", "a file"]
    expected += ["bytes", "torch-to-tensorflow", "dense/kernel"]
    assert (found.stdout.splitlines(), found.stderr) == (expected, "")


@needs("fish")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("li", ["list"]),
        ("saved-model fr", ["freeze"]),
        ("saved-model run --ou", ["--outdir"]),
        ("list --so", ["--sort"]),
        ("show --d", ["--depth"]),
        ("saved-model show --d", ["--dir"]),
        ("list recommender/", ["recommender/model.data-00000-of-00001", "recommender/model.index"]),
        ("list run --sort by", ["bytes"]),
        ("convert run x.npz --preset torch-t", ["torch-to-tensorflow"]),
        ("list run --match dense/k", ["dense/kernel"]),
        ("print run/model-1000 dense/k", ["dense/kernel"]),
    ],
)
def test_fish_completes_commands_and_options(program: Program, world: Path, line: str, expected: list[str]) -> None:
    (world / "completion.fish").write_text(program("completion", "fish").out)
    script = (
        f"function tensorkeep; {sys.executable} -m tensorkeep $argv; end\n"
        f'source completion.fish; complete -C "tensorkeep {line}"'
    )
    found = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True)
    assert found.stderr == ""
    assert [word.partition("\t")[0] for word in found.stdout.splitlines()][: len(expected)] == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_in_every_completion(program: Program, shell: str) -> None:
    found = program("completion", shell).out
    for name in catalog.COMMANDS:
        assert name.split()[-1] in found


def test_the_manual_page_has_every_command_and_option(program: Program) -> None:
    page = program("man").out
    assert page.startswith(".TH TENSORKEEP 1 ")
    for name in catalog.COMMANDS:
        assert f'.SS "tensorkeep {name}"\n'.replace("-", "\\-") in page
        for option in catalog.load_command(name).parser(name).options:
            assert option.replace("-", "\\-") in page


@needs("mandoc")
def test_the_manual_page_is_one(program: Program, world: Path) -> None:
    (world / "tensorkeep.1").write_text(program("man").out)
    found = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", "tensorkeep.1"], capture_output=True, text=True)
    assert [line for line in found.stdout.splitlines() if "missing date" not in line] == []


# -------------------------------------------------------------------------------------------------------------- quick


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("list", "run/model-1000"), ("show", "run/model-1000")]
)
def test_small_commands_do_without_numpy(world: Path, arguments: tuple[str, ...]) -> None:
    script = (
        "import sys\nfrom tensorkeep.cli.main import main\n"
        f"code = main({arguments!r})\nassert code == 0\nassert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_running_a_model_does_without_what_builds_and_trains_models(world: Path) -> None:
    script = (
        "import sys\nfrom tensorkeep.cli.main import main\n"
        "assert main(['saved-model', 'run', 'export/1', '--inputs', 'x=x.npy']) == 0\n"
        "heavy = ('tensorkeep.tf1', 'tensorkeep.saving')\n"
        "found = [name for name in sys.modules if name.startswith(heavy)]\nassert not found, found"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


_ARRAYS = ("numpy", "ml_dtypes", "concurrent.futures", "asyncio")


@pytest.mark.parametrize(
    ("arguments", "heavy", "most"),
    [
        (("--help",), (*_ARRAYS, "google.protobuf"), 15),
        (("--version",), (*_ARRAYS, "google.protobuf"), 15),
        (("saved-model", "--help"), (*_ARRAYS, "google.protobuf"), 15),
        (("list", "run/model-1000"), _ARRAYS, 72),
    ],
)
def test_what_takes_time_to_import_is_not_imported_for_help_and_lists(
    world: Path, arguments: tuple[str, ...], heavy: tuple[str, ...], most: int
) -> None:
    script = (
        "import sys\nfrom tensorkeep.cli.start import main\n"
        f"sys.argv[1:] = {arguments!r}\nassert main() == 0\n"
        f"found = set({heavy!r}).intersection(sys.modules)\nassert not found, found\n"
        f"ours = [name for name in sys.modules if name.startswith('tensorkeep.')]\nassert len(ours) <= {most}, ours"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_ctrl_c_while_the_program_is_imported_is_a_word_too() -> None:
    script = (
        "import sys\n"
        "class Impatient:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'tensorkeep.cli.main':\n            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Impatient())\n"
        "from tensorkeep.cli.start import main\nsys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped: interrupted\n")


_SIGNALS_ITSELF = """
import signal, sys
class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)  # to this thread: another one may be there already
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background has not
sys.meta_path.insert(0, Impatient())
sys.argv[1:] = {arguments!r}
from tensorkeep.cli.start import main
sys.exit(main())
"""


@pytest.mark.skipif(os.name == "nt", reason="there a signal to oneself ends the process")
@pytest.mark.parametrize(
    "module", ["tensorkeep.cli.main", "tensorkeep.cli.catalog", "tensorkeep.cli.looking.print_tensor", "numpy"]
)
def test_a_signal_while_something_is_imported_ends_with_a_word(module: str, world: Path) -> None:
    script = _SIGNALS_ITSELF.format(module=module, arguments=["print", "run", "global_step"])
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped: interrupted\n")


def test_next_to_nothing_is_imported_before_a_signal_is_understood() -> None:
    """What Python shows of a Ctrl-C until then is a traceback."""
    script = (
        "import sys\nbefore = set(sys.modules)\nimport tensorkeep.cli.start\nprint(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _PATHS + script], check=True, capture_output=True, text=True
    )
    ours = {name for name in done.stdout.split() if name.startswith("tensorkeep")}
    assert ours == {"tensorkeep", "tensorkeep._lazy", "tensorkeep.cli", "tensorkeep.cli.start"}
    assert not {"typing", "re", "argparse", "numpy"} & set(done.stdout.split())


_PATHS = f"import sys\nsys.path[:0] = {sys.path!r}\n"


def test_text_that_is_none_is_shown_all_the_same() -> None:
    for text in ("a\ud800b", "a\udce9b", "a\ud800\udce9\x1bb"):
        assert shown_value(text).isprintable()
        assert shown_value(text).encode()


def test_a_run_without_a_program_says_only_that(program: Program) -> None:
    found = program("run")
    assert found.code == 2
    assert "error: the following arguments are required: PROGRAM\n" in found.err
