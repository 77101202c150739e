"""`tf.flags` and `tf.app`."""

from __future__ import annotations

import enum
import subprocess
import sys
from pathlib import Path
from typing import Any

import absl.flags
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import UnimplementedError
from tensorkeep.v1 import basic_flags, flags

LIBRARIES = [pytest.param(absl.flags, id="absl"), pytest.param(basic_flags, id="without absl")]


@pytest.fixture
def values() -> flags.FlagValues:
    made = flags.FlagValues()
    flags.DEFINE_string("name", "x", "A name.", flag_values=made)
    flags.DEFINE_integer("steps", 3, "Steps.", lower_bound=0, flag_values=made, short_name="s")
    flags.DEFINE_float("rate", 0.5, "A rate.", flag_values=made)
    flags.DEFINE_bool("train", True, "Whether to train.", flag_values=made)
    flags.DEFINE_enum("kind", None, ["big", "small"], "A kind.", flag_values=made)
    flags.DEFINE_list("layers", ["1"], "Layers.", flag_values=made)
    flags.DEFINE_multi_integer("seed", None, "Seeds.", flag_values=made)
    return made


@pytest.mark.parametrize(
    ("arguments", "rest", "changed"),
    [
        ([], [], {}),
        (["--name=a=b", "in", "--steps", "7", "out"], ["in", "out"], {"name": "a=b", "steps": 7}),
        (["-s=0x10", "-rate", "1e-3"], [], {"steps": 16, "rate": 1e-3}),
        (["--notrain"], [], {"train": False}),
        (["--train=F", "--notrain", "--train", "false"], ["false"], {"train": True}),
        (['--layers=1,"2,3", 4'], [], {"layers": ["1", "2,3", "4"]}),
        (["--layers="], [], {"layers": []}),
        (["--seed=1", "--seed=2"], [], {"seed": [1, 2]}),
        (["--", "--steps=1"], ["--steps=1"], {}),
        (["-"], ["-"], {}),
        (["--undefok=a,b", "--a=1", "--nob"], [], {}),
    ],
)
def test_a_command_line_gives_values(
    values: flags.FlagValues, arguments: list[str], rest: list[str], changed: dict[str, Any]
) -> None:
    before = values.flag_values_dict()
    assert values(["program", *arguments]) == ["program", *rest]
    if "steps" in changed:
        changed = {**changed, "s": changed["steps"]}
    assert values.flag_values_dict() == before | changed


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("--steps=x", "flag --steps=x: invalid literal for int"),
        ("--steps=-1", "flag --steps=-1: -1 is not a non-negative integer"),
        ("--rate=fast", "flag --rate=fast: could not convert string to float"),
        ("--train=maybe", "Non-boolean argument"),
        ("--kind=medium", "value should be one of <big|small>"),
        ("--name", "Missing value for flag --name"),
        ("--nname=1", "Unknown command line flag 'nname'. Did you mean: name ?"),
    ],
)
def test_what_a_command_line_cannot_say(values: flags.FlagValues, argument: str, problem: str) -> None:
    with pytest.raises(flags.Error) as caught:
        values(["program", argument])
    assert problem in str(caught.value)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("known_only", [False, True])
def test_no_takes_no_value(library: Any, known_only: bool) -> None:
    values = library.FlagValues()
    library.DEFINE_boolean("train", True, "", flag_values=values)
    with pytest.raises(ValueError, match="--notrain=1 does not take an argument"):
        values(["program", "--notrain=1"], known_only=known_only)


def test_unknown_flags_are_left_where_they_are_asked_for(values: flags.FlagValues) -> None:
    rest = values(["program", "--other=1", "in", "--steps=2", "--noother"], known_only=True)
    assert rest == ["program", "--other=1", "in", "--noother"]


