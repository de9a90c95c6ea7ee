"""Rules of the user's own, in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from penstock.controller.policy import check_policies
from penstock.controller.schema import controller_config
from penstock.model.error import ErrorCode
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from tests.unit.controller.controller_kit import Controller
from tests.unit.controller.test_tenant import FINE, TOPIC, alter, create

HERE = __name__


class Names:
    """Topics have a dot in their names, and at most as many partitions as brokers say."""

    most = 0

    def configure(self, settings: Mapping[str, str]) -> None:
        self.most = int(settings["num.partitions"])

    def validate(
        self, *, topic: str, partitions: int, replication_factor: int, configs: Mapping[str, str]
    ) -> str | None:
        if "broken" in topic:
            raise KeyError(topic)
        if partitions > self.most:
            return f"{topic}: {partitions} partitions are too many"
        return None if "." in topic else f"{topic}: say whose it is, as in payments.{topic}"


class Short:
    def validate(self, *, resource_type: str, name: str, configs: Mapping[str, str]) -> str | None:
        if resource_type == "TOPIC" and int(configs.get("retention.ms", 0)) > 1000:
            return f"{name}: too long"
        return None


class NoPolicy:
    pass


def controller_with(**settings: str) -> Controller:
    assignments = [f"{key.replace('_', '.')}={value}" for key, value in settings.items()]
    return Controller(config=controller_config(BrokerConfig.load(None, assignments)))


def test_topics() -> None:
    policy = f"{HERE}:Names"
    controller = controller_with(create_topic_policy_class_name=policy, num_partitions="3")
    refused = ErrorCode.POLICY_VIOLATION
    assert create(controller, ("a.b", 3), ("plain", 1), ("a.c", 4), ("broken", 1)) == [
        FINE,
        (refused, "plain: say whose it is, as in payments.plain"),
        (refused, "a.c: 4 partitions are too many"),
        (refused, "the policy failed: KeyError: 'broken'"),
    ]
    assert set(controller.image.topics.by_name) == {"a.b"}


def test_settings() -> None:
    controller = controller_with(alter_config_policy_class_name=f"{HERE}:Short")
    create(controller, ("t", 1))
    assert alter(controller, TOPIC, "t", retention_ms="1000") == FINE
    assert alter(controller, TOPIC, "t", retention_ms="1001") == (
        ErrorCode.POLICY_VIOLATION,
        "t: too long",
    )


@pytest.mark.parametrize("name", ["no.such.module:Names", f"{HERE}:Missing", f"{HERE}:NoPolicy"])
def test_a_policy_that_cannot_be_loaded_keeps_the_node_from_starting(name: str) -> None:
    config = BrokerConfig.load(None, [f"create.topic.policy.class.name={name}"])
    with pytest.raises(SettingError, match=r"create\.topic\.policy\.class\.name="):
        check_policies(config)


def test_no_policy_is_none() -> None:
    config: Any = controller_config(BrokerConfig())
    assert config.create_topic_policy is None and config.alter_config_policy is None
