"""Two small HTTP services for tests: one that keeps to idempotency keys, one with a bulk API.

The second does what Elasticsearch and OpenSearch document for `_bulk`: index and delete, external
versions, a status for each item. It is no search engine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Service:
    """Answers with the `statuses` it is given, one a request, and then as `take` says."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[tuple[str | None, str]] = []
        """Key and body of every request that came."""
        self.statuses: list[int] = []
        self.lock = threading.Lock()

    def answer(self, key: str | None, body: str) -> tuple[int, str]:
        with self.lock:
            self.requests.append((key, body))
            if self.statuses:
                return self.statuses.pop(0), "as told"
            return self.take(key, body)

    def take(self, key: str | None, body: str) -> tuple[int, str]:
        raise NotImplementedError


class IdempotentService(Service):
    def __init__(self) -> None:
        super().__init__()
        self.taken: dict[str, Any] = {}

    def take(self, key: str | None, body: str) -> tuple[int, str]:
        if key is None:
            return 400, "no Idempotency-Key"
        if self.taken.setdefault(key, json.loads(body)) != json.loads(body):
            return 422, "the key was used for another request"
        return 200, "{}"


class BulkService(Service):
    def __init__(self) -> None:
        super().__init__()
        self.documents: dict[str, Any] = {}
        self._versions: dict[str, int] = {}
        self.busy: list[str] = []
        """Ids that are answered with 429 once."""

    def take(self, key: str | None, body: str) -> tuple[int, str]:
        lines = iter(body.splitlines())
        items = [self._item(json.loads(line), lines) for line in lines]
        errors = any(next(iter(item.values()))["status"] >= 300 for item in items)
        return 200, json.dumps({"errors": errors, "items": items})

    def _item(self, action: dict[str, Any], lines: Iterator[str]) -> dict[str, Any]:
        ((verb, about),) = action.items()
        document = json.loads(next(lines)) if verb == "index" else None
        return {verb: {"_index": about["_index"], "_id": about["_id"]} | self._do(about, document)}

    def _do(self, about: dict[str, Any], document: Any) -> dict[str, Any]:
        id = about["_id"]
        if id in self.busy:
            self.busy.remove(id)
            return {"status": 429, "error": {"reason": "rejected execution"}}
        if "version" in about:
            if about["version"] < self._versions.get(id, -1):
                return {"status": 409, "error": {"reason": "version conflict"}}
            self._versions[id] = about["version"]
        if document is None:
            return {"status": 200 if self.documents.pop(id, None) is not None else 404}
        if not isinstance(document.get("amount", 0), int):
            return {"status": 400, "error": {"reason": "failed to parse field [amount]"}}
        self.documents[id] = document
        return {"status": 201}


@contextmanager
def serving(service: Service) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, said = service.answer(self.headers.get("Idempotency-Key"), body)
            content = said.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
