"""A server whose models lie in an object store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.edit import copy_files
from tests.serving.process.servers import running
from tests.support.golden import golden
from tests.support.stores import s3_bucket, s3_endpoint

pytestmark = pytest.mark.slow


def test_versions_are_served_from_a_bucket_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = golden("g26_tf1_simple_save") / "model"
    said = {"AWS_ENDPOINT_URL": s3_endpoint(), "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "someone"}
    for name, value in {**said, "AWS_SECRET_ACCESS_KEY": "something"}.items():
        monkeypatch.setenv(name, value)
    with s3_bucket() as bucket:
        copy_files(model, f"{bucket}/models/m/1")
        with running(tmp_path, "--model", f"m={bucket}/models/m", "--poll", "0.2") as server:
            status, first = server.predict()
            assert status == 200, first
            copy_files(model, f"{bucket}/models/m/2")
            server.until(lambda: '"version": "2"' in server.get("/v1/models/m")[1])
            server.until(lambda: server.predict() == (200, first))
            assert "something" not in server.said
            assert server.stop() == 0
