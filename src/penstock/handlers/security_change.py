"""Changes of how this broker's listeners are secured: only it can tell whether it can use them."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.settings_after import Resource, settings_after
from penstock.model.error import ApiError, ErrorCode
from penstock.settings.broker import find_broker_key
from penstock.settings.error import SettingError
from penstock.settings.promise import broken_promise, is_promised


def check_security(broker: Broker, resource: Resource) -> None:
    """ApiError, in Kafka's words where it has some, before the controller is asked at all."""
    is_of_keys = any("ssl." in config.name for config in resource.configs)
    if not is_of_keys and not any("sasl." in config.name for config in resource.configs):
        return
    _refuse_promises(resource)
    try:
        broker.check_security(settings_after(broker, resource))
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
