"""A MaxCompute service in memory, on loopback, as far as an upload by pyodps needs one.

    GET    /projects/P/tables/T                            what a table is; 404 if it is not there
    GET    /projects/P/tables/T?partition=ds='1'           whether a partition is there
    POST   /projects/P/instances                           CREATE TABLE, as SQL in XML
    POST   /projects/P/tables/T?uploads                    begins an upload
    PUT    /projects/P/tables/T?uploadid=U&blockid=B       a block of it
    POST   /projects/P/tables/T?uploadid=U                 has its rows appear

Blocks are decoded by the client's own reader, which compares their checksums.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from tensorkeep._lazy import later

# Only where it is used, since pyodps takes seconds to import.
odps = later("odps")
models = later("odps.models")
reading = later("odps.tunnel.io.reader")


@dataclass
class Table:
    """Columns, columns of partitions, and rows by partition, "" for the whole."""

    columns: dict[str, str]
    partitions: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list[list[Any]]] = field(default_factory=dict)

    def described(self) -> dict[str, Any]:
        def listed(columns: dict[str, str]) -> list[dict[str, str]]:
            return [{"name": name, "type": kind} for name, kind in columns.items()]

        return {"columns": listed(self.columns), "partitionKeys": listed(self.partitions)}

    @property
    def schema(self) -> Any:
        """Of what a block holds, which are rows without the columns of partitions."""
        return models.TableSchema(columns=[models.Column(name=name, type=kind) for name, kind in self.columns.items()])


@dataclass
class Service:
    """What the service holds, and what was asked of it."""

    endpoint: str = ""
    tables: dict[str, Table] = field(default_factory=dict)
    uploads: dict[str, dict[str, Any]] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)
    denies: bool = False

    def client(self) -> Any:
        return odps.ODPS("someone", "secret", "project", endpoint=self.endpoint, tunnel_endpoint=self.endpoint)


@contextmanager
def serving() -> Iterator[Service]:
    """A service that lives as long as the block."""
    service = Service()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(service))
    service.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            return

        def _do(self) -> None:
            path = urlsplit(self.path)
            asked = parse_qs(path.query, keep_blank_values=True)
            body = self._body()
            found = _answer(service, self.command, path.path, {key: value[0] for key, value in asked.items()}, body)
            code, kind, data = found
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            if kind == "instance":
                self.send_header("Location", f"{service.endpoint}/projects/project/instances/1")
            self.end_headers()
            self.wfile.write(data)

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = []
            while size := int(self.rfile.readline().strip() or b"0", 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        do_GET = do_POST = do_PUT = do_HEAD = _do  # noqa: N815 - names of the standard library

    return Handler


Answer = tuple[int, str, bytes]


def _answer(service: Service, method: str, path: str, asked: dict[str, str], body: bytes) -> Answer:
    if service.denies:
        return _error(403, "NoPermission", "you may not")
    if "/instances" in path:
        return _instance(service, method, path, asked, body)
    table = re.fullmatch(r"/projects/project(?:/schemas/[^/]+)?/tables/([^/]+)", path)
    if table is None:
        return _error(404, "NoSuchObject", path)
    return _table(service, method, table[1], asked, body)


def _instance(service: Service, method: str, path: str, asked: dict[str, str], body: bytes) -> Answer:
    if method == "POST":
        found = re.search(r"<Query>.*?CDATA\[(.*?)\]\]", body.decode(), re.DOTALL)
        assert found is not None
        service.statements.append(found[1].strip())
        _create(service, found[1])
        return 201, "instance", b""
    if "taskstatus" in asked:
        tasks = "<Task Type='SQL'><Name>AnonymousSQLTask</Name><Status>Success</Status></Task>"
        text = f"<Instance><Status>Terminated</Status><Tasks>{tasks}</Tasks></Instance>"
    elif "result" in asked:
        result = "<Task><Name>AnonymousSQLTask</Name><Result Format='text'><![CDATA[OK]]></Result></Task>"
        text = f"<Instance><Tasks>{result}</Tasks></Instance>"
    else:
        text = "<Instance><Status>Terminated</Status></Instance>"
    return 200, "application/xml", f"<?xml version='1.0'?>{text}".encode()


def _create(service: Service, statement: str) -> None:
    name = re.search(r"CREATE TABLE (?:IF NOT EXISTS )?`?(?:project`?\.`?)?(?:default`?\.`?)?(\w+)`?", statement)
    own, _, parts = statement.partition("PARTITIONED BY")
    assert name is not None, statement

    def columns(text: str) -> dict[str, str]:
        return {column: kind.lower() for column, kind in re.findall(r"`(\w+)` ([\w<>]+)", text.partition("(")[2])}

    service.tables[name[1]] = Table(columns(own), columns(parts))


def _table(service: Service, method: str, name: str, asked: dict[str, str], body: bytes) -> Answer:
    table = service.tables.get(name)
    if table is None:
        return _error(404, "NoSuchTable", f"Table not found - '{name}'")
    if "uploads" in asked or "uploadid" in asked:
        return _upload(service, table, method, asked, body)
    if "partition" in asked:
        spec = asked["partition"].replace("'", "")
        return (200, "application/xml", b"<Partition/>") if spec in table.rows else _error(404, "NoSuchPartition", spec)
    schema = escape(json.dumps(table.described()))
    text = f"<?xml version='1.0'?><Table><Name>{name}</Name><Schema format='Json'>{schema}</Schema></Table>"
    return 200, "application/xml", text.encode()


def _upload(service: Service, table: Table, method: str, asked: dict[str, str], body: bytes) -> Answer:
    if "uploads" in asked:
        number = str(len(service.uploads) + 1)
        spec = asked.get("partition", "").replace("'", "")
        service.uploads[number] = {"spec": spec, "blocks": {}, "overwrite": "overwrite" in asked, "status": "NORMAL"}
    else:
        number = asked["uploadid"]
    upload = service.uploads[number]
    if method == "PUT":
        upload["blocks"][int(asked["blockid"])] = _rows(table, body)
    elif method == "POST" and "uploadid" in asked:
        rows = [row for block in sorted(upload["blocks"]) for row in upload["blocks"][block]]
        before = [] if upload["overwrite"] else table.rows.get(upload["spec"], [])
        table.rows[upload["spec"]] = before + rows
        upload["status"] = "CLOSED"
    data = {
        "UploadID": number,
        "Status": upload["status"],
        "Schema": table.described(),
        "UploadedBlockList": [{"BlockID": block} for block in upload["blocks"]],
        "MaxFieldSize": 8388608,
    }
    return 200, "application/json", json.dumps(data).encode()


def _rows(table: Table, body: bytes) -> list[list[Any]]:
    reader = reading.TunnelRecordReader(table.schema, lambda cursor, **_: None if cursor else BytesIO(body))
    return [[record[name] for name in table.columns] for record in reader]


def _error(code: int, kind: str, message: str) -> Answer:
    text = f"<?xml version='1.0'?><Error><Code>{kind}</Code><Message><![CDATA[{message}]]></Message>"
    return code, "application/xml", f"{text}<RequestId>1</RequestId><HostId>here</HostId></Error>".encode()


__all__ = ["Service", "Table", "serving"]
