"""Embeddings as MaxCompute tables: the real client against a service in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.embedding.formats.maxcompute import MaxComputeTable, export_maxcompute
from tensorkeep.embedding.stored.writing import table_tensors
from tensorkeep.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
)
from tests.support.maxcompute import Service, Table, odps, serving

WHOLE = "odps://project/tables/users"
TEXT = {"id": "bigint", "embedding": "string"}


@pytest.fixture(autouse=True)
def client() -> None:
    pytest.importorskip("odps")


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as found:
        yield found


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    """Three keys with rows, a slot, frequencies and versions, and one key that is only counted."""
    admission = tk.embedding.CounterFilter(2)
    table = tk.EmbeddingTable(2, admission=admission, keeps_frequencies=True, keeps_versions=True)
    table.add_column("Adagrad", 2, 0.5)
    rows = np.array([[1, -0.1], [2, 2], [1e-30, 3]], np.float32)
    table.assign([7, -5, 1003], rows, freqs=np.array([5, 2, 3]), versions=np.array([10, 20, 30]))
    table.assign_filtered([9], [1])
    found: str = tk.save_checkpoint(str(tmp_path / "model"), table_tensors("users", table.snapshot())) or ""
    return found or str(tmp_path / "model")


def export(service: Service, prefix: str, target: str = WHOLE, **options: Any) -> Any:
    return export_maxcompute(prefix, target, "users", client=service.client(), **options)


def test_a_table_that_is_not_there_is_made_and_filled(service: Service, prefix: str) -> None:
    report = export(service, prefix)
    assert service.tables["users"].columns == TEXT
    assert sorted(service.tables["users"].rows[""]) == [[-5, "2.0,2.0"], [7, "1.0,-0.1"], [1003, "1e-30,3.0"]]
    assert str(report) == f"3 rows to the new table {WHOLE}, 1 counted keys without rows left out"


def test_rows_may_be_arrays_with_frequencies_and_versions(service: Service, prefix: str) -> None:
    export(service, prefix, form="array", numbers=True)
    assert service.tables["users"].columns == {
        "id": "bigint",
        "embedding": "array<float>",
        "freq": "bigint",
        "version": "bigint",
    }
    rows = {row[0]: row[1:] for row in service.tables["users"].rows[""]}
    assert rows[-5] == [[2.0, 2.0], 2, 20]
    np.testing.assert_array_equal(np.float32(rows[7][0]), np.array([1, -0.1], np.float32))


def test_a_slot_goes_to_a_partition_that_is_made(service: Service, prefix: str) -> None:
    report = export(service, prefix, f"{WHOLE}/ds=20261116/hour=08", column="Adagrad")
    table = service.tables["users"]
    assert table.partitions == {"ds": "string", "hour": "string"}
    assert sorted(table.rows) == ["ds=20261116,hour=08"]
    assert {row[1] for row in table.rows["ds=20261116,hour=08"]} == {"0.5,0.5"}
    assert report.was_made


def test_another_partition_is_added_and_the_same_is_replaced_only_on_request(service: Service, prefix: str) -> None:
    service.tables["users"] = Table(dict(TEXT), {"ds": "string"}, {"ds=1": [[0, "9.0,9.0"]]})
    export(service, prefix, f"{WHOLE}/ds=2")
    with pytest.raises(AlreadyExistsError, match=r"ds=1.*is there already: say overwrite=True"):
        export(service, prefix, f"{WHOLE}/ds=1")
    assert service.tables["users"].rows["ds=1"] == [[0, "9.0,9.0"]]
    export(service, prefix, f"{WHOLE}/ds=1", overwrite=True)
    assert {part: len(rows) for part, rows in service.tables["users"].rows.items()} == {"ds=1": 3, "ds=2": 3}
    assert service.statements == []


def test_a_table_that_is_there_says_what_an_embedding_is(service: Service, prefix: str) -> None:
    service.tables["users"] = Table({"embedding": "array<double>", "key": "bigint"}, rows={"": [[[0.0], 1]]})
    export(service, prefix, overwrite=True)
    assert [[2.0, 2.0], -5] in service.tables["users"].rows[""]


@pytest.mark.parametrize(
    ("columns", "partitions", "target", "message"),
    [
        ({"id": "bigint"}, {}, WHOLE, "has the columns id bigint; expected id bigint, embedding string"),
        ({**TEXT, "name": "string"}, {}, WHOLE, "name string; expected"),
        ({"id": "string", "embedding": "string"}, {}, WHOLE, "has the columns id string"),
        (TEXT, {"ds": "string"}, WHOLE, "is partitioned by ds, and the partition names nothing"),
        (TEXT, {}, f"{WHOLE}/ds=1", "is partitioned by nothing, and the partition names ds"),
    ],
)
def test_a_table_of_another_kind_is_refused_and_stays(
    columns: Any, partitions: Any, target: str, message: str, service: Service, prefix: str
) -> None:
    service.tables["users"] = Table(dict(columns), partitions, {"": [[1]]})
    with pytest.raises(InvalidArgumentError, match=message):
        export(service, prefix, target, overwrite=True)
    assert service.tables["users"].rows == {"": [[1]]}
    assert service.uploads == {}


def test_rows_appear_only_when_all_have_arrived(service: Service, prefix: str) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(service, prefix, progress=interrupt)
    assert service.tables["users"].rows == {}


@pytest.mark.parametrize(
    "url", ["odps://project/users", "odps://project/tables/", "project.users", f"{WHOLE}/ds", f"{WHOLE}/=1"]
)
def test_what_names_no_table_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgumentError, match="expected odps://PROJECT/tables/NAME"):
        MaxComputeTable.of(url)


def test_urls_come_out_as_they_went_in() -> None:
    for url in (WHOLE, f"{WHOLE}/ds=1/hour=2"):
        assert str(MaxComputeTable.of(url)) == url


def test_errors_of_the_service_are_ours(service: Service, prefix: str) -> None:
    service.denies = True
    with pytest.raises(PermissionDeniedError, match=r'(?s)"odps://project/tables/users": .*you may not'):
        export(service, prefix)


def test_a_service_that_is_not_there_is_told(prefix: str) -> None:
    nowhere = odps.ODPS("a", "b", "project", endpoint="http://127.0.0.1:9", tunnel_endpoint="http://127.0.0.1:9")
    with odps.config.option_context() as options:
        options.retry_times = 0
        with pytest.raises(UnavailableError, match="cannot be reached"):
            export_maxcompute(prefix, WHOLE, "users", client=nowhere)


def test_without_a_client_the_environment_is_asked(
    monkeypatch: pytest.MonkeyPatch, service: Service, prefix: str
) -> None:
    who = ("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET")
    for name in ("ODPS_ENDPOINT", "ODPS_STS_TOKEN", "ODPS_BEARER_TOKEN", *who):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UnauthenticatedError, match="set ODPS_ENDPOINT, ALIBABA_CLOUD_ACCESS_KEY_ID and"):
        export_maxcompute(prefix, WHOLE, "users")
    for name in ("ODPS_ENDPOINT", "ODPS_TUNNEL_ENDPOINT"):
        monkeypatch.setenv(name, service.endpoint)
    with pytest.raises(UnauthenticatedError, match="nobody says who asks"):
        export_maxcompute(prefix, WHOLE, "users")
    for name in who:
        monkeypatch.setenv(name, "someone")
    assert export_maxcompute(prefix, WHOLE, "users").rows == 3


def test_a_token_of_the_environment_will_do(monkeypatch: pytest.MonkeyPatch, service: Service, prefix: str) -> None:
    for name in ("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET", "ODPS_STS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ODPS_ENDPOINT", "ODPS_TUNNEL_ENDPOINT"):
        monkeypatch.setenv(name, service.endpoint)
    monkeypatch.setenv("ODPS_BEARER_TOKEN", "token")
    assert export_maxcompute(prefix, WHOLE, "users").rows == 3
