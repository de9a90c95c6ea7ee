"""The cluster as its metadata log tells it: a pure image, and what a stretch of records changed."""

from penstock.metadata.broker import BrokerImage, Endpoint
from penstock.metadata.config import ConfigImage, ConfigResource, ResourceType
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.metadata.record import MetadataRecord, RecordKind
from penstock.metadata.snapshot import image_records
from penstock.metadata.topic import TopicImage, TopicsImage

__all__ = [
    "NO_LEADER",
    "BrokerImage",
    "ClusterImage",
    "ConfigImage",
    "ConfigResource",
    "Endpoint",
    "MetadataDelta",
    "MetadataRecord",
    "PartitionImage",
    "RecordKind",
    "ResourceType",
    "TopicImage",
    "TopicsImage",
    "image_records",
]
