"""What the settings say of tokens: where the keys are, and what a token must say."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from penstock.security.mechanism import OAUTHBEARER
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from penstock.settings.synonym import of_listener

JWKS_URL: Final = "sasl.oauthbearer.jwks.endpoint.url"


class OAuthConfig(NamedTuple):
    jwks_url: str
    """`file:` for a file on this machine."""
    issuer: str | None
    audiences: tuple[str, ...]
    skew_s: int
    scope_claim: str
    sub_claim: str
    refresh_ms: int
    backoff_ms: int
    backoff_ms_max: int

    @property
    def jwks_file(self) -> str | None:
        parts = urlsplit(self.jwks_url)
        return unquote(parts.path) if parts.scheme == "file" else None


def oauth_config(config: BrokerConfig, listener: str) -> OAuthConfig:
    """SettingError where no key could ever be had: a token that nobody signed is worth nothing."""

    def get(name: str) -> object:
        return config.of_listener(listener, name)

    url = str(get(JWKS_URL) or "")
    scheme = urlsplit(url).scheme
    if scheme not in ("file", "http", "https"):
        raise SettingError(
            f"listener {listener}: {OAUTHBEARER} needs the keys that tokens are signed with; set "
            f"{of_listener(listener, JWKS_URL)} to an https: or file: URL of a JWKS"
        )
    issuer = get("sasl.oauthbearer.expected.issuer")
    audiences = get("sasl.oauthbearer.expected.audience")
    return OAuthConfig(
        jwks_url=url,
        issuer=None if issuer is None else str(issuer),
        audiences=tuple(audiences) if isinstance(audiences, list) else (),
        skew_s=int(str(get("sasl.oauthbearer.clock.skew.seconds"))),
        scope_claim=str(get("sasl.oauthbearer.scope.claim.name")),
        sub_claim=str(get("sasl.oauthbearer.sub.claim.name")),
        refresh_ms=int(str(get("sasl.oauthbearer.jwks.endpoint.refresh.ms"))),
        backoff_ms=int(str(get("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms"))),
        backoff_ms_max=int(str(get("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms"))),
    )
