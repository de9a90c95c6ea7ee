"""Changes of TLS settings of this broker: only it can tell whether it could use the new keys."""

from __future__ import annotations

from typing import Final

from penstock.handlers.broker import Broker
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages import alter_configs as legacy
from penstock.protocol.messages import incremental_alter_configs as incremental
from penstock.settings.error import SettingError

Resource = legacy.AlterConfigsResource | incremental.AlterConfigsResource

_SET: Final = 0
_DELETE: Final = 1


def check_keys(broker: Broker, resource: Resource) -> None:
    """ApiError, in Kafka's words, before the controller is asked at all."""
    if not any("ssl." in config.name for config in resource.configs):
        return
    after = broker.config.with_dynamic(_after(broker, resource), broker.config.dynamic_default)
    try:
        broker.check_keys(after)
    except SettingError as error:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Validation of dynamic config update of SSLFactory failed: {error}",
        ) from None


def _after(broker: Broker, resource: Resource) -> dict[str, str]:
    if isinstance(resource, legacy.AlterConfigsResource):
        return {each.name: each.value for each in resource.configs if each.value is not None}
    found = dict(broker.config.dynamic)
    for each in resource.configs:
        if each.config_operation == _SET and each.value is not None:
            found[each.name] = each.value
        elif each.config_operation == _DELETE:
            found.pop(each.name, None)
    return found
