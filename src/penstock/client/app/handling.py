"""A record in a worker's hands: decoded, given to the user's function, its failure dealt with.

It says what becomes of the record: done, dropped, or again later. It knows nothing of partitions
and commits, but for a record that is suspected of ending the process.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from penstock.client import dead_letter as name
from penstock.client.app.clock import Clock
from penstock.client.app.codec import Decode, encode
from penstock.client.app.declaration import Declaration
from penstock.client.app.failure import CrashError, letter_of, message_of, name_of, origin_of
from penstock.client.app.log import LOG
from penstock.client.app.metric import Counts
from penstock.client.app.output import Output
from penstock.client.app.part import Part, Work
from penstock.client.app.request.header import ReplyTo, reply_to
from penstock.client.app.retry import Again, Dead, Later
from penstock.client.app.slot import Slot
from penstock.client.app.transaction import RefusedError, Sent
from penstock.client.claim.check import ClaimCheck
from penstock.client.claim.reference import CLAIM_HEADER
from penstock.client.dead_letter import POISON, AnyHeaders
from penstock.client.error import DecodeError, DeliveryError
from penstock.client.record import Outgoing, encode_headers, encode_key

TTL_HEADER = "penstock.ttl"
"""For how long after its time stamp a record is worth handling, in milliseconds."""
_RESEND_MS = 1000


class Outcome(NamedTuple):
    """Of a record that is not done: None, and nobody here does it, or when to try again, by the
    clock's elapsed time."""

    again_ms: int | None


