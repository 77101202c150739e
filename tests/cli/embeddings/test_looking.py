"""What `tensorkeep ev` prints, to the letter, and what it leaves on disk."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.embedding.restore.incremental import table_delta_tensors
from tensorkeep.embedding.stored.writing import StoredForm, embedding_tensors, table_tensors
from tensorkeep.embedding.table.snapshot import ArraySnapshot
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
    assert program("ev", "repartition", "recommender/model", "r/m", "--shards", "3").out == (
        "users: 1 -> 3 parts; 1 + 1 + 1 keys\nwrote r/m\n"
    )
    assert "users/part_2-keys" in tk.list_tensors("r/m")
    assert program("ev", "repartition", "r/m", "r/one", "--shards", "1").code == 0
    assert program("ev", "lookup", "r/one", "users", "1003").out == "1003\tstored\t1\t-\t0 2\n"


def test_a_folder_is_compacted_with_the_newest_of_its_incremental_checkpoints(program: Program, world: Path) -> None:
    save_steps(world / "steps")
    full, delta = "steps/model-40", "steps/.incremental_checkpoint/incremental_model.ckpt-60"
    assert program("ev", "compact", "steps", "r/m").out == f"{full}: with {delta}\nwrote r/m\n"
    assert program("ev", "lookup", "r/m", "users", "7").out == "7\tstored\t-\t-\t60 60\n"


def save_steps(folder: Path) -> None:
    """A run with full checkpoints of two steps and two incremental ones after the second."""
    for step in (20, 40, 50, 60):
        table = tk.EmbeddingTable(2)
        table.assign([7], np.full((1, 2), step, np.float32))
        if step in (20, 40):
            tk.save_checkpoint(str(folder / f"model-{step}"), table_tensors("users", table.snapshot()))
        else:
            delta = table_delta_tensors("users", table.snapshot(), np.array([7]))
            tk.save_checkpoint(str(folder / ".incremental_checkpoint" / f"incremental_model.ckpt-{step}"), delta)


def test_a_dry_run_of_compact_names_both_checkpoints_and_refuses_what_the_run_would(program: Program) -> None:
    assert program("ev", "compact", "recommender", "r/m", "--dry-run").out == (
        "recommender/model: with recommender/.incremental_checkpoint/incremental_model.ckpt-5\n"
        "users: keys 3 -> 3: 1 put over them, 0 removed\n"
        "would write r/m\n"
    )
    assert "has no newer incremental checkpoint" in program("ev", "compact", "run/model-1000", "r/m", "--dry-run").err


def test_a_dry_run_of_repair_counts_the_keys_that_weights_and_slots_do_not_share(program: Program) -> None:
    assert program("ev", "repair", "recommender/model", "r/m", "--dry-run").out == (
        '"users": 3 keys, the same in weights and 1 slots\nwould write r/m\n'
    )


def test_a_dry_run_of_repair_says_which_keys_a_slot_lacks_and_which_only_it_has(program: Program, world: Path) -> None:
    weights = ArraySnapshot.of([1, 2, 3], {"": np.ones((3, 2), np.float32)})
    slot = ArraySnapshot.of([2, 3, 4, 5], {"": np.ones((4, 2), np.float32)})
    tensors = {**embedding_tensors("users", weights), **embedding_tensors("users/Adagrad", slot)}
    tk.save_checkpoint("drifted/m", tensors)
    found = program("ev", "repair", "drifted/m", "r/m", "--dry-run")
    assert found.out == ('"users": 3 keys; "Adagrad" lacks 1 and has 2 more (1, 4, 5 …)\nwould write r/m\n')
    assert not (world / "r").exists()
    assert program("ev", "repair", "drifted/m", "r/m").out.startswith(found.out.splitlines()[0])
    assert program("ev", "repair", "r/m", "s/m", "--dry-run").out.startswith('"users": 2 keys, the same')


def test_a_dry_run_of_import_counts_keys_and_finds_what_is_wrong_in_the_file(program: Program, world: Path) -> None:
    assert program("ev", "import", "users-table.csv", "r/m", "users", "--shards", "2", "--dry-run").out == (
        "users: 2 keys with rows of 2, 2 parts to write\nwould write r/m\n"
    )
    Path("wrong.csv").write_text('id,embedding\n1,"0.5,1.5"\n2,"2.0"\n')
    found = program("ev", "import", "wrong.csv", "r/m", "users", "--dry-run")
    assert found.code == 1
    assert "has an embedding of 1 numbers, expected 2" in found.err
    assert not (world / "r").exists()


def test_a_dry_run_of_prune_counts_keys(program: Program, world: Path) -> None:
    assert program("ev", "prune", "recommender/model", "r/m", "--min-frequency", "2", "--dry-run").out == (
        "users: 2 keys kept, 1 removed; 0 counted ones kept, 0 removed\nwould write r/m\n"
    )
    assert not (world / "r").exists()


def test_a_dry_run_of_repartition_counts_the_keys_of_each_part(program: Program, world: Path) -> None:
    run = ("ev", "repartition", "recommender/model", "r/m", "--dry-run", "--shards")
    assert program(*run, "3").out == "users: 1 -> 3 parts; 1 + 1 + 1 keys\nwould write r/m\n"
    assert program(*run, "500").out == "users: 1 -> 500 parts; 3 (0 to 1 a part) keys\nwould write r/m\n"
    assert not (world / "r").exists()


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)])
def test_a_rule_that_removes_every_key_is_refused_unless_meant(
    dry_run: tuple[str, ...], program: Program, world: Path
) -> None:
    """Behind CounterFilter(2) stored frequencies stop at 2, so --min-frequency 3 keeps nothing."""
    table = tk.EmbeddingTable(2, admission=tk.embedding.CounterFilter(2))
    table.assign([1, 2, 3], np.ones((3, 2), np.float32))
    form = StoredForm(admitted_frequency=2)
    tk.save_checkpoint(str(world / "filtered/model"), table_tensors("users", table.snapshot(), form))
    found = program("ev", "prune", "filtered/model", "r/m", "--min-frequency", "3", *dry_run)
    assert (found.code, found.out) == (1, "")
    assert '"users" would lose all of its 3 keys, of which none is stored with a frequency above 2' in found.err
    assert "--allow-empty" in found.err
    allowed = program("ev", "prune", "filtered/model", "r/m", "--min-frequency", "3", "--allow-empty", *dry_run)
    assert allowed.out.startswith("users: 0 keys kept, 3 removed;")


def test_parquet_in_parts_of_a_slot_without_counted_keys_and_compressed(program: Program, world: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = tk.EmbeddingTable(2, admission=tk.embedding.CounterFilter(2))
    table.add_column("Adagrad", 2, 0.5)
    table.assign([8, 9], np.ones((2, 2), np.float32))
    table.assign_filtered([10], [1])
    tk.save_checkpoint(str(world / "filtered/model"), table_tensors("users", table.snapshot()))
    options = ("--slot", "Adagrad", "--parts", "2", "--no-filtered", "--compression", "zstd")
    files = ["u-00000-of-00002.parquet", "u-00001-of-00002.parquet"]
    assert program("ev", "export", "filtered/model", "users", "u.parquet", *options, "--dry-run").out == (
        "users: 2 keys with a row, 1 key only counted\n" + "".join(f"would write {file}\n" for file in files)
    )
    assert program("ev", "export", "filtered/model", "users", "u.parquet", *options).code == 0
    assert [parquet.read_table(file)["key"].to_pylist() for file in files] == [[8], [9]]
    assert parquet.read_table(files[0])["embedding"].to_pylist() == [[0.5, 0.5]]
    assert parquet.ParquetFile(files[0]).metadata.row_group(0).column(0).compression == "ZSTD"
    again = program("ev", "export", "filtered/model", "users", "u.parquet", *options)
    assert again.err.startswith('error: "u-00000-of-00002.parquet" is there already')


def test_csv_with_numbers_and_tabs_and_without_a_header(program: Program, world: Path) -> None:
    options = ("--numbers", "--no-header", "--separator", "\t")
    assert program("ev", "export", "recommender/model", "users", "u.csv", *options).code == 0
    assert "7\t1.0,0.0\t5\t-1\n" in (world / "u.csv").read_text()


def test_npz_without_slots_and_redis_hashes_of_a_slot(program: Program, world: Path) -> None:
    assert program("ev", "export", "recommender/model", "users", "u.npz", "--no-slots").code == 0
    assert sorted(np.load("u.npz").files) == ["freqs", "keys", "values"]
    options = ("--slot", "Adagrad", "--hashes", "10", "--prefix", "u/")
    assert program("ev", "export", "recommender/model", "users", "u.resp", *options).code == 0
    assert b"HSET\r\n$3\r\nu/7\r\n$1\r\n7\r\n$8\r\n\xcd\xcc\xcc=" in (world / "u.resp").read_bytes()


def test_a_table_goes_to_maxcompute(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("odps")
    maxcompute = importlib.import_module("tests.support.maxcompute")
    with maxcompute.serving() as service:
        for name in ("ODPS_ENDPOINT", "ODPS_TUNNEL_ENDPOINT"):
            monkeypatch.setenv(name, service.endpoint)
        for name in ("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET"):
            monkeypatch.setenv(name, "someone")
        place = "odps://project/tables/users/ds=1"
        run = ("ev", "export", "recommender/model", "users", place)
        assert program(*run, "--dry-run").out == (
            f"users: 3 keys with a row, 0 keys only counted\nwould write {place}\n"
        )
        assert service.tables == {}
        assert program(*run, "--numbers", "--arrays").out == (
            f"users: 3 rows to the new table {place}\nwrote {place}\n"
        )
        assert [7, [1.0, 0.0], 5, -1] in service.tables["users"].rows["ds=1"]
        assert "is there already: say overwrite=True (--force)" in program(*run).err
        assert program(*run, "--parts", "2").err.startswith("error: MaxCompute tables have no --parts")


def test_an_option_of_another_format_is_refused(program: Program, world: Path) -> None:
    found = program("ev", "export", "recommender/model", "users", "u.csv", "--parts", "2", "--no-slots")
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("error: .csv files have no --parts, --no-slots")
    assert not (world / "u.csv").exists()


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
    assert program("ev", "quantise", "recommender/model", "r/m", "--to", "int8", "--dry-run").out == (
        "users: of 6 numbers none changed\nwould write r/m\n"
    )
    assert not (world / "r").exists()
