"""Names of the cluster's features that handlers look at."""

from __future__ import annotations

from typing import Final

GROUP_VERSION: Final = "group.version"
"""Without it there are no groups of the consumer protocol (KIP-848)."""

SHARE_VERSION: Final = "share.version"
"""Without it there are no share groups (KIP-932)."""

STREAMS_VERSION: Final = "streams.version"
"""Without it there are no streams groups (KIP-1071)."""
