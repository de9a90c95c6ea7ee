"""Whether a token is good: signed by a key that is known, in time, for us, of somebody.

The rules are those of Kafka's broker: a signature, an expiry and a time of issue are required, the
issuer and the audience where the settings name them, and the claim that is the principal.
"""

from __future__ import annotations

from typing import Any, Final

from penstock.node.oauth.config import OAuthConfig
from penstock.node.oauth.keys import SigningKeys
from penstock.security.mechanism import Identity
from penstock.security.oauth_bearer import TokenRefused

ALGORITHMS: Final = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
"""By the sort of the key: what a token says of its algorithm is never trusted with another sort."""
TOKEN_CHARS_MAX: Final = 65_536
EXPIRES_AT_MS_MAX: Final = 1 << 53


class TokenValidator:
    def __init__(self, config: OAuthConfig, keys: SigningKeys) -> None:
        self._config = config
        self._keys = keys

    def __call__(self, token: str) -> Identity:
        claims = self._claims(token)
        name = claims.get(self._config.sub_claim)
        if not isinstance(name, str) or not name.strip():
            raise TokenRefused(f"{self._config.sub_claim} names nobody")
        self._check_scope(claims.get(self._config.scope_claim))
        expires_at_ms = min(int(claims["exp"]) * 1000, EXPIRES_AT_MS_MAX)
        return Identity(name.strip(), expires_at_ms)

    def _claims(self, token: str) -> dict[str, Any]:
        import jwt

        config = self._config
        if len(token) > TOKEN_CHARS_MAX:
            raise TokenRefused("the token is too long")
        try:
            header = jwt.get_unverified_header(token)
            key = self._keys.find(header.get("kid"))
            if key is None:
                raise TokenRefused("signed by a key that is not known")
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=list(ALGORITHMS[key.key_type or ""]),
                issuer=config.issuer,
                audience=list(config.audiences) or None,
                leeway=config.skew_s,
                options={
                    "require": ["exp", "iat"],
                    "verify_aud": bool(config.audiences),
                    "verify_sub": False,
                },
            )
        except (jwt.exceptions.PyJWTError, TypeError, ValueError, OverflowError) as error:
            raise TokenRefused(f"Could not validate the access token: {error}") from error
        return claims

    def _check_scope(self, scope: object) -> None:
        scopes = [scope] if isinstance(scope, str) else scope if isinstance(scope, list) else []
        if any(not isinstance(one, str) or not one.strip() for one in scopes):
            raise TokenRefused(f"{self._config.scope_claim} has a scope without a name")
