"""Topics that brokers write themselves."""

from __future__ import annotations

from typing import Final

AUDIT_TOPIC: Final = "__penstock_audit"
"""The audit log. What is granted for all topics is not granted for this one."""
METRICS_TOPIC: Final = "__penstock_metrics"
"""What brokers did in the last days (`model/figures`)."""
WRITTEN_BY_BROKERS: Final = frozenset({AUDIT_TOPIC, METRICS_TOPIC})
