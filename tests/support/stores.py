"""Servers of object stores for tests: S3 by moto, in this process."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import tensorkeep as tk


@cache
def s3_endpoint() -> str:
    """The address of an S3 server that lives as long as the process."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    return f"http://{host}:{port}"


def s3_client() -> Any:
    """A client of that server which is not ours."""
    import boto3

    return boto3.client(
        "s3",
        endpoint_url=s3_endpoint(),
        region_name="us-east-1",
        aws_access_key_id="someone",
        aws_secret_access_key="something",
    )


@contextmanager
def s3_bucket(endpoint: str | None = None, **options: Any) -> Iterator[str]:
    """The URL of a new bucket, which tensorkeep has been told how to reach."""
    name = f"bucket-{uuid.uuid4().hex[:12]}"
    s3_client().create_bucket(Bucket=name)
    url = f"s3://{name}"
    tk.storage(
        url,
        endpoint=endpoint or s3_endpoint(),
        region="us-east-1",
        access_key_id="someone",
        secret_access_key="something",
        **options,
    )
    yield url


def memory_bucket() -> str:
    """The URL of a new store in memory."""
    return f"memory://{uuid.uuid4().hex[:12]}"
