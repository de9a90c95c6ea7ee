"""The authorizer of a node, as its settings ask for it, fed by the image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.metadata.image import ClusterImage
from penstock.settings.config import BrokerConfig

if TYPE_CHECKING:
    from penstock.security.authorizer import Authorizer


def new_authorizer(config: BrokerConfig, image: ClusterImage) -> Authorizer | None:
    """None where no authorizer is configured. It follows the entries of the image from now on."""
    if not config.get("authorizer.class.name"):
        return None
    from penstock.security.authorizer import Authorizer, super_users_of

    acls = image.security.acls
    authorizer = Authorizer(
        super_users_of(config.get("super.users")),
        # As Java reads a truth: whatever else is written is a no.
        unlisted_allowed=str(config.get("allow.everyone.if.no.acl.found")).lower() == "true",
        acls=acls,
    )
    acls.watcher = authorizer.change
    return authorizer
