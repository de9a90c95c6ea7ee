"""Topics that brokers write themselves."""

from __future__ import annotations

from typing import Final

AUDIT_TOPIC: Final = "__penstock_audit"
"""The audit log. What is granted for all topics is not granted for this one."""
