"""Sends reply parts on a TLS connection: ranges of files are read as the socket takes them."""

from __future__ import annotations

import os

from penstock.network.part import FilePart
from penstock.network.tls.stream import PIECE_BYTES, TlsStream
from penstock.network.writer import COPIED_BYTES_MAX, COPY_BYTES_MAX, AnswerTally, PartWriter, Rest

PIECES_PER_TURN = 16


class TlsWriter(PartWriter):
    __slots__ = ("_stream",)

    def __init__(self, stream: TlsStream, tally: AnswerTally) -> None:
        super().__init__(stream, tally)
        self._stream = stream

    def _is_copied(self, size: int) -> bool:
        return size <= COPY_BYTES_MAX and self.queued_bytes < COPIED_BYTES_MAX

    def _send_file(self, part: FilePart) -> bool:
        """False also where the socket takes more: others have their turn."""
        stream, left = self._stream, part
        for _ in range(PIECES_PER_TURN):
            if stream.has_unsent:
                # Of this very part, or of the bytes before it: not worth reading the file yet.
                stream.push()
            data = os.pread(left.fd, min(len(left), PIECE_BYTES), left.position)
            if not data:
                raise ConnectionError("file is shorter than the range being sent")
            sent = stream.send(data)
            self._account(sent)
            if sent == len(left):
                self._queue.popleft()
                left.release()
                return True
            self._queue[0] = left = Rest(left, sent)
        return False
