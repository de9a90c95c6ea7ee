"""How large the records of a topic for failures may be: as those of its sources, and what is said
of them. Asks the broker; makes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

_LIMIT = "max.message.bytes"
_HEADERS_BYTES = 128 * 1024
"""Room for what a letter says beside the record that it holds."""


def letter_config(client: AdminClient, sources: Iterable[str], timeout_s: float) -> dict[str, str]:
    """Settings for a topic that is made; none where nobody may tell the limits of its sources."""
    asked = [ConfigResource(ConfigResource.Type.TOPIC, each) for each in sources]
    if not asked:
        return {}
    try:
        answers = client.describe_configs(asked, request_timeout=timeout_s)
        limits = [int(each.result(timeout_s)[_LIMIT].value) for each in answers.values()]
    except (KafkaException, KeyError, TimeoutError, TypeError, ValueError):
        return {}
    return {_LIMIT: str(max(limits) + _HEADERS_BYTES)}
