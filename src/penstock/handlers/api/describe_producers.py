"""DescribeProducers: who has been writing to a partition lately. Every replica knows of them."""

from __future__ import annotations

from penstock.controller import check_topic_name
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ApiError, ErrorCode, StorageError, code_of
from penstock.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

_NOT_HOSTED = "This server does not host this topic-partition."


def handle(broker: Broker, request: DescribeProducersRequest, call: Call) -> Answer:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    _describe(broker, topic.name, index) for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _describe(broker: Broker, topic: str, index: int) -> PartitionResponse:
    try:
        partition = broker.partitions.get(topic, index)
        if partition is None:
            check_topic_name(topic)
            raise broker.partitions.refusal_by_name(topic, index)
        log = partition.log
    except ApiError as error:
        is_unknown = error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _refused(index, error, _NOT_HOSTED if is_unknown else error.message)
    except StorageError as error:
        return _refused(index, error, str(error))
    return PartitionResponse(
        partition_index=index,
        active_producers=[
            ProducerState(
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                last_sequence=producer.batches[-1].last_sequence if producer.batches else -1,
                last_timestamp=producer.last_timestamp,
                coordinator_epoch=producer.coordinator_epoch,
                current_txn_start_offset=producer.txn_first_offset,
            )
            for producer in log.producers.active()
        ],
    )


def _refused(index: int, error: ApiError | StorageError, message: str | None) -> PartitionResponse:
    return PartitionResponse(
        partition_index=index, error_code=code_of(error), error_message=message
    )
