"""Names of the cluster's features that handlers look at."""

from __future__ import annotations

from typing import Final

SHARE_VERSION: Final = "share.version"
"""Without it there are no share groups (KIP-932)."""
