"""Changes of which directories of this broker take no new replicas: only it knows which it has."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.settings_after import Resource, settings_after
from penstock.model.error import ApiError, ErrorCode
from penstock.settings.cordon import CORDONED, check_cordoned
from penstock.settings.error import SettingError


def check_cordon(broker: Broker, resource: Resource) -> None:
    """ApiError before the controller is asked at all."""
    if all(config.name != CORDONED for config in resource.configs):
        return
    directories = (each.path for each in broker.log_dirs.data)
    try:
        check_cordoned(directories, settings_after(broker, resource).cordoned_log_dirs)
    except SettingError as error:
        raise ApiError(ErrorCode.INVALID_REQUEST, str(error)) from None
