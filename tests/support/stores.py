"""Servers of object stores for tests: S3 by moto, in this process, and Azure by Azurite, where npm has installed it."""

from __future__ import annotations

import atexit
import base64
import hashlib
import hmac
import logging
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import cache
from typing import Any, Final

import pytest

import tensorkeep as tk


@cache
def s3_endpoint() -> str:
    """The address of an S3 server that lives as long as the process."""
    from moto.s3.responses import S3Response
    from moto.server import ThreadedMotoServer

    for name in ("put_object", "delete_object"):
        setattr(S3Response, name, _one_at_a_time(getattr(S3Response, name)))
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    return f"http://{host}:{port}"


_CHANGES: Final = threading.Lock()


def _one_at_a_time(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A change as S3 makes it: moto looks at a condition, then puts, and another put may come between."""

    def changed(response: Any) -> Any:
        with _CHANGES:
            return change(response)

    return changed


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


AZURE_ACCOUNT: Final = "devstoreaccount1"
AZURE_KEY: Final = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key that Azurite has for everybody."""


@cache
def azure_endpoint() -> str:
    """The address of Azurite, which ends with the process. Skips the test if it is not on the path."""
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("azurite-blob is not on the path: npm install -g azurite")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--inMemoryPersistence", "--blobPort", str(port), "--silent", "--skipApiVersionCheck"]
    process = subprocess.Popen([program, *options, "--disableTelemetry"], stdout=subprocess.DEVNULL)
    atexit.register(process.kill)
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.1)
    return f"http://127.0.0.1:{port}/{AZURE_ACCOUNT}"


def azure_container() -> str:
    """The URL of a new container, which tensorkeep has been told how to reach."""
    name = f"container-{uuid.uuid4().hex[:12]}"
    now = datetime.now(timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    signed = f"PUT{12 * chr(10)}x-ms-date:{now}\nx-ms-version:2021-08-06\n/{AZURE_ACCOUNT}/{AZURE_ACCOUNT}/{name}"
    digest = hmac.new(base64.b64decode(AZURE_KEY), f"{signed}\nrestype:container".encode(), hashlib.sha256).digest()
    headers = {
        "x-ms-date": now,
        "x-ms-version": "2021-08-06",
        "Authorization": f"SharedKey {AZURE_ACCOUNT}:{base64.b64encode(digest).decode()}",
    }
    url = f"{azure_endpoint()}/{name}?restype=container"
    with urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers)):
        pass
    tk.storage(f"az://{name}", account_name=AZURE_ACCOUNT, account_key=AZURE_KEY, endpoint=azure_endpoint())
    return f"az://{name}"
