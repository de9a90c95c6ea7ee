"""The settings of this broker as they would be after a change that it is asked for."""

from __future__ import annotations

from typing import Final

from penstock.handlers.broker import Broker
from penstock.protocol.messages import alter_configs as legacy
from penstock.protocol.messages import incremental_alter_configs as incremental
from penstock.settings.broker import find_broker_key
from penstock.settings.config import BrokerConfig
from penstock.settings.key import LIST

Resource = legacy.AlterConfigsResource | incremental.AlterConfigsResource

_SET: Final = 0
_DELETE: Final = 1
_EDITS: Final = (2, 3)


def settings_after(broker: Broker, resource: Resource) -> BrokerConfig:
    """Without what the controller will refuse."""
    return broker.config.with_dynamic(_own(broker, resource), broker.config.dynamic_default)


def _own(broker: Broker, resource: Resource) -> dict[str, str]:
    if isinstance(resource, legacy.AlterConfigsResource):
        return {each.name: each.value for each in resource.configs if each.value is not None}
    found = dict(broker.config.dynamic)
    for each in resource.configs:
        if each.config_operation == _DELETE:
            found.pop(each.name, None)
        elif each.value is not None:
            value = each.value if each.config_operation == _SET else _edited(found, each)
            found |= {} if value is None else {each.name: value}
    return found


def _edited(found: dict[str, str], change: incremental.AlterableConfig) -> str | None:
    """A list with more items, or fewer."""
    key = find_broker_key(change.name)
    if key is None or key.type != LIST or change.config_operation not in _EDITS:
        return None
    from penstock.controller.config_change import Operation, edit_list  # lists are seldom edited

    current = found.get(change.name, key.default)
    return edit_list(Operation(change.config_operation), current or "", change.value or "")
