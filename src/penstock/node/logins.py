"""What logins on this node's listeners are made of: settings, users of the metadata log, tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.controller.decoy import DECOY_SECRET
from penstock.handlers.broker import Broker
from penstock.handlers.call import ClientState
from penstock.model.error import ErrorCode, InvariantError
from penstock.model.security_protocol import SecurityProtocol
from penstock.network.connection import Serve
from penstock.network.listener import Listener
from penstock.node.early_users import EarlyUsers
from penstock.node.sasl_config import UNENCRYPTED, sasl_config, sends_passwords
from penstock.security.config import SaslConfig
from penstock.security.mechanism import OAUTHBEARER, PLAIN, SCRAM, MechanismServer
from penstock.security.oauth_bearer import OAuthBearerServer, Validate
from penstock.security.plain import PlainServer
from penstock.security.scram_server import ScramServer
from penstock.security.scram_users import ScramUsers
from penstock.security.token_users import TokenUsers
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from penstock.node.oauth.config import OAuthConfig

FAILURE_LOG_INTERVAL_MS = 10_000
FAILURES_KEPT_MAX = 1000

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
        self.loop = broker.loop
        self.metrics = broker.metrics
        self.trail = broker.audit
        users = EarlyUsers(broker.image, broker.quorum.log, broker.log_dirs.metadata.path)
        tokens = TokenUsers(users, self._token_secret, self.now_ms)
        self._cluster_id = broker.cluster_id
        self.scram_users = ScramUsers(users, self._decoy_secret, tokens)

    def _token_secret(self) -> str | None:
        secret: str | None = self.settings().get("delegation.token.secret.key")
        return secret

    def _decoy_secret(self) -> str:
        """Made with the first user; before that, and where Apache Kafka is the controller, of what
        all nodes share."""
        secret: str | None = self.settings().get(DECOY_SECRET)
        return secret or f"{self._cluster_id} {self._token_secret() or ''}"

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
        self._tokens: tuple[OAuthConfig, Validate] | None = None
        if OAUTHBEARER in self._config.mechanisms:
            self._validator()
        # By host and reason: when it was logged, and how often it was seen since.
        self._failures: dict[tuple[str, str], tuple[int, int]] = {}

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
        if mechanism == OAUTHBEARER:
            return OAuthBearerServer(self._validator(), self._note_token)
        raise InvariantError(f"no login by {mechanism}")

    def _validator(self) -> Validate:
        """With keys that are read before the first token comes; made anew with the settings."""
        from penstock.node.oauth.config import oauth_config
        from penstock.node.oauth.keys import SigningKeys
        from penstock.node.oauth.validator import TokenValidator

        config = oauth_config(self._logins.settings(), self._name)
        if self._tokens is None or self._tokens[0] != config:
            keys = SigningKeys(config, self._logins.loop)
            self._tokens = (config, TokenValidator(config, keys))
        return self._tokens[1]

    def _note_token(self, reason: str) -> None:
        log.info("token refused", listener=self._name, reason=reason)

    def note_login(self, client: ClientState, mechanism: str) -> None:
        self._note(client, mechanism, ErrorCode.NONE)

    def note_failure(self, client: ClientState, mechanism: str, reason: str) -> None:
        self._note(client, mechanism, ErrorCode.SASL_AUTHENTICATION_FAILED)
        self._log_failure(client.host, reason)

    def _note(self, client: ClientState, mechanism: str, error: ErrorCode) -> None:
        self._logins.metrics.count_login(mechanism, error == ErrorCode.NONE)
        if self._logins.trail is not None:
            from penstock.handlers.audited import who_of

            self._logins.trail.note_login(who_of(client), mechanism, error, self.now_ms())

    def _log_failure(self, host: str, reason: str) -> None:
        """Once for each host and reason, and then with how many there were since."""
        now_ms = self.now_ms()
        if len(self._failures) > FAILURES_KEPT_MAX:
            self._failures.clear()
        since_ms, count = self._failures.get((host, reason), (0, 0))
        if now_ms - since_ms < FAILURE_LOG_INTERVAL_MS:
            self._failures[host, reason] = (since_ms, count + 1)
            return
        self._failures[host, reason] = (now_ms, 0)
        log.warning(
            "login failed", host=host[1:], listener=self._name, reason=reason, attempts=count + 1
        )

    def _new_nonce(self) -> str:
        return self._logins.new_id().hex()
