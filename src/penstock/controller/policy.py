"""Rules of the user's own for topics and settings: classes that settings name as `module:Class`.

A policy has a method `validate` that is told what is asked for, by name, and gives back what is
wrong with it, or None. Where it has a method `configure`, that is given the broker's settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from penstock.model.error import ApiError, ErrorCode
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError

Policy = Callable[..., str | None]
"""`validate` of an object of the class."""


def create_topic_policy(config: BrokerConfig) -> Policy | None:
    """Asked with topic, partitions, replication_factor and configs."""
    return _load(config, "create.topic.policy.class.name")


def alter_config_policy(config: BrokerConfig) -> Policy | None:
    """Asked with resource_type, name and configs: all that would be set."""
    return _load(config, "alter.config.policy.class.name")


def check_policies(config: BrokerConfig) -> None:
    """SettingError if one of them cannot be loaded."""
    create_topic_policy(config)
    alter_config_policy(config)


def _load(config: BrokerConfig, key: str) -> Policy | None:
    text = config.get(key)
    if not text:
        return None
    module_name, _, class_name = text.partition(":")
    try:
        policy = getattr(import_module(module_name), class_name)()
        configure: Callable[[Mapping[str, str]], Any] | None = getattr(policy, "configure", None)
        if configure is not None:
            configure(dict(config.static))
        validate: Policy = policy.validate
    except Exception as error:
        raise SettingError(f"{key}={text}: {type(error).__name__}: {error}") from error
    return validate


def check_policy(policy: Policy | None, **asked: Any) -> None:
    """A policy that fails allows nothing."""
    if policy is None:
        return
    try:
        complaint = policy(**asked)
    except Exception as error:
        complaint = f"the policy failed: {type(error).__name__}: {error}"
    if complaint is not None:
        raise ApiError(ErrorCode.POLICY_VIOLATION, str(complaint))
