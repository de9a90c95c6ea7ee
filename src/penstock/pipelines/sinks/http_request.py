"""One HTTP receiver, from a Python worker: requests on one connection, tried again if it may help.

What a request says, and what a receiver's answer means beyond its status, is each sink's business.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from penstock.pipelines.error import DeclarationError, RunError, TransientError
from penstock.pipelines.retry import Failure, Retry, attempt

PASSING = frozenset({408, 409, 425, 429})
"""Beside 5xx: what may be answered otherwise a little later (409: the first try still goes on)."""
PATIENCE = Retry(8, 0.2, 10.0)
"""Unless told otherwise: for half a minute."""
_ANSWER_SHOWN = 200
_RETRY_AFTER_MAX_S = 60.0


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where requests go, small enough to travel with a task."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = 30.0
    retry: Retry = PATIENCE


def receiver_url(url: str) -> str:
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise DeclarationError(f"not the address of an HTTP service: {url!r}")
    return url


def joined(parts: tuple[Any, ...]) -> str:
    """An id of several values, never the same for others; one value is its own id."""
    if len(parts) == 1:
        return str(parts[0])
    return ":".join(quote(str(each), safe="") for each in parts)


class Requests:
    """A connection that is kept; closed by whoever opened it."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        parts = urlsplit(receiver.url)
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        self._connection = kind(parts.hostname or "", parts.port, timeout=receiver.timeout_s)

    def post(self, body: bytes, what: str, headers: Mapping[str, str]) -> bytes:
        """The answer of a receiver that took it; `what` names the request in errors."""
        result = attempt(lambda: self._once(body, what, headers), self._receiver.retry)
        if isinstance(result, Failure):
            raise result.error
        return result

    def close(self) -> None:
        self._connection.close()

    def _once(self, body: bytes, what: str, headers: Mapping[str, str]) -> bytes:
        own = {"Content-Type": "application/json", **self._receiver.headers, **headers}
        try:
            self._connection.request("POST", self._path, body, own)
            answer = self._connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise TransientError(f"{self._where}: {what}: {error!r}") from error
        if 200 <= answer.status < 300:
            return content
        shown = content[:_ANSWER_SHOWN].decode(errors="replace")
        said = f"{self._where}: {what}: {answer.status} {answer.reason}: {shown}"
        if answer.status in PASSING or answer.status >= 500:
            time.sleep(_asked_wait_s(answer.headers.get("Retry-After")))
            raise TransientError(said)
        raise RunError(f"refused by {said}")

    @property
    def _where(self) -> str:
        """Without what may be secret in a query or before the host."""
        parts = urlsplit(self._receiver.url)
        return f"{parts.scheme}://{parts.hostname}{parts.path}"


def _asked_wait_s(retry_after: str | None) -> float:
    """In seconds; a date is not looked at."""
    if retry_after is None or not retry_after.isdecimal():
        return 0.0
    return min(float(retry_after), _RETRY_AFTER_MAX_S)
