"""Payments as the benchmark sends them: ready but for their id and time.

Every account keeps to its country and device and pays about once an hour of event time, whatever
the rate is: a detector whose velocity rule flags everybody would be measured at other work than
it has. So event time runs faster than the clock, and starts in the past. One payment in a
thousand is made with an unknown device, which is something to find.
"""

from __future__ import annotations

import random
import time

EVENT_MS_PER_ROUND = 3_600_000
ODD_ONE_IN = 1_000

_CURRENCY = {"DE": "EUR", "FR": "EUR", "GB": "GBP", "US": "USD", "PL": "PLN", "SE": "SEK"}


class Wallet:
    """Accounts that pay one after the other, in rounds."""

    def __init__(self, accounts: int, seed: int = 7) -> None:
        chance = random.Random(seed)
        self._keys = [f"account-{number:07}".encode() for number in range(accounts)]
        self._middles = [
            _middle(key.decode(), number, chance) for number, key in enumerate(self._keys)
        ]
        self._ms_each = EVENT_MS_PER_ROUND / accounts
        self._base_ms = time.time() * 1000 - 30 * 86_400_000

    def messages(self, first: int, count: int, now: float) -> list[dict[str, bytes]]:
        """The payments of these numbers; their ids say when they were produced."""
        keys, middles, accounts = self._keys, self._middles, len(self._keys)
        stamp = int(now * 1_000_000)
        # Within one hand-over the event time stands still: it is about a millisecond of the clock.
        tail = b"%d}" % int(self._base_ms + first * self._ms_each)
        found = [
            {
                "key": keys[number % accounts],
                "value": b'{"payment":"%d-%d%b%b'
                % (stamp, number, middles[number % accounts], tail),
            }
            for number in range(first, first + count)
        ]
        for odd in range(-first % ODD_ONE_IN, count, ODD_ONE_IN):
            strange = b'"device":"strange-%d-' % (first + odd)
            found[odd]["value"] = found[odd]["value"].replace(b'"device":"', strange)
        return found


def produced_at(key: bytes) -> float:
    """The moment in a payment's id, in seconds."""
    return int(key.partition(b"-")[0]) / 1_000_000


def _middle(account: str, number: int, chance: random.Random) -> bytes:
    country = chance.choice(list(_CURRENCY))
    amount = round(chance.lognormvariate(3.2, 0.6), 2)
    return (
        f'","account":"{account}","amount":{amount},"currency":"{_CURRENCY[country]}",'
        f'"merchant":"merchant-{chance.randrange(2000):04}","country":"{country}",'
        f'"device":"device-{number}","time":'
    ).encode()
