"""The quotas of a node's clients: what holds for whom, and how much of it is used.

Owns the sensors. Looked up once for each user and client id, and anew when quotas change; what was
used until then is kept. Nothing is kept for a kind of quota that nobody has set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Generic, TypeVar

from penstock.metadata.security import QuotaEntity
from penstock.security.quota.mutation import TokenBucket
from penstock.security.quota.precedence import Limits
from penstock.security.quota.sample import Windows
from penstock.security.quota.sensor import RateSensor, Tags

PRODUCE: Final = "producer_byte_rate"
FETCH: Final = "consumer_byte_rate"
REQUEST: Final = "request_percentage"
MUTATION: Final = "controller_mutation_rate"

SWEEP_COUNT_MIN: Final = 1024
"""Sensors, or clients looked up, before those that nobody uses are dropped."""

SensorT = TypeVar("SensorT", bound=RateSensor | TokenBucket)


class Sensors(Generic[SensorT]):
    """Of one kind of quota."""

    def __init__(self, new: Callable[[Tags, float], SensorT], span_ms: float) -> None:
        self._new = new
        self._span_ms = span_ms
        self._limits = Limits({})
        self._by_tags: dict[Tags, SensorT] = {}

    def __len__(self) -> int:
        return len(self._by_tags)

    def __iter__(self) -> Iterator[SensorT]:
        return iter(self._by_tags.values())

    @property
    def is_on(self) -> bool:
        return bool(self._limits)

    def change(self, limits: Mapping[QuotaEntity, float]) -> None:
        self._limits = Limits(limits)
        if not limits:
            self._by_tags.clear()
        for tags, sensor in self._by_tags.items():
            sensor.limit = self._limits.limit_of(tags)

    def of(self, user: str, client_id: str, now_ms: float) -> SensorT | None:
        if not self._limits:
            return None
        tags = self._limits.tags_of(user, client_id)
        sensor = self._by_tags.get(tags)
        if sensor is None:
            sensor = self._by_tags[tags] = self._new(tags, self._limits.limit_of(tags))
            sensor.used_ms = now_ms
        return sensor

    def sweep(self, now_ms: float) -> None:
        """One that was not used for as long as its windows go back says nothing any more."""
        oldest_ms = now_ms - self._span_ms
        self._by_tags = {
            tags: sensor for tags, sensor in self._by_tags.items() if sensor.used_ms > oldest_ms
        }


class Allotment:
    """What one user's client is measured by; None for a kind of quota that nobody has set."""

    __slots__ = ("fetch", "produce", "request")

    def __init__(
        self,
        produce: RateSensor | None,
        fetch: RateSensor | None,
        request: RateSensor | None,
    ) -> None:
        self.produce = produce
        self.fetch = fetch
        self.request = request


class ClientQuotas:
    """`is_on` is False while no quota of a client is set: then nothing else is to be called."""

    def __init__(self, windows: Windows, mutation_windows: Windows) -> None:
        self.windows = windows
        span_ms = windows.span_ms
        self.produce = Sensors(lambda tags, limit: RateSensor(tags, limit, windows), span_ms)
        self.fetch = Sensors(lambda tags, limit: RateSensor(tags, limit, windows), span_ms)
        self.request = Sensors(
            lambda tags, limit: RateSensor(tags, limit, windows, windows.size_ms), span_ms
        )
        """Throttled for one window at most: whoever answers nothing for longer looks dead."""
        self.mutation = Sensors(
            lambda tags, limit: TokenBucket(tags, limit, mutation_windows),
            mutation_windows.span_ms,
        )
        self.is_on = False
        self._allotments: dict[tuple[str, str], Allotment] = {}
        self._allotments_max = self._buckets_max = SWEEP_COUNT_MIN

    def change(self, limits: Mapping[tuple[QuotaEntity, str], float]) -> None:
        """To these, all of them."""
        for kind, sensors in (
            (PRODUCE, self.produce),
            (FETCH, self.fetch),
            (REQUEST, self.request),
            (MUTATION, self.mutation),
        ):
            sensors.change(
                {entity: limit for (entity, key), limit in limits.items() if key == kind}
            )
        kinds = (self.produce, self.fetch, self.request, self.mutation)
        self.is_on = any(each.is_on for each in kinds)
        self._allotments.clear()

    def of(self, user: str, client_id: str | None, now_ms: float) -> Allotment:
        key = (user, client_id or "")
        found = self._allotments.get(key)
        if found is None:
            if len(self._allotments) >= self._allotments_max:
                self._sweep(now_ms)
            found = self._allotments[key] = Allotment(
                self.produce.of(*key, now_ms),
                self.fetch.of(*key, now_ms),
                self.request.of(*key, now_ms),
            )
        return found

    def bucket_of(self, user: str, client_id: str | None, now_ms: float) -> TokenBucket | None:
        if len(self.mutation) >= self._buckets_max:
            self.mutation.sweep(now_ms)
            self._buckets_max = max(SWEEP_COUNT_MIN, 2 * len(self.mutation))
        return self.mutation.of(user, client_id or "", now_ms)

    def _sweep(self, now_ms: float) -> None:
        """Both together: nobody may go on with a sensor that others no longer find."""
        self._allotments.clear()
        rates = (self.produce, self.fetch, self.request)
        for sensors in rates:
            sensors.sweep(now_ms)
        self._allotments_max = max(SWEEP_COUNT_MIN, 2 * max(map(len, rates)))
