"""What is taken out of a cluster: brokers that are gone, and quotas that nobody applies."""

from __future__ import annotations

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.records.client_quota_record import ClientQuotaRecord, EntityData
from penstock.protocol.messages.unregister_broker import UnregisterBrokerRequest
from penstock.protocol.record_frame import encode_metadata_record
from tests.unit.controller.controller_kit import Controller


def test_a_broker_that_is_gone_is_unregistered() -> None:
    controller = Controller(brokers=2)
    topic = CreatableTopic(name="t", num_partitions=4, replication_factor=2)
    controller.do(lambda shard: shard.decide_create_topics(CreateTopicsRequest(topics=[topic])))
    request = UnregisterBrokerRequest(broker_id=2)
    with pytest.raises(ApiError, match="running"):
        controller.shard.decide_unregister_broker(request)
    epoch = controller.image.brokers[2].epoch
    controller.do(lambda shard: shard.decide_fence_broker(2, epoch))
    assert controller.do(lambda shard: shard.decide_unregister_broker(request)).error_code == 0
    assert list(controller.image.brokers) == [1]
    made = controller.image.topics.get("t")
    assert made is not None
    assert {one.leader for one in made.partitions.values()} == {1}
    assert controller.reloaded() == controller.image
    with pytest.raises(ApiError) as refused:
        controller.shard.decide_unregister_broker(request)
    assert refused.value.code == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_a_quota_that_a_log_brought_along_is_removed() -> None:
    controller = Controller()
    entity = [EntityData(entity_type="user", entity_name="a")]
    record = ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=5.0)
    controller.shard.replay(record, len(controller.log))
    controller.log.append(encode_metadata_record(record))
    named = [RequestEntityData(entity_type="user", entity_name="a")]
    op = OpData(key="producer_byte_rate", remove=True)
    entries = [RequestEntryData(entity=named, ops=[op])]
    for validate_only, left in ((True, 1), (False, 0)):
        request = AlterClientQuotasRequest(entries=entries, validate_only=validate_only)
        controller.do(lambda shard, request=request: shard.decide_alter_quotas(request))
        assert len(controller.image.security.quotas) == left
    assert controller.reloaded() == controller.image