class Handling:
    def __init__(
        self,
        declared: Declaration,
        output: Output,
        clock: Clock,
        claim_check: ClaimCheck | None = None,
    ) -> None:
        self.counts = Counts()
        self.commit_now: Callable[[Part], Awaitable[None]]
        self._declared = declared
        self._handler = handler = declared.handler
        self._call: Callable[..., Awaitable[Any]] = handler.call
        self._decode = handler.decode
        self._takes_value = handler.is_async and not handler.wants_message
        """As most do: nothing else is to be made for the call."""
        self._output = output
        self._claim_check = claim_check
        self._clock = clock
        self._warned = False
        self._noting = asyncio.Lock()
        self._has_ttl = declared.ttl_ms is not None
        self._is_transactional = declared.delivery == "exactly-once"
        self.elapsed_ms = clock.elapsed_ms

    @property
    def is_quick(self) -> bool:
        """Whether there is nothing to ask of a record but its headers before it is handled."""
        return self._handler.is_async and not self._has_ttl

    def quickly(self) -> tuple[Decode, Callable[..., Awaitable[Any]], bool]:
        """The parts of `call`, and whether the function wants the message."""
        return self._decode, self._call, self._handler.wants_message

    def is_plain(self, work: Work) -> bool:
        """Whether there is nothing to ask before the handler is called: so with nearly all."""
        part = work.part
        return not (part.gone or work.is_careful or self._has_ttl or work.message.headers())

    async def handle(self, work: Work, slot: Slot) -> Outcome | None:
        """A record that may not be for the handler. None: it is done."""
        slot.is_handling = False
        part, headers = work.part, work.message.headers() or []
        if part.gone:
            return Outcome(None)
        if work.is_careful and work.tries == 0 and not await self._in_hand(work):
            return None
        if self._passes_by(work, headers):
            return None
        slot.is_handling = True
        slot.since = perf_counter()
        value = work.message.value()
        if name.text_of(headers, CLAIM_HEADER) is not None:
            value = await self._claimed(work, value)
        result = await self.call(work, value, slot)
        asked = reply_to(headers)
        if asked is not None:
            await self._reply(work, asked, result)
        elif result is not None:
            await self.send_result(work, result)
        self.counts.took(perf_counter() - slot.since)
        self.counts.handled += 1
        return None

    async def _claimed(self, work: Work, value: bytes | None) -> bytes:
        """The value that the record refers to."""
        if self._claim_check is None:
            reason = "refers to a value in a store; say App(..., claim_check=) where that is"
            raise self._undecoded(work, value or b"", reason)
        return await asyncio.to_thread(self._claim_check.check_out, value)

    def call(self, work: Work, value: bytes | None, slot: Slot) -> Awaitable[Any]:
        """The user's function, with the value decoded; no coroutine of ours around its own."""
        handler = self._handler
        if value is not None:
            try:
                value = self._decode(value)
            except ValueError as error:
                reason = " ".join(str(error).split())
                raise self._undecoded(work, value, f"cannot be decoded: {reason}") from error
        elif not handler.takes_none:
            raise self._undecoded(work, b"", "has no value")
        if self._takes_value:
            return self._call(value)
        arguments = (value, message_of(work, value)) if handler.wants_message else (value,)
        if handler.is_async:
            return self._call(*arguments)
        return slot.call_in_thread(self._call, *arguments)

    def _undecoded(self, work: Work, value: bytes, reason: str) -> DecodeError:
        return DecodeError(work.part.topic, work.part.partition, work.offset, value, reason)

    def _passes_by(self, work: Work, headers: AnyHeaders) -> bool:
        """Whether it is past its time, or a letter that was sent back for another group."""
        ttl_ms = name.number_of(headers, TTL_HEADER) or self._declared.ttl_ms
        if ttl_ms is not None and self._is_older(work, headers, ttl_ms):
            self.counts.expired += 1
            return True
        if name.text_of(headers, name.REDRIVEN) is None:
            return False
        whose = name.text_of(headers, name.PIPELINE)
        if whose in (None, self._declared.group):
            return False
        self.counts.skipped += 1
        return True

    def _is_older(self, work: Work, headers: AnyHeaders, ttl_ms: int) -> bool:
        """By the time of its first record, whatever retry topics it has been in since. What has no
        time is never too old."""
        time_ms = origin_of(work, headers).timestamp_ms
        return 0 <= time_ms < self._clock.now_ms() - ttl_ms

    async def _in_hand(self, work: Work) -> bool:
        """Whether to handle a record that may be what ends the process."""
        if work.part.in_hand is not None:
            await self._note(work.part)
            return True
        work.tries += 1
        error = CrashError(f"{work}: the process ended each time that it was handled")
        self._log(work, error, "to the dead letters")
        while True:
            try:
                await self._letter(work, error, Dead(POISON))
                return False
            except DeliveryError as refused:
                LOG.error("%s: %s: %s", self._declared.group, work, refused)
                await asyncio.sleep(_RESEND_MS / 1000)

    async def _note(self, part: Part) -> None:
        """Once for all records that are in hand together."""
        async with self._noting:
            if part.noted != part.in_hand:
                in_hand = part.in_hand
                await self.commit_now(part)
                part.noted = in_hand

    async def failed(self, work: Work, error: BaseException) -> Outcome | None:
        work.tries += 1
        # What it had sent before it failed is not sent.
        work.outputs = None
        self.counts.failed += 1
        declared = self._declared
        if declared.delivery == "at-most-once":
            step: Again | Later | Dead = Dead(declared.retry.classify(error))
        else:
            stage = work.part.delay
            step = declared.retry.next_step(error, work.tries, stage, random.random())
        if isinstance(step, Again):
            self._log(work, error, f"again in {step.wait_ms} ms")
            return Outcome(self.elapsed_ms() + step.wait_ms)
        what = f"again in {step.delay}" if isinstance(step, Later) else "to the dead letters"
        self._log(work, error, what)
        try:
            await self._letter(work, error, step)
        except DeliveryError as refused:
            # It stays with us, and is handled again: nothing may be lost.
            work.tries -= 1
            LOG.error("%s: %s: %s", declared.group, work, refused)
            return Outcome(self.elapsed_ms() + _RESEND_MS)
        return None

    async def refused(self, work: Work, error: RefusedError) -> None:
        """No transaction takes what it sent: its letter is sent in place of that."""
        if work.is_refused and error.record.topic == self._declared.dead_letters.topic:
            LOG.error("%s: %s: its letter is refused: %s", self._declared.group, work, error)
            return
        work.tries += 1
        self.counts.failed += 1
        self._log(work, error, "to the dead letters")
        letter = letter_of(work, error, Dead(POISON), self._declared, self._clock.now_ms())
        work.outputs = [Sent(*letter)]
        asked = reply_to(letter.headers)
        if asked is not None and asked.topic != error.record.topic:
            key = work.message.key()
            work.outputs.append(Sent(asked.topic, key, None, asked.headers(error)))
        self.counts.dead_letters += not work.is_refused
        work.is_refused = True

    async def _letter(self, work: Work, error: BaseException, step: Later | Dead) -> None:
        letter = letter_of(work, error, step, self._declared, self._clock.now_ms())
        await self._send(work, Sent(*letter))
        if isinstance(step, Dead):
            self.counts.dead_letters += 1
            asked = reply_to(letter.headers)
            if asked is not None:
                await self._refuse(work, asked, error)
        else:
            self.counts.retried += 1

    async def _refuse(self, work: Work, asked: ReplyTo, error: BaseException) -> None:
        """Tell who asked. Where that cannot be, the letter is written all the same, and once."""
        try:
            key = work.message.key()
            await self._send(work, Sent(asked.topic, key, None, asked.headers(error)))
        except DeliveryError as refused:
            LOG.warning("%s: %s: no answer: %s", self._declared.group, name_of(work), refused)

    def _log(self, work: Work, error: BaseException, what: str) -> None:
        kind, said = type(error).__name__, " ".join(name.error_text(error).split())
        LOG.warning("%s: %s: %s: %s; %s", self._declared.group, name_of(work), kind, said, what)

    async def send_result(self, work: Work, result: Any) -> None:
        topic = self._declared.output
        for each in outgoing(result):
            target = each.topic or topic
            if target is None:
                self._warn_unwanted(work, result)
                return
            await self._send_one(work, target, each, [])

    async def _reply(self, work: Work, asked: ReplyTo, result: Any) -> None:
        """Whatever is returned is the answer, None and lists included."""
        answer = result if isinstance(result, Outgoing) else Outgoing(result)
        await self._send_one(work, asked.topic, answer, asked.headers())

    async def _send_one(self, work: Work, topic: str, each: Outgoing, headers: AnyHeaders) -> None:
        key = encode_key(each.key) if each.key is not None else work.message.key()
        headers += encode_headers(each.headers)
        value = encode(each.value)
        if self._claim_check is not None and self._claim_check.wants(value):
            check_in = self._claim_check.check_in
            value, marks = await asyncio.to_thread(check_in, topic, value)
            headers += marks
        await self._send(work, Sent(topic, key, value, headers))

    async def _send(self, work: Work, record: Sent) -> None:
        """Returns when it is acknowledged, or is to be part of the next transaction."""
        if self._is_transactional:
            work.outputs = [*(work.outputs or ()), record]
            return
        await self._output.send(record.topic, record.key, record.value, record.headers)
        self.counts.sent += 1

    def _warn_unwanted(self, work: Work, result: Any) -> None:
        if not self._warned:
            self._warned = True
            LOG.warning(
                "%s: %s: %s returned %s, and has no output; say output= where it is to go",
                self._declared.group, work, self._handler.name, type(result).__name__,
            )  # fmt: skip


def outgoing(result: Any) -> Sequence[Outgoing]:
    """A value is a record, a list several."""
    several = result if isinstance(result, list | tuple) else [result]
    return [each if isinstance(each, Outgoing) else Outgoing(each) for each in several]
