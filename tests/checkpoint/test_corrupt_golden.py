"""Damaged checkpoints: we fail where TensorFlow fails, read what it reads, and say what is wrong and where.

The messages are part of the product, so they stand here in full. PATH is the prefix that was opened, FOLDER its folder.
What follows an ellipsis at the end is protobuf's own text, which changes from version to version.
"""

from __future__ import annotations

import pytest

from tensorkeep import (
    DataLossError,
    MissingFileError,
    TensorKeepError,
    UnimplementedError,
    check_checkpoint,
    open_checkpoint,
)
from tests.checkpoint.crafting import same
from tests.support.golden import expected, expected_tensors, golden

V2, V1 = "g35_corrupt_v2", "g36_corrupt_v1"

NOT_A_TABLE = "expected 57fb808b247547db (cut short, added to, or another kind of file)"
DAMAGED = "the data file or the index is damaged"

# Cases in which nothing can be read, and what opening says.
OPENING: dict[tuple[str, str], tuple[type[TensorKeepError], str]] = {
    (V2, "header_bad_consumer"): (
        UnimplementedError,
        '"PATH.index": header: the checkpoint forbids readers of version 1, as this one is',
    ),
    (V2, "header_garbage"): (
        DataLossError,
        '"PATH.index": header: not a valid BundleHeaderProto (1 bytes): …',
    ),
    (V2, "header_min_consumer_9"): (
        UnimplementedError,
        '"PATH.index": header: only readers of version 9 or later may read this checkpoint, this one is of version 1',
    ),
    (V2, "index_bad_magic"): (
        DataLossError,
        f'"PATH.index" is not a table: it ends in 57fb808b2475479b, {NOT_A_TABLE}',
    ),
    (V2, "index_block_flip"): (
        DataLossError,
        '"PATH.index": block at byte 0 (115 bytes) is damaged: its checksum is 0x39b5f8c2, expected 0x947e24e3',
    ),
    (V2, "index_empty"): (
        DataLossError,
        '"PATH.index" is not a table: it has 0 bytes, the footer alone takes 48',
    ),
    (V2, "index_extra_tail"): (
        DataLossError,
        f'"PATH.index" is not a table: it ends in 247547db6a756e6b, {NOT_A_TABLE}',
    ),
    (V2, "index_short"): (
        DataLossError,
        '"PATH.index" is not a table: it has 30 bytes, the footer alone takes 48',
    ),
    (V2, "index_truncated_10"): (
        DataLossError,
        f'"PATH.index" is not a table: it ends in 0000000000000000, {NOT_A_TABLE}',
    ),
    (V2, "index_truncated_half"): (
        DataLossError,
        f'"PATH.index" is not a table: it ends in 1204120208032030, {NOT_A_TABLE}',
    ),
    (V2, "missing_index"): (
        MissingFileError,
        '"PATH" holds no checkpoint: neither "PATH.index" (V2) nor "PATH" (V1) nor "PATH-00000-of-00001" or the like '
        "(V1 in several files) exists; the folder holds data_empty, data_flip, data_string_flip, "
        "data_string_len_flip, data_truncated ...",
    ),
    # TensorFlow takes the first tensor's entry for the header, and fails on each tensor instead.
    (V2, "no_header"): (
        DataLossError,
        '"PATH.index" is a table but not the index of a checkpoint: it has no header',
    ),
    (V1, "absent"): (
        MissingFileError,
        '"PATH" holds no checkpoint: neither "PATH.index" (V2) nor "PATH" (V1) nor "PATH-00000-of-00001" or the like '
        "(V1 in several files) exists",
    ),
    (V1, "bad_magic"): (
        DataLossError,
        f'"PATH" is not a table: it ends in 57fb808b243547db, {NOT_A_TABLE}',
    ),
    (V1, "empty"): (
        DataLossError,
        '"PATH" is not a table: it has 0 bytes, the footer alone takes 48',
    ),
    (V1, "flip"): (
        DataLossError,
        '"PATH": block at byte 0 (182 bytes) is damaged: its checksum is 0x902f1695, expected 0x73035922',
    ),
    (V1, "text"): (
        DataLossError,
        f'"PATH" is not a table: it ends in 742062797465730a, {NOT_A_TABLE}',
    ),
    (V1, "truncated"): (
        DataLossError,
        f'"PATH" is not a table: it ends in 0000000000000057, {NOT_A_TABLE}',
    ),
}

