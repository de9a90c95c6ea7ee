"""What logins on this node's listeners are made of: settings, users of the metadata log, tokens."""

from __future__ import annotations

from collections.abc import Callable

from penstock.handlers.broker import Broker
from penstock.model.error import InvariantError
from penstock.model.security_protocol import SecurityProtocol
from penstock.network.connection import Serve
from penstock.network.listener import Listener
from penstock.node.sasl_config import UNENCRYPTED, sasl_config, sends_passwords
from penstock.security.config import SaslConfig
from penstock.security.mechanism import PLAIN, SCRAM, MechanismServer
from penstock.security.plain import PlainServer
from penstock.security.scram_server import ScramServer
from penstock.security.scram_users import ScramUsers
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from penstock.telemetry.log import get_logger

log = get_logger("login")


class Logins:
    """Of all listeners of a node."""

    def __init__(
        self,
        broker: Broker,
        settings: Callable[[], BrokerConfig],
        new_id: Callable[[], bytes],
    ) -> None:
        self.settings = settings
        self.now_ms = broker.clock.now_ms
        self.new_id = new_id
        self.metrics = broker.metrics
        self.scram_users = ScramUsers(broker.image.security, broker.cluster_id.encode())

    def guard(
        self, listener: Listener, name: str, protocol: SecurityProtocol, serve: Serve
    ) -> Serve:
        """What serves a listener instead, until somebody has logged in."""
        from penstock.handlers.login import LoginGate

        source = ListenerLogins(self, name, protocol)
        gate = LoginGate(serve, source, self.settings().request_bytes_max)
        listener.on_open = gate.open
        if sends_passwords(self.settings(), name, protocol):
            log.warning("passwords cross the network as they are", listener=name, by=UNENCRYPTED)
        return gate.serve


class ListenerLogins:
    """Of one listener. Settings that change hold for the logins behind the change."""

    def __init__(self, logins: Logins, name: str, protocol: SecurityProtocol) -> None:
        self._logins = logins
        self._name = name
        self._protocol = protocol
        self._seen = logins.settings()
        self._config = sasl_config(self._seen, name, protocol)
        self.now_ms = logins.now_ms

    def config(self) -> SaslConfig:
        settings = self._logins.settings()
        if settings is not self._seen:
            self._seen = settings
            try:
                self._config = sasl_config(settings, self._name, self._protocol)
            except SettingError as error:
                log.error("settings of logins were not taken", reason=str(error))
        return self._config

    def new_server(self, config: SaslConfig, mechanism: str) -> MechanismServer:
        if mechanism in SCRAM:
            users = self._logins.scram_users
            return ScramServer(
                mechanism, users.finder(mechanism), users.decoys(mechanism), self._new_nonce
            )
        if mechanism == PLAIN:
            return PlainServer(config.passwords)
        raise InvariantError(f"no login by {mechanism}")

    def count(self, mechanism: str, succeeded: bool) -> None:
        self._logins.metrics.count_login(mechanism, succeeded)

    def _new_nonce(self) -> str:
        return self._logins.new_id().hex()
