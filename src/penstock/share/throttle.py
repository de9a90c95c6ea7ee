"""How many records are handed out together that were handed out again and again.

One record that nobody can deal with takes its neighbours along: they are released with it, until
none of them may be handed out any more. So fewer and fewer go out together, and each goes alone
when it goes for the last time. As in Apache Kafka since 4.2.
"""

from __future__ import annotations

from typing import NamedTuple


class DeliveryThrottle(NamedTuple):
    deliveries_max: int

    @property
    def limit(self) -> int:
        """Who was handed out that often is under suspicion: half of what is allowed, and twice."""
        return max(2, (self.deliveries_max + 1) // 2)

    def holds(self, count: int) -> bool:
        return count >= self.limit

    def is_last(self, count: int) -> bool:
        """Whether the next time is the last. One that has but two is never held back."""
        return self.deliveries_max > 2 and count >= self.deliveries_max - 1

    def parts(self, before: int, count: int) -> bool:
        """Whether a record does not go out together with those before it, by their counts."""
        return self.is_last(count) or self.holds(before) != self.holds(count)

    def together_max(self, count: int, neighbours: int) -> int:
        """Of so many that stand together: half of them at first, and half of that each time."""
        if self.is_last(count):
            return 1
        return max(1, neighbours >> (count - self.limit + 1))
