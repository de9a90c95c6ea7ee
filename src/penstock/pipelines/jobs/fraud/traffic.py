"""Payments as people and thieves make them, the same ones for the same seed. No clock, no Kafka.

Time in the payments is the traffic's own: every account pays every two hours on average, whatever
the rate at which records are produced, so that a minute of load holds weeks of habits. Thieves
strike accounts that have a history. Most payments are drawn and written a block at a time; the few
that are special (`incident.py`) are written one by one into the block.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple, TypedDict

import numpy as np

from penstock.pipelines.jobs.fraud.habit import DEVICES, FAVOURITES, Habits
from penstock.pipelines.jobs.fraud.incident import Incidents, Mix, Scripted, Sight

_BLOCK = 2_000
_INTERVAL_MS = 7_200_000


class Message(TypedDict):
    """One record as the producer's batch call takes it."""

    key: str
    value: str | bytes
    partition: int


class Label(NamedTuple):
    """The truth about a payment, which the detector never sees."""

    payment: str
    kind: str
    incident: int


class Traffic:
    def __init__(
        self,
        seed: int,
        *,
        accounts: int = 10_000,
        partitions: int = 1,
        start_ms: int = 0,
        mix: Mix | None = None,
    ) -> None:
        self.seed = seed
        self.produced = 0
        self._habits = Habits(seed, accounts, partitions)
        self._dice = np.random.default_rng([seed, 2])
        self._mix = mix or Mix()
        self._start_ms = start_ms
        self._step_ms = _INTERVAL_MS / accounts
        self._incidents = Incidents(seed, self._habits, self._mix, self._step_ms)
        self._seen: Any = np.zeros(accounts, dtype=np.int64)
        self._last_ms: Any = np.full(accounts, -(10**12), dtype=np.int64)
        self._scripted: dict[int, Scripted] = {}
        self._messages: list[Message] = []
        self._labels: list[tuple[int, Label]] = []
        self._drawn = 0

    def take(self, count: int) -> tuple[list[Message], list[Label]]:
        """The next messages, and the labels of those among them that are not honest."""
        while len(self._messages) < count:
            self._draw_block()
        messages, self._messages = self._messages[:count], self._messages[count:]
        self.produced += count
        split = 0
        while split < len(self._labels) and self._labels[split][0] < self.produced:
            split += 1
        labels, self._labels = self._labels[:split], self._labels[split:]
        return messages, [label for _, label in labels]

    def payment_id(self, number: int) -> str:
        return f"p{self.seed:x}-{number}"

    def _draw_block(self) -> None:
        first, dice, habits = self._drawn, self._dice, self._habits
        accounts = habits.draw(dice, _BLOCK)
        numbers = np.arange(first, first + _BLOCK)
        times = (self._start_ms + (numbers + dice.random(_BLOCK)) * self._step_ms).astype(np.int64)
        noise = dice.standard_normal(_BLOCK)
        picks = dice.integers(0, FAVOURITES, _BLOCK)
        holds = dice.integers(0, DEVICES, _BLOCK)
        triggers = np.flatnonzero(dice.random(_BLOCK) < self._mix.special)
        special = self._special(first, accounts, times, triggers.tolist())
        amounts = habits.median[accounts] * np.exp(noise * habits.spread[accounts])
        amounts = np.maximum(np.round(amounts, 2), 0.01)
        merchants = habits.merchants[accounts, picks]
        tails = accounts * DEVICES + habits.devices[accounts, holds]
        messages = self._write(first, accounts, amounts, merchants, tails, times)
        for index, value in special.items():
            messages[index]["value"] = value
        self._messages += messages
        np.add.at(self._seen, accounts, 1)
        np.maximum.at(self._last_ms, accounts, times)
        self._drawn += _BLOCK

    def _write(
        self, first: int, accounts: Any, amounts: Any, merchants: Any, tails: Any, times: Any
    ) -> list[Message]:
        keys, partitions, ends = self._habits.keys, self._habits.partitions, self._habits.tails
        head = f'{{"payment":"p{self.seed:x}-'
        columns = zip(
            range(first, first + _BLOCK),
            accounts.tolist(),
            amounts.tolist(),
            merchants.tolist(),
            tails.tolist(),
            times.tolist(),
            strict=True,
        )
        return [
            {
                "key": keys[account],
                "value": f'{head}{number}","amount":{amount},"merchant":"m{merchant}{ends[tail]}'
                f"{time_ms}}}",
                "partition": partitions[account],
            }
            for number, account, amount, merchant, tail, time_ms in columns
        ]

    def _special(
        self, first: int, accounts: Any, times: Any, triggers: list[int]
    ) -> dict[int, str | bytes]:
        """Values of the payments unlike the others; an incident may seize later ones."""
        written: dict[int, str | bytes] = {}
        queue = triggers + [one - first for one in self._scripted if one < first + _BLOCK]
        queue += np.flatnonzero(self._incidents.away[accounts]).tolist()
        heapq.heapify(queue)
        last = -1
        while queue:
            index = heapq.heappop(queue)
            if index == last:
                continue
            last = index
            written_now, again = self._special_one(first, index, accounts, times)
            if written_now is not None:
                written[index] = written_now
            for other in again:
                heapq.heappush(queue, other)
        return written

    def _special_one(
        self, first: int, index: int, accounts: Any, times: Any
    ) -> tuple[str | bytes | None, list[int]]:
        number = first + index
        script = self._scripted.pop(number, None)
        if script is not None:
            accounts[index] = script.account
        account = int(accounts[index])
        sight = self._sight(number, index, account, accounts, times)
        event = self._incidents.play(sight, script)
        times[index] = event.time_ms
        if event.label is not None:
            kind, incident = event.label
            self._labels.append((number, Label(sight.payment, kind, incident)))
        again = []
        for offset, later in event.scripts:
            place = number + offset
            while place in self._scripted:
                place += 1
            self._scripted[place] = later
            if place < first + _BLOCK:
                again.append(place - first)
        if event.moved:
            again += (np.flatnonzero(accounts[index + 1 :] == account) + index + 1).tolist()
        return event.value, again

    def _sight(self, number: int, index: int, account: int, accounts: Any, times: Any) -> Sight:
        earlier = np.flatnonzero(accounts[:index] == account)
        last_ms = int(times[earlier].max()) if len(earlier) else int(self._last_ms[account])
        seen = int(self._seen[account]) + len(earlier)
        return Sight(
            self.payment_id(number), account, int(times[index]), last_ms, self._start_ms, seen
        )
