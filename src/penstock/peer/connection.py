"""One connection to another node: requests out, answers in, matched in their order.

A node answers the requests of a connection in the order in which they came, so an answer that is
not the oldest open request's is a fault of the other side, and ends the connection. So does
silence: when a request has waited in vain and nothing at all has come since it was sent, whoever
should answer is not there any more.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

from penstock.model.error import ProtocolError
from penstock.network.sockets import StreamSocket
from penstock.network.writer import AnswerTally, PartWriter
from penstock.peer.answer_reader import FRAME_BYTES_MAX, AnswerReader
from penstock.peer.error import PeerGone, PeerTimeout
from penstock.protocol.entity import Entity
from penstock.protocol.frame import decode_response, encode_request_parts

READS_PER_EVENT = 8

Decode = Callable[[memoryview], Entity]


class Question:
    """A request that was sent."""

    __slots__ = ("answer", "asked_at", "decode", "heard_before", "number", "timer")

    def __init__(self, number: int, decode: Decode, asked_at: float, heard_before: int) -> None:
        self.number = number
        self.decode = decode
        self.asked_at = asked_at
        self.heard_before = heard_before
        self.answer: asyncio.Future[Entity]
        self.timer: asyncio.TimerHandle


class PeerConnection:
    """`on_lost` is called once, unless it is closed from here or was retired."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: StreamSocket,
        name: str,
        client_id: str,
        on_lost: Callable[[PeerGone], None],
        frame_bytes_max: int = FRAME_BYTES_MAX,
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._fd = sock.fileno()
        self._name = name
        self._client_id = client_id
        self._on_lost = on_lost
        self._reader = AnswerReader(frame_bytes_max)
        self._writer = PartWriter(sock, AnswerTally())
        self._writing = False
        self._questions: deque[Question] = deque()
        self._number = 0
        # How often something came.
        self._heard = 0
        self._is_retired = False
        self.error: PeerGone | None = None
        """Why it ended."""
        loop.add_reader(self._fd, self._on_readable)

    def ask(
        self, request: Entity, version: int, timeout_at: float, decode: Decode | None = None
    ) -> asyncio.Future[Entity]:
        """Sends at once. The future may be cancelled: the answer is then left unread."""
        if self.error is not None:
            raise PeerGone(str(self.error))
        self._number = number = (self._number + 1) & 0x7FFFFFFF
        parts = encode_request_parts(number, version, request, self._client_id)
        key = type(request).API_KEY
        assert key is not None
        decode = decode or partial(_decode, key, version)
        question = Question(number, decode, self._loop.time(), self._heard)
        question.answer = self._loop.create_future()
        question.timer = self._loop.call_at(timeout_at, self._expire, question)
        self._questions.append(question)
        try:
            done = self._writer.write(parts)
        except OSError as error:
            self._lose(f"the connection broke: {error.strerror or error}")
        else:
            if not done and not self._writing:
                self._writing = True
                self._loop.add_writer(self._fd, self._on_writable)
        return question.answer

    def detach(self) -> StreamSocket:
        """The socket, for whoever goes on with it: all that was asked is answered."""
        if self.error is not None:
            raise ConnectionError(str(self.error))
        self._loop.remove_reader(self._fd)
        return self._sock

    def retire(self) -> None:
        """Nothing more is asked here: it is closed when all that was asked is answered."""
        self._is_retired = True
        if not self._questions:
            self.close(PeerGone(f"{self._name}: replaced by another connection"))

    def abandon(self) -> None:
        self.close(PeerGone(f"{self._name}: given up"))

    def close(self, error: PeerGone) -> None:
        if self.error is not None:
            return
        self.error = error
        self._loop.remove_reader(self._fd)
        if self._writing:
            self._loop.remove_writer(self._fd)
        self._writer.close()
        self._sock.close()
        questions, self._questions = self._questions, deque()
        for question in questions:
            question.timer.cancel()
            if not question.answer.done():
                _fail(question, PeerGone(str(error), refused=error.refused))

    def _lose(self, reason: str) -> None:
        if self.error is None:
            self.close(PeerGone(f"{self._name}: {reason}"))
            assert self.error is not None
            if not self._is_retired:
                self._on_lost(self.error)

    def _expire(self, question: Question) -> None:
        waited_s = self._loop.time() - question.asked_at
        if not question.answer.done():
            _fail(question, PeerTimeout(f"{self._name}: no answer within {waited_s:.1f} s"))
        if self._heard == question.heard_before:
            self._lose(f"not a word for {waited_s:.1f} s")

    # Answers

    def _on_readable(self) -> None:
        reader = self._reader
        try:
            for _ in range(READS_PER_EVENT):
                target = reader.target()
                count = self._sock.recv_into(target)
                if not count:
                    self._lose("the other side closed the connection")
                    return
                self._heard += 1
                for frame in reader.feed(count):
                    self._take(frame)
                if self.error is not None or count < len(target):
                    return
            if not getattr(self._sock, "is_drained", True):
                # Decrypted already: the loop does not know of it.
                self._loop.call_soon(self._look)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(f"the connection broke: {error.strerror or error}")
        except ProtocolError as error:
            self._lose(f"its answer makes no sense: {error}")

    def _look(self) -> None:
        if self.error is None:
            self._on_readable()

    def _take(self, frame: memoryview) -> None:
        if self.error is not None:
            return
        if not self._questions:
            raise ProtocolError("nothing was asked")
        question = self._questions.popleft()
        number = int.from_bytes(frame[:4], "big", signed=True)
        question.timer.cancel()
        try:
            if len(frame) < 4 or number != question.number:
                raise ProtocolError(f"the answer to {number}, where {question.number} is next")
            if question.answer.done():
                return
            question.answer.set_result(question.decode(frame))
        except ProtocolError:
            # Fails with the others.
            self._questions.appendleft(question)
            raise
        finally:
            if self._is_retired:
                self.retire()

    # Requests

    def _on_writable(self) -> None:
        try:
            done = self._writer.flush()
        except OSError as error:
            self._lose(f"the connection broke: {error.strerror or error}")
            return
        if done:
            self._writing = False
            self._loop.remove_writer(self._fd)


def _decode(key: int, version: int, frame: memoryview) -> Entity:
    return decode_response(key, version, frame)[1]


def _fail(question: Question, error: PeerGone | PeerTimeout) -> None:
    question.answer.set_exception(error)
    # Who asked may have been cancelled in this very turn: then nobody looks at it, and need not.
    question.answer.exception()
