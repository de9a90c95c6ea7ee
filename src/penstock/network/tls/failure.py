"""Handshakes that failed: all are counted, and each kind of failure is logged now and then."""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Callable, Iterator

from penstock.telemetry.log import get_logger

QUIET_S = 60.0
"""For how long the next failures of a kind are only counted."""

PLAIN_TEXT = "plain text on an encrypted listener"
TOO_SLOW = "the handshake took too long"
TOO_LARGE = "the handshake is too large"
TOO_MANY = "too many handshakes at once"
NO_RULE = "no rule of ssl.principal.mapping.rules applies"
BROKEN_OFF = "broken off"

log = get_logger("network")


class HandshakeFailures:
    """Of one listener."""

    def __init__(self, listener: str, now_s: Callable[[], float]) -> None:
        self._listener = listener
        self._now_s = now_s
        self._counts: Counter[str] = Counter()
        self._logged: dict[str, tuple[float, int]] = {}

    def counts(self) -> Iterator[tuple[tuple[str, ...], float]]:
        for reason, count in self._counts.items():
            yield (self._listener, reason), count

    def note(self, reason: str, peer: str, detail: str = "") -> None:
        self._counts[reason] += 1
        if reason == BROKEN_OFF:
            return  # as a port scan does, or a check of the port: nothing to say
        now, count = self._now_s(), self._counts[reason]
        logged_at, logged_count = self._logged.get(reason, (-QUIET_S, 0))
        if now - logged_at < QUIET_S:
            return
        self._logged[reason] = now, count
        fields = {"detail": detail} if detail else {}
        if count - logged_count > 1:
            fields["times"] = str(count - logged_count)
        log.warning(
            "TLS connection refused", listener=self._listener, reason=reason, peer=peer, **fields
        )


def reason_of(error: ssl.SSLError) -> str:
    """In OpenSSL's words, of which there are so many and no more."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message or "certificate verify failed"
    return (error.reason or "protocol error").lower().replace("_", " ")
