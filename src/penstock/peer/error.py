"""What can become of a call to another node.

PeerError
├── PeerGone         no connection, or it broke before the answer came
├── PeerTimeout      no answer in time
└── PeerUnsupported  no version of the request is spoken by both

After the first two the request may have been carried out all the same.
"""

from __future__ import annotations

from penstock.model.error import PenstockError


class PeerError(PenstockError):
    """A call without an answer."""


class PeerGone(PeerError):
    """`refused`: the other machine answered that nobody listens on the port, so the process that
    should be there is not."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


class PeerTimeout(PeerError):
    """Nothing was heard in time."""


class PeerUnsupported(PeerError):
    """The other node speaks the request in no version, or not in the one asked for."""
