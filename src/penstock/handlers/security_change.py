"""Changes of how this broker's listeners are secured: only it can tell whether it can use them."""

from __future__ import annotations

from typing import Final

from penstock.handlers.broker import Broker
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages import alter_configs as legacy
from penstock.protocol.messages import incremental_alter_configs as incremental
from penstock.settings.broker import find_broker_key
from penstock.settings.error import SettingError
from penstock.settings.promise import broken_promise, is_promised

Resource = legacy.AlterConfigsResource | incremental.AlterConfigsResource

_SET: Final = 0
_DELETE: Final = 1


def check_security(broker: Broker, resource: Resource) -> None:
    """ApiError, in Kafka's words where it has some, before the controller is asked at all."""
    is_of_keys = any("ssl." in config.name for config in resource.configs)
    if not is_of_keys and not any("sasl." in config.name for config in resource.configs):
        return
    _refuse_promises(resource)
    after = broker.config.with_dynamic(_after(broker, resource), broker.config.dynamic_default)
    try:
        broker.check_security(after)
    except SettingError as error:
        factory = "Validation of dynamic config update of SSLFactory failed: "
        said = f"{factory if is_of_keys else ''}{error}"
        raise ApiError(ErrorCode.INVALID_REQUEST, said) from None


def _refuse_promises(resource: Resource) -> None:
    """What would be kept, and have no effect."""
    for each in resource.configs:
        key = find_broker_key(each.name)
        if key is not None and each.value and is_promised(key, each.value):
            raise ApiError(ErrorCode.INVALID_REQUEST, broken_promise(key, each.value))


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
