"""The rules topic as a person works on it: read, changed and withdrawn, without Spark.

What a rule is and means is `rule.py`; running detectors follow the topic by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from penstock.pipelines.jobs.fraud.model import RULES
from penstock.pipelines.jobs.fraud.rule import (
    Rule,
    RuleError,
    decode_rule,
    encode_rule,
    make_rule,
    rule_fields,
)
from penstock.pipelines.scan import Scan, UnreadableError


class RuleBook:
    def __init__(self, client: Mapping[str, Any], timeout_s: float = 10.0) -> None:
        self._client = dict(client)
        self._timeout_s = timeout_s

    def read(self) -> dict[str, Rule | str]:
        """Rules by name; where one cannot be understood, what is wrong with it."""
        found: dict[str, Rule | str] = {}
        try:
            scan = Scan(self._client, RULES, timeout_s=self._timeout_s)
        except UnreadableError:
            return found
        with scan:
            for record in scan.records():
                name = (record.key() or b"").decode(errors="replace")
                found.pop(name, None)
                if record.value() is not None:
                    found[name] = _decoded(record.value())
        return dict(sorted(found.items()))

    def change(self, name: str, fields: Mapping[str, Any]) -> Rule:
        """Change these fields of the rule, or make a new rule."""
        present = self.read().get(name)
        before = {} if present is None or isinstance(present, str) else rule_fields(present)
        if "kind" in fields and fields["kind"] != before.get("kind"):
            before = {}
        if not before and "kind" not in fields:
            raise RuleError(f"there is no rule {name} yet: a new one needs its --kind")
        rule = make_rule(before | dict(fields))
        self._write(name, encode_rule(rule))
        return rule

    def withdraw(self, name: str) -> None:
        if name not in self.read():
            raise RuleError(f"there is no rule {name}; `penstock fraud rules list` shows all")
        self._write(name, None)

    def _write(self, name: str, value: bytes | None) -> None:
        failed: list[Any] = []

        def report(error: Any, _: Any) -> None:
            if error is not None:
                failed.append(error)

        producer = Producer(self._client | {"acks": "all"})
        producer.produce(RULES, key=name, value=value, on_delivery=report)
        left = producer.flush(self._timeout_s)
        if failed:
            raise KafkaException(failed[0])
        if left:
            raise UnreadableError("the broker did not acknowledge the rule in time")


def _decoded(value: bytes) -> Rule | str:
    try:
        return decode_rule(value)
    except RuleError as error:
        return str(error)