def test_a_flag_has_no_value_before_the_command_line_is_read(values: flags.FlagValues) -> None:
    with pytest.raises(flags.UnparsedFlagAccessError, match="--name before flags were parsed"):
        print(values.name)
    assert not hasattr(values, "other")


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_command_line_is_read_when_a_flag_is_first_asked_for(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values = library.FlagValues()
    holder = library.DEFINE_integer("n", 1, "", flag_values=values)
    monkeypatch.setattr(sys, "argv", ["program", "--n=4"])
    shown = flags.ParsingFlagValues(values)
    assert not shown.is_parsed()
    assert "n" in shown
    assert (shown.n, holder.value, list(shown), len(shown), shown["n"].default) == (4, 4, ["n"], 1, 1)
    shown.n = 5
    assert values.n == 5


def test_a_program_sets_flags_within_their_bounds(values: flags.FlagValues) -> None:
    values(["program"])
    values.steps = 9
    with pytest.raises(flags.IllegalFlagValueError, match="-3 is not a non-negative integer"):
        values.steps = -3
    with pytest.raises(flags.UnrecognizedFlagError, match="'stepz'"):
        values.stepz = 3
    assert values.steps == 9


def test_a_name_is_defined_once(values: flags.FlagValues) -> None:
    with pytest.raises(flags.DuplicateFlagError, match="'name' is defined twice"):
        flags.DEFINE_string("name", None, "", flag_values=values)
    with pytest.raises(flags.FlagNameConflictsWithMethodError, match="get_help"):
        flags.DEFINE_string("get_help", None, "", flag_values=values)


def test_every_required_flag_that_is_missing_is_listed(values: flags.FlagValues) -> None:
    flags.mark_flags_as_required(["kind", "seed"], values)
    with pytest.raises(flags.IllegalFlagValueError) as caught:
        values(["program"])
    assert str(caught.value).splitlines() == [
        "flag --kind=None: Flag --kind must have a value other than None.",
        "flag --seed=None: Flag --seed must have a value other than None.",
    ]
    values(["program", "--kind=big", "--seed=0"])


def test_flags_may_exclude_each_other(values: flags.FlagValues) -> None:
    flags.mark_flags_as_mutual_exclusive(["kind", "seed"], flag_values=values)
    with pytest.raises(flags.IllegalFlagValueError, match=r"flags kind=big, seed=\[1\]: At most one of \(kind, seed\)"):
        values(["program", "--kind=big", "--seed=1"])


def test_the_old_names_of_arguments_are_accepted() -> None:
    values = flags.FlagValues()
    flags.DEFINE_string(flag_name="a", default_value="b", docstring="c", flag_values=values)
    assert (values["a"].default, values["a"].help) == ("b", "c")


def test_members_of_an_enum_are_named() -> None:
    values, kinds = flags.FlagValues(), enum.Enum("kinds", ["BIG", "SMALL"])
    flags.DEFINE_enum_class("kind", "big", kinds, "", flag_values=values)
    values(["program", "--kind=small"])
    assert (values.kind, values["kind"].default) == (kinds.SMALL, kinds.BIG)


def test_the_flags_are_a_command_line_again(values: flags.FlagValues) -> None:
    values(["program", "--seed=1", "--seed=2", "--notrain", '--layers=a,"b,c"'])
    text = values.flags_into_string()
    assert text.splitlines() == [
        '--layers=a,"b,c"',
        "--name=x",
        "--rate=0.5",
        "--seed=1",
        "--seed=2",
        "--steps=3",
        "--notrain",
    ]
    before = values.flag_values_dict()
    values.unparse_flags()
    values(["program", *text.splitlines()])
    assert values.flag_values_dict() == before


def test_help_says_what_flags_are_for(values: flags.FlagValues) -> None:
    text = values.get_help()
    assert "  --[no]train: Whether to train.\n    (default: 'true')" in text
    assert "  -s,--steps: Steps.\n    (default: '3')\n    (a non-negative integer)" in text
    assert "  --kind: <big|small>: A kind.\n  --layers" in text


PROGRAM = '''"""Trains something."""
import tensorkeep.v1 as tf
flags = tf.app.flags
flags.DEFINE_integer("steps", 10, "How many.")
FLAGS = flags.FLAGS
def main(argv):
    print(argv[1:], FLAGS.steps, 'steps' in FLAGS.__flags, FLAGS.flag_values_dict()["steps"])
    return 3
if __name__ == "__main__":
    tf.app.run()
'''


HIDING = """import runpy, sys
sys.modules["absl"] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], None, "__main__")
"""


def run_program(folder: Path, *arguments: str, has_absl: bool) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(PROGRAM)
    start = [sys.executable, *([] if has_absl else ["-c", HIDING]), str(folder / "program.py")]
    return subprocess.run([*start, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("has_absl", [True, False])
def test_main_gets_what_is_not_a_flag_and_its_result_is_the_exit_status(tmp_path: Path, has_absl: bool) -> None:
    result = run_program(tmp_path, "in", "--steps=5", "--other", has_absl=has_absl)
    assert (result.stdout, result.stderr) == ("['in', '--other'] 5 True 5\n", "")
    assert result.returncode == 3


@pytest.mark.parametrize("has_absl", [True, False])
def test_help_ends_the_program(tmp_path: Path, has_absl: bool) -> None:
    result = run_program(tmp_path, "--help", has_absl=has_absl)
    assert result.returncode == 1
    text = result.stdout if has_absl else result.stderr
    assert "Trains something." in text
    assert "--steps: How many." in text


def test_flags_of_a_file_and_of_logging_are_absls(tmp_path: Path) -> None:
    (tmp_path / "flags.txt").write_text("--steps=7\n")
    result = run_program(tmp_path, f"--flagfile={tmp_path / 'flags.txt'}", "--verbosity=1", has_absl=True)
    assert result.stdout == "[] 7 True 7\n"


@pytest.mark.parametrize("name", ["flagfile", "undefok", "fromenv", "tryfromenv"])
def test_without_absl_its_own_flags_are_refused(name: str) -> None:
    with pytest.raises(UnimplementedError, match=rf'--{name} needs .* pip install "tensorkeep\[flags\]"'):
        basic_flags.FlagValues()(["program", f"--{name}=x"], known_only=True)


def test_without_absl_other_names_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "absl.flags", None)
    monkeypatch.delattr(flags, "DEFINE_alias", raising=False)
    with pytest.raises(AttributeError, match=r'tf.flags.DEFINE_alias needs .* pip install "tensorkeep\[flags\]"'):
        print(flags.DEFINE_alias)
    with pytest.raises(UnimplementedError, match=r'--n with .*lower_bound.* pip install "tensorkeep\[flags\]"'):
        basic_flags.DEFINE_integer("n", 1, "", lower_bound=0)


def test_names_are_absls() -> None:
    assert set(absl.flags.__all__) == set(flags.__all__)
    assert flags.DEFINE_enum is absl.flags.DEFINE_enum
    assert all(getattr(flags, name) is not None for name in flags.__all__)


def test_absl_is_imported_when_a_flag_is_first_asked_for() -> None:
    script = (
        "import sys, tensorkeep.v1 as tf\n"
        "def imported(): return [name for name in sys.modules if name.partition('.')[0] == 'absl']\n"
        "tf.app.run, tf.logging.info\n"
        "assert not imported(), imported()\n"
        "tf.flags.FLAGS\n"
        "assert imported()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_compat_and_version_are_there() -> None:
    assert tf.compat.v1 is tf
    assert tf.compat.as_bytes("é") == b"\xc3\xa9"
    assert tf.compat.as_text(b"\xc3\xa9") == tf.compat.as_str("é") == tf.compat.as_str_any(b"\xc3\xa9")
    assert tf.compat.as_str_any(3) == "3"
    assert tf.compat.path_to_str(Path("a")) == "a"
    assert [tf.compat.forward_compatible(year, 1, 1) for year in (2020, 2099)] == [True, False]
    with tf.compat.forward_compatibility_horizon(2099, 1, 2):
        assert tf.compat.forward_compatible(2099, 1, 1)
    assert tf.__version__ == tf.version.VERSION
    assert tf.version.GIT_VERSION == tf.GIT_VERSION
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        tf.compat.as_bytes(3)
