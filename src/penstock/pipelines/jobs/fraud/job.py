"""The fraud detector as a keyed pipeline: payments in, one verdict each, flagged ones to review.

The rules come from their compacted topic and may change at any time; a first start on an empty
topic writes the shipped ones there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, Producer

from penstock.client.patience import ends_of
from penstock.pipelines.error import RunError
from penstock.pipelines.jobs.fraud.judge import History, RuleSet, decode_history, judge
from penstock.pipelines.jobs.fraud.model import (
    DEAD_LETTERS,
    PAYMENTS,
    REVIEW,
    REVIEWS,
    RULES,
    VERDICTS,
    decode_payment,
    encode_verdict,
)
from penstock.pipelines.jobs.fraud.rule import DEFAULT_RULES, decode_rule, encode_rule
from penstock.pipelines.kafka import (
    CALL_TIMEOUT_S,
    admin,
    consumer_settings,
)
from penstock.pipelines.keyed.declare import keyed
from penstock.pipelines.keyed.event import Event, Output
from penstock.pipelines.sources.table import table
from penstock.pipelines.sources.topic import topic
from penstock.pipelines.topic_making import ensure_topic

if TYPE_CHECKING:
    from penstock.pipelines.run_settings import RunSettings

LATE = "late"


def load_history(value: bytes) -> History:
    import orjson

    return decode_history(orjson.loads(value))


def seed_rules(settings: RunSettings) -> bool:
    """Write the shipped rules if no rule was ever written; whether that was so."""
    return seed_rules_of(settings.client())


def seed_rules_of(client: Mapping[str, Any]) -> bool:
    """The same for the broker that these client settings name."""
    ensure_topic(admin(client), RULES, 1, compacted=True)
    consumer = Consumer(consumer_settings(client, "fraud.rules.seed"))
    try:
        _, end = ends_of(consumer, RULES, 0, CALL_TIMEOUT_S)
    finally:
        consumer.close()
    if end > 0:
        return False
    producer = Producer({**client, "acks": "all"})
    for name, rule in DEFAULT_RULES.items():
        producer.produce(RULES, encode_rule(rule), name)
    if producer.flush(CALL_TIMEOUT_S):
        raise RunError(f"the rules could not be written to {RULES}: is the broker well?")
    return True


def judge_payment(
    history: History | None, event: Event, tables: Mapping[str, Any]
) -> tuple[History, list[Output]]:
    after, verdict = judge(history, event.value, tables["rules"])
    value = encode_verdict(verdict, event.partition, event.offset)
    outputs: list[Output] = [("verdicts", verdict.payment, value)]
    # Not `is`: in a worker the text may have come through a pickle, and be another object.
    if verdict.decision == REVIEW:
        outputs.append(("reviews", verdict.payment, value))
    if verdict.late:
        outputs.append((LATE, None, None))
    return after, outputs


# Not a decorator: under its own name the step goes to the workers as a reference, not as code.
fraud = keyed(
    name="fraud",
    source=topic(PAYMENTS),
    decode=decode_payment,
    tables={"rules": table(RULES, decode=decode_rule, build=RuleSet)},
    outputs={"verdicts": VERDICTS, "reviews": REVIEWS},
    dead_letters=DEAD_LETTERS,
    decode_state=load_history,
    prepare=seed_rules,
)(judge_payment)