# Cases that open: what reading each damaged tensor says. All others are read.
READING: dict[tuple[str, str], dict[str, tuple[type[TensorKeepError], str]]] = {
    (V2, "good"): {},
    (V1, "good"): {},
    (V2, "data_empty"): {
        "beta": (
            DataLossError,
            '"PATH.data-00001-of-00002" is 0 bytes long, but tensor "beta" lies at bytes 0..40',
        ),
        "gamma": (
            DataLossError,
            '"PATH.data-00001-of-00002" is 0 bytes long, but tensor "gamma" lies at bytes 40..44',
        ),
    },
    (V2, "data_flip"): {
        "alpha": (
            DataLossError,
            '"PATH.data-00000-of-00002": tensor "alpha" (bytes 0..48 of data file 0): its checksum is 0x610a7d4d, '
            f"expected 0x5dff9ce9: {DAMAGED}",
        ),
    },
    (V2, "data_string_flip"): {
        "strs": (
            DataLossError,
            '"PATH.data-00000-of-00002": tensor "strs" (bytes 48..66 of data file 0): its checksum is 0xc3fb7f01, '
            f"expected 0x3cecb905: {DAMAGED}",
        ),
    },
    (V2, "data_string_len_flip"): {
        "strs": (
            DataLossError,
            '"PATH.data-00000-of-00002": tensor "strs" (bytes 48..66 of data file 0): 3 strings take 3 bytes of '
            "lengths, 4 of checksum and 75 of text, but 18 are stored",
        ),
    },
    (V2, "data_truncated"): {
        "alpha": (
            DataLossError,
            '"PATH.data-00000-of-00002" is 20 bytes long, but tensor "alpha" lies at bytes 0..48',
        ),
        "strs": (
            DataLossError,
            '"PATH.data-00000-of-00002" is 20 bytes long, but tensor "strs" lies at bytes 48..66',
        ),
    },
    (V2, "entry_bad_crc"): {
        "alpha": (
            DataLossError,
            '"PATH.data-00000-of-00002": tensor "alpha" (bytes 0..48 of data file 0): its checksum is 0x5dff9ce9, '
            f"expected 0x5dff9d69: {DAMAGED}",
        ),
    },
    # TensorFlow's process aborts here.
    (V2, "entry_garbage"): {
        "beta": (DataLossError, '"PATH.index": entry of "beta": not a valid BundleEntryProto (3 bytes): …'),
    },
    (V2, "entry_offset_past_end"): {
        "alpha": (
            DataLossError,
            '"PATH.data-00000-of-00002" is 66 bytes long, but tensor "alpha" lies at bytes 100000..100048',
        ),
    },
    (V2, "entry_wrong_size"): {
        "alpha": (
            DataLossError,
            '"PATH.index": tensor "alpha" has 40 bytes, expected 48 for float32 [3, 4]',
        ),
    },
    (V2, "header_three_shards"): {
        name: (
            MissingFileError,
            f'tensor "{name}" (bytes {where}): cannot open "PATH.data-0000{shard}-of-00003": No such file or directory',
        )
        for name, where, shard in (
            ("alpha", "0..48 of data file 0", 0),
            ("beta", "0..40 of data file 1", 1),
            ("gamma", "40..44 of data file 1", 1),
            ("strs", "48..66 of data file 0", 0),
        )
    },
    (V2, "missing_shard"): {
        name: (
            MissingFileError,
            f'tensor "{name}" (bytes {where} of data file 1): cannot open "PATH.data-00001-of-00002": No such file or '
            "directory",
        )
        for name, where in (("beta", "0..40"), ("gamma", "40..44"))
    },
}

every_opening = pytest.mark.parametrize(("folder", "case"), OPENING, ids=lambda value: str(value)[:12])
every_reading = pytest.mark.parametrize(("folder", "case"), READING, ids=lambda value: str(value)[:12])


