"""What a step is given and what it returns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Content = bytes | str | None
Headers = list[tuple[str, str | bytes | None]]

Output = tuple[str, Content, Content]
"""The output's name, the record's key and value."""


class Event(NamedTuple):
    value: Any
    """As the decoder made it; None for a record without a value, where such are kept."""
    key: bytes
    partition: int
    offset: int
    timestamp_ms: int


Step = Callable[[Any, Event, Mapping[str, Any]], tuple[Any, Sequence[Output]]]
"""The state of the event's key (None at first), the event, the tables: new state and outputs.

A new state of None forgets the key.
"""
