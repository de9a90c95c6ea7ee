"""What a controller writes as it takes over: the end of what was left open, the first records."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.controller.config import ControllerContext
from penstock.controller.decoy import decoy_secret
from penstock.controller.outcome import Outcome
from penstock.machine.decision import Decision
from penstock.metadata.config import ResourceType
from penstock.metadata.record import MetadataRecord
from penstock.metadata.version import METADATA_LEVEL, METADATA_LEVEL_MIN, METADATA_VERSION
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.records.abort_transaction_record import AbortTransactionRecord
from penstock.protocol.messages.records.begin_transaction_record import BeginTransactionRecord
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.end_transaction_record import EndTransactionRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord


def decide_activate(
    context: ControllerContext, bootstrap: Sequence[MetadataRecord] | None = None
) -> Outcome[None]:
    """`bootstrap` is what a formatted directory wants an empty cluster to begin with.

    A transaction still open belongs to a controller that died in it: its records never counted.
    """
    records: list[MetadataRecord] = []
    if context.image.has_open_transaction:
        records.append(AbortTransactionRecord(reason="controller failover"))
    if METADATA_VERSION not in context.image.features:
        records += _first_records(context, bootstrap)
    else:
        _check_level(context)
    return Decision(records, None)


def begin_sessions(context: ControllerContext, now_ms: int) -> Callable[[], None]:
    """To be called once the records of the activation are written."""

    def begin() -> None:
        unfenced = [broker.id for broker in context.image.brokers.values() if not broker.fenced]
        context.sessions.begin_all(unfenced, now_ms, context.image.next_offset)
        if len(context.image.brokers) > 1:
            # Made now rather than when the first broker dies: then somebody waits for it.
            context.indexed.index()

    return begin


def _first_records(
    context: ControllerContext, bootstrap: Sequence[MetadataRecord] | None
) -> list[MetadataRecord]:
    config = context.config
    features: list[MetadataRecord] = [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in config.bootstrap_features.items()
    ]
    return [
        BeginTransactionRecord(name="Bootstrap records"),
        *(bootstrap or features),
        # Eligible leader replicas need the cluster, not each broker, to say what is enough.
        ConfigRecord(
            resource_type=ResourceType.BROKER,
            resource_name="",
            name="min.insync.replicas",
            value=str(config.min_insync_replicas),
        ),
        *decoy_secret(context, bootstrap or ()),
        EndTransactionRecord(),
    ]


def _check_level(context: ControllerContext) -> None:
    level = context.image.features[METADATA_VERSION]
    if not METADATA_LEVEL_MIN <= level <= METADATA_LEVEL:
        raise ApiError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"the metadata log has {METADATA_VERSION} {level}; "
            f"levels {METADATA_LEVEL_MIN} to {METADATA_LEVEL} are known here",
        )
