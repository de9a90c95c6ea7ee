"""The people behind the generated traffic: where they live, what they pay with, and how much.

Every account has habits of its own, drawn once from the seed. They are kept in columns, one entry
an account, because traffic is drawn a block at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.pipelines.jobs.fraud.model import EURO_PER_UNIT
from penstock.pipelines.keyed.partitioner import murmur2

HOMES = {
    "DE": "EUR",
    "FR": "EUR",
    "ES": "EUR",
    "IT": "EUR",
    "NL": "EUR",
    "AT": "EUR",
    "PT": "EUR",
    "GB": "GBP",
    "CH": "CHF",
    "SE": "SEK",
    "NO": "NOK",
    "DK": "DKK",
    "PL": "PLN",
    "CZ": "CZK",
    "HU": "HUF",
    "US": "USD",
    "CA": "CAD",
    "BR": "BRL",
    "MX": "MXN",
    "JP": "JPY",
    "IN": "INR",
    "AU": "AUD",
    "ZA": "ZAR",
    "AE": "AED",
}
DEVICES = 3
FAVOURITES = 12
_MERCHANTS = 2_000
_ACTIVE_SHARE, _ACTIVE_WEIGHT = 0.2, 4.0


class Habits:
    def __init__(self, seed: int, accounts: int, partitions: int) -> None:
        dice = np.random.default_rng([seed, 1])
        self.count = accounts
        self.keys = [f"a{seed:x}-{number}" for number in range(accounts)]
        # Where Kafka's own producer puts them, so that payments from others land beside ours.
        self.partitions = [murmur2(key.encode(), partitions) for key in self.keys]
        names = list(HOMES)
        self.homes = [names[one] for one in dice.integers(0, len(names), accounts)]
        self.currencies = [HOMES[home] for home in self.homes]
        units = np.array([EURO_PER_UNIT[each] for each in self.currencies])
        self.unit_euro: Any = units
        euro = np.exp(dice.normal(np.log(35.0), 0.6, accounts))
        self.median: Any = np.clip(euro, 8.0, 250.0) / units
        self.spread: Any = dice.uniform(0.25, 0.5, accounts)
        self.merchants: Any = dice.integers(0, _MERCHANTS, (accounts, FAVOURITES))
        # Not everyone owns three devices: the first stands for those that are missing.
        owned = dice.integers(1, DEVICES + 1, accounts)
        choice = np.arange(DEVICES)[None, :]
        self.devices: Any = np.where(choice < owned[:, None], choice, 0)
        weight = np.where(dice.random(accounts) < _ACTIVE_SHARE, _ACTIVE_WEIGHT, 1.0)
        self._cumulative = np.cumsum(weight) / weight.sum()
        self.tails = self._tails()

    def draw(self, dice: np.random.Generator, count: int) -> Any:
        """Accounts, the active ones more often."""
        drawn = np.searchsorted(self._cumulative, dice.random(count))
        return np.minimum(drawn, self.count - 1)

    def device(self, account: int, number: int) -> str:
        return f"d-{self.keys[account]}-{number}"

    def _tails(self) -> list[str]:
        """The end of a payment's JSON at home, up to its time, for each account and device."""
        return [
            f'","currency":"{self.currencies[account]}","country":"{self.homes[account]}",'
            f'"account":"{self.keys[account]}","device":"{self.device(account, number)}","time":'
            for account in range(self.count)
            for number in range(DEVICES)
        ]
