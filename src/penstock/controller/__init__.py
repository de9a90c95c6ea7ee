"""The cluster's controller: pure rules over the metadata image, one machine in front of them."""

from penstock.controller.config import (
    BOOTSTRAP_FEATURES,
    SUPPORTED_FEATURES,
    ConfigSchema,
    ControllerConfig,
    TopicConfigEntry,
)
from penstock.controller.periodic import ControllerTimer
from penstock.controller.schema import SettingsSchema, controller_config
from penstock.controller.shard import ControllerShard
from penstock.controller.topic_name import check_topic_name
from penstock.metadata.version import METADATA_LEVEL, METADATA_VERSION

__all__ = [
    "BOOTSTRAP_FEATURES",
    "METADATA_LEVEL",
    "METADATA_VERSION",
    "SUPPORTED_FEATURES",
    "ConfigSchema",
    "ControllerConfig",
    "ControllerShard",
    "ControllerTimer",
    "SettingsSchema",
    "TopicConfigEntry",
    "check_topic_name",
    "controller_config",
]
