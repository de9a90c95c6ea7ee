"""The keys that tokens are signed with, from a file or a URL, read again as they change.

A login never waits for them: it takes those that are there. A token of a key that is not known has
them read again, but no more often than every few seconds: strangers can name keys, too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from penstock.node.oauth.config import OAuthConfig
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from jwt import PyJWK

ANSWER_BYTES_MAX = 1 << 20
TIMEOUT_S = 10.0
REFRESH_S_MIN = 5.0
"""Between two readings that an unknown key asks for."""

log = get_logger("login")


class SigningKeys:
    def __init__(self, config: OAuthConfig, loop: asyncio.AbstractEventLoop) -> None:
        self._config = config
        self._loop = loop
        self._by_id: dict[str, PyJWK] = {}
        self._file_seen: tuple[int, int] | None = None
        self._read_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self._backoff_ms = config.backoff_ms
        self.refresh()

    def find(self, key_id: str | None) -> PyJWK | None:
        """By its id; a token that names none is of the only key there is."""
        self._look()
        if key_id is None:
            return next(iter(self._by_id.values())) if len(self._by_id) == 1 else None
        found = self._by_id.get(key_id)
        if found is None and self._loop.time() - self._read_at > REFRESH_S_MIN:
            self.refresh()
        return found

    def refresh(self) -> None:
        self._read_at = self._loop.time()
        if self._config.jwks_file is not None:
            self._file_seen = None
            self._look()
        elif self._reading is None:
            self._reading = self._loop.create_task(self._fetch(), name="signing keys")

    def _look(self) -> None:
        path = self._config.jwks_file
        if path is None:
            if self._loop.time() - self._read_at > self._config.refresh_ms / 1000:
                self.refresh()
            return
        try:
            stat = Path(path).stat()
            seen = (stat.st_mtime_ns, stat.st_ino)
            if seen != self._file_seen:
                self._file_seen = seen
                with open(path, "rb") as file:
                    self._take(file.read(ANSWER_BYTES_MAX))
        except (OSError, ValueError) as error:
            log.error("signing keys cannot be read", path=path, reason=str(error))

    async def _fetch(self) -> None:
        url = self._config.jwks_url
        try:
            self._take(await asyncio.to_thread(_read_url, url))
            self._backoff_ms = self._config.backoff_ms
        except (OSError, ValueError) as error:
            log.error("signing keys cannot be read", url=url, reason=str(error))
            self._loop.call_later(self._backoff_ms / 1000, self.refresh)
            self._backoff_ms = min(2 * self._backoff_ms, self._config.backoff_ms_max)
        finally:
            self._reading = None

    def _take(self, data: bytes) -> None:
        """What is no set of keys leaves those that were there."""
        self._by_id = signing_keys(json.loads(data))
        log.info("signing keys", url=self._config.jwks_url, count=len(self._by_id))


def signing_keys(document: object) -> dict[str, PyJWK]:
    """Keys of the sort that has a public half: a secret that both sides know is none of ours. One
    that is not understood is passed over (RFC 7517): its provider has others who do. ValueError
    for what is no set of keys."""
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list):
        raise ValueError("no set of keys: `keys` is missing")
    return {
        str(each.get("kid", f"#{number}")): key
        for number, each in enumerate(keys)
        if isinstance(each, dict) and (key := _signing_key(number, each)) is not None
    }


def _signing_key(number: int, said: dict[str, Any]) -> PyJWK | None:
    from jwt import PyJWK
    from jwt.exceptions import PyJWTError

    if said.get("kty") not in ("RSA", "EC", "OKP") or said.get("use", "sig") != "sig":
        return None
    try:
        return PyJWK(said)
    except (PyJWTError, ValueError, TypeError) as error:
        log.warning("signing key passed over", number=number, reason=str(error))
        return None


def _read_url(url: str, opened: Callable[..., Any] = urlopen) -> bytes:
    with opened(url, timeout=TIMEOUT_S) as answer:
        data: bytes = answer.read(ANSWER_BYTES_MAX)
        return data
