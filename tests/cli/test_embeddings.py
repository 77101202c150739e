"""What `tensorkeep ev` prints, to the letter, and what it leaves on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorkeep as tk
from tests.cli.conftest import Program


def test_stats_line_up(program: Program) -> None:
    found = program("ev", "stats", "recommender/model", "--table")
    assert found.code == 0
    head, row = found.out.splitlines()
    assert head.split() == [
        "name",
        "shards",
        "dim",
        "admitted",
        "filtered",
        "bytes",
        "slots",
        "zero",
        "rows",
        "not",
        "finite",
    ]
    assert row.split()[:5] == ["users", "1", "2", "3", "0"]
    assert row.split()[-3:] == ["Adagrad", "1", "0"]


def test_histograms_are_shown_on_request(program: Program) -> None:
    assert "users norms: 0+: 1, 1+: 2" in program("ev", "stats", "recommender/model", "--histograms").out


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_a_checkpoint_without_tables_is_named(command: str, program: Program) -> None:
    found = program("ev", command, "run/model-1000")
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith('error: "run/model-1000" has no embedding tables')


def test_keys_are_looked_up_in_the_order_that_they_are_given(program: Program) -> None:
    assert program("ev", "lookup", "recommender/model", "users", "1003", "-5", "7") == (
        0,
        "1003\tstored\t1\t-\t0 2\n-5\tstored\t2\t-\t0 0\n7\tstored\t5\t-\t1 0\n",
        "",
    )


def test_a_slot_is_looked_up_too(program: Program) -> None:
    assert program("ev", "lookup", "recommender/model", "users", "7", "--slot", "Adagrad").out == (
        "7\tstored\t5\t-\t0.1 0.1\n"
    )


def test_a_key_that_is_absent_is_told_by_the_exit_code(program: Program) -> None:
    assert program("ev", "lookup", "recommender/model", "users", "8") == (3, "8\tabsent\t-\t-\t-\n", "")


def test_keys_of_weights_and_slots_are_compared(program: Program) -> None:
    assert program("ev", "compare", "recommender/model") == (
        0,
        '"users": 3 keys, the same in weights and 1 slots\n',
        "",
    )


def test_pruning_says_what_was_kept(program: Program) -> None:
    assert program("ev", "prune", "recommender/model", "r/m", "--min-norm", "0.1").out == (
        "users: 2 keys kept, 1 removed; 0 counted ones kept, 0 removed\nwrote r/m\n"
    )
    assert program("ev", "lookup", "r/m", "users", "-5").code == 3
    assert tk.load_tensor("r/m", "bias") == 1


def test_parts_and_back(program: Program) -> None:
    assert program("ev", "repartition", "recommender/model", "r/m", "--shards", "3").out == "wrote r/m\n"
    assert "users/part_2-keys" in tk.list_tensors("r/m")
    assert program("ev", "repartition", "r/m", "r/one", "--shards", "1").code == 0
    assert program("ev", "lookup", "r/one", "users", "1003").out == "1003\tstored\t1\t-\t0 2\n"


def test_a_table_goes_out_as_csv_and_comes_in_again(program: Program, world: Path) -> None:
    assert program("ev", "export", "recommender/model", "users", "u.csv").code == 0
    assert "1.0,0.0" in (world / "u.csv").read_text()
    assert program("ev", "import", "u.csv", "r/m", "people").code == 0
    assert program("ev", "lookup", "r/m", "people", "7").out == "7\tstored\t-\t-\t1 0\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("ev prune recommender/model r/m", "say one of --min-frequency, --min-version, --min-norm and --top"),
        ("ev prune recommender/model r/m --top 1 --min-norm 2", "say one of --min-frequency"),
        ("ev export recommender/model users u.txt", '"u.txt": expected a name that ends with one of .parquet, .csv'),
        ("ev repair recommender/model recommender/model", '"recommender/model" is there already: say --force'),
        ("ev export recommender/model users x.npy", '"x.npy": expected a name that ends with'),
    ],
)
def test_mistakes_are_explained(program: Program, arguments: str, message: str) -> None:
    found = program(*arguments.split())
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith(f"error: {message}")


def test_a_dry_run_writes_nothing(program: Program, world: Path) -> None:
    assert program("ev", "quantise", "recommender/model", "r/m", "--to", "int8", "--dry-run").out == "would write r/m\n"
    assert not (world / "r").exists()
