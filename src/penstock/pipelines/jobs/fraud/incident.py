"""What happens to an account besides its habits: journeys, delays, damage, and theft of each kind.

An incident writes one payment and may script later ones of the same account. Journeys are such as
a person can make; theft is planted with a spread that a detector's thresholds cut somewhere, so
that recall is a measurement and not a foregone conclusion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import numpy as np
import orjson

from penstock.pipelines.jobs.fraud.habit import DEVICES, FAVOURITES, HOMES, Habits
from penstock.pipelines.jobs.fraud.model import Payment, encode_payment
from penstock.pipelines.jobs.fraud.place import distance_km

KINDS = ("velocity", "amount", "new-device", "travel", "merchants")
UNDECODABLE = "undecodable"
_HISTORY_MIN = 12
_MINUTE_MS = 60_000
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Mix:
    """How often something begins, as a share of all payments."""

    fraud: float = 0.001
    """Incidents, spread evenly over the kinds; an incident may have several payments."""
    trip: float = 0.004
    spree: float = 0.002
    late: float = 0.005
    very_late: float = 0.0002
    new_device: float = 0.0005
    splurge: float = 0.002
    undecodable: float = 0.0002

    @property
    def special(self) -> float:
        return (
            self.fraud
            + self.trip
            + self.spree
            + self.late
            + self.very_late
            + self.new_device
            + self.splurge
            + self.undecodable
        )


class Scripted(NamedTuple):
    """A payment that an incident has booked ahead."""

    account: int
    kind: str
    incident: int
    time_ms: int
    country: str | None = None


class Sight(NamedTuple):
    """What is known about the account at the moment of the payment."""

    payment: str
    account: int
    time_ms: int
    last_ms: int
    start_ms: int
    seen: int


@dataclass(slots=True)
class Event:
    """One payment written, and what follows from it. No value: the payment is an ordinary one."""

    time_ms: int
    value: str | bytes | None = None
    label: tuple[str, int] | None = None
    scripts: list[tuple[int, Scripted]] = field(default_factory=list)
    moved: bool = False


class Incidents:
    def __init__(self, seed: int, habits: Habits, mix: Mix, step_ms: float) -> None:
        self.away = np.zeros(habits.count, dtype=bool)
        self._where: dict[int, str] = {}
        self._moved_ms: dict[int, int] = {}
        self._habits = habits
        self._mix = mix
        self._step_ms = step_ms
        self._dice = Random(f"incidents of {seed}")
        self._count = 0
        self._honest: tuple[tuple[float, Callable[[Sight], Event]], ...] = (
            (mix.trip, self._trip),
            (mix.spree, self._spree),
            (mix.late, self._late),
            (mix.very_late, self._very_late),
            (mix.new_device, self._own_new_device),
            (mix.splurge, self._splurge),
            (mix.undecodable, self._undecodable),
        )

    def play(self, sight: Sight, script: Scripted | None) -> Event:
        if script is not None:
            return self._scripted(sight, script)
        if sight.account in self._where:
            return self._abroad(sight)
        roll = self._dice.random() * self._mix.special
        for share, happen in self._honest:
            if roll < share:
                return happen(sight)
            roll -= share
        return self._theft(sight)

    # honest

    def _trip(self, sight: Sight) -> Event:
        """To a country that could be reached since the last payment, waiting and all."""
        there = self._dice.choice(list(HOMES))
        if sight.seen and self._reachable(sight, self._habits.homes[sight.account], there):
            return self._arrive(sight, there)
        return Event(sight.time_ms)

    def _abroad(self, sight: Sight) -> Event:
        here, home = self._where[sight.account], self._habits.homes[sight.account]
        if self._dice.random() < 0.3 and self._reachable(sight, here, home):
            return self._arrive(sight, home)
        return Event(sight.time_ms, self._honest_payment(sight, country=here))

    def _reachable(self, sight: Sight, here: str, there: str) -> bool:
        hours = distance_km(here, there) / 600 + 2 if here != there else 0
        # Whoever pays once a week may have been anywhere before; the first time tells nothing.
        return sight.time_ms - max(sight.last_ms, sight.start_ms) > hours * _HOUR_MS

    def _arrive(self, sight: Sight, there: str) -> Event:
        home = there == self._habits.homes[sight.account]
        self.away[sight.account] = not home
        self._moved_ms[sight.account] = sight.time_ms
        if home:
            self._where.pop(sight.account, None)
        else:
            self._where[sight.account] = there
        return Event(sight.time_ms, self._honest_payment(sight, country=there), moved=True)

    def _spree(self, sight: Sight) -> Event:
        """Several shops in a row, as on any market day."""
        scripts = self._scripts(sight, "spree", 0, self._dice.randint(1, 3), 4 * _MINUTE_MS)
        return Event(sight.time_ms, scripts=scripts)

    def _late(self, sight: Sight) -> Event:
        return self._delayed(sight, self._dice.randint(1_000, 10 * _MINUTE_MS))

    def _very_late(self, sight: Sight) -> Event:
        return self._delayed(sight, self._dice.randint(_HOUR_MS, 30 * _HOUR_MS))

    def _delayed(self, sight: Sight, delay_ms: int) -> Event:
        """Only as far back as the account was where it is now."""
        earliest = max(self._moved_ms.get(sight.account, 0), sight.start_ms)
        time_ms = max(sight.time_ms - delay_ms, min(earliest, sight.time_ms))
        return Event(time_ms, self._honest_payment(sight._replace(time_ms=time_ms)))

    def _own_new_device(self, sight: Sight) -> Event:
        device = f"{self._habits.device(sight.account, DEVICES)}-{sight.payment}"
        return Event(sight.time_ms, self._honest_payment(sight, device=device))

    def _splurge(self, sight: Sight) -> Event:
        factor = self._dice.uniform(2.0, 5.0)
        return Event(sight.time_ms, self._honest_payment(sight, factor=factor))

    def _undecodable(self, sight: Sight) -> Event:
        payment = self._payment(sight)
        fields = orjson.loads(encode_payment(payment))
        which = self._dice.randrange(4)
        if which == 0:
            value = encode_payment(payment)[: self._dice.randint(5, 60)]
        elif which == 1:
            value = self._dice.randbytes(24) + b"\xff"
        else:
            field_name = self._dice.choice(["account", "amount", "time"])
            fields[field_name] = None if which == 2 else []
            value = orjson.dumps(fields)
        return Event(sight.time_ms, value, (UNDECODABLE, 0))

    # theft

    def _theft(self, sight: Sight) -> Event:
        if sight.seen < _HISTORY_MIN:
            return Event(sight.time_ms)
        self._count += 1
        kind = KINDS[self._count % len(KINDS)]
        label = (kind, self._count)
        if kind == "velocity":
            # A stolen card tried quickly, before it is blocked.
            scripts = self._scripts(sight, kind, self._count, self._dice.randint(7, 14), 45_000)
            return Event(sight.time_ms, self._stolen(sight, kind), label, scripts)
        if kind == "travel":
            within_ms = self._dice.randint(5, 240) * _MINUTE_MS
            scripts = self._scripts(sight, kind, self._count, 1, within_ms, self._far(sight))
            return Event(sight.time_ms, scripts=scripts)
        return Event(sight.time_ms, self._stolen(sight, kind), label)

    def _scripted(self, sight: Sight, script: Scripted) -> Event:
        sight = sight._replace(time_ms=script.time_ms)
        if script.kind == "spree":
            return Event(sight.time_ms, self._honest_payment(sight, country=self._here(sight)))
        value = self._stolen(sight, script.kind, script.country)
        return Event(sight.time_ms, value, (script.kind, script.incident))

    def _stolen(self, sight: Sight, kind: str, country: str | None = None) -> bytes:
        dice, unit = self._dice, float(self._habits.unit_euro[sight.account])
        median = float(self._habits.median[sight.account])
        payment = self._payment(sight, country=country)
        if kind == "amount":
            amount = max(median * dice.uniform(7.0, 60.0), 300.0 / unit)
            payment = payment._replace(amount=round(amount, 2))
        elif kind == "new-device":
            amount = max(median * dice.uniform(2.5, 9.0), 120.0 / unit)
            device = f"x-{sight.payment}"
            payment = payment._replace(amount=round(amount, 2), device=device)
        elif kind == "merchants":
            payment = payment._replace(merchant=f"shady-{dice.randint(1, 8)}")
        return encode_payment(payment)

    def _far(self, sight: Sight) -> str:
        here = self._here(sight)
        far = [each for each in HOMES if distance_km(here, each) > 1_200]
        return self._dice.choice(far)

    # common

    def _scripts(
        self,
        sight: Sight,
        kind: str,
        incident: int,
        count: int,
        within_ms: int,
        country: str | None = None,
    ) -> list[tuple[int, Scripted]]:
        """Later payments, by how many of the whole traffic come before each: as many as fit into
        the time between, but no two at once."""
        found: list[tuple[int, Scripted]] = []
        place = 0
        for after_ms in sorted(self._dice.sample(range(1_000, within_ms + 1), count)):
            place = max(place + 1, int(after_ms / self._step_ms))
            time_ms = sight.time_ms + after_ms
            found.append((place, Scripted(sight.account, kind, incident, time_ms, country)))
        return found

    def _here(self, sight: Sight) -> str:
        home: str = self._habits.homes[sight.account]
        return self._where.get(sight.account, home)

    def _honest_payment(
        self, sight: Sight, *, country: str | None = None, device: str = "", factor: float = 1.0
    ) -> bytes:
        return encode_payment(self._payment(sight, country, device, factor))

    def _payment(
        self, sight: Sight, country: str | None = None, device: str = "", factor: float = 1.0
    ) -> Payment:
        habits, account, dice = self._habits, sight.account, self._dice
        usual = np.exp(dice.gauss(0.0, 1.0) * habits.spread[account]) if factor == 1.0 else factor
        owned = int(habits.devices[account, dice.randrange(DEVICES)])
        return Payment(
            sight.payment,
            habits.keys[account],
            max(0.01, round(float(habits.median[account] * usual), 2)),
            habits.currencies[account],
            f"m{habits.merchants[account, dice.randrange(FAVOURITES)]}",
            country or self._here(sight),
            device or habits.device(account, owned),
            sight.time_ms,
        )
