"""The headers by which a reply finds its request. Pure."""

from __future__ import annotations

from typing import NamedTuple

from penstock.client.dead_letter import AnyHeaders, error_text, text_of

REPLY_TOPIC = "penstock.reply.topic"
"""Where the answer goes."""
CORRELATION = "penstock.correlation.id"
"""Of the request, and of its answer."""
REPLY_ERROR = "penstock.reply.error"
"""The handler gave up: its error. The answer has no value then."""


class ReplyTo(NamedTuple):
    topic: str
    correlation: str

    def headers(self, error: BaseException | None = None) -> AnyHeaders:
        made: AnyHeaders = [(CORRELATION, self.correlation)]
        if error is not None:
            made.append((REPLY_ERROR, f"{type(error).__name__}: {error_text(error)}"))
        return made


def reply_to(headers: AnyHeaders) -> ReplyTo | None:
    """None: nobody waits for an answer."""
    topic, correlation = text_of(headers, REPLY_TOPIC), text_of(headers, CORRELATION)
    return None if topic is None or correlation is None else ReplyTo(topic, correlation)
