"""`tf.flags` and `tf.app`."""

from __future__ import annotations

import enum
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tensorkeep.v1 as tf
from tensorkeep.v1 import flags


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
        ("--notrain=1", "--notrain=1 does not take an argument"),
        ("--nname=1", "Unknown command line flag 'nname'. Did you mean: name ?"),
    ],
)
def test_what_a_command_line_cannot_say(values: flags.FlagValues, argument: str, problem: str) -> None:
    with pytest.raises(flags.Error) as caught:
        values(["program", argument])
    assert problem in str(caught.value)


def test_unknown_flags_are_left_where_they_are_asked_for(values: flags.FlagValues) -> None:
    rest = values(["program", "--other=1", "in", "--steps=2", "--noother"], known_only=True)
    assert rest == ["program", "--other=1", "in", "--noother"]


def test_a_flag_has_no_value_before_the_command_line_is_read(values: flags.FlagValues) -> None:
    with pytest.raises(flags.UnparsedFlagAccessError, match="--name before flags were parsed"):
        print(values.name)
    assert not hasattr(values, "other")


def test_the_command_line_is_read_when_a_flag_is_first_asked_for() -> None:
    values = flags.FlagValues(lambda: ["program", "--n=4"])
    holder = flags.DEFINE_integer("n", 1, "", flag_values=values)
    assert not values.is_parsed()
    assert (values.n, holder.value, holder.default, holder.present) == (4, 4, 1, True)


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
    flags.DEFINE_string(flag_name="a", default_value="b", docstring="c", flag_values=values)  # type: ignore[call-arg]
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
    print(argv[1:], FLAGS.steps, sorted(FLAGS.__flags), FLAGS.flag_values_dict()["steps"])
    return 3
if __name__ == "__main__":
    tf.app.run()
'''


def run_program(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "program.py").write_text(PROGRAM)
    return subprocess.run([sys.executable, str(tmp_path / "program.py"), *arguments], capture_output=True, text=True)


def test_main_gets_what_is_not_a_flag_and_its_result_is_the_exit_status(tmp_path: Path) -> None:
    result = run_program(tmp_path, "in", "--steps=5", "--other")
    assert result.stdout == "['in', '--other'] 5 ['?', 'help', 'helpfull', 'helpshort', 'steps'] 5\n"
    assert result.returncode == 3


def test_help_ends_the_program(tmp_path: Path) -> None:
    result = run_program(tmp_path, "--help")
    assert result.returncode == 1
    assert "Trains something." in result.stderr
    assert "--steps: How many." in result.stderr
    assert result.stdout == ""


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