def path_of(folder: str, case: str) -> str:
    return str(golden(folder) / case)


def assert_says(error: BaseException, wanted: tuple[type[TensorKeepError], str], path: str) -> None:
    kind, message = wanted
    assert type(error) is kind
    text = message.replace("PATH", path)
    if text.endswith("…"):
        assert str(error).startswith(text[:-1])
    else:
        assert str(error) == text


def tensors_tensorflow_cannot_read(folder: str, case: str) -> set[str]:
    probe = expected(folder)["probes"][case]
    if "process_aborted" in probe:
        return {"beta"}  # the entry it dies of
    return {name for name, outcome in probe["restore_v2"].items() if not outcome["ok"]}


def test_every_damaged_case_takes_part() -> None:
    for folder in (V2, V1):
        cases = {case for at, case in (*OPENING, *READING) if at == folder}
        assert cases == set(expected(folder)["probes"])


@every_opening
def test_opening_fails_where_tensorflow_can_read_nothing(folder: str, case: str) -> None:
    path = path_of(folder, case)
    assert tensors_tensorflow_cannot_read(folder, case) == set(expected_tensors(folder))
    with pytest.raises(TensorKeepError) as caught:
        open_checkpoint(path)
    assert_says(caught.value, OPENING[folder, case], path)


@every_reading
def test_the_same_tensors_fail_as_in_tensorflow(folder: str, case: str) -> None:
    assert set(READING[folder, case]) == tensors_tensorflow_cannot_read(folder, case)


@every_reading
@pytest.mark.parametrize("way", ["read", "view", "many", "source"])
def test_each_damaged_tensor_says_so_and_the_others_are_read(folder: str, case: str, way: str) -> None:
    path = path_of(folder, case)
    with open_checkpoint(path) as reader:
        assert list(reader) == list(expected_tensors(folder))
        for name, (_, value) in expected_tensors(folder).items():
            act = {
                "read": lambda name=name: reader.read(name),
                "view": lambda name=name: reader.read(name, copy=False),
                "many": lambda name=name: reader.read_many([name])[name],
                "source": lambda name=name, shape=value.shape: reader.source(name).gather().reshape(shape),
            }[way]
            wanted = READING[folder, case].get(name)
            if wanted is None:
                assert same(act(), value)
                continue
            with pytest.raises(TensorKeepError) as caught:
                act()
            assert_says(caught.value, wanted, path)


@every_reading
def test_a_check_lists_all_that_is_wrong(folder: str, case: str) -> None:
    path = path_of(folder, case)
    report = check_checkpoint(path)
    wanted = READING[folder, case]
    assert {problem.tensor for problem in report.problems} == set(wanted)
    for problem in report.problems:
        assert problem.tensor is not None
        assert_says(problem.error, wanted[problem.tensor], path)
    assert set(report.intact) == set(expected_tensors(folder)) - set(wanted)


@pytest.mark.parametrize(
    ("folder", "case"),
    [key for key, (kind, _) in OPENING.items() if kind is not MissingFileError],
    ids=lambda value: str(value)[:12],
)
def test_a_check_of_what_cannot_be_opened_is_a_report_too(folder: str, case: str) -> None:
    path = path_of(folder, case)
    report = check_checkpoint(path)
    (problem,) = report.problems
    assert problem.tensor is None
    assert_says(problem.error, OPENING[folder, case], path)
    assert (report.intact, report.is_intact) == ((), False)


def test_reading_the_undamaged_part_of_a_damaged_tensor_is_not_checked_by_default() -> None:
    """A checksum covers all of a tensor; who reads a part, reads that part alone."""
    path = path_of(V2, "data_truncated")
    with open_checkpoint(path_of(V2, "data_flip")) as reader:
        assert reader.read("alpha", (slice(2, 3),)).shape == (1, 4)
    with open_checkpoint(path) as reader, pytest.raises(DataLossError, match='tensor "alpha" lies at bytes 0'):
        reader.read("alpha", (slice(0, 1),))
