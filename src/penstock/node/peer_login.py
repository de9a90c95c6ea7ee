"""How this node logs in to others, on listeners that ask for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from penstock.node.listener_config import protocol_of
from penstock.peer.dialer import Dialer
from penstock.settings.broker import JAAS_CONFIG
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from penstock.settings.synonym import of_listener

if TYPE_CHECKING:
    from penstock.peer.login import Credentials

TO_BROKERS: Final = "sasl.mechanism.inter.broker.protocol"
TO_CONTROLLERS: Final = "sasl.mechanism.controller.protocol"


def with_login(
    dialer: Dialer, settings: Callable[[], BrokerConfig], listener: str, mechanism_key: str
) -> Dialer:
    """The same where nobody is asked who they are."""
    if not protocol_of(settings(), listener).has_login:
        return dialer
    from penstock.peer.login import LoginDialer

    return LoginDialer(
        dialer, lambda: peer_credentials(settings(), listener, mechanism_key), _new_nonce
    )


def peer_credentials(config: BrokerConfig, listener: str, mechanism_key: str) -> Credentials:
    """SettingError where the settings do not say who this node is."""
    from penstock.node.sasl_config import jaas_of
    from penstock.peer.login import Credentials
    from penstock.security.mechanism import PLAIN, SCRAM

    mechanism: str = config.get(mechanism_key)
    if mechanism not in (*SCRAM, PLAIN):
        raise SettingError(
            f"{mechanism_key}={mechanism}: nodes log in to each other on {listener}, and by this "
            "none is served; set it to SCRAM-SHA-512"
        )
    found = jaas_of(config, listener, mechanism)
    options = {} if found is None else found.options
    if not options.get("username") or not options.get("password"):
        name = of_listener(listener, JAAS_CONFIG, mechanism)
        raise SettingError(
            f"nodes log in to each other on {listener}, and {name} has no username and password: "
            'set it to "... required username=... password=...;"'
        )
    return Credentials(mechanism, options["username"], options["password"])


def _new_nonce() -> str:
    return os.urandom(16).hex()
